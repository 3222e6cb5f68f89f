"""Which source a question is about, by words alone."""

from qkva.contracts.question import MaskedQuestion, SlotType
from qkva.contracts.source import SourceDescription
from qkva.planning.text import FUNCTION_WORDS, stems, words_of_name

VALUE_WEIGHT = 2.0
"""A value that the source holds says more than a table's name, which several sources may share."""


def evidence_for(question: MaskedQuestion, description: SourceDescription) -> float:
    """How much in the question belongs to the source, from 0: its values, and the names of its tables and fields."""
    said = set(stems(question.text)) - FUNCTION_WORDS
    values = sum(slot.type is SlotType.VALUE for slot in question.slots)
    return VALUE_WEIGHT * values + len(said & names_of(description))


def names_of(description: SourceDescription) -> set[str]:
    """Table, field and source names, in words."""
    names = [description.name, *(table.name for table in description.tables)]
    names += [field.name for table in description.tables for field in table.fields]
    return {word for name in names for word in words_of_name(name) if len(word) > 2}
