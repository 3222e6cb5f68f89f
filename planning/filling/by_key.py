"""Bind the slots of a question as a stored question of the plan has them: constants first, then what stands alike."""

from collections.abc import Mapping, Sequence

from qkva.contracts.cache import Key
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.planning.filling.alignment import align
from qkva.planning.filling.alike import treats_alike
from qkva.planning.filling.bound import Binding, is_constant
from qkva.planning.filling.fits import NO, how_well
from qkva.planning.filling.said_constants import is_constant_role, said_constant, said_in_words
from qkva.planning.filling.time_sides import misses_side
from qkva.planning.reading.query_form import QueryForm
from qkva.planning.reading.question_form import read_question_form
from qkva.planning.reading.question_tokens import read_tokens
from qkva.planning.reading.slot_roles import SlotRole


def bind_by_key(plan: Plan, query: QueryForm, question: MaskedQuestion, roles: Sequence[SlotRole], key: Key) -> Binding:
    """Constants first, then the slots that stand as the key's, then what else still has one place only."""
    stored = read_question_form(key.masked).slots
    shared, unsaid = _shared_constants(question, key)
    constants = list(shared)
    ours = [at for at in range(len(roles)) if at not in constants]
    theirs = [at for at, role in enumerate(key.roles) if role is not None and not is_constant_role(role)]
    names = [str(key.roles[at]) for at in theirs]
    aligned = align(
        [roles[at] for at in ours],
        [stored[at] for at in theirs],
        same=lambda one, other: _fill_alike(plan, question, ours, names, one, other),
    )
    bound: dict[str, list[int]] = {}
    left: list[int] = []
    for at, pair in zip(ours, aligned.pairs, strict=True):
        if pair is None:
            left.append(at)
        elif problem := _place(plan, query, question, names[pair], at, bound):
            return Binding(left_over=(at,), misfit=problem)
    if aligned.ambiguous:
        at = ours[aligned.ambiguous[0]]
        could = sorted({names[pair] for pair in aligned.pairs if pair is not None})
        misfit = f"“{question.slots[at].text}” could be {' or '.join(could)}."
        return Binding(left_over=(at,), ambiguous=tuple(could), misfit=misfit)
    for at in left:
        if _is_said_by(query, question.slots[at], key):
            constants.append(at)
        elif problem := _place_elsewhere(plan, query, question, roles, at, bound, names):
            return Binding(left_over=(at,), misfit=problem)
    return Binding(
        slots={name: tuple(found) for name, found in bound.items()},
        constants=tuple(constants),
        unsaid=not _said_otherwise(unsaid, question) or len(constants) - len(shared) < key.roles.count(None),
        key=key,
    )


def _shared_constants(question: MaskedQuestion, key: Key) -> tuple[list[int], list[str]]:
    """Slots that say a constant of the key, and the constants that no slot says."""
    wanted = [role for role in key.roles if role is not None and is_constant_role(role)]
    found = []
    for at, slot in enumerate(question.slots):
        said = said_constant(slot)
        if said in wanted:
            wanted.remove(said)
            found.append(at)
    return found, wanted


def _said_otherwise(constants: Sequence[str], question: MaskedQuestion) -> bool:
    """Whether words outside of the slots say them: "on wednesdays" beside a stored ‹time›."""
    tokens = read_tokens(question.masked)
    return all(said_in_words(constant, tokens) for constant in constants)


def _is_said_by(query: QueryForm, slot: Slot, key: Key) -> bool:
    """Whether the query holds the value, or the key says it in plain words."""
    return is_constant(query, slot) or said_in_words(said_constant(slot), read_tokens(key.masked))


def _fill_alike(
    plan: Plan,
    question: MaskedQuestion,
    ours: Sequence[int],
    names: Sequence[str],
    one: Mapping[int, int],
    other: Mapping[int, int],
) -> bool:
    """Whether two assignments give every parameter the same value, or swap parameters that the query treats alike."""
    filled = []
    for choice in (one, other):
        values: dict[str, list[str]] = {}
        for at, pair in choice.items():
            values.setdefault(names[pair], []).append(str(question.slots[ours[at]].value).casefold())
        filled.append({name: sorted(found) for name, found in values.items()})
    if filled[0] == filled[1]:
        return True
    swapped = _swap(filled[0], filled[1])
    return swapped is not None and treats_alike(plan, swapped)


def _swap(one: Mapping[str, list[str]], other: Mapping[str, list[str]]) -> tuple[tuple[str, str], ...] | None:
    """The renaming of parameters that turns one filling into the other."""
    differing = [name for name in one if one[name] != other.get(name)]
    renamed: list[tuple[str, str]] = []
    for name in differing:
        target = next((n for n in differing if other.get(n) == one[name] and n not in {t for _, t in renamed}), None)
        if target is None:
            return None
        renamed.append((name, target))
    return tuple(renamed)


def _place(
    plan: Plan, query: QueryForm, question: MaskedQuestion, name: str, at: int, bound: dict[str, list[int]]
) -> str | None:
    """Bind a slot to the parameter that its counterpart fills; a sentence where that cannot be."""
    slot = question.slots[at]
    param = next((param for param in plan.params if param.name == name), None)
    if param is None:
        return f"“{slot.text}” has no place in the plan."
    if how_well(param, slot, uses=(), direction="") == NO and not _is_loose(param, slot):
        return f"“{slot.text}” is no value for {name}."
    if problem := misses_side(param, query.uses.get(name, ()), slot):
        return problem
    if name in bound and param.type is not ParamType.LIST:
        if str(question.slots[bound[name][0]].value).casefold() == str(slot.value).casefold():
            return None
        return f"The question says {name} twice."
    bound.setdefault(name, []).append(at)
    return None


def _place_elsewhere(
    plan: Plan,
    query: QueryForm,
    question: MaskedQuestion,
    roles: Sequence[SlotRole],
    at: int,
    bound: dict[str, list[int]],
    names: Sequence[str],
) -> str | None:
    """Bind a slot that the key has no counterpart for to the one free parameter that takes it."""
    slot = question.slots[at]
    free = [
        param
        for param in plan.params
        if param.name not in bound
        and (
            how_well(param, slot, uses=query.uses.get(param.name, ()), direction=roles[at].direction) != NO
            or (param.name in names and _is_loose(param, slot))
        )
        and misses_side(param, query.uses.get(param.name, ()), slot) is None
    ]
    if len(free) != 1:
        could = f"could be {' or '.join(param.name for param in free)}." if free else "has no place in the plan."
        return f"“{slot.text}” {could}"
    bound[free[0].name] = [at]
    return None


def _is_loose(param: Parameter, slot: Slot) -> bool:
    """What an exemplar gave a parameter it may have again, though its type alone would not say so.

    A value without columns; a time of day, or a year read as a time, where the parameter is a text or a number.
    """
    if slot.type is SlotType.VALUE and not slot.columns:
        return True
    if slot.type is SlotType.CLOCK_TIME or slot.type is SlotType.NUMBER:
        return param.type is ParamType.TEXT
    return _is_year(slot) and param.type in (ParamType.INTEGER, ParamType.NUMBER, ParamType.TEXT)


def _is_year(slot: Slot) -> bool:
    """Whether a time is said by the number of a year alone."""
    return slot.type is SlotType.TIME_RANGE and slot.text.isdecimal() and len(slot.text) == 4
