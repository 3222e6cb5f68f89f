"""Turn a template into a statement with the driver's binds, for databases that cast by themselves.

The checks are those of PostgreSQL's templates. A list becomes as many binds as it has items, so the statement is put
together at each run, from parts that hold no value.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from sqlglot import exp

from qkva.connectors.sql.binds import Bind, number_of, pattern_form
from qkva.connectors.sql.catalog import Catalog, real_tables
from qkva.connectors.sql.functions import check_own_functions
from qkva.connectors.sql.guard import check_query, unfold
from qkva.connectors.sql.positions import check_positions
from qkva.connectors.sql.refusals import template_refusal
from qkva.connectors.sql.template import check_parts, dependencies_of, drop_conditions, parse_template
from qkva.connectors.sql.values import bind_values
from qkva.contracts.plan import Parameter, ParamType

_HOLE = re.compile(r"qkva_bind_(\d+)_")
_NO_ITEMS = {
    "sqlite": "SELECT NULL WHERE 1 = 0",
    "duckdb": "SELECT NULL WHERE 1 = 0",
    "mysql": "SELECT NULL FROM DUAL WHERE 1 = 0",
}
_PLACES = {"sqlite": "?", "duckdb": "?", "mysql": "%s"}
_FIRST, _LAST = "0001-01-01T00:00:00", "9999-12-31T00:00:00"
_DUCKDB_TYPES = {
    ParamType.INTEGER: "BIGINT",
    ParamType.NUMBER: "DOUBLE",
    ParamType.DATE: "DATE",
    ParamType.DATETIME: "TIMESTAMP",
    ParamType.TIME_RANGE: "TIMESTAMP",
    ParamType.BOOLEAN: "BOOLEAN",
}


@dataclass(frozen=True)
class EngineStatement:
    """A checked statement with a hole for each bind."""

    sql: str
    binds: tuple[Bind, ...]
    """By the number in their holes."""
    tables: tuple[str, ...]
    dependencies: tuple[str, ...]
    left_out: tuple[str, ...]
    dialect: str
    tree: exp.Query

    def filled(
        self, params: Sequence[Parameter], values: Mapping[str, Any], zone: str = "UTC"
    ) -> tuple[str, list[Any]]:
        """The driver's statement, and the values in its order. Raises ParameterError naming the parameter."""
        kinds = {param.name: param.type for param in params}
        items = {param.name: param.item_type for param in params}
        bound = bind_values(self.binds, params, values)
        ordered: list[Any] = []
        text = self.sql.replace("%", "%%") if self.dialect == "mysql" else self.sql

        def place(found: re.Match[str]) -> str:
            number = int(found[1])
            name = self.binds[number].name
            kind = kinds[name]
            if kind is not ParamType.LIST:
                ordered.append(_driver_value(bound[number], kind, zone, self.dialect))
                return self._place(kind)
            some = bound[number] or []
            ordered.extend(_driver_value(item, items[name], zone, self.dialect) for item in some)
            return ", ".join([self._place(items[name])] * len(some)) or _NO_ITEMS[self.dialect]

        return _HOLE.sub(place, text), ordered

    def _place(self, kind: ParamType) -> str:
        place = _PLACES[self.dialect]
        if self.dialect == "duckdb":
            return f"CAST({place} AS {_DUCKDB_TYPES.get(kind, 'VARCHAR')})"
        return place


def compile_for_engine(
    query: str, params: Sequence[Parameter], catalog: Catalog, missing: frozenset[str] = frozenset()
) -> EngineStatement:
    """Check a template and give its statement. Raises PlanRejected, saying which rule or which parameter."""
    tree, parts = parse_template(query, params, catalog.rules)
    check_parts(parts, params)
    if catalog.dialect == "sqlite":
        _read_quoted_texts(tree, catalog)
    check_query(tree, catalog)
    check_positions(tree, [name for name, _ in parts])
    checked = tree.copy()
    left_out = drop_conditions(tree, parts, missing)
    declared = {param.name: param for param in params}
    binds: list[Bind] = []
    _give_escapes(tree, catalog.dialect)
    for node in list(tree.find_all(exp.Placeholder)):
        name, side = parts[number_of(node)]
        bind = Bind(name=name, part=side, type="any", form=pattern_form(node, name))
        if bind not in binds:
            binds.append(bind)
        _check_list(node, declared[name])
        node.replace(exp.var(f"qkva_bind_{binds.index(bind)}_"))
    for table in list(real_tables(tree)):
        found = catalog.find(table)
        assert found is not None, "checked before"
        if table.args.get("alias") is None:
            table.set("alias", exp.TableAlias(this=table.this.copy()))
        table.set("this", exp.to_identifier(catalog.stored_name(found.name), quoted=True))
    unfold(tree)
    statement = tree.sql(catalog.dialect, comments=False)
    check_own_functions(statement, catalog)
    return EngineStatement(
        sql=statement,
        binds=tuple(binds),
        tables=tuple(dict.fromkeys(found.name for table in real_tables(checked) if (found := catalog.find(table)))),
        dependencies=dependencies_of(checked, catalog),
        left_out=left_out,
        dialect=catalog.dialect,
        tree=checked,
    )


def _read_quoted_texts(tree: exp.Query, catalog: Catalog) -> None:
    """A name in double quotes that names nothing is a text to SQLite, and many people write theirs so."""
    tables = [found for table in real_tables(tree) if (found := catalog.find(table))]
    known = {field.name for table in tables for field in table.fields} | {"rowid", "oid", "_rowid_"}
    known = known.union(*(catalog.denied_columns(table) for table in tables))
    known |= {
        name.name for alias in tree.find_all(exp.Alias, exp.TableAlias) for name in alias.find_all(exp.Identifier)
    }
    known |= {table.name for table in tree.find_all(exp.Table)}
    for column in list(tree.find_all(exp.Column)):
        name = column.this
        if isinstance(name, exp.Identifier) and name.quoted and not column.table and name.name not in known:
            column.replace(exp.Literal.string(name.meta["written"]))


def _give_escapes(tree: exp.Query, dialect: str) -> None:
    """Where LIKE has no escape of its own, a pattern with a placeholder gets the backslash for one."""
    if dialect == "mysql":
        return
    for pattern in list(tree.find_all(exp.Like, exp.ILike)):
        if not isinstance(pattern.parent, exp.Escape) and pattern.expression.find(exp.Placeholder) is not None:
            pattern.replace(exp.Escape(this=pattern.copy(), expression=exp.Literal.string("\\")))


def _check_list(node: exp.Placeholder, param: Parameter) -> None:
    if param.type is ParamType.LIST and not isinstance(node.parent, exp.In):
        raise template_refusal(f'The list "{param.name}" must stand in an IN (…).')


def _driver_value(value: Any, kind: ParamType, zone: str, dialect: str) -> Any:
    """As the driver takes it: moments as the naive time of the caller's zone, as these databases keep them."""
    if isinstance(value, Decimal):
        return float(value)
    if value is None or kind not in (ParamType.DATETIME, ParamType.TIME_RANGE):
        return value
    moment = datetime.fromisoformat({"-infinity": _FIRST, "infinity": _LAST}.get(value, value))
    naive = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) if moment.tzinfo else moment
    if dialect == "sqlite" and naive.time().isoformat() == "00:00:00":
        return naive.date().isoformat()  # before "2026-06-01 …" as a text, and equal to a bare "2026-06-01"
    return naive.isoformat(sep=" ")
