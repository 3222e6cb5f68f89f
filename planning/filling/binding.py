"""Which slot of a question fills which parameter of a plan; without a clock, so that the hit decision can ask too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from qkva.contracts.cache import Key
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.planning.filling.alignment import align
from qkva.planning.filling.alike import treats_alike
from qkva.planning.filling.fits import NO, direction_of, how_well
from qkva.planning.filling.roles import cue_points
from qkva.planning.filling.said_constants import is_constant_role, said_constant, said_in_words
from qkva.planning.filling.time_sides import misses_side
from qkva.planning.reading.plan_form import read_plan_form
from qkva.planning.reading.query_form import QueryForm
from qkva.planning.reading.question_form import QuestionForm, read_question_form
from qkva.planning.reading.question_tokens import read_tokens
from qkva.planning.reading.slot_roles import SlotRole

Name = TypeVar("Name", int, str)


@dataclass(frozen=True)
class Binding:
    """Slots by parameter, and what is left."""

    slots: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Indices of slots by parameter name; several for a list."""
    constants: tuple[int, ...] = ()
    """Slots that say a constant of the plan."""
    unsaid: bool = False
    """Whether the key says a constant of the plan that the question does not say."""
    left_over: tuple[int, ...] = ()
    """Slots that the plan cannot carry."""
    ambiguous: tuple[str, ...] = ()
    """Parameters that several slots fit equally well."""
    misfit: str | None = None
    """Why the plan cannot carry the question, as a sentence."""
    key: Key | None = None
    """The key whose roles were followed, if one was."""

    def missing(self, plan: Plan) -> tuple[Parameter, ...]:
        """Required parameters that no slot fills and no default stands in for."""
        return tuple(p for p in plan.params if p.name not in self.slots and p.required and p.default is None)


def bind_slots(plan: Plan, question: MaskedQuestion, keys: Sequence[Key] = ()) -> Binding:
    """By the roles of the first key that carries the question, else by column, type, comparison and cue words."""
    query = read_plan_form(plan)
    form = read_question_form(question.masked)
    roles = _directed_roles(question, form)
    failed: Binding | None = None
    for key in keys:
        stored = read_question_form(key.masked)
        if key.kind != "exemplar" or len(key.roles) != len(stored.slots) or len(roles) != len(question.slots):
            continue
        binding = _bind_by_key(plan, query, question, roles, key)
        if binding.misfit is None and not binding.unsaid:
            return binding
        failed = failed or binding
    return failed or _bind_free(plan, query, question, roles)


def _directed_roles(question: MaskedQuestion, form: QuestionForm) -> list[SlotRole]:
    """The roles of the masked text with the masker's own directions; plain ones where the two do not match up."""
    found = (
        form.slots if len(form.slots) == len(question.slots) else [SlotRole(s.label, "", "") for s in question.slots]
    )
    return [
        replace(role, direction=direction_of(slot, role.direction))
        for role, slot in zip(found, question.slots, strict=True)
    ]


def _bind_by_key(
    plan: Plan, query: QueryForm, question: MaskedQuestion, roles: Sequence[SlotRole], key: Key
) -> Binding:
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
    return is_year(slot) and param.type in (ParamType.INTEGER, ParamType.NUMBER, ParamType.TEXT)


def is_year(slot: Slot) -> bool:
    """Whether a time is said by the number of a year alone."""
    return slot.type is SlotType.TIME_RANGE and slot.text.isdecimal() and len(slot.text) == 4


def is_constant(query: QueryForm, slot: Slot) -> bool:
    """Whether a slot says a value that stands in the query itself."""
    if slot.type is SlotType.TIME_RANGE:
        return False
    return any(query.says(said) for said in {slot.text, str(slot.value)})


def _bind_free(plan: Plan, query: QueryForm, question: MaskedQuestion, roles: Sequence[SlotRole]) -> Binding:
    strengths = {
        param.name: [
            how_well(param, slot, uses=query.uses.get(param.name, ()), direction=role.direction)
            if misses_side(param, query.uses.get(param.name, ()), slot) is None
            else NO
            for slot, role in zip(question.slots, roles, strict=True)
        ]
        for param in plan.params
    }
    bound = _bind_lists(plan, strengths)
    taken = {at for found in bound.values() for at in found}
    _bind_pairs(plan, query, strengths, roles, bound, taken)
    rest = [at for at in range(len(question.slots)) if at not in taken]
    constants = [at for at in rest if is_constant(query, question.slots[at])]
    left_over = tuple(at for at in rest if at not in constants)
    ambiguous = tuple(
        param.name
        for param in plan.params
        if param.name not in bound and any(strengths[param.name][at] > NO for at in left_over)
    )
    misfit = None
    if left_over:
        said = question.slots[left_over[0]].text
        misfit = f"“{said}” could be {' or '.join(ambiguous)}." if ambiguous else f"“{said}” has no place in the plan."
    return Binding(
        slots={name: tuple(found) for name, found in bound.items()},
        constants=tuple(constants),
        left_over=left_over,
        ambiguous=ambiguous,
        misfit=misfit,
    )


def _bind_lists(plan: Plan, strengths: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """A list takes every slot that fits it better than any other parameter."""
    bound: dict[str, list[int]] = {}
    for param in plan.params:
        if param.type is not ParamType.LIST:
            continue
        mine = [
            at
            for at, strength in enumerate(strengths[param.name])
            if strength > NO
            and all(strength > strengths[other.name][at] for other in plan.params if other.name != param.name)
        ]
        if mine:
            bound[param.name] = mine
    return bound


def _bind_pairs(
    plan: Plan,
    query: QueryForm,
    strengths: Mapping[str, Sequence[int]],
    roles: Sequence[SlotRole],
    bound: dict[str, list[int]],
    taken: set[int],
) -> None:
    """Bind every pair of a parameter and a slot that are each other's only best; again, until none is left."""
    free = [param for param in plan.params if param.type is not ParamType.LIST]
    progress = True
    while progress:
        progress = False
        for param in free:
            if param.name in bound:
                continue
            at = _only_best(
                {
                    s: _points(param, query, strengths[param.name][s], roles[s])
                    for s in range(len(roles))
                    if s not in taken
                }
            )
            if at is None:
                continue
            rivals = [p for p in free if p.name not in bound]
            best = _only_best({p.name: _points(p, query, strengths[p.name][at], roles[at]) for p in rivals})
            if best == param.name:
                bound[param.name] = [at]
                taken.add(at)
                progress = True


def _points(param: Parameter, query: QueryForm, strength: int, role: SlotRole) -> float:
    if strength == NO:
        return 0.0
    return strength + cue_points(param, query.uses.get(param.name, ()), role)


def _only_best(points: Mapping[Name, float]) -> Name | None:
    """The one with the most points; None when nothing has any or two are level."""
    best = max(points.values(), default=0.0)
    if best <= 0:
        return None
    winners = [name for name, found in points.items() if found == best]
    return winners[0] if len(winners) == 1 else None
