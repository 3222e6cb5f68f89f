"""What the words around a slot say of its role."""

from collections.abc import Sequence

from qkva.contracts.plan import Parameter
from qkva.planning.reading.query_form import Use
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
