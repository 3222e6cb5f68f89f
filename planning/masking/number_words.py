"""Numbers that are spelled out: "three", "twenty-five", "two hundred and fifty", "a dozen"."""

import re

UNITS = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
GROUPS = {"dozen": 12, "couple": 2}

_SMALL = "|".join([*UNITS, *TENS])
_SCALE = "|".join(SCALES)
# "one" alone stays out: it is a pronoun far more often than a number ("which one", "the one that").
SPELLED = (
    rf"(?:(?:{_SMALL}|an?(?=[\s-]+(?:{_SCALE})\b))(?:[\s-]+(?:and[\s-]+)?(?:{_SMALL}|{_SCALE})\b)*"
    rf"|an?\s+(?:dozen|couple(?:\s+of)?)\b|dozen\b|couple\s+of\b)"
)
"""A pattern for a spelled number, without its borders."""

ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=1
    )
}


def spelled_number(text: str) -> int | None:
    """The value of a number that is spelled out, or None: "two hundred and fifty" is 250."""
    total = current = 0
    for word in re.split(r"[\s-]+", text.lower().strip()):
        if word in UNITS or word in TENS:
            current += UNITS.get(word, TENS.get(word, 0))
        elif word in GROUPS:
            current = max(current, 1) * GROUPS[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in SCALES:
            total += max(current, 1) * SCALES[word]
            current = 0
        elif word not in ("a", "an", "and", "of"):
            return None
    return total + current


def whole_number(text: str) -> int | None:
    """The value of digits or of a spelled number, "a" being one; None for anything else."""
    if text.isascii() and text.isdigit():
        return int(text)
    if text.lower() in ("a", "an"):
        return 1
    return spelled_number(text)
