"""The reading of one query, whatever its dialect."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Constant:
    """A value that stands in the query itself."""

    value: str
    """As text, without quotes and outer % signs; numbers as written."""
    column: str | None
    """The "table.column" it is compared with, aliases resolved; None where it is not a comparison."""
    op: str
    """"=", "!=", "<", "<=", ">", ">=", "like", "in", "limit", "interval", or "" for another place."""
    is_number: bool = False


@dataclass(frozen=True)
class Use:
    """One place in which a parameter stands."""

    side: str | None
    """"start" or "end" of a time range."""
    column: str | None
    op: str


@dataclass(frozen=True)
class QueryForm:
    """What a query says."""

    readable: bool = True
    aggregates: tuple[str, ...] = ()
    """Of the outermost select, in order: "count", "sum", "avg", "min", "max"; "" never."""
    output: tuple[str, ...] = ()
    """Words of the columns that it returns."""
    output_columns: int = 0
    orders: tuple[str, ...] = ()
    """"asc" or "desc" of each ordering of a query that also has a limit."""
    sorted_by: tuple[str, ...] = ()
    """"asc" or "desc" of each ordering."""
    limited: bool = False
    negated: bool = False
    """Whether it has NOT, <>, NOT IN, NOT EXISTS, EXCEPT or IS NULL."""
    has_subquery: bool = False
    has_or: bool = False
    distinct: bool = False
    grouped: bool = False
    inner_aggregates: tuple[str, ...] = ()
    """Aggregates anywhere else: in HAVING, ORDER BY, subqueries."""
    constants: tuple[Constant, ...] = ()
    uses: Mapping[str, tuple[Use, ...]] = field(default_factory=dict)
    """By parameter."""
    words: frozenset[str] = frozenset()
    """Lemmas of its tables, columns and text constants."""

    @property
    def superlative(self) -> str | None:
        """ "max" or "min" where the query picks an extreme, else None."""
        extremes = {"desc": "max", "asc": "min"}
        if self.orders:
            return extremes[self.orders[0]]
        picked = [name for name in (*self.aggregates, *self.inner_aggregates) if name in ("max", "min")]
        return picked[0] if picked else None

    def says(self, value: str) -> bool:
        """Whether a constant that decides what the query returns is this value, case aside."""
        return any(constant.op and constant.value.casefold() == value.casefold() for constant in self.constants)
