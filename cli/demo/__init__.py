"""The demo: a small shop, its verified plans, and a scripted set of questions."""
