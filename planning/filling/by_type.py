"""Bind the slots of a question without a stored one: by column, type, comparison and the words beside them."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion
from qkva.planning.filling.bound import Binding, is_constant
from qkva.planning.filling.fits import NO, how_well
from qkva.planning.filling.roles import cue_points
from qkva.planning.filling.time_sides import misses_side
from qkva.planning.reading.query_form import QueryForm
from qkva.planning.reading.slot_roles import SlotRole

Name = TypeVar("Name", int, str)


def bind_by_type(plan: Plan, query: QueryForm, question: MaskedQuestion, roles: Sequence[SlotRole]) -> Binding:
    """Every pair of a slot and a parameter that are each other's only best; a misfit where a slot is left over."""
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
