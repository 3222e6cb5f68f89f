"""Follow-up questions, without a model: "and in Germany?" is the question before with another country.

Only what is clearly no question of its own is resolved: an opener ("and", "what about") or a bare phrase, in which
nothing but values and small words is said. Each value takes the place of the last one of its kind, with the
preposition before it; a value of a kind that the question before did not name is added at its end.
"""

import re
from collections.abc import Callable

from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.planning.text import FUNCTION_WORDS, PREPOSITIONS, tokenise

Mask = Callable[[str], MaskedQuestion]

OPENER = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|well|hm+|so|now|right|thanks|thank\s+you)\b\W*)*"
    r"(?:(?:and|but|or)\s+)?(?:(?:what|how)\s+(?:about|of|if\s+(?:it\s+is|it's))"
    r"|(?:the\s+)?same(?:\s+(?:thing|question))?(?=\s+(?:for|in|since|but))"
    r"|and|but|only|just|also|now|instead)\b\s*(?:only\s+|just\s+|also\s+|then\s+|now\s+|with\s+(?=the\s+(?:top|last|first)))?",
    re.IGNORECASE,
)
CLOSER = re.compile(r"\s*(?:(?:instead|then|please|only|too|as\s+well|now)\s*)?[?.!\s]*$", re.IGNORECASE)
RANKED = re.compile(r"\b(?:top|bottom|first|last|best|worst|best)\s+$", re.IGNORECASE)
_LEADS = "|".join(sorted({*PREPOSITIONS, "since", "before", "after", "until", "till", "between", "through", "within"}))
BEFORE_SLOT = re.compile(
    r"(?:(?<!\w)(?:on\s+or\s+(?:before|after)|prior\s+to|up\s+to|(?:no|not)\s+(?:later|earlier)\s+than|starting(?:\s+(?:in|on|from))?"
    rf"|{_LEADS})\s+(?:the\s+)?)$",
    re.IGNORECASE,
)
COMPARED = re.compile(
    r"(?:(?<!\w)(?:(?:more|less|fewer|greater|higher|lower|larger|smaller|cheaper|longer|shorter|older|younger)\s+than|at\s+(?:least|most)"
    r"|over|under|above|below|exactly|up\s+to)\s+)$",
    re.IGNORECASE,
)
NO_PREPOSITION = re.compile(
    r"(?:the\s+)?(?:last|this|next|previous|past|current|coming)\b|today|yesterday|tomorrow|tonight|.*\bago$|.*\bto\s+date$|so\s+far",
    re.IGNORECASE,
)
DATED = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|.*\d{1,2}(?:st|nd|rd|th)?\b(?<!\d{4})|\d{4}-\d\d-\d\d", re.IGNORECASE
)
MAX_WORDS = 8
"""A longer phrase says something of its own."""


def resolve_follow_up(question: str, previous: str | None, *, mask: Mask) -> str | None:
    """The standalone question that `question` means after `previous` (itself standalone), or None if it stands alone.

    `mask` masks a text for the source at hand.
    """
    phrase = followed_by(question)
    if not previous or phrase is None:
        return None
    asked = mask(phrase)
    if may_be_time(asked):
        phrase, asked = with_cue(phrase, mask)
    if not asked.slots:
        return swapped(phrase, previous, mask)
    if not only_values(asked):
        return None
    resolved = previous.strip()
    for slot in asked.slots:
        resolved = put(resolved, slot, phrase, mask)
    return resolved


def followed_by(question: str) -> str | None:
    """What a follow-up says after its opener, or None if it is too long to be one."""
    opener = OPENER.match(question)
    rest = question[opener.end() :] if opener else question
    phrase = CLOSER.sub("", rest).strip()
    words = tokenise(phrase)
    # Without an opener only the barest phrase counts: "last month?", "in Germany?".
    return phrase if 0 < len(words) <= (MAX_WORDS if opener else MAX_WORDS // 2) else None


def may_be_time(asked: MaskedQuestion) -> bool:
    """Whether a phrase without a preposition could be a time with one: "April", "2024"."""
    years = [slot.text.isdigit() and len(slot.text) == 4 for slot in asked.slots]
    return all(years) and len(tokenise(asked.text)) <= 3


def with_cue(phrase: str, mask: Mask) -> tuple[str, MaskedQuestion]:
    """The phrase read as a time, where "in" before it makes it one."""
    cued = mask(f"in {phrase}")
    if any(slot.type is SlotType.TIME_RANGE for slot in cued.slots):
        return f"in {phrase}", cued
    return phrase, mask(phrase)


def swapped(phrase: str, previous: str, mask: Mask) -> str | None:
    """The question before with an everyday word as another value of the same column: "and open ones?" after "paid
    orders".

    The word is that value if the question keeps its mask with it.
    """
    word = re.sub(r"^(?:the|those|that\s+are|are)\s+|\s+ones?$", "", phrase, flags=re.IGNORECASE)
    before = mask(previous)
    for slot in reversed(before.slots):
        if slot.type is SlotType.VALUE and len(tokenise(word)) <= 3:
            changed = previous[: slot.start] + word + previous[slot.end :]
            if mask(changed).masked == before.masked:
                return changed
    return None


def only_values(asked: MaskedQuestion) -> bool:
    """Whether beside its values the phrase has small words only, or words that repeat what a number counts."""
    covered = [(slot.start, slot.end) for slot in asked.slots]
    counted = {slot.unit for slot in asked.slots}
    small = (
        FUNCTION_WORDS
        | PREPOSITIONS
        | {"top", "bottom", "first", "last", "ones", "s", "least", "than", "fewer", "less"}
    )
    asking = {
        "who",
        "whom",
        "whose",
        "how",
        "why",
        "when",
        "where",
        "which",
        "what",
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
    }
    for token in tokenise(asked.text):
        if any(start <= token.start < end for start, end in covered) or token.folded in counted:
            continue
        if token.folded in asking or token.folded not in small:
            return False
    return True


def put(question: str, slot: Slot, phrase: str, mask: Mask) -> str:
    """The question with `slot` of the phrase in place of its last slot of that kind, or else at its end."""
    before = mask(question)
    same = [other for other in before.slots if is_same_kind(other, slot)]
    lead, said = leading(phrase, slot), phrase[slot.start : slot.end]
    if not same:
        return append(question, f"{lead or default_lead(slot, said)}{said}")
    ranked = [other for other in same if RANKED.search(question[: other.start])]
    old = ranked[-1] if ranked and RANKED.search(phrase[: slot.start]) else same[-1]
    start = old.start
    old_lead = leading(question, old)
    if lead or slot.type is SlotType.TIME_RANGE:
        start -= len(old_lead)
        said = f"{lead or default_lead(slot, said)}{said}"
    return question[:start] + said + question[old.end :]


def is_same_kind(old: Slot, new: Slot) -> bool:
    """Whether one value can stand for the other: the same label, or a column in common."""
    return old.label == new.label or bool(set(old.columns) & set(new.columns))


def leading(text: str, slot: Slot) -> str:
    """The preposition before a slot ("in ", "since the "), or for a number its comparison ("more than ")."""
    pattern = BEFORE_SLOT if slot.type in (SlotType.TIME_RANGE, SlotType.CLOCK_TIME, SlotType.VALUE) else COMPARED
    found = pattern.search(text, 0, slot.start)
    return found[0] if found else ""


def default_lead(slot: Slot, said: str) -> str:
    """A preposition for a value that was said without one."""
    if slot.type is SlotType.TIME_RANGE:
        return "" if NO_PREPOSITION.match(said) else "on " if DATED.fullmatch(said) else "in "
    return "for "


def append(question: str, words: str) -> str:
    """The question with words at its end, before the closing punctuation."""
    body = question.rstrip(" ?.!")
    return f"{body} {words}{question[len(body) :]}"
