"""Typed values in a question: numbers, money, percentages, ordinals, ids, e-mail addresses, URLs, quotes, clock
times."""

import re
from collections.abc import Iterator

from qkva.contracts.question import Slot, SlotType
from qkva.planning.masking.detectors_clock import find_clock_times
from qkva.planning.masking.detectors_number import find_numbers

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
URL = re.compile(r"(?:https?://|www\.)[^\s<>\"'‹›]*[^\s<>\"'‹›.,;:!?)]", re.IGNORECASE)
# Tokenised text writes quotes as `` and ''.
QUOTES = re.compile(
    r"\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|``\s*(.+?)\s*''|(?<![\w'’])'([^'\s](?:[^']|'(?=\w))*)'(?!\w)|(?<!\w)‘([^’]+)’(?!\w)"
)
UUID = re.compile(r"(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)", re.IGNORECASE)
# "#1042", "SHOP-17", "EECS482", "A-12-B", "1.2.3", "007", "192.168.0.1": mixed signs, or digits that are no amount.
ID = re.compile(
    r"(?<![\w#.-])(?:#(\w+(?:-\w+)*)|([A-Z]{1,10}[A-Z0-9]*[-_/]\d+(?:[-_/]\w+)*|[A-Za-z]{1,8}\d{2,}[A-Za-z0-9]*|[A-Z]+\d+[A-Z0-9]*"
    r"|\d+[A-Z]+\d+[A-Z0-9]*|\d+(?:[.]\d+){2,}|\d{2,}-\d+(?:-\d+)+|0\d+))(?![\w%]|-\w|\.\d)"
)


def detect(text: str) -> list[Slot]:
    """Every typed value but times, in no order; they may overlap."""
    return [*find_signs(text), *find_clock_times(text), *find_numbers(text)]


def find_signs(text: str) -> Iterator[Slot]:
    """What its signs give away: addresses, quotes, ids."""
    for found in EMAIL.finditer(text):
        yield slot(found, SlotType.EMAIL, "email", found[0].lower())
    for found in URL.finditer(text):
        yield slot(found, SlotType.URL, "url", found[0])
    for found in QUOTES.finditer(text):
        inner = next(group for group in found.groups() if group is not None)
        yield slot(found, SlotType.QUOTED, "quoted", inner.strip())
    for found in UUID.finditer(text):
        yield slot(found, SlotType.ID, "id", found[0].lower())
    for found in ID.finditer(text):
        yield slot(found, SlotType.ID, "id", found[1] or found[2])


def slot(found: re.Match[str], type_: SlotType, label: str, value: str) -> Slot:
    """A slot over the whole match."""
    return Slot(start=found.start(), end=found.end(), text=found[0], type=type_, label=label, value=value)
