"""What authors use: the sources made into notebooks, what a class is given, and web pages."""
