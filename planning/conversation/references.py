"""Whether a question leans on the one before it."""

from qkva.planning.text import tokenise

POINTING = frozenset("they them their theirs those these it its he him his she her hers same ones instead".split())
OPENING = frozenset("and also but only or then".split())
SHORTEST_WHOLE = 4
"""Questions of fewer words ("in Germany?", "last month?") seldom stand alone."""


def refers_back(question: str) -> bool:
    """By its pronouns, its opening word or its length; a model then says what it refers to."""
    words = [token.folded for token in tokenise(question)]
    if not words:
        return False
    asks_along = words[:2] in (["what", "about"], ["how", "about"])
    return asks_along or words[0] in OPENING or len(words) < SHORTEST_WHOLE or bool(POINTING & set(words))
