"""The made-up issues, and the fields that a query may name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib import resources
from typing import Any

import yaml

from qkva.contracts.source import Field

PRIORITIES = ("Lowest", "Low", "Medium", "High", "Highest")
_HOUR = 9
"""Issues are created at nine and updated at three in the afternoon, UTC."""

EQUALITY = ("=", "!=", "in", "not in", "is", "is not")
ORDER = ("=", "!=", "<", "<=", ">", ">=", "is", "is not")
SEARCH = ("~", "!~", "is", "is not")


@dataclass(frozen=True, kw_only=True)
class Issue:
    """One issue."""

    key: str
    type: str
    summary: str
    description: str
    status: str
    priority: str
    assignee: str | None
    reporter: str
    labels: tuple[str, ...]
    components: tuple[str, ...]
    created: datetime
    updated: datetime
    due: date | None

    @property
    def project(self) -> str:
        """The part of the key before the number."""
        return self.key.partition("-")[0]


@dataclass(frozen=True)
class IssueField:
    """A field as queries see it."""

    read: Callable[[Issue], Any]
    """Text, a tuple of texts, a date, a datetime or None."""
    kind: str
    operators: tuple[str, ...]
    comment: str = ""


FIELDS: Mapping[str, IssueField] = {
    "key": IssueField(lambda issue: issue.key, "text", EQUALITY, "The name of the issue, such as SHOP-17"),
    "project": IssueField(lambda issue: issue.project, "text", EQUALITY, "SHOP: the shop; OPS: its servers"),
    "type": IssueField(lambda issue: issue.type, "text", EQUALITY),
    "summary": IssueField(lambda issue: issue.summary, "text", SEARCH, "One line that says what it is about"),
    "status": IssueField(lambda issue: issue.status, "text", EQUALITY),
    "priority": IssueField(lambda issue: issue.priority, "text", (*ORDER, "in", "not in"), "Lowest to Highest"),
    "assignee": IssueField(lambda issue: issue.assignee, "text", EQUALITY, "Who works on it; empty if nobody does"),
    "reporter": IssueField(lambda issue: issue.reporter, "text", EQUALITY),
    "labels": IssueField(lambda issue: issue.labels, "text", EQUALITY),
    "component": IssueField(lambda issue: issue.components, "text", EQUALITY, "The part of the system"),
    "created": IssueField(lambda issue: issue.created, "datetime", ORDER),
    "updated": IssueField(lambda issue: issue.updated, "datetime", ORDER),
    "due": IssueField(lambda issue: issue.due, "date", ORDER, "When it has to be done"),
    "description": IssueField(lambda issue: issue.description, "text", SEARCH),
    "text": IssueField(lambda issue: f"{issue.summary}\n{issue.description}", "text", ("~", "!~"), "All its texts"),
}
ALIASES = {"components": "component", "label": "labels", "duedate": "due", "issuetype": "type", "issuekey": "key"}
VALUE_FIELDS = ("key", "project", "type", "status", "priority", "assignee", "reporter", "labels", "component")


@cache
def load_issues(today: date) -> tuple[Issue, ...]:
    """All issues, with their dates counted from `today`."""
    text = resources.files(__package__).joinpath("issues.yaml").read_text(encoding="utf-8")
    return tuple(_issue(raw, today) for raw in yaml.safe_load(text))


def describe_field(name: str, issues: tuple[Issue, ...]) -> Field:
    """The field with a few values."""
    field = FIELDS[name]
    samples = values_of(name, issues)[:3] if name in VALUE_FIELDS else ()
    return Field(
        name=name,
        type=field.kind,
        kind=field.kind,
        comment=field.comment,
        nullable=name in ("assignee", "due"),
        primary_key=name == "key",
        samples=samples,
        operators=field.operators,
    )


def values_of(name: str, issues: tuple[Issue, ...]) -> tuple[str, ...]:
    """The distinct values of a field, sorted; of priority in their order."""
    found: set[str] = set()
    for issue in issues:
        value = FIELDS[name].read(issue)
        found.update(value if isinstance(value, tuple) else () if value is None else (value,))
    return PRIORITIES if name == "priority" else tuple(sorted(found))


def _issue(raw: Mapping[str, Any], today: date) -> Issue:
    created, updated = (
        datetime.combine(today + timedelta(days=raw[name]), time(_HOUR if name == "created" else _HOUR + 6), UTC)
        for name in ("created", "updated")
    )
    return Issue(
        **{name: raw[name] for name in ("key", "type", "summary", "description", "status", "priority")},
        assignee=raw["assignee"],
        reporter=raw["reporter"],
        labels=tuple(raw["labels"]),
        components=tuple(raw["components"]),
        created=created,
        updated=updated,
        due=None if raw["due"] is None else today + timedelta(days=raw["due"]),
    )
