"""Turn the values of a question that a planner left in its query into typed parameters.

A planner is told to write placeholders and, being a model, sometimes writes values. A plan that holds a value of one
question would answer the next one wrongly: every literal that equals a slot of the question becomes a placeholder.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.planning.drafting.date_pairs import merge_date_pairs
from qkva.planning.drafting.literals import find_literals, spell_between_out
from qkva.planning.drafting.parameter_book import ParameterBook
from qkva.planning.drafting.slot_match import Match, match_literals
from qkva.planning.filling.binding import bind_slots
from qkva.planning.filling.said_constants import said_constant
from qkva.planning.reading.plan_form import sqlglot_dialect

_BRACED = r"\{[a-z_][a-z0-9_]*(?:\.(?:start|end))?\}"
_QUOTED_HOLE = re.compile(rf"'(?P<before>%?)(?P<hole>{_BRACED})(?P<after>%?)'")
_QUOTED_HOLE_JQL = re.compile(rf"(?P<q>[\"'])(?P<hole>{_BRACED})(?P=q)")
_TYPE_BEFORE = re.compile(r"\b(?:date|timestamp|timestamptz|timestamp\s+with(?:out)?\s+time\s+zone)\s*$", re.IGNORECASE)


def parameterise(
    query: str, dialect: str, question: MaskedQuestion, params: Sequence[Parameter]
) -> tuple[str, tuple[Parameter, ...], dict[str, Any]]:
    """`(query, params, values)`: no value of the question is left in the query where it was recognised.

    Parameters that the query does not use are dropped. Raises PlanRejected for a placeholder whose type nothing tells.
    """
    query = repair_quotes(query, dialect)
    name = sqlglot_dialect(dialect)
    if name is not None:
        query = spell_between_out(query, name, question)
    query, params = merge_date_pairs(query, dialect, params, question)
    book = ParameterBook(params, query)
    query = _replace_literals(query, dialect, question, book)
    declared = book.settle(query, dialect, question)
    values = _first_values(query, dialect, declared, question, book.values)
    return query, declared, values


def repair_quotes(query: str, dialect: str) -> str:
    """`'{customer}'` → `{customer}`; `'%{customer}%'` → `'%' || {customer} || '%'`."""
    if sqlglot_dialect(dialect) is None:
        return _QUOTED_HOLE_JQL.sub(lambda found: found["hole"], query)
    query = _QUOTED_HOLE.sub(lambda found: pattern(found["hole"], found["before"], found["after"], dialect), query)
    return re.sub(rf"\b(?:date|timestamp|timestamptz)\s+({_BRACED})", r"\1", query, flags=re.IGNORECASE)


def pattern(hole: str, before: str, after: str, dialect: str) -> str:
    """A LIKE pattern around a placeholder, the wildcards outside of the value."""
    parts = [f"'{before}'"] * bool(before) + [hole] + [f"'{after}'"] * bool(after)
    if len(parts) > 1 and sqlglot_dialect(dialect) == "mysql":
        return f"CONCAT({', '.join(parts)})"
    return " || ".join(parts)


def _replace_literals(query: str, dialect: str, question: MaskedQuestion, book: ParameterBook) -> str:
    literals = find_literals(query, dialect)
    changes: list[tuple[int, int, str]] = []
    for match in match_literals(literals, question.slots):
        param = book.parameter_for(match, question)
        if match.items:
            start, end = match.items[0].start, match.items[-1].end
            changes.append((start, end, f"{{{param.name}}}"))
            continue
        changes += _changes_for(query, match, param, dialect)
    for start, end, text in sorted(changes, reverse=True):
        query = query[:start] + text + query[end:]
    return query


def _changes_for(query: str, match: Match, param: Parameter, dialect: str) -> list[tuple[int, int, str]]:
    literal = match.literal
    hole = (
        f"{{{param.name}.{match.side}}}" if match.side and param.type is ParamType.TIME_RANGE else f"{{{param.name}}}"
    )
    start = literal.start
    if match.side or param.type is ParamType.DATE:
        # DATE '2026-03-01' is a literal of its own: the type word goes with it.
        found = _TYPE_BEFORE.search(query[:start])
        start = found.start() if found else start
    text = pattern(hole, literal.before, literal.after, dialect)
    if literal.lowered and match.slot is not None and str(match.slot.value) != literal.value:
        text = text.replace(hole, f"LOWER({hole})")
    changes = [(start, literal.end, text)]
    if match.makes_exclusive and literal.op_span is not None:
        changes.append((*literal.op_span, "<"))
    return changes


def _first_values(
    query: str, dialect: str, params: Sequence[Parameter], question: MaskedQuestion, known: Mapping[str, Any]
) -> dict[str, Any]:
    """What the question says for each parameter, as far as it can be told."""
    plan = Plan(key_text="", query=query, params=tuple(params), source=question.source, source_type="", dialect=dialect)
    binding = bind_slots(plan, question)
    values: dict[str, Any] = {}
    for param in params:
        if param.name in known:
            values[param.name] = known[param.name]
        elif slots := [question.slots[at] for at in binding.slots.get(param.name, ())]:
            values[param.name] = [s.value for s in slots] if param.type is ParamType.LIST else slots[0].value
    return values


def exemplar_roles(plan: Plan, question: MaskedQuestion, values: Mapping[str, Any]) -> tuple[str | None, ...]:
    """Which parameter each slot fills, given the values that ran; or the constant that it says."""
    binding = bind_slots(plan, question)
    bound = {at: name for name, slots in binding.slots.items() for at in slots}
    roles: list[str | None] = []
    for at, slot in enumerate(question.slots):
        equal = [param.name for param in plan.params if _is_value(slot, param, values.get(param.name))]
        if len(equal) == 1:
            roles.append(equal[0])
        elif bound.get(at) in equal or not equal:
            roles.append(bound.get(at))
        else:
            free = [name for name in equal if name not in roles]
            roles.append(free[0] if len(free) == 1 else None)
    return tuple(
        said_constant(slot) if role is None else role for slot, role in zip(question.slots, roles, strict=True)
    )


def _is_value(slot: Slot, param: Parameter, value: Any) -> bool:
    """Whether a parameter's value is what the slot says."""
    if value is None:
        return False
    if isinstance(value, list):
        return any(_is_value(slot, param, item) for item in value)
    if slot.type is SlotType.TIME_RANGE and isinstance(slot.value, dict):
        if isinstance(value, dict):
            return all(_same_moment(value.get(side), slot.value.get(side)) for side in ("start", "end"))
        return any(_same_moment(value, slot.value.get(side)) for side in ("start", "end"))
    if isinstance(value, int | float) and isinstance(slot.value, int | float):
        return float(value) == float(slot.value)
    said = {str(slot.value).casefold(), slot.text.casefold().strip("\"'")}
    return str(value).casefold() in said


def _same_moment(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is None and other is None
    return str(one) == str(other) or bool(len(str(one)) == 10 and str(other).startswith(str(one)))
