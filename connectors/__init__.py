"""Sources: one folder each."""
