"""The guard alone, over two lists in plain SQL: what has to pass, and what has to be refused."""

from pathlib import Path

import pytest

from qkva.connectors.sql.catalog import Catalog
from qkva.connectors.sql.functions import allowed_functions
from qkva.connectors.sql.guard import MAX_QUERY_CHARS, check_query, parse_query
from qkva.contracts.errors import PlanRejected
from qkva.contracts.source import Field, Table


def lines(name: str) -> list[str]:
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("--")]


def table(name: str, /, **columns: str) -> Table:
    return Table(
        name=name, fields=tuple(Field(name=column, type=type_, kind="text") for column, type_ in columns.items())
    )


CATALOG = Catalog(
    [
        table(
            "orders",
            id="integer",
            customer_id="integer",
            status="order_status",
            total="numeric",
            placed_at="timestamptz",
        ),
        table("customers", id="integer", name="text", email="text", country="text"),
        table("sales.orders_2020", id="integer", note="text"),
    ],
    schemas=["public", "sales"],
    denied=["customers.email"],
)


def guard(query: str) -> None:
    check_query(parse_query(query), CATALOG)


@pytest.mark.parametrize("query", lines("refused.sql"))
def test_known_bypass_is_refused(query: str):
    with pytest.raises(PlanRejected) as refused:
        guard(query)
    assert refused.value.message.startswith("The query was refused by the ")


def test_nothing_is_logged_of_a_refused_query(caplog: pytest.LogCaptureFixture):
    for query in lines("refused.sql"):
        with pytest.raises(PlanRejected):
            guard(query)
    assert caplog.records == []


@pytest.mark.parametrize(
    ("query", "rule", "what"),
    [
        ("delete from orders", "statement", "only SELECT is allowed"),
        ("select 1; select 2", "statement", "only one statement"),
        ("select * into x from orders", "statement", "SELECT INTO is not allowed"),
        ("select * from orders for update", "statement", "FOR UPDATE is not allowed"),
        ("select pg_sleep(1)", "function", "pg_sleep is not among"),
        ("select pg_catalog.lower('A')", "function", "names a schema"),
        ("select 'x'::regclass", "type", "regclass is not among"),
        ("select * from ordrs", "table", 'did you mean "orders"?'),
        ("select * from pg_class", "table", '"pg_class" is not among the readable tables'),
        ("select * from app.public.orders", "table", "names a database"),
        ('select U&"d\\0061t" from orders', "name", "U&"),
        ("select totl from orders", "column", 'did you mean "total"?'),
        ("select o.totl from orders o", "column", 'no column "totl" in "orders"; did you mean "total"?'),
        ("select x.total from orders o", "column", '"x.total" names no table of the query'),
    ],
)
def test_refusal_names_rule_and_cause(query: str, rule: str, what: str):
    with pytest.raises(PlanRejected) as refused:
        guard(query)
    assert f"by the {rule} rule" in refused.value.message
    assert what in refused.value.message


@pytest.mark.parametrize("query", lines("denied.sql"))
def test_way_to_denied_column_is_refused(query: str):
    with pytest.raises(PlanRejected):
        guard(query)


@pytest.mark.parametrize(
    "query",
    [
        "select email from customers",
        "select * from customers",
        "select c.* from customers c",
        "select c from customers c",
        "select customers from customers",
        "select to_jsonb(c) from customers c",
        "select d from customers as c(a, b, d, e)",
        "select (c).email from customers c",
        "select id from customers where email like 'a%'",
        "select id from customers order by email",
        "select count(*) from orders join customers using (email)",
        "with c as (table customers) select 1 from c",
        "with x as (select * from customers) select id from x",
        "select lower(c.email) as id from customers c",
        "select 1 as email, email as e from customers",
        "select count(*) from customers natural join (select 'a@b' as email) x",
        "select count(*) from (select 'a@b' as email) x natural left join customers",
        "select c.row_to_json from customers c where exists (select 1 from (select 1) c)",
        "select customers.email from customers, (select 1 as email) x",
        "select public.customers.email from public.customers",
        "select x.c from (select c from customers c) x",
        "select (select c from customers c limit 1)",
        "select ((select c from customers c limit 1)).email",
        "select id from orders o where exists (select 1 from customers where email = 'a')",
        "select id from customers where exists (select 1 from orders where email = 'a')",
        "select (select email from orders limit 1) from customers",
        "select count(*) from orders o join customers c on c.email = 'a'",
        "select count(*) filter (where email like 'a%') from customers",
        "select sum(1) over (partition by email) from customers",
        "select count(*) from customers group by email",
        "select id from customers group by id having max(email) > 'a'",
        "select l.e from customers c, lateral (select c.email as e) l",
        "select l.e from customers c, lateral (select email as e) l",
        "select array(select email from customers)",
        "select * from (select * from customers) x",
        "select count(x.*) from customers x",
        "select id from customers union select length(email) from customers",
        "select id, email from (customers c join orders o on true)",
        "select array_agg(c) from customers c",
        "select c::text from customers c",
        "select id from customers c where c is not null",
    ],
)
def test_denied_column_cannot_be_read(query: str):
    with pytest.raises(PlanRejected, match="column rule"):
        guard(query)


@pytest.mark.parametrize(
    "query",
    [
        "select id, name from customers",
        "select o.id from orders o where exists (select * from customers c where c.id = o.customer_id)",
        "select id, email from (select id, name as email from customers) x",
        "select x.email from (select id, name as email from customers) x",
        "select c.name from (select c.name from customers c) c",
        "select count(*) from customers",
        "select * from orders",
        "select c.name, o.* from customers c join orders o on o.customer_id = c.id",
        "select id from sales.orders_2020",
        "select id from ORDERS",
        "with orders_2020 as (select 1 as id) select id from orders_2020",
        "with a as (select id from orders), b as (select id from a) select id from b",
        "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) select n from t",
    ],
)
def test_readable_part_passes(query: str):
    guard(query)


@pytest.mark.parametrize(
    "query",
    [
        "select " + "(" * 3000 + "1" + ")" * 3000,
        "select " + "-" * 1 + "+-" * 5000 + "1",
        "select 1" + " + 1" * 6000,
        "select 1 where " + "not " * 4000 + "true",
        "select '" + "x" * MAX_QUERY_CHARS + "'",
    ],
    ids=["parentheses", "signs", "sum", "not", "long"],
)
def test_monstrous_query_is_refused(query: str):
    with pytest.raises(PlanRejected):
        guard(query)


def test_every_listed_function_passes():
    plain = [name for name in allowed_functions() if not parser_only(name)]
    assert len(plain) > 200
    for name in plain:
        assert any(passes(f"select {name}{arguments}") for arguments in CALLS), name


CALLS = (
    "(total)",
    "()",
    "",
    "(total, total)",
    "(total, total, total)",
    "('a', total)",
    "(day from total)",
    "(select 1)",
)


def passes(call: str) -> bool:
    """Whether the call is read as a function and let through."""
    try:
        guard(f"{call} from orders")
    except PlanRejected:
        return False
    return True


def parser_only(name: str) -> bool:
    """Names of the second part of functions.txt, which nobody writes."""
    path = Path(__file__).parents[3] / "connectors" / "sql" / "functions.txt"
    return name in path.read_text(encoding="utf-8").split("# --- as the parser names them ---")[1].split()


def test_regenerated_query_reads_the_same():
    for query in lines("honest.sql"):
        once = parse_query(query).sql("postgres", comments=False)
        assert parse_query(once).sql("postgres") == once
