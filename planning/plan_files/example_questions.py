"""A question as it is written in a plan file, masked as it would be if somebody asked it.

A `{param}` is replaced by a real value of the source and the whole question goes through the masker, so that import
and ask can never disagree on how a value is written. Where the source has no value to offer, its label is put there.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from qkva.contracts.errors import PlanRejected
from qkva.contracts.plan import Exemplar, Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.contracts.source import SourceDescription
from qkva.planning.filling.binding import bind_slots
from qkva.planning.filling.fits import same_column
from qkva.planning.filling.said_constants import said_constant
from qkva.planning.masking.mask import mask_question
from qkva.planning.masking.value_index import ValueIndex

HOLE = re.compile(r"\{([a-z_][a-z0-9_]*)\}|‹([^‹›]+?)(?: (=[0-9a-f]{12}))?›")
TRIES = 12
"""Values of a column that are tried until one is recognised as that column's; most are at the first."""
MONTH, DAY = "May 2026", "2026-05-03"
AFTER_PREPOSITION = re.compile(
    r"\b(?:in|for|during|of|from|by|since|until|before|after|between|and|with|than)\s*$", re.IGNORECASE
)
NUMBERS = (ParamType.INTEGER, ParamType.NUMBER)
NUMBER_SLOTS = (SlotType.NUMBER, SlotType.MONEY, SlotType.PERCENT, SlotType.ORDINAL, SlotType.ID)
TIMES = (ParamType.TIME_RANGE, ParamType.DATE, ParamType.DATETIME)
STAND_IN = "zqxv"
"""A word that no source holds; a letter behind it tells several apart."""


@dataclass(frozen=True)
class Hole:
    """A place in a written question that stands for a value."""

    start: int
    end: int
    param: Parameter | None
    """None for a literal `‹label›`, a value that the plan does not bind."""
    label: str = ""
    """Of a literal one."""
    constant: str | None = None
    """The fingerprint of a literal one's value, if it was written: `‹label =0123456789ab›`."""


@dataclass(frozen=True)
class ReadQuestion:
    """A written question as a key of its plan."""

    exemplar: Exemplar
    unrecognised: tuple[str, ...] = ()
    """Parameters of which no value was recognised where it stands: nobody's question may ever be masked like this."""


def read_written(
    question: str, plan: Plan, *, description: SourceDescription, values: ValueIndex, now: datetime
) -> ReadQuestion:
    """The masked question with the parameter of each slot. Raises PlanRejected for one that masking takes apart."""
    holes = [hole_of(found, plan) for found in HOLE.finditer(question)]
    samples = [tuple(samples_for(hole, question, description)) for hole in holes]
    if all(samples):
        for attempt in range(TRIES if holes else 1):
            said = [options[(attempt + number) % len(options)] for number, options in enumerate(samples)]
            text, spans = filled(question, holes, said)
            masked = mask_question(text, source=plan.source, values=values, now=now)
            slots = [slot_at(masked, span) for span in spans]
            found = [None if slot is None else masked.slots[slot] for slot in slots]
            if len(set(slots)) == len(slots) and all(map(fits, holes, found)):
                return ReadQuestion(Exemplar(masked=masked.masked, roles=roles_of(masked, plan, holes, slots)))
    unrecognised = tuple(
        hole.param.name for hole, options in zip(holes, samples, strict=True) if hole.param and options
    )
    return ReadQuestion(by_hand(question, plan, holes, values=values, now=now), unrecognised)


def hole_of(found: re.Match[str], plan: Plan) -> Hole:
    """A `{param}`, a `‹label›` or a `‹label =fingerprint›`."""
    if found[1]:
        return Hole(found.start(), found.end(), plan.param(found[1]))
    return Hole(found.start(), found.end(), None, found[2], found[3])


def samples_for(hole: Hole, question: str, description: SourceDescription) -> Iterator[str]:
    """What somebody could have said there; nothing where only a label can be put."""
    param = hole.param
    if param is None:
        return
    if param.type in TIMES:
        spoken = [MONTH, DAY, "last month"]
        yield from spoken if AFTER_PREPOSITION.search(question[: hole.start]) else ["last month", *spoken]
    elif param.choices:
        yield from param.choices
    elif param.column is not None:
        yield from column_samples(param.column, description)
    if param.type in NUMBERS and param.column is None:
        yield from ("7", "40")


def column_samples(column: str, description: SourceDescription) -> list[str]:
    """Values of a column, the longer ones first: they are the least likely to mean something else too."""
    for held in description.values:
        if same_column(held.column, column) and held.values:
            return sorted(held.values, key=len, reverse=True)[:TRIES]
    field = description.field(column)
    return list(field.samples) if field else []


def filled(question: str, holes: Sequence[Hole], said: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The question with the values in it, and where each stands."""
    text, spans, last = "", [], 0
    for hole, value in zip(holes, said, strict=True):
        text += question[last : hole.start]
        spans.append((len(text), len(text) + len(value)))
        text, last = text + value, hole.end
    return text + question[last:], spans


def slot_at(masked: MaskedQuestion, span: tuple[int, int]) -> int | None:
    """The index of the slot that covers the span."""
    for index, slot in enumerate(masked.slots):
        if slot.start <= span[0] and span[1] <= slot.end:
            return index
    return None


def fits(hole: Hole, slot: Slot | None) -> bool:
    """Whether the value was recognised as what it is."""
    if slot is None or hole.param is None:
        return False
    if hole.param.type in TIMES:
        return slot.type is SlotType.TIME_RANGE
    if slot.columns and hole.param.column:
        return any(same_column(hole.param.column, column) for column in slot.columns)
    return (
        slot.type in NUMBER_SLOTS
        if hole.param.type in NUMBERS
        else slot.type not in (*NUMBER_SLOTS, SlotType.TIME_RANGE)
    )


def roles_of(
    masked: MaskedQuestion, plan: Plan, holes: Sequence[Hole], slots: Sequence[int | None]
) -> tuple[str | None, ...]:
    """The parameter of each slot: of the holes, and of concrete values by what they are; else the constant it says."""
    roles: dict[int, str] = {}
    for hole, index in zip(holes, slots, strict=True):
        if index is not None and hole.param is not None:
            roles[index] = hole.param.name
    taken = set(roles.values())
    for name, indices in bind_slots(plan, masked).slots.items():
        for index in indices:
            if name not in taken and index not in roles:
                roles[index] = name
    return tuple(
        roles.get(index) or (said_constant(slot) if index not in slots else None)
        for index, slot in enumerate(masked.slots)
    )


def by_hand(question: str, plan: Plan, holes: Sequence[Hole], *, values: ValueIndex, now: datetime) -> Exemplar:
    """The question masked around its holes, with a label put into each."""
    words = [STAND_IN + chr(ord("a") + number) for number in range(len(holes))]
    text, _ = filled(question, holes, words)
    masked = mask_question(text, source=plan.source, values=values, now=now)
    by_word = dict(zip(words, holes, strict=True))
    roles: list[str | None] = []
    other = iter(roles_of(masked, plan, (), ()))

    def put_label(found: re.Match[str]) -> str:
        hole = by_word.get(found[0])
        roles.append(next(other, None) if hole is None else hole.param.name if hole.param else hole.constant)
        return found[0] if hole is None else f"‹{label_of(hole)}›"

    labelled = re.sub(rf"‹[^‹›]*›|{STAND_IN}[a-z]", put_label, masked.masked)
    if len(roles) != len(masked.slots) + len(holes):
        raise PlanRejected(f"The question {question!r} cannot be masked: write it with spaces around each {{name}}.")
    return Exemplar(masked=labelled, roles=tuple(roles))


def label_of(hole: Hole) -> str:
    """The label that the masker gives to such a value."""
    if hole.param is None:
        return hole.label
    if hole.param.type in TIMES:
        return "time"
    if hole.param.type in NUMBERS:
        return "number"
    return hole.param.column or "quoted"
