"""Which slot of a question fills which parameter of a plan; without a clock, so that the hit decision can ask too."""

from collections.abc import Sequence
from dataclasses import replace

from qkva.contracts.cache import Key
from qkva.contracts.plan import Plan
from qkva.contracts.question import MaskedQuestion
from qkva.planning.filling.bound import Binding
from qkva.planning.filling.by_key import bind_by_key
from qkva.planning.filling.by_type import bind_by_type
from qkva.planning.filling.fits import direction_of
from qkva.planning.reading.plan_form import read_plan_form
from qkva.planning.reading.question_form import QuestionForm, read_question_form
from qkva.planning.reading.slot_roles import SlotRole


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
        binding = bind_by_key(plan, query, question, roles, key)
        if binding.misfit is None and not binding.unsaid:
            return binding
        failed = failed or binding
    return failed or bind_by_type(plan, query, question, roles)


def _directed_roles(question: MaskedQuestion, form: QuestionForm) -> list[SlotRole]:
    """The roles of the masked text with the masker's own directions; plain ones where the two do not match up."""
    found = (
        form.slots if len(form.slots) == len(question.slots) else [SlotRole(s.label, "", "") for s in question.slots]
    )
    return [
        replace(role, direction=direction_of(slot, role.direction))
        for role, slot in zip(found, question.slots, strict=True)
    ]
