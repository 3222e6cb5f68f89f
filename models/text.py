"""What may be sent: text that UTF-8 can hold."""


def encodable(text: str) -> str:
    """The text with lone surrogates (which JSON input can smuggle in) replaced by "?"."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
