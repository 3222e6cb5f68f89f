"""Whether a query fits the issues: known fields, operators that they have, parameters that fit."""

from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz import fuzz, process

from qkva.connectors.stub.evaluate import is_date
from qkva.connectors.stub.fixtures import ALIASES, FIELDS
from qkva.connectors.stub.jql import Clause, Condition, Group, Hole, Not, Query, Text, clauses
from qkva.contracts.errors import PlanRejected
from qkva.contracts.plan import Parameter, ParamType

_DATES = (ParamType.DATE, ParamType.DATETIME, ParamType.TIME_RANGE)


def check_query(query: Query, params: Sequence[Parameter]) -> Query:
    """The query with its fields spelled as described. Raises PlanRejected."""
    known = query if query.condition is None else replace(query, condition=_named(query.condition))
    known = replace(known, order=tuple((_field(name), descending) for name, descending in query.order))
    declared = {param.name: param for param in params}
    for clause in clauses(known.condition):
        _check_clause(clause, declared)
    return known


def check_parameters(query: Query, params: Sequence[Parameter], columns: Sequence[str]) -> None:
    """Refuse a parameter that the query does not use, or whose column does not exist. Raises PlanRejected."""
    used = {
        operand.name for clause in clauses(query.condition) for operand in clause.operands if isinstance(operand, Hole)
    }
    for param in params:
        if param.name not in used:
            raise PlanRejected(f'The parameter "{param.name}" is declared, but the query does not use it.')
        if param.column is not None and param.column not in columns:
            near = _did_you_mean(param.column, columns)
            raise PlanRejected(f'The parameter "{param.name}" names the unknown column "{param.column}"{near}')


def _named(condition: Condition) -> Condition:
    if isinstance(condition, Group):
        return replace(condition, parts=tuple(_named(part) for part in condition.parts))
    if isinstance(condition, Not):
        return Not(_named(condition.part))
    return replace(condition, field=_field(condition.field))


def _field(name: str) -> str:
    lower = name.lower()
    known = ALIASES.get(lower, lower)
    if known not in FIELDS:
        raise PlanRejected(f'The JQL was refused: there is no field "{name}"{_did_you_mean(lower, list(FIELDS))}')
    return known


def _check_clause(clause: Clause, declared: dict[str, Parameter]) -> None:
    field = FIELDS[clause.field]
    if clause.operator not in field.operators:
        allowed = ", ".join(field.operators)
        raise PlanRejected(f'The JQL was refused: "{clause.field}" takes {allowed}, not {clause.operator}.')
    for operand in clause.operands:
        if isinstance(operand, Hole):
            _check_hole(clause, operand, declared)
        elif field.kind in ("date", "datetime") and isinstance(operand, Text) and not is_date(operand.value):
            raise PlanRejected(f'The JQL was refused: "{operand.value}" is no date for "{clause.field}".')


def _check_hole(clause: Clause, hole: Hole, declared: dict[str, Parameter]) -> None:
    param = declared.get(hole.name)
    if param is None:
        raise PlanRejected(f'The query uses the parameter "{hole.name}", which is not declared.')
    if (param.type == ParamType.TIME_RANGE) != (hole.part is not None):
        raise PlanRejected(f'"{hole.name}": only a time range is written {{name.start}} and {{name.end}}.')
    if param.type == ParamType.LIST and clause.operator not in ("in", "not in"):
        raise PlanRejected(f'The list "{hole.name}" can only stand in IN (…).')
    if (FIELDS[clause.field].kind in ("date", "datetime")) != (param.type in _DATES):
        raise PlanRejected(f'The parameter "{hole.name}" is of type {param.type}, which does not fit "{clause.field}".')


def _did_you_mean(name: str, known: Sequence[str]) -> str:
    found = process.extractOne(name, known, scorer=fuzz.ratio, score_cutoff=60)
    return f'; did you mean "{found[0]}"?' if found else f"; known ones: {', '.join(known)}."
