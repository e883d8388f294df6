"""A learner's side: what the notebooks call, and what they show."""
