"""The values of a plan's parameters from what masking found in the question: no model, and no guess."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from qkva.contracts.cache import Key
from qkva.contracts.errors import ParameterError
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot
from qkva.planning.filling.binding import bind_slots
from qkva.planning.filling.coerce import coerce
from qkva.planning.filling.time_sides import value_on_side
from qkva.planning.reading.plan_form import read_plan_form


@dataclass(frozen=True)
class Filling:
    """What could be filled, and what could not."""

    values: dict[str, Any]
    """JSON-ready, by parameter; None for one that was not said and has no default."""
    missing: tuple[Parameter, ...] = ()
    """Required parameters without a value."""
    misfit: str | None = None
    """A sentence, when the plan cannot carry the question: a value in it has no place in the plan."""
    notes: tuple[str, ...] = ()
    """What was taken from defaults."""


def fill_from_question(plan: Plan, question: MaskedQuestion, *, keys: Sequence[Key] = (), now: datetime) -> Filling:
    """Fill by a key's roles, else by column, type, comparison and cue words; then by defaults.

    Between two equally good roles nothing is guessed: the parameter stays missing.
    """
    binding = bind_slots(plan, question, keys)
    query = read_plan_form(plan)
    values: dict[str, Any] = {}
    notes: list[str] = []
    misfit = binding.misfit
    for param in plan.params:
        slots = [question.slots[at] for at in binding.slots.get(param.name, ())]
        if slots:
            raw = _raw_value(param, slots, {use.op for use in query.uses.get(param.name, ())})
            try:
                values[param.name] = coerce(param, raw, now=now)
            except ParameterError as error:
                misfit = misfit or error.message
        elif param.default is not None and param.name not in binding.ambiguous:
            values[param.name] = coerce(param, param.default, now=now)
            notes.append(f"{param.name} is {param.default} by default")
        elif not param.required:
            values[param.name] = None
    missing = tuple(param for param in plan.params if param.required and values.get(param.name) is None)
    return Filling(values=values, missing=missing, misfit=misfit, notes=tuple(notes))


def _raw_value(param: Parameter, slots: Sequence[Slot], ops: set[str]) -> Any:
    if param.type is ParamType.LIST:
        return [slot.value for slot in slots]
    if param.type in (ParamType.DATE, ParamType.DATETIME):
        return value_on_side(param, ops, slots[0].value)
    return slots[0].value
