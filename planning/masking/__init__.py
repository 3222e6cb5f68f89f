"""Find the concrete values in a question and put their types in their place."""
