"""How a learner's function is called and what it did is written down; knows no exercise, and nothing of what is right."""
