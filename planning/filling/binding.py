"""Which slot of a question fills which parameter of a plan; without a clock, so that the hit decision can ask too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from qkva.contracts.cache import Key
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.planning.filling.fits import NO, direction_of, how_well
from qkva.planning.filling.roles import cue_points, roles_by_key
from qkva.planning.filling.time_sides import misses_side
from qkva.planning.reading.plan_form import read_plan_form
from qkva.planning.reading.query_form import QueryForm
from qkva.planning.reading.question_form import QuestionForm, read_question_form
from qkva.planning.reading.slot_roles import SlotRole

Name = TypeVar("Name", int, str)


@dataclass(frozen=True)
class Binding:
    """Slots by parameter, and what is left."""

    slots: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Indices of slots by parameter name; several for a list."""
    constants: tuple[int, ...] = ()
    """Slots that say a constant of the plan."""
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
    """By the roles of a key of the same shape, else by column, type, comparison and cue words."""
    query = read_plan_form(plan)
    form = read_question_form(question.masked)
    roles = _directed_roles(question, form)
    failed: Binding | None = None
    for key in keys:
        named = roles_by_key(key, form)
        if named is None:
            continue
        binding = _bind_named(plan, query, question, named, key)
        if binding.misfit is None:
            return binding
        failed = failed or binding
    return failed or _bind_free(plan, query, question, roles)


def _directed_roles(question: MaskedQuestion, form: QuestionForm) -> list[SlotRole]:
    """The roles of the masked text with the masker's own directions; plain ones where the two do not match up."""
    found = (
        form.slots if len(form.slots) == len(question.slots) else [SlotRole(s.label, "", "") for s in question.slots]
    )
    return [
        SlotRole(role.label, direction_of(slot, role.direction), role.cue)
        for role, slot in zip(found, question.slots, strict=True)
    ]


def _bind_named(
    plan: Plan, query: QueryForm, question: MaskedQuestion, names: Sequence[str | None], key: Key
) -> Binding:
    params = {param.name: param for param in plan.params}
    bound: dict[str, list[int]] = {}
    constants: list[int] = []
    for at, (slot, name) in enumerate(zip(question.slots, names, strict=True)):
        if name is None or name not in params:
            if not is_constant(query, slot):
                return Binding(left_over=(at,), misfit=f"“{slot.text}” has no place in the plan.")
            constants.append(at)
            continue
        param = params[name]
        if how_well(param, slot, uses=(), direction="") == NO and not _is_loose(slot):
            return Binding(left_over=(at,), misfit=f"“{slot.text}” is no value for {name}.")
        if problem := misses_side(param, query.uses.get(name, ()), slot):
            return Binding(left_over=(at,), misfit=problem)
        if name in bound and param.type is not ParamType.LIST:
            return Binding(left_over=(at,), misfit=f"The question says {name} twice.")
        bound.setdefault(name, []).append(at)
    return Binding(slots={name: tuple(found) for name, found in bound.items()}, constants=tuple(constants), key=key)


def _is_loose(slot: Slot) -> bool:
    """A value without columns says nothing against a parameter that an exemplar gave it."""
    return slot.type is SlotType.VALUE and not slot.columns


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
