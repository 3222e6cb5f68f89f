"""Nodes: one step of a question per file."""
