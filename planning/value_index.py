"""The values that a source's text columns hold."""


class ValueIndex:
    """Being written."""
