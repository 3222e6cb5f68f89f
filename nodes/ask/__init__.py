"""The steps of the ask graph, in the order of a question's life."""
