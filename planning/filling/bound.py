"""What is known once the slots of a question have been given to the parameters of a plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from qkva.contracts.cache import Key
from qkva.contracts.plan import Parameter, Plan
from qkva.contracts.question import Slot, SlotType
from qkva.planning.reading.query_form import QueryForm


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


def is_constant(query: QueryForm, slot: Slot) -> bool:
    """Whether a slot says a value that stands in the query itself."""
    if slot.type is SlotType.TIME_RANGE:
        return False
    return any(query.says(said) for said in {slot.text, str(slot.value)})
