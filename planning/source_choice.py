"""Which source a question is about, by words alone."""

from qkva.contracts.question import MaskedQuestion, SlotType
from qkva.contracts.source import SourceDescription
from qkva.planning.text import FUNCTION_WORDS, stems, words_of_name

TABLE_WEIGHT, VALUE_WEIGHT, FIELD_WEIGHT = 2.5, 2.0, 1.0
"""What a question is about is a table before it is a value: "refunds over 100 dollars" is about the table of refunds,
though "refunds" may also be a label in an issue tracker."""


def evidence_for(question: MaskedQuestion, description: SourceDescription) -> float:
    """How much in the question belongs to the source, from 0: its values, and the names of its tables and fields."""
    said = set(stems(question.text)) - FUNCTION_WORDS
    tables = words_in(description.name, *(table.name for table in description.tables))
    fields = words_in(*(field.name for table in description.tables for field in table.fields)) - tables
    values = sum(slot.type is SlotType.VALUE or bool(slot.columns) for slot in question.slots)
    return VALUE_WEIGHT * values + TABLE_WEIGHT * len(said & tables) + FIELD_WEIGHT * len(said & fields)


def words_in(*names: str) -> set[str]:
    """Names of the schema, in words; the shortest are codes rather than words."""
    return {word for name in names for word in words_of_name(name) if len(word) > 2}
