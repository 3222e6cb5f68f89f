"""The canonical text of an SQL template."""

import re
from collections import Counter

from sqlglot import exp

from qkva.contracts.plan import PLACEHOLDER
from qkva.planning.reading.sql_form import parameter_of, parse_template

_FLIPPED: dict[type[exp.Expr], str] = {exp.GT: "LT", exp.GTE: "LTE"}
_SYMMETRIC = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Add, exp.Mul)
_NEGATED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
}


def canonical_sql(query: str, dialect: str) -> str | None:
    """Placeholders stay `{name}`; None for a query that cannot be parsed as one statement."""
    tree = parse_template(query, dialect)
    if tree is None:
        return None
    _resolve_aliases(tree)
    return _Writer().write(tree)


def _resolve_aliases(tree: exp.Expr) -> None:
    """Alias to table name, numbered where a table is used more than once; then names of columns follow."""
    for select in tree.find_all(exp.Select):
        _inline_output_names(select)
    tables = [table for table in tree.find_all(exp.Table, bfs=False) if table.name]
    uses = Counter(table.name.lower() for table in tables)
    seen: Counter[str] = Counter()
    renamed: dict[str, str] = {}
    for table in tables:
        name = table.name.lower()
        seen[name] += 1
        renamed[table.alias_or_name.lower()] = name if uses[name] == 1 else f"{name}#{seen[name]}"
    for number, sub in enumerate(tree.find_all(exp.Subquery, exp.CTE, bfs=False), 1):
        if sub.alias:
            renamed[sub.alias.lower()] = f"sub#{number}"
    for table in tables:
        alias = renamed[table.alias_or_name.lower()]
        if table.name.lower() in renamed and not table.alias and renamed[table.name.lower()].startswith("sub#"):
            table.set("this", exp.to_identifier(alias))
        table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
    only = next(iter(renamed.values())) if len(renamed) == 1 else None
    for column in tree.find_all(exp.Column):
        table_name = column.table.lower()
        if table_name in renamed:
            column.set("table", exp.to_identifier(renamed[table_name]))
        elif not table_name and only is not None:
            column.set("table", exp.to_identifier(only))


def _inline_output_names(select: exp.Select) -> None:
    """ORDER BY and GROUP BY say the expression, not its position or its name; the names themselves go."""
    shown = [item.this if isinstance(item, exp.Alias) else item for item in select.expressions]
    named = {item.alias.lower(): item.this for item in select.expressions if isinstance(item, exp.Alias)}
    for clause in ("group", "order", "having"):
        part = select.args.get(clause)
        if part is None:
            continue
        for node in list(part.find_all(exp.Column, exp.Literal)):
            if isinstance(node, exp.Column) and not node.table and node.name.lower() in named:
                node.replace(named[node.name.lower()].copy())
            elif isinstance(node, exp.Literal) and not node.is_string and _is_position(node, part):
                if 0 < int(node.this) <= len(shown):
                    node.replace(shown[int(node.this) - 1].copy())
    if select.find_ancestor(exp.Subquery, exp.CTE) is None:
        select.set("expressions", shown)


def _is_position(node: exp.Expr, clause: exp.Expr) -> bool:
    parent = node.parent
    return str(node.this).isdigit() and (
        parent is clause or (isinstance(parent, exp.Ordered) and parent.parent is clause)
    )


class _Writer:
    """Writes a tree with what has no order in a sorted order."""

    def write(self, node: exp.Expr | None) -> str:
        if node is None:
            return ""
        parameter = parameter_of(node)
        if parameter is not None:
            return f"{{{parameter[0]}{'.' + parameter[1] if parameter[1] else ''}}}"
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is not None:
            return str(method(node))
        if isinstance(node, _SYMMETRIC):
            return f"{type(node).__name__}({','.join(_sorted([self.write(node.this), self.write(node.expression)]))})"
        if type(node) in _FLIPPED:
            return f"{_FLIPPED[type(node)]}({self.write(node.args['expression'])},{self.write(node.this)})"
        if isinstance(node, exp.LT | exp.LTE):
            return f"{type(node).__name__.upper()}({self.write(node.this)},{self.write(node.args['expression'])})"
        return self._generic(node)

    def _generic(self, node: exp.Expr) -> str:
        parts = []
        for name in sorted(node.args):
            value = node.args[name]
            if value is None or value is False or value == [] or name in ("big_int", "safe", "nulls_first"):
                continue
            if isinstance(value, list):
                shown = ",".join(self.write(v) if isinstance(v, exp.Expr) else str(v) for v in value)
            else:
                shown = self.write(value) if isinstance(value, exp.Expr) else str(value).lower()
            parts.append(f"{name}={shown}")
        return f"{type(node).__name__}({';'.join(parts)})"

    def _paren(self, node: exp.Paren) -> str:
        return self.write(node.this)

    def _identifier(self, node: exp.Identifier) -> str:
        name = str(node.this)
        return f'"{name}"' if node.args.get("quoted") and name != name.lower() else name.lower()

    def _column(self, node: exp.Column) -> str:
        table = f"{node.table.lower()}." if node.table else ""
        return table + self.write(node.this)

    def _literal(self, node: exp.Literal) -> str:
        return f"'{node.this}'" if node.is_string else str(node.this)

    def _count(self, node: exp.Count) -> str:
        counted = node.this
        if isinstance(counted, exp.Literal) and not counted.is_string:
            counted = exp.Star()
        return f"Count({self.write(counted)})"

    def _and(self, node: exp.And) -> str:
        return f"And({','.join(self._members(node, exp.And))})"

    def _or(self, node: exp.Or) -> str:
        return f"Or({','.join(self._members(node, exp.Or))})"

    def _members(self, node: exp.Expr, kind: type[exp.Expr]) -> list[str]:
        return _sorted(set(self._flat(node, kind)))

    def _flat(self, node: exp.Expr | None, kind: type[exp.Expr]) -> list[str]:
        if node is None:
            return []
        if isinstance(node, exp.Paren) and not isinstance(node.this, exp.Query):
            return self._flat(node.this, kind)
        if isinstance(node, kind):
            return [*self._flat(node.this, kind), *self._flat(node.args["expression"], kind)]
        if isinstance(node, exp.Between) and kind is exp.And:
            low, high = node.args["low"], node.args["high"]
            return [self.write(exp.GTE(this=node.this.copy(), expression=low.copy())),
                    self.write(exp.LTE(this=node.this.copy(), expression=high.copy()))]  # fmt: skip
        return [self.write(node)]

    def _between(self, node: exp.Between) -> str:
        return f"And({','.join(_sorted(self._flat(node, exp.And)))})"

    def _not(self, node: exp.Not) -> str:
        inner = node.this.unnest() if isinstance(node.this, exp.Paren) else node.this
        if isinstance(inner, exp.Not):
            return self.write(inner.this)
        opposite = _NEGATED.get(type(inner))
        if opposite is not None:
            return self.write(opposite(this=inner.this.copy(), expression=inner.args["expression"].copy()))
        return f"Not({self.write(inner)})"

    def _in(self, node: exp.In) -> str:
        if node.args.get("query") or node.args.get("unnest"):
            return self._generic(node)
        items = [self.write(item) for item in node.expressions] or [self.write(node.args.get("field"))]
        if len(items) == 1 and not items[0].startswith("{"):
            return f"EQ({','.join(_sorted([self.write(node.this), items[0]]))})"
        return f"In({self.write(node.this)},[{','.join(_sorted(set(items)))}])"

    def _select(self, node: exp.Select) -> str:
        conditions: list[str] = []
        sources: list[str] = []
        ordered: list[str] = []
        start = node.args.get("from_") or node.args.get("from")
        if start is not None:
            sources.append(self.write(start.this))
        for join in node.args.get("joins") or []:
            self._add_join(join, sources, ordered, conditions)
        where = node.args.get("where")
        conditions += self._flat(where.this if where is not None else None, exp.And)
        rest = {"expressions", "from_", "from", "joins", "where", "kind", "hint", "operation_modifiers"}
        others = exp.Select(**{name: value for name, value in node.copy().args.items() if name not in rest})
        group = node.args.get("group")
        if group is not None and not any(
            value for name, value in group.args.items() if name != "expressions" and value
        ):
            others.set("group", None)
            sources.append(f"group={','.join(_sorted(self.write(e) for e in group.expressions))}")
        shown = ",".join(self.write(item) for item in node.expressions)
        return (
            f"Select([{shown}];from={'+'.join(_sorted(sources))};{'+'.join(ordered)};"
            f"where={','.join(_sorted(set(conditions)))};{self._generic(others)})"
        )

    def _add_join(self, join: exp.Join, sources: list[str], ordered: list[str], conditions: list[str]) -> None:
        """An inner join is a set of tables and conditions; any other keeps its place."""
        using = join.args.get("using")
        plain = (
            not join.args.get("side")
            and not join.args.get("method")
            and (join.kind or "").upper() in ("", "INNER", "CROSS")
        )
        if plain and not using:
            sources.append(self.write(join.this))
            conditions += self._flat(join.args.get("on"), exp.And)
            return
        on = ",".join(_sorted(set(self._flat(join.args.get("on"), exp.And))))
        named = ",".join(self.write(column) for column in using or [])
        side = " ".join(str(join.args.get(part) or "").upper() for part in ("method", "side"))
        ordered.append(f"{side} join {self.write(join.this)} on {on} using {named}")


def _sorted(texts: object) -> list[str]:
    """Sorted without regard to the parameters' names, which are to be numbered in the order of the sorted text."""
    assert isinstance(texts, list | set | tuple) or hasattr(texts, "__iter__")
    return sorted(
        texts, key=lambda text: (PLACEHOLDER.sub(lambda f: f"{{.{f[2] or ''}}}", text), re.sub(r"\s", "", text))
    )
