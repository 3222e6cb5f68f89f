"""Templates: where a parameter may stand, what is left out, and that no value can change the statement."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from qkva.connectors.sql.catalog import Catalog
from qkva.connectors.sql.guard import parse_query
from qkva.connectors.sql.template import check_parameters, compile_template
from qkva.connectors.sql.values import bind_values, missing_names
from qkva.contracts.errors import MissingParameter, ParameterError, PlanRejected
from qkva.contracts.plan import Parameter, ParamType
from qkva.contracts.source import Field, Table


def field(name: str, type_: str, kind: str = "text") -> Field:
    return Field(name=name, type=type_, kind=kind)


CATALOG = Catalog(
    [
        Table(
            name="orders",
            fields=(
                field("id", "integer", "integer"),
                field("customer_id", "integer", "integer"),
                field("status", "order_status"),
                field("reference", "uuid"),
                field("total", "numeric", "number"),
                field("placed_at", "timestamp with time zone", "datetime"),
            ),
        ),
        Table(name="customers", fields=(field("id", "integer", "integer"), field("name", "character varying(40)"))),
    ],
    schemas=["public"],
)
Q = Parameter(name="q", type=ParamType.TEXT)
N = Parameter(name="n", type=ParamType.INTEGER)
P = Parameter(name="p", type=ParamType.TIME_RANGE)
WORDS = Parameter(name="words", type=ParamType.LIST)


def compiled(query: str, *params: Parameter, missing: frozenset[str] = frozenset()) -> str:
    return compile_template(query, params, CATALOG, missing).sql


@pytest.mark.parametrize(
    ("query", "sql"),
    [
        ("select id from customers where name = {q}", "SELECT id FROM customers WHERE name = CAST($1 AS TEXT)"),
        ("select id from orders where id = {n}", "SELECT id FROM orders WHERE id = CAST($1 AS BIGINT)"),
        ("select id from orders limit {n}", "SELECT id FROM orders LIMIT CAST($1 AS BIGINT)"),
        ("select left(name, {n}) from customers", "SELECT LEFT(name, CAST($1 AS INT)) FROM customers"),
        (
            "select id from orders where placed_at >= {p.start} and placed_at < {p.end}",
            "SELECT id FROM orders WHERE placed_at >= CAST($1 AS TIMESTAMPTZ) AND placed_at < CAST($2 AS TIMESTAMPTZ)",
        ),
        (
            "select id from customers where name in ({words})",
            "SELECT id FROM customers WHERE name = ANY(CAST($1 AS TEXT[]))",
        ),
        (
            "select id from customers where name not in ({words})",
            "SELECT id FROM customers WHERE NOT name = ANY(CAST($1 AS TEXT[]))",
        ),
        (
            "select id from orders where status = {q}",
            "SELECT id FROM orders WHERE CAST(status AS TEXT) = CAST($1 AS TEXT)",
        ),
        ("select id from orders where reference = {q}", "SELECT id FROM orders WHERE reference = CAST($1 AS uuid)"),
        (
            "select id from customers where name = {q} or name = {q}",
            "SELECT id FROM customers WHERE name = CAST($1 AS TEXT) OR name = CAST($1 AS TEXT)",
        ),
        (
            "select id from orders where placed_at > now() - interval {q}",
            "SELECT id FROM orders WHERE placed_at > NOW() - CAST(CAST($1 AS TEXT) AS INTERVAL)",
        ),
    ],
)
def test_placeholders_become_typed_binds(query: str, sql: str):
    params = [param for param in (Q, N, P, WORDS) if f"{{{param.name}" in query]
    assert compiled(query, *params).replace("AS UUID", "AS uuid") == sql


@pytest.mark.parametrize(
    "query",
    [
        "select * from {q}",
        "select * from orders join {q} on true",
        "select orders.{q} from orders",
        "select {q} from orders",
        "select {q} as label from orders",
        "select {q}::text from orders",
        "select id from orders order by {q}",
        "select id from orders order by {q} desc",
        "select count(*) from orders group by {q}",
        "select distinct on ({q}) id from orders",
        "select id from orders where id in (select {q} from orders)",
        "select {q}(id) from orders",
        "select id from orders where {q}(id) = 1",
        "select id from orders where id {q} 3",
        "select id from orders order by id {q}",
        "select cast(id as {q}) from orders",
        "select id {q} from orders",
        "select id from orders {q} join customers on true",
        "select count({q} id) from orders",
        "select name collate {q} from customers",
        "select extract({q} from placed_at) from orders",
        "select sum(total) over (partition by {q}) from orders",
        "select id from orders where status = '{q}'",
        "select id from customers where name like '%{q}%'",
        'select "{q}" from orders',
        "select id from orders where placed_at > now() - interval '{q} days'",
        "select id as {q} from orders",
        "select id from orders as {q}",
        "select $a${q}$a$ from orders",
        "select id from customers where name = E'{q}'",
        "select id from customers where name similar to {q}",
        "select id from customers where name like {q} escape '!'",
        "select id from customers where name = {q} and name = $1",
        "select id from customers where name = {q} and name = :other",
        "select id from customers where name = {q} and name = %(other)s",
        "select id from customers where name = {q} and name = ?",
        "select id from customers where name = {q} and __qkva_p0 = 1",
    ],
)
def test_parameter_in_wrong_place_is_refused(query: str):
    with pytest.raises(PlanRejected):
        compiled(query, Q)


@pytest.mark.parametrize(
    ("query", "param", "what"),
    [
        ("select id from orders where status = {other}", Q, '"other", which is not declared'),
        ("select id from orders where placed_at > {p}", P, "write {p.start} and {p.end}"),
        ("select id from orders where status = {q.start}", Q, '"q" is no time range'),
        ("select id from customers where name in ({words}, 'a')", WORDS, "must be alone"),
    ],
)
def test_wrong_parameter_is_named(query: str, param: Parameter, what: str):
    with pytest.raises(PlanRejected, match="parameter|range|list") as refused:
        compiled(query, param)
    assert what in refused.value.message


def test_unused_parameter_is_named():
    with pytest.raises(PlanRejected, match='"n" is declared'):
        check_parameters("select id from customers where name = {q} -- {n}", [Q, N])


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("where name = {q}", "WHERE TRUE"),
        ("where id > 1 and name = {q} and id < 9", "WHERE id > 1 AND TRUE AND id < 9"),
        ("where id > 1 and (name = {q} or id = 2)", "WHERE id > 1 AND TRUE"),
        ("where (id > 1 and name = {q})", "WHERE (id > 1 AND TRUE)"),
        ("where not name = {q}", "WHERE TRUE"),
        ("where not (name = {q} and id = 1)", "WHERE TRUE"),
        (
            "where id in (select id from customers where name = {q})",
            "WHERE id IN (SELECT id FROM customers WHERE TRUE)",
        ),
        ("where ({q} is null or name = {q})", "WHERE TRUE"),
        ("group by id having count(*) > 1 and max(name) = {q}", "GROUP BY id HAVING COUNT(*) > 1 AND TRUE"),
    ],
)
def test_missing_value_drops_its_condition(condition: str, left: str):
    sql = compiled(f"select id from customers {condition}", Q, missing=frozenset({"q"}))
    assert sql == f"SELECT id FROM customers {left}"


def test_missing_value_drops_join_condition():
    query = "select o.id from orders o join customers c on c.id = o.customer_id and c.name = {q}"
    assert compiled(query, Q, missing=frozenset({"q"})).endswith("ON c.id = o.customer_id AND TRUE")


def test_missing_value_elsewhere_is_null():
    result = compile_template("select coalesce({q}, 'x') as a from orders", [Q], CATALOG, frozenset({"q"}))
    assert [bind.name for bind in result.binds] == ["q"]
    assert bind_values(result.binds, [Q], {"q": None}) == [None]


@pytest.mark.parametrize(
    ("condition", "value", "bound"),
    [
        ("name like {q}", "50%_off\\", "50\\%\\_off\\\\"),
        ("name ilike '%' || {q} || '%'", "a%", "a\\%"),
        ("name like concat({q}, '%')", "_", "\\_"),
        ("name ~ {q}", "a.b*", "a\\.b\\*"),
        ("name ~* ('^' || {q})", "(", "\\("),
        ("name = {q}", "50%_off\\", "50%_off\\"),
        ("{q} like '%' || name", "50%", "50%"),
        ("name like '%' and name = {q}", "50%", "50%"),
    ],
)
def test_wildcards_of_a_value_are_literal(condition: str, value: str, bound: str):
    result = compile_template(f"select id from customers where {condition}", [Q], CATALOG)
    assert bind_values(result.binds, [Q], {"q": value}) == [bound]


def test_open_sides_are_infinite():
    result = compile_template(
        "select id from orders where placed_at >= {p.start} and placed_at < {p.end}", [P], CATALOG
    )
    assert bind_values(result.binds, [P], {"p": {"start": None, "end": None}}) == ["-infinity", "infinity"]
    half = {"p": {"start": "2026-06-01T00:00:00+02:00", "end": None}}
    assert bind_values(result.binds, [P], half) == ["2026-06-01T00:00:00+02:00", "infinity"]


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("text", 5),
        ("text", "a\x00b"),
        ("text", "\ud800"),
        ("integer", "5"),
        ("integer", True),
        ("integer", 1.5),
        ("integer", 2**63),
        ("number", float("nan")),
        ("number", float("inf")),
        ("number", "1"),
        ("date", "yesterday"),
        ("date", 20260601),
        ("datetime", "soon"),
        ("boolean", "true"),
        ("time_range", "2026"),
        ("time_range", {"start": "soon", "end": None}),
        ("time_range", {"from": None}),
        ("list", "abc"),
        ("list", [1]),
    ],
)
def test_value_of_wrong_type_is_refused(type_: str, value: object):
    param = Parameter(name="q", type=ParamType(type_))
    query = "id = {q}" if type_ != "time_range" else "id = {q.start}"
    query = "id in ({q})" if type_ == "list" else query
    result = compile_template(f"select id from orders where {query}", [param], CATALOG)
    with pytest.raises(ParameterError, match='"q"') as refused:
        bind_values(result.binds, [param], {"q": value})
    assert refused.value.parameter == "q"


def test_enum_takes_its_choices_only():
    param = Parameter(name="q", type=ParamType.ENUM, choices=("paid", "shipped"))
    result = compile_template("select id from orders where status = {q}", [param], CATALOG)
    assert bind_values(result.binds, [param], {"q": "paid"}) == ["paid"]
    with pytest.raises(ParameterError, match="one of paid, shipped"):
        bind_values(result.binds, [param], {"q": "lost"})


@pytest.mark.parametrize(
    ("condition", "left_out"),
    [
        ("id > 1 and name = {q}", ("name = {q}",)),
        ("name = {q} and name like '%' || {q}", ("name = {q}", "name LIKE '%' || {q}")),
        ("(name = {q} or id = 2) and id > 1", ("(name = {q} OR id = 2)",)),
        ("id > 1", ()),
    ],
)
def test_left_out_conditions_are_said(condition: str, left_out: tuple[str, ...]):
    result = compile_template(f"select id from customers where {condition}", [Q], CATALOG, frozenset({"q"}))
    assert result.left_out == left_out


def test_braces_in_quotes_are_a_text_unless_they_name_a_parameter():
    query = "select id from customers where name = '{other}' and name = {q}"
    assert compiled(query, Q) == "SELECT id FROM customers WHERE name = '{other}' AND name = CAST($1 AS TEXT)"


def test_required_value_must_be_said():
    with pytest.raises(MissingParameter, match='"q"'):
        missing_names([Q], {})
    assert missing_names([Q.model_copy(update={"required": False})], {"q": None}) == {"q"}


def test_unknown_value_is_refused():
    with pytest.raises(ParameterError, match='no parameter "other"'):
        missing_names([Q], {"q": "a", "other": "b"})


@given(st.text(), st.text())
def test_no_value_changes_the_statement(value: str, other: str):
    """The statement is made without the value, and the value is one bind, whatever it holds."""
    result = compile_template("select id from customers where name = {q} and name like {q}", [Q], CATALOG)
    for text in (value, other):
        try:
            bound = bind_values(result.binds, [Q], {"q": text})
        except ParameterError:
            continue
        assert bound[0] == text
        assert len(bound) == 2
    assert result.sql == "SELECT id FROM customers WHERE name = CAST($1 AS TEXT) AND name LIKE CAST($2 AS TEXT)"


TEMPLATES = [
    ("select id from customers where name = {x}", "text"),
    ("select id from customers where name like '%' || {x} || '%'", "text"),
    ("select id from customers where name in ({x})", "list"),
    ("select id from orders where id = {x} limit {x}", "integer"),
    ("select id from orders where total > {x} * 1.5", "number"),
    ("select id from orders where placed_at::date = {x} + 1", "date"),
    ("select id from orders where placed_at >= {x.start} and placed_at < {x.end}", "time_range"),
    ("select id from orders where placed_at > {x}", "datetime"),
    ("select id from orders where (total > 5) = {x}", "boolean"),
    ("select count(*) filter (where status = {x}) from orders", "enum"),
]
LITERALS = {"%", "5", "1", "1.5", "2", "3"}
"""That the templates and the numbers of their binds hold."""
ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text()), st.dates().map(str),
    st.dictionaries(st.sampled_from(["start", "end"]), st.datetimes().map(str)),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(value=ANYTHING)
@pytest.mark.parametrize(("template", "kind"), TEMPLATES)
def test_no_value_of_any_type_changes_the_statement(template: str, kind: str, value: object):
    """The statement holds no value: only $n, as often as the template has placeholders, whatever is bound."""
    declared = [Parameter(name="x", type=ParamType(kind))]
    result = compile_template(template, declared, CATALOG)
    try:
        bound = bind_values(result.binds, declared, {"x": value})
    except ParameterError:
        return
    assert len(bound) == len(result.binds)
    assert len(re.findall(r"\$\d+", result.sql)) == template.count("{x")
    assert {str(node.this) for node in parse_query(result.sql).find_all(exp.Literal)} <= LITERALS
