"""Run a compiled statement through a server-side cursor, which takes only a query and fetches no more than asked."""

from collections.abc import Sequence
from typing import Any

from psycopg import AsyncConnection, AsyncRawCursor, AsyncRawServerCursor

Output = list[tuple[tuple[int, int], str]]
"""Per output column ((table oid, attribute number), name); the first is (0, 0) for an expression."""


async def fetch_rows(
    connection: AsyncConnection, statement: str, values: Sequence[Any], cap: int
) -> tuple[Output, list[tuple[Any, ...]]]:
    """The output columns and at most `cap` rows; raises what the database raises."""
    async with AsyncRawServerCursor(connection, "qkva") as cursor:
        await cursor.execute(statement.encode(), list(values))
        rows = await cursor.fetchmany(cap)
        result = cursor.pgresult
    if result is None:
        return [], rows
    places = range(result.nfields)
    names = [(result.fname(place) or b"").decode() for place in places]
    return [((result.ftable(place), result.ftablecol(place)), names[place]) for place in places], rows


async def estimate_cost(connection: AsyncConnection, statement: str, values: Sequence[Any]) -> float:
    """The planner's estimate, without running it; raises what the database raises for a wrong statement."""
    cursor = AsyncRawCursor(connection)
    await cursor.execute(b"explain (format json) " + statement.encode(), list(values))
    row = await cursor.fetchone()
    return float(row[0][0]["Plan"]["Total Cost"]) if row else 0.0
