"""Turn what a planner wrote into a plan: typed parameters, a key, a canonical form."""
