"""What the planner sees of a question and its source."""

from datetime import datetime

from qkva.contracts.question import MaskedQuestion, SlotType
from qkva.contracts.source import SourceDescription
from qkva.nodes.schema_text import schema_text


def planner_sees(
    question: MaskedQuestion, description: SourceDescription, *, now: datetime, complaint: str | None
) -> str:
    """Schema, question, the values that masking found in it, the clock, and why the last plan was rejected."""
    parts = [
        f"Dialect: {description.dialect}",
        f"Now: {now.isoformat(timespec='minutes')} ({now.tzname()})",
        f"Schema of {description.name}:\n{schema_text(description, question)}",
        f"Question: {question.text}",
    ]
    if question.slots:
        parts.append("Values in the question; use the placeholder instead of the value:\n" + values_text(question))
    if complaint:
        parts.append(f"Your last plan was rejected: {complaint}\nMake a plan that avoids this.")
    return "\n\n".join(parts)


def values_text(question: MaskedQuestion) -> str:
    """One line a value: the placeholder to use, what was said, where it lives."""
    lines = []
    for name, slot in zip(placeholder_names(question), question.slots, strict=True):
        where = f", a value of {' or '.join(slot.columns)}" if slot.columns else ""
        if slot.type is SlotType.TIME_RANGE:
            use = f"{{{name}.start}} and {{{name}.end}} (half-open: >= start and < end), type time_range"
            lines.append(f"- {use}: “{slot.text}” = {slot.value['start']} to {slot.value['end']}")
        else:
            lines.append(f"- {{{name}}}: “{slot.text}” = {slot.value!r}, type {slot.type.value}{where}")
    return "\n".join(lines)


def placeholder_names(question: MaskedQuestion) -> list[str]:
    """A name for each slot, after its column or type, numbered where two would be equal."""
    names: list[str] = []
    for slot in question.slots:
        base = name_of(slot.type, slot.label)
        taken = sum(name == base or name.rstrip("0123456789_") == base for name in names)
        names.append(base if not taken else f"{base}_{taken + 1}")
    return names


def name_of(slot_type: SlotType, label: str) -> str:
    """ "customers.name" gives "customers_name"; time ranges are periods."""
    if slot_type is SlotType.TIME_RANGE:
        return "period"
    return "".join(character if character.isalnum() else "_" for character in label.lower()).strip("_") or "value"
