"""One submission: which of its cells run, what its answers do, and what that is worth."""
