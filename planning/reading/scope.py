"""What small words settle: what each superlative and negation belongs to, the tense, and whose records are meant."""

from collections.abc import Sequence

from qkva.planning.reading.asked import Ask
from qkva.planning.reading.lexicon import FUNCTION_WORDS, MARKS, STOPPING_PREPOSITIONS
from qkva.planning.reading.question_tokens import Token

_SUPERLATIVES = ("max", "min", "latest", "earliest")


def attachments(tokens: Sequence[Token], ask: Ask) -> frozenset[tuple[str, str]]:
    """What each superlative and negation belongs to: "smallest state", "state with the smallest area"."""
    found = set()
    for at, token in enumerate(tokens):
        mark = MARKS.get(token.word)
        if mark in _SUPERLATIVES:
            found.add((mark, _owner(tokens, at) or (ask.asked[-1] if ask.asked else "")))
        elif mark in ("next", "previous"):
            found.add((mark, _owner(tokens, at) or "itself"))  # "offered next" is not "offered next semester"
        elif mark == "not":
            found.add((mark, _negated(tokens, at)))
    return frozenset(found)


def _owner(tokens: Sequence[Token], at: int) -> str:
    """The content word right behind a superlative; "" where it stands alone ("which class is the easiest")."""
    for token in tokens[at + 1 : at + 3]:
        if token.label in ("number", "ordinal"):
            continue  # "top 5 customers"
        if token.label is not None:
            return "‹›"
        word = token.word
        return token.lemma if word[0].isalnum() and word not in FUNCTION_WORDS and word not in MARKS else ""
    return ""


def _negated(tokens: Sequence[Token], at: int) -> str:
    for token in tokens[at + 1 : at + 5]:
        if token.label is not None:
            return f"‹{token.label}›"
        if token.word[0].isalnum() and token.word not in FUNCTION_WORDS and token.word not in MARKS:
            return token.lemma
    return ""


def tenses_of(tokens: Sequence[Token]) -> frozenset[str]:
    """ "past", "present", "future", as far as an auxiliary says so."""
    words = [token.word for token in tokens]
    said = set()
    if any(_is_unreal(words, at) for at in range(len(words))):
        said.add("future")
    if any(word in ("did", "had", "previously", "formerly", "past") for word in words) or _is_perfect(tokens):
        said.add("past")
    if any(word in ("does", "currently") for word in words):
        said.add("present")
    return frozenset(said)


def moment_of(tokens: Sequence[Token]) -> str:
    """ "now" for what is so at present, "ever" for what was so at any time; "" where neither is said."""
    words = {token.word for token in tokens}
    if words & {"now", "currently"}:
        return "now"
    return "ever" if "ever" in words else ""


def _is_unreal(words: Sequence[str], at: int) -> bool:
    """What will, would or shall be, is still to be, or is only wanted; not "I would like to see", "will you list"."""
    if words[at] == "to" and words[at + 1 : at + 2] == ["be"] and at and words[at - 1] not in ("have", "has", "need"):
        return True  # "patients to be seen"
    if words[at] == "yet" and words[at + 1 : at + 2] == ["to"]:
        return True
    if words[at] not in ("will", "would", "shall", "want", "wants", "wanted"):
        return False
    beside = {words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""}
    return not beside & {"i", "you", "we"}


def _is_perfect(tokens: Sequence[Token]) -> bool:
    """Whether it says "has bought", "have … been"."""
    for at, token in enumerate(tokens):
        if token.word in ("has", "have", "'ve"):
            for later in tokens[at + 1 : at + 6]:
                word = later.word
                if word in ("to", "any", "a", "the", "more", "no") or word in STOPPING_PREPOSITIONS:
                    break
                if word == "been" or (word != later.lemma and not word.endswith(("s", "ing")) and word.isalpha()):
                    return word not in FUNCTION_WORDS or word == "been"
    return False


def is_personal(tokens: Sequence[Token]) -> bool:
    """Whether the asker's own records are meant; "should I", "can I" are no more than a way of asking."""
    words = [token.word for token in tokens]
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        before = words[at - 1] if at else ""
        if word in ("my", "mine", "myself"):
            return True
        if word == "i" and (
            following in ("'ve", "had", "did", "took", "made", "sent", "own") or before in ("did", "have")
        ):
            return True
        if word == "i" and following == "have" and at + 2 < len(words) and words[at + 2] not in ("to", "a", "the"):
            return True
        if word == "me" and before in ("to", "from", "by", "with", "of", "at", "sent", "wrote", "gave", "owe", "owes"):
            return True
    return False
