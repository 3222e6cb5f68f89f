"""Graphs: maps of nodes and edges, and the services they use."""
