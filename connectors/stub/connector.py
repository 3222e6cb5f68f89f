"""The connector for the made-up issues."""

import hashlib
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from qkva.connectors.stub.evaluate import Clock, bind, find
from qkva.connectors.stub.fixtures import FIELDS, VALUE_FIELDS, Issue, describe_field, load_issues, values_of
from qkva.connectors.stub.jql import Query, drop_missing
from qkva.connectors.stub.parser import parse
from qkva.connectors.stub.rules import check_parameters, check_query
from qkva.contracts.errors import MissingParameter
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, SlotType
from qkva.contracts.source import (
    BroadQuery,
    ChangePage,
    ColumnValues,
    Limits,
    QueryResult,
    Record,
    SourceDescription,
    Table,
)

TABLE = "issues"
URL = "https://issues.example/browse/"
_ABOUT_ISSUES = re.compile(r"\b(issues?|tickets?|bugs?|tasks?|stor(?:y|ies)|incidents?)\b")
_COLUMNS = tuple(f"{TABLE}.{name}" for name in FIELDS)
_NOON = time(12)


class StubConnector:
    """Issues in memory; deterministic, and never down."""

    source_type = "stub"
    dialect = "jql"

    def __init__(self, name: str, today: date) -> None:
        self.name = name
        self._now = datetime.combine(today, _NOON, UTC)
        self._issues = load_issues(today)

    async def describe(self) -> SourceDescription:
        """The one table `issues`, its fields with their operators, and the values of its keyword fields."""
        columns = tuple(describe_field(name, self._issues) for name in FIELDS)
        shape = json.dumps([[field.name, field.kind, field.operators] for field in columns])
        return SourceDescription(
            name=self.name,
            source_type=self.source_type,
            dialect=self.dialect,
            tables=(Table(name=TABLE, comment="Of two projects", fields=columns, row_estimate=len(self._issues)),),
            values=tuple(
                ColumnValues(column=f"{TABLE}.{name}", values=values_of(name, self._issues)) for name in VALUE_FIELDS
            ),
            fingerprint=hashlib.sha256(shape.encode()).hexdigest()[:32],
        )

    async def check(self, plan: Plan) -> None:
        """Say whether the plan's JQL may run. Raises PlanRejected."""
        query = check_query(parse(plan.query), plan.params)
        check_parameters(query, plan.params, _COLUMNS)

    async def execute(
        self, query: str, params: Sequence[Parameter], values: Mapping[str, Any], limits: Limits
    ) -> QueryResult:
        """The matching issues. Raises PlanRejected or ParameterError."""
        checked = check_query(_parsed(query), params)
        bound = bind(drop_missing(checked, _missing(params, values)), params, values)
        zone = ZoneInfo(limits.timezone)
        found = find(bound, self._issues, Clock(self._now, zone))
        return QueryResult(
            records=tuple(_record(issue, zone) for issue in found[: limits.rows]),
            truncated=len(found) > limits.rows,
            dependency_ids=(f"table:{TABLE}",),
        )

    async def broaden(self, question: MaskedQuestion) -> BroadQuery | None:
        """The newest issues with the values that were found, or None if the question is not about issues."""
        conditions: list[str] = []
        params: list[Parameter] = []
        values: dict[str, Any] = {}
        about: list[str] = []
        for slot in question.slots:
            mine = [column for column in slot.columns if column in _COLUMNS]
            if slot.type == SlotType.VALUE and mine:
                name = f"value_{len(params) + 1}"
                conditions.append(f"{mine[0].removeprefix(TABLE + '.')} = {{{name}}}")
                params.append(Parameter(name=name, type=ParamType.TEXT, column=mine[0]))
                values[name] = slot.value
                about.append(str(slot.value))
        if not conditions and not _ABOUT_ISSUES.search(question.masked):
            return None
        time_slot = next((slot for slot in question.slots if slot.type == SlotType.TIME_RANGE), None)
        if time_slot is not None:
            conditions.append("created >= {period.start} AND created < {period.end}")
            params.append(Parameter(name="period", type=ParamType.TIME_RANGE))
            values["period"] = time_slot.value
            about.append(time_slot.text)
        which = f" for {', '.join(about)}" if about else ""
        query = " ".join([" AND ".join(conditions), "ORDER BY created DESC"]).strip()
        return BroadQuery(query=query, params=tuple(params), values=values, about=f"the newest issues{which}")

    async def fetch_changes(self, cursor: str | None) -> AsyncIterator[ChangePage]:
        """Nothing: the issues are asked live and never indexed."""
        nothing: tuple[ChangePage, ...] = ()
        for page in nothing:
            yield page

    async def close(self) -> None:
        """Nothing is open."""


@lru_cache(512)
def _parsed(query: str) -> Query:
    return parse(query)


def _missing(params: Sequence[Parameter], values: Mapping[str, Any]) -> frozenset[str]:
    missing = [param for param in params if values.get(param.name) is None]
    for param in missing:
        if param.required:
            raise MissingParameter(f'The value of "{param.name}" was not said.', parameter=param.name)
    return frozenset(param.name for param in missing)


def _record(issue: Issue, zone: ZoneInfo) -> Record:
    values = {name: _json(field.read(issue), zone) for name, field in FIELDS.items() if name != "text"}
    return Record(
        id=issue.key,
        label=issue.key,
        fields=values,
        url=URL + issue.key,
        snippet=f"{issue.summary} ({issue.status}, {issue.priority}, {issue.assignee or 'nobody'})",
    )


def _json(value: Any, zone: ZoneInfo) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(zone).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value
