"""The only SQL against our own database."""
