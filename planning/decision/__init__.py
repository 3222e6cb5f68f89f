"""Whether a cached plan means the question."""
