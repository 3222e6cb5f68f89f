"""What a name in a query can stand for, by PostgreSQL's rules of visibility.

Needed because PostgreSQL reads `f.x` as the call `x(f)` when f has no column x: a name that is no column is a function
that no allow-list has seen. So a source is only said to have the columns that it certainly has, and where it is
uncertain which sources are visible, everything that may be is taken to be.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from qkva.connectors.sql.catalog import Catalog, cte_of, spelled
from qkva.contracts.source import Table

SYSTEM_COLUMNS = frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"})

_FROM = ("from_", "joins", "laterals")
_FUNCTION_COLUMNS = {
    **dict.fromkeys(("json_each", "jsonb_each", "json_each_text", "jsonb_each_text"), ("key", "value")),
    **dict.fromkeys(
        (
            "json_array_elements",
            "jsonb_array_elements",
            "json_array_elements_text",
            "jsonb_array_elements_text",
        ),
        ("value",),
    ),
}
_TYPE_NAMES = frozenset(
    "text varchar bpchar int2 int4 int8 numeric float4 float8 bool date time timetz timestamp timestamptz interval "
    "uuid json jsonb bytea".split()
)
"""One of which a cast of a literal is named."""
_WRITTEN_NAMES = {"exploding_generate_series": "generate_series", "explode": "unnest"}


@dataclass(frozen=True, eq=False)
class Source:
    """One item of a FROM clause."""

    node: exp.Expr
    name: str
    """By which columns are qualified; "" if it has none."""
    columns: frozenset[str]
    table: Table | None = None
    """The described table behind it, if it is one."""


@dataclass(frozen=True)
class Level:
    """The sources of one SELECT around a name."""

    sources: list[Source]
    certain: bool
    """Whether all of them are visible there, rather than perhaps only some."""


class Scopes:
    """The sources of every SELECT in a query."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._sources: dict[int, list[Source]] = {}
        self._outputs: dict[int, frozenset[str]] = {}

    def levels(self, node: exp.Expr) -> Iterator[Level]:
        """The SELECTs whose sources may be named at `node`, innermost first."""
        passed: list[exp.Expr] = []
        inside = node
        while (holder := inside.parent) is not None:
            if not isinstance(holder, exp.Select):
                if inside.arg_key not in _FROM:  # a table holds the joins of its parentheses, but is not around them
                    passed.append(holder)
            else:
                if inside.arg_key in _FROM:
                    if not any(_is_closed(item) for item in passed):
                        own = set(map(id, passed))
                        yield Level([source for source in self.sources(holder) if id(source.node) not in own], False)
                elif inside.arg_key != "with_":
                    yield Level(self.sources(holder), True)
                passed = []
            inside = holder

    def named(self, node: exp.Column | exp.Star, name: str, schema: str = "") -> list[Source]:
        """The sources that the qualifier `name` at `node` may mean."""
        found: list[Source] = []
        for level in self.levels(node):
            here = [source for source in level.sources if source.name == name and (not schema or source.table)]
            found += here
            if here and level.certain and not schema:
                break
        return found

    def holding(self, node: exp.Column, name: str) -> list[Source]:
        """The sources that the column `name`, written without a qualifier at `node`, may belong to."""
        found: list[Source] = []
        for level in self.levels(node):
            here = [source for source in level.sources if name in source.columns]
            found += here
            if here and level.certain:
                break
        return found

    def sources(self, select: exp.Select) -> list[Source]:
        """The items of its FROM clause, those inside parentheses too."""
        if id(select) not in self._sources:
            self._sources[id(select)] = [self._source(item) for item in from_items(select)]
        return self._sources[id(select)]

    def outputs(self, query: exp.Expr | None) -> frozenset[str]:
        """The names of a query's columns, as far as it gives them."""
        while isinstance(query, (exp.Subquery, exp.SetOperation)):
            query = query.this
        if isinstance(query, exp.Values):
            width = max((len(row.expressions) for row in query.expressions), default=0)
            return frozenset(f"column{place}" for place in range(1, width + 1))
        if not isinstance(query, exp.Select):
            return frozenset()
        if id(query) not in self._outputs:
            self._outputs[id(query)] = frozenset()  # a query that reads itself adds nothing to its own names
            found = (self._output(projection, query) for projection in query.expressions)
            self._outputs[id(query)] = frozenset().union(*found)
        return self._outputs[id(query)]

    def _output(self, projection: exp.Expr, query: exp.Select) -> frozenset[str]:
        if isinstance(projection, exp.Alias):
            return frozenset({spelled(projection.args["alias"])})
        if isinstance(projection, exp.Star):
            return frozenset().union(*(source.columns for source in self.sources(query)))
        if isinstance(projection, exp.Column):
            if isinstance(projection.this, exp.Star):
                owners = self.named(projection, spelled(projection.args.get("table")))
                return frozenset().union(*(source.columns for source in owners))
            return frozenset({spelled(projection.this)})
        if isinstance(projection, exp.Dot):
            inner = function_name(projection.this.unnest())
            star = isinstance(projection.expression, exp.Star)
            return frozenset(_FUNCTION_COLUMNS.get(inner, ())) if star else frozenset({spelled(projection.expression)})
        if isinstance(projection, exp.Cast):
            return self._output(projection.this, query) or _TYPE_NAMES
        if isinstance(projection, (exp.Paren, exp.Bracket, exp.Collate)):
            return self._output(projection.this, query)
        if isinstance(projection, exp.Case):
            default = projection.args.get("default")
            return self._output(default, query) if default is not None else frozenset()
        return self.outputs(projection) if isinstance(projection, exp.Subquery) else frozenset()

    def _source(self, item: exp.Expr) -> Source:
        alias = item.args.get("alias")
        name = spelled(alias.this) if isinstance(alias, exp.TableAlias) and alias.this is not None else ""
        renamed = _renamed(item, alias)
        if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            return self._table_source(item, name, renamed)
        query = item.this if isinstance(item, exp.Lateral) else item
        if isinstance(query, (exp.Subquery, exp.Values)):
            return Source(node=item, name=name, columns=frozenset(renamed) or self.outputs(query))
        called = function_name(item if isinstance(item, exp.Unnest) else item.this)
        own = _FUNCTION_COLUMNS.get(called, () if renamed or not called else (name or called,))
        extra = ["ordinality"] if item.args.get("ordinality") or item.args.get("offset") else []
        columns = frozenset([*renamed, *own[len(renamed) :], *extra])
        return Source(node=item, name=name or called, columns=columns)

    def _table_source(self, item: exp.Table, name: str, renamed: list[str]) -> Source:
        cte = cte_of(item)
        own_name = name or spelled(item.this)
        if cte is not None:
            given = [spelled(column) for column in cte.args["alias"].columns]
            return Source(node=item, name=own_name, columns=frozenset(renamed or given) or self.outputs(cte.this))
        table = self._catalog.find(item)
        fields = [field.name for field in table.fields] if table else []
        denied = self._catalog.denied_columns(table) if table else frozenset()
        columns = (frozenset([*renamed, *fields[len(renamed) :]]) | SYSTEM_COLUMNS) - denied
        return Source(node=item, name=own_name, columns=columns, table=table)


def from_items(select: exp.Select) -> Iterator[exp.Expr]:
    """Tables, functions, subqueries and lists of values that a SELECT reads directly."""
    clause = select.args.get("from_")
    if clause is not None:
        yield from _items(clause.this)
    for part in (*(select.args.get("joins") or ()), *(select.args.get("laterals") or ())):
        yield from _items(part.this if isinstance(part, exp.Join) else part)


def is_join_in_parentheses(item: exp.Expr) -> bool:
    """`(a JOIN b ON …)`, which the parser keeps as a subquery."""
    return isinstance(item, exp.Subquery) and (
        isinstance(item.this, exp.Table)
        or (isinstance(item.this, exp.Subquery) and bool(item.this.args.get("joins") or item.this.args.get("alias")))
    )


def function_name(node: exp.Expr | None) -> str:
    """The name of a called function as it is written, or ""."""
    if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)):
        return node.name.lower()
    if isinstance(node, exp.Unnest):
        return "unnest"
    if isinstance(node, exp.Func):
        own = node.sql_name().lower()
        return _WRITTEN_NAMES.get(own, own)
    return ""


def _items(item: exp.Expr) -> Iterator[exp.Expr]:
    if is_join_in_parentheses(item):
        yield from _items(item.this)
    else:
        yield item
    for part in (*(item.args.get("joins") or ()), *(item.args.get("laterals") or ())):
        yield from _items(part.this if isinstance(part, exp.Join) else part)


def _is_closed(item: exp.Expr) -> bool:
    """Whether nothing inside can name the items beside it: a subquery in FROM without LATERAL."""
    if not isinstance(item, (exp.Subquery, exp.Values)) or is_join_in_parentheses(item):
        return False
    parent = item.parent  # of two pairs of parentheses, the outer one tells
    in_from = isinstance(parent, (exp.From, exp.Join)) or (parent is not None and is_join_in_parentheses(parent))
    return in_from and item.arg_key == "this"


def _renamed(item: exp.Expr, alias: exp.Expr | None) -> list[str]:
    """The column names that an alias gives, in order."""
    names = []
    for column in alias.columns if isinstance(alias, exp.TableAlias) else ():
        names.append(spelled(column.this if isinstance(column, exp.ColumnDef) else column))
    unnest = item.this if isinstance(item, exp.Lateral) else item
    offset = unnest.args.get("offset") if isinstance(unnest, exp.Unnest) else None
    if isinstance(offset, exp.Identifier):
        names.append(spelled(offset))
    return names
