"""What authors and instructors use: the sources made into notebooks, and the `dpcourse` command."""
