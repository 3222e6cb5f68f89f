"""What the words around a slot say of its role, and how a stored key hands its roles on."""

from collections import Counter
from collections.abc import Sequence

from qkva.contracts.cache import Key
from qkva.contracts.plan import Parameter
from qkva.planning.reading.query_form import Use
from qkva.planning.reading.question_form import QuestionForm, read_question_form
from qkva.planning.reading.question_tokens import words_of
from qkva.planning.reading.slot_roles import SlotRole

_CUES = {
    "from": frozenset(
        "from source origin start since after begin min minimum sender departure low lower first".split()
    ),
    "to": frozenset(
        "to target destination end until before max maximum recipient arrival high upper last second".split()
    ),
    "since": frozenset("since from start after begin".split()),
    "after": frozenset("after since from start".split()),
    "before": frozenset("before until to end".split()),
    "until": frozenset("until before to end".split()),
    "gt": frozenset("min minimum over above low lower more least".split()),
    "ge": frozenset("min minimum over above low lower more least".split()),
    "lt": frozenset("max maximum under below high upper less most".split()),
    "le": frozenset("max maximum under below high upper less most".split()),
    "not": frozenset("exclude excluded without not except".split()),
}


def cue_points(param: Parameter, uses: Sequence[Use], role: SlotRole) -> float:
    """0 to 0.9: how far the parameter's name, or the column it is compared with, echoes the words around the slot."""
    name_words = set(param.name.split("_")) | set(words_of(param.name))
    points = 0.0
    if role.direction and name_words & _CUES.get(role.direction, frozenset()):
        points += 0.5
    if role.cue and (role.cue in name_words or any(use.column and role.cue in words_of(use.column) for use in uses)):
        points += 0.3
    if role.direction == "not" and any(use.op == "!=" for use in uses):
        points += 0.1
    return points


def roles_by_key(key: Key, form: QuestionForm) -> tuple[str | None, ...] | None:
    """The key's roles put onto the slots of a question; None where that cannot be told without guessing."""
    stored = read_question_form(key.masked)
    if key.kind != "exemplar" or len(key.roles) != len(stored.slots) or len(form.slots) != len(stored.slots):
        return None
    if key.exact or (form.sequence == stored.sequence and _marks(form) == _marks(stored)):
        return key.roles
    if Counter(slot.label for slot in form.slots) != Counter(slot.label for slot in stored.slots):
        return None
    for distinct in (_by_label, _by_label_and_direction):
        named = distinct(key.roles, stored.slots, form.slots)
        if named is not None:
            return named
    return None


def _marks(form: QuestionForm) -> list[tuple[str, str]]:
    return [(slot.label, slot.direction) for slot in form.slots]


def _by_label(
    roles: Sequence[str | None], stored: Sequence[SlotRole], asked: Sequence[SlotRole]
) -> tuple[str | None, ...] | None:
    """Where all slots of a label have one role, as in a list, their order does not matter."""
    role_of: dict[str, set[str | None]] = {}
    for slot, role in zip(stored, roles, strict=True):
        role_of.setdefault(slot.label, set()).add(role)
    if any(len(found) > 1 for found in role_of.values()):
        return None
    return tuple(next(iter(role_of[slot.label])) for slot in asked)


def _by_label_and_direction(
    roles: Sequence[str | None], stored: Sequence[SlotRole], asked: Sequence[SlotRole]
) -> tuple[str | None, ...] | None:
    marks = [(slot.label, slot.direction) for slot in stored]
    if len(set(marks)) != len(marks) or Counter(marks) != Counter((s.label, s.direction) for s in asked):
        return None
    role_of = dict(zip(marks, roles, strict=True))
    return tuple(role_of[slot.label, slot.direction] for slot in asked)
