"""Run the right and the served query on a SQLite database, read-only, and compare what they return."""

import sqlite3
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from qkva.contracts.plan import PLACEHOLDER, ParamType, Plan
from qkva.evals.source_values import open_read_only
from qkva.evals.stream import Turn

SECONDS = 5.0
"""Of one query, as for a live source."""
MAX_ROWS = 100_000
Rows = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class Executed:
    """How many questions' right query ran, and how many served ones returned the same rows."""

    ran: int
    correct: int


class Runner:
    """Runs plans with bound values; each query once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.rows = lru_cache(maxsize=20_000)(self._rows)

    def of(self, plan: Plan, values: Mapping[str, Any]) -> Rows | None:
        """The rows in no order; None for a query that fails, is too slow or returns too much."""
        bound = tuple(sorted((param.name, _bindable(values.get(param.name))) for param in plan.params))
        return self.rows(PLACEHOLDER.sub(lambda found: f":{found[1]}", plan.query), bound)

    def _rows(self, query: str, bound: tuple[tuple[str, Any], ...]) -> Rows | None:
        deadline = time.monotonic() + SECONDS
        self._connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
        try:
            found = self._connection.execute(query, dict(bound)).fetchmany(MAX_ROWS + 1)
        except sqlite3.Error:
            return None
        return Counter(found) if len(found) <= MAX_ROWS else None


def execute(turns: Sequence[Turn], path: Path) -> Executed:
    """Compare every turn; what the planner made is what is right."""
    ran = correct = 0
    with closing(open_read_only(path)) as connection:
        runner = Runner(connection)
        for turn in turns:
            asked = turn.asked.template.forms[0].plan
            right = runner.of(asked, typed(asked, turn.asked.values))
            if right is None:
                continue
            ran += 1
            plan = turn.looked.plan
            correct += plan is None or runner.of(plan, turn.looked.values) == right
    return Executed(ran, correct)


def typed(plan: Plan, values: Mapping[str, str]) -> dict[str, Any]:
    """The file's values, which are all texts, as the parameters' types."""
    found: dict[str, Any] = dict(values)
    for param in plan.params:
        if param.type is ParamType.INTEGER and values[param.name]:
            found[param.name] = int(values[param.name])
        elif param.type is ParamType.NUMBER and values[param.name]:
            found[param.name] = float(values[param.name])
    return found


def _bindable(value: Any) -> Any:
    """Numbers stay numbers; what SQLite has no type for is bound as text."""
    return value if value is None or isinstance(value, int | float) else str(value)
