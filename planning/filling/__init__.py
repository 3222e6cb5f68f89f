"""Give a plan's parameters the values that a question says."""
