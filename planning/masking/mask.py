"""Mask a question: its concrete values give way to their types, and are kept as slots.

"Orders of Ada Lovelace since yesterday?" becomes "orders of ‹customers.name› since ‹time›".
"""

import re
from datetime import datetime

from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.planning.masking.detectors import detect
from qkva.planning.masking.time_phrases import find_time_phrases
from qkva.planning.masking.value_index import ValueIndex

# Of two readings of the same words the first here is taken; a longer one always wins over a shorter one.
PRIORITY = {
    type_: rank
    for rank, type_ in enumerate(
        (
            SlotType.TIME_RANGE,
            SlotType.EMAIL,
            SlotType.URL,
            SlotType.CLOCK_TIME,
            SlotType.MONEY,
            SlotType.PERCENT,
            SlotType.VALUE,
            SlotType.ID,
            SlotType.ORDINAL,
            SlotType.NUMBER,
            SlotType.QUOTED,
        )
    )
}
CLOCK = re.compile(r"[\d:]+")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
TYPOGRAPHY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"', "\u00a0": " ", "‹": "<", "›": ">"})


def mask_question(text: str, *, source: str, values: ValueIndex, now: datetime) -> MaskedQuestion:
    """Find every value of the question and mask it.

    `now` is the caller's clock, aware and in the caller's zone. Words outside the slots are lower-cased, white space is
    folded and closing punctuation dropped, so tokenised text masks like plain text.
    """
    slots = choose([*times(text, now), *detect(text)], text, values)
    return MaskedQuestion(source=source, text=text, masked=write(text, slots), slots=tuple(slots))


def times(text: str, now: datetime) -> list[Slot]:
    """The time phrases as slots."""
    return [
        Slot(
            start=start, end=end, text=text[start:end], type=SlotType.TIME_RANGE, label="time", comparison=comparison,
            value={
                "start": said.start.isoformat() if said.start else None,
                "end": said.end.isoformat() if said.end else None,
            },
        )
        for start, end, said, comparison in find_time_phrases(text, now)
    ]  # fmt: skip


def choose(typed: list[Slot], text: str, values: ValueIndex) -> list[Slot]:
    """The typed and the indexed values that do not overlap, the longest first; typed ones learn which columns hold
    them."""
    found = [unquoted(slot, values) for slot in typed]
    found += values.find(text, [(slot.start, slot.end) for slot in typed])
    kept: list[Slot] = []
    for slot in sorted(found, key=lambda slot: (slot.start - slot.end, PRIORITY[slot.type], slot.start)):
        if all(slot.end <= other.start or slot.start >= other.end for other in kept):
            kept.append(slot)
    return [with_columns(slot, values) for slot in sorted(kept, key=lambda slot: slot.start)]


def unquoted(slot: Slot, values: ValueIndex) -> Slot:
    """A quoted value that the source holds is that value, quotes and all."""
    columns = values.columns_of(slot.value) if slot.type is SlotType.QUOTED else ()
    if not columns:
        return slot
    spelling = values.canonical(columns[0], slot.value) or slot.value
    return slot.model_copy(
        update={"type": SlotType.VALUE, "label": values.label(columns), "columns": columns, "value": spelling}
    )


def with_columns(slot: Slot, values: ValueIndex) -> Slot:
    """A typed value with the text columns that hold it, such as course numbers that a source keeps as text."""
    if slot.columns or slot.type is SlotType.VALUE:
        return slot
    said = CLOCK.match(slot.text) if slot.type is SlotType.CLOCK_TIME else None
    columns = values.columns_of(said[0] if said else slot.text)
    return slot.model_copy(update={"columns": columns}) if columns else slot


def write(text: str, slots: list[Slot]) -> str:
    """The masked text."""
    parts, position = [], 0
    for slot in slots:
        parts += [plain(text[position : slot.start]), f"‹{slot.label}›"]
        position = slot.end
    return folded("".join((*parts, plain(text[position:]))))


def plain(text: str) -> str:
    """Text outside the slots: lower case, plain quotes, and no mark that could be taken for a slot's."""
    return CONTROL.sub(" ", text.translate(TYPOGRAPHY).lower())


def folded(text: str) -> str:
    """White space folded, tokenised punctuation joined to its word again, closing punctuation dropped."""
    text = text.replace("``", '"').replace("''", '"')
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r" (?=[,.;:?!%)\]])|(?<=[(\[]) ", "", text)
    text = re.sub(r" (?='(?:s|re|ve|ll|d|m|t)\b|n't\b)|(?<=›) (?=-\w)", "", text)
    text = re.sub(r"›'(?=\s|$)", "›'s", text)
    return text.strip(" \t\n.?!,;:")
