"""The bench: files of questions played as a stream against the product's own plan cache."""
