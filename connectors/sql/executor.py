"""Run a compiled statement: estimated first, then through a server-side cursor that takes only a query.

The cursor fetches no more rows than asked, and the statement is wrapped so that the server cuts a text, and empties
any other value, that is longer than a person can read: a single value may have a gigabyte.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection, AsyncRawCursor, AsyncRawServerCursor
from psycopg.pq.abc import PGresult

MAX_VALUE_BYTES = 100_000
"""Of one value."""
FETCH_ROWS = 50
"""At a time, so that a result which is too long is noticed before all of it is here."""

_TEXT = frozenset({25, 1043})
"""Type oids of text and varchar."""
_SHORT = frozenset({16, 18, 19, 20, 21, 23, 26, 700, 701, 790, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950})
"""Type oids of numbers, dates, booleans and the like, which are never long."""


@dataclass(frozen=True)
class Column:
    """An output column."""

    name: str
    type: int
    """Its type's oid."""
    origin: tuple[int, int]
    """(table oid, attribute number); (0, 0) for an expression."""


@dataclass(frozen=True)
class Fetched:
    """What came back."""

    columns: list[Column]
    rows: list[tuple[Any, ...]]
    truncated: bool
    """Whether rows or parts of values are missing."""


@dataclass(frozen=True)
class Estimate:
    """What the database expects of a statement."""

    cost: float
    """In its own units; a sequential read of a page is one."""
    rows: float
    """That the busiest step of its plan passes on."""


async def fetch_rows(
    connection: AsyncConnection, statement: str, values: Sequence[Any], *, max_rows: int, max_bytes: int
) -> Fetched:
    """The rows within both caps; raises what the database raises."""
    columns = await _read_shape(connection, statement, values)
    async with AsyncRawServerCursor(connection, "qkva") as cursor:
        await cursor.execute(_capped(statement, columns).encode(), list(values))
        rows: list[tuple[Any, ...]] = []
        size, cut = 0, False
        while len(rows) <= max_rows:
            some = await cursor.fetchmany(min(FETCH_ROWS, max_rows + 1 - len(rows)))
            for row in some:
                size += sum(len(str(value)) for value in row[:-1])
                if rows and size > max_bytes:
                    return Fetched(columns, rows[:max_rows], True)
                cut = cut or bool(row[-1])
                rows.append(row[:-1])
            if not some:
                break
    return Fetched(columns, rows[:max_rows], cut or len(rows) > max_rows)


async def estimate(connection: AsyncConnection, statement: str, values: Sequence[Any]) -> Estimate:
    """The planner's estimate, without running it; raises what the database raises for a wrong statement."""
    cursor = AsyncRawCursor(connection)
    # binary, because the driver sends a statement without values by the simple protocol otherwise
    await cursor.execute(b"explain (format json) " + statement.encode(), list(values), binary=True)
    row = await cursor.fetchone()
    plan = row[0][0]["Plan"] if row else {}
    return Estimate(cost=float(plan.get("Total Cost", 0)), rows=_busiest(plan))


def _busiest(plan: dict[str, Any]) -> float:
    return max([float(plan.get("Plan Rows", 0)), *(_busiest(step) for step in plan.get("Plans", []))])


async def _read_shape(connection: AsyncConnection, statement: str, values: Sequence[Any]) -> list[Column]:
    """The output columns, by asking for none of the rows."""
    cursor = AsyncRawCursor(connection)
    await cursor.execute(f"select * from (\n{statement}\n) as q limit 0".encode(), list(values), binary=True)
    result = cursor.pgresult
    return [_column(result, place) for place in range(result.nfields)] if result is not None else []


def _column(result: PGresult, place: int) -> Column:
    name = (result.fname(place) or b"").decode()
    return Column(name, result.ftype(place), (result.ftable(place), result.ftablecol(place)))


def _capped(statement: str, columns: Sequence[Column]) -> str:
    """The statement with its long values cut, and a last column that says whether one was.

    OFFSET 0 keeps the inner query by itself, so that nothing in it is computed twice.
    """
    names = [f"c{place}" for place in range(len(columns))]
    outputs, long = [], ["false"]
    for name, column in zip(names, columns, strict=True):
        if column.type in _SHORT:
            outputs.append(name)
        elif column.type in _TEXT:
            outputs.append(f"left({name}, {MAX_VALUE_BYTES})")
            long.append(f"length({name}) > {MAX_VALUE_BYTES}")
        else:
            outputs.append(f"case when octet_length({name}::text) <= {MAX_VALUE_BYTES} then {name} end")
            long.append(f"octet_length({name}::text) > {MAX_VALUE_BYTES}")
    cut = f"coalesce({' or '.join(long)}, false)"
    inner = (
        f"(select * from (\n{statement}\n) as p offset 0) as q({', '.join(names)})" if names else f"({statement}) as q"
    )
    return f"select {', '.join([*outputs, cut])} from {inner}"
