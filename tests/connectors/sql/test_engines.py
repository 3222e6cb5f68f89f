"""SQLite, DuckDB and MariaDB: the same guard in their languages, and what the engines themselves stop below it."""

import asyncio
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qkva.connectors.registry import open_connector
from qkva.connectors.sql.engines.connector import EngineConnector
from qkva.contracts.errors import ConfigError, PlanRejected, QkvaError, QueryFailed
from qkva.contracts.plan import Parameter, Plan
from qkva.contracts.source import Limits

ENGINES = ["sqlite", "duckdb", "mariadb"]
DENY = {"tables": ["secrets"], "columns": ["*.email"]}
CANARY = "CANARY"


@pytest.fixture(scope="module", params=ENGINES)
async def shop(request: Any, engine_urls: Callable[[str], str]):
    connector = open_connector("shop", "sql", {"url": engine_urls(request.param), "deny": DENY})
    assert isinstance(connector, EngineConnector)
    yield connector
    await connector.close()


async def ask(shop: EngineConnector, query: str, *params: Parameter, rows: int = 200, **values: Any) -> list[list[Any]]:
    result = await shop.execute(query, params, values, Limits(rows=rows, timezone="UTC"))
    return [list(record.fields.values()) for record in result.records]


def param(name: str, kind: str, **fields: Any) -> Parameter:
    return Parameter.model_validate({"name": name, "type": kind, **fields})


HONEST = {
    "select count(*) from orders": [[60]],
    "select count(*) as n, sum(total) as s from orders where status = 'paid'": [[15, 4458.75]],
    "SELECT T1.Name, COUNT(*) FROM Customers AS T1 JOIN Orders AS T2 ON T1.Id = T2.Customer_Id GROUP BY T1.Name "
    "ORDER BY T1.Name LIMIT 1": [["100% Cotton_Club", 15]],
    "select c.name from customers c where c.id in (select customer_id from orders where total > 610)": [
        ["Ada Lovelace"]
    ],
    "with big as (select * from orders where total > 600) select b.id from big b order by b.id": [[59], [60]],
    "select id, row_number() over (order by total desc) as place from orders order by place limit 2": [
        [60, 1],
        [59, 2],
    ],
    "select case when total > 300 then 'large' else 'small' end as size, count(*) from orders group by 1 order by 1": [
        ["large", 31],
        ["small", 29],
    ],
    "select coalesce(null, upper(country)) from customers where id = 1": [["UNITED KINGDOM"]],
    "select distinct status from orders order by status": [["cancelled"], ["paid"], ["pending"], ["shipped"]],
    "select count(distinct customer_id) from orders": [[4]],
    "select name from customers where name like 'A%' or name like '%Gau%' order by name": [
        ["Ada Lovelace"],
        ["Carl Gauß"],
    ],
    "select id from big_orders order by id limit 1": [[30]],
    "select 'drop table orders; --' as harmless, replace(name, 'a', 'b') from customers where id = 1": [
        ["drop table orders; --", "Adb Lovelbce"]
    ],
    "select id from orders where id = 1 union all select id from customers where id = 2 order by 1": [[1], [2]],
    "select o.id from orders o where exists (select * from customers c where c.id = o.customer_id and c.vip) "
    "order by o.id limit 1": [[4]],
    "select max(x.n) from (select customer_id, count(*) as n from orders group by customer_id) x": [[15]],
    "with recursive t(n) as (select 1 union all select n + 1 from t where n < 4) select sum(n) from t": [[10]],
    "select id, total from orders where total between 100 and 110 order by id": [[10, 102.5]],
    "select round(avg(total), 2) from orders": [[312.63]],
}


@pytest.mark.parametrize("query", HONEST)
async def test_honest_query_gives_what_it_should(shop: EngineConnector, query: str):
    await shop.check(plan(shop, query))
    found = await ask(shop, query)
    rounded = [[round(value, 1) if isinstance(value, float) else value for value in row] for row in found]
    assert rounded == [
        [round(value, 1) if isinstance(value, float) else value for value in row] for row in HONEST[query]
    ]


SQLITE = {
    'select name from customers where country = "France"': [["Émilie du Châtelet"]],
    'SELECT T1.`Name` FROM Customers AS T1 WHERE T1.[Country] = "Germany" AND "id" = 3': [["Carl Gauß"]],
    "SELECT CAST(SUM(IIF(T1.status = 'paid', 1, 0)) AS REAL) * 100 / COUNT(T1.id) AS Share FROM orders AS T1": [[25.0]],
    "SELECT STRFTIME('%Y', placed_at), COUNT(*) FROM orders GROUP BY STRFTIME('%Y', placed_at)": [["2026", 60]],
    "SELECT name FROM customers ORDER BY id LIMIT 1, 1": [["Émilie du Châtelet"]],
    "SELECT SUBSTR(name, 1, INSTR(name, ' ') - 1) || '!' FROM customers WHERE id = 1": [["Ada!"]],
    "SELECT JULIANDAY('2026-05-31') - JULIANDAY('2026-05-01')": [[30.0]],
    "SELECT IFNULL(NULL, 2), DATE('2026-05-31', '+1 day'), ROUND(5.0 / 3, 2), TYPEOF(1)": [
        [2, "2026-06-01", 1.67, "integer"]
    ],
    "SELECT name FROM customers WHERE name GLOB 'A*' AND id NOT IN (SELECT customer_id FROM orders WHERE id > 99)": [
        ["Ada Lovelace"]
    ],
    'SELECT COUNT(*) AS "Total Orders" FROM orders WHERE total > (SELECT AVG(total) FROM orders)': [[30]],
    "SELECT name FROM customers EXCEPT SELECT name FROM customers WHERE vip = 0": [["Ada Lovelace"]],
}


@pytest.mark.parametrize("query", SQLITE)
async def test_query_as_people_write_it_for_sqlite(engine_urls: Callable[[str], str], query: str):
    connector = open_connector("shop", "sql", {"url": engine_urls("sqlite"), "deny": DENY})
    assert isinstance(connector, EngineConnector)
    await connector.check(plan(connector, query))
    assert await ask(connector, query) == SQLITE[query]
    result = await connector.execute('select id as "My Id" from orders limit 1', (), {}, Limits())
    assert list(result.records[0].fields) == ["My Id"]


def plan(shop: EngineConnector, query: str, *params: Parameter) -> Plan:
    return Plan(key_text="test", query=query, params=params, source="shop", source_type="sql", dialect=shop.dialect)


REFUSED = """
delete from orders
insert into orders select * from orders
update orders set total = 0
drop table orders
create table x as select * from orders
attach database 'x.db' as x
pragma table_info(orders)
select 1; select 2
with d as (delete from orders returning id) select * from d
select * from orders for update
select * from secrets
select token from secrets
select email from customers
select EMAIL from customers
select "email" from customers
select `Email` from customers
select "EMAIL" from customers
select [email] from customers
select c.EMAIL from customers c
select c."EMAIL" from customers c
select * from customers
select c.* from CUSTOMERS c
select id from customers where EMAIL like 'C%'
select id from customers order by Email
select count(*) from customers group by email
select count(*) from customers natural join (select 'CANARY ada@example.org' as email) x
select count(*) from customers join (select 'a' as email) x using (email)
select mail from mails
select c from customers c
select columns('email') from customers
select columns(*) from customers
select * exclude (id) from customers
select customers from customers
select * from sqlite_master
select * from sqlite_schema
select * from information_schema.tables
select * from duckdb_tables()
select * from pragma_table_info('customers')
select * from mysql.user
select load_extension('x')
select readfile('/etc/passwd')
select writefile('/tmp/x', 'y')
select zeroblob(1000000000)
select randomblob(1000000000)
select sleep(5)
select benchmark(1000000000, md5('x'))
select load_file('/etc/passwd')
select get_lock('x', 10)
select user()
select version()
select @@datadir
select @a := 1
select id into @a from orders limit 1
select id from orders into outfile '/tmp/x'
select * from read_csv('/etc/passwd')
select * from read_text('/etc/passwd')
select * from '/etc/passwd'
select * from "/etc/passwd"
select * from 'x.csv'
select * from query('select token from secrets')
select * from query_table('secrets')
select getenv('HOME')
select current_setting('threads')
select ('/etc/passwd').read_text()
from secrets
from customers
summarize customers
describe customers
pivot customers on email
unpivot customers on email into name x value y
copy orders to '/tmp/x.csv'
export database '/tmp/x'
install httpfs
call pragma_version()
set threads = 1
show tables
explain delete from orders
values (1)
table secrets
select sqlite_version()
select repeat('x', 1000000000)
select * from main.secrets
select * from shop.secrets
select * from temp.orders
select 1 /*! union select token from secrets */ from orders where id in (select id from secrets)
""".strip().splitlines()


@pytest.mark.parametrize("query", REFUSED)
async def test_attack_is_refused(shop: EngineConnector, query: str):
    if shop.dialect == "mysql" and query.startswith('select "'):  # a text there
        assert CANARY not in repr(await ask(shop, query))
        return
    with pytest.raises(PlanRejected):
        await ask(shop, query)


PLACES = [
    "select {}", "select id from orders where {} is not null", "select id from orders order by {}",
    "select case when {} is null then 1 end", "with x as (select {} as a) select a from x",
    "select * from (select {} as a) x", "select 1 union all select {}", "select max({}) from orders",
    "select o.id from orders o join customers c on {} is null", "select sum(total) over (order by {}) from orders",
]  # fmt: skip
FORBIDDEN = [
    "(select token from secrets limit 1)", "(select EMAIL from customers limit 1)", "(select c.email from customers c limit 1)",
    "(select mail from mails limit 1)", "load_extension('x')", "sleep(3)", "load_file('/etc/passwd')", "getenv('HOME')",
    "(select max(email) from Customers)", "(select x.email from (select * from customers) x limit 1)",
]  # fmt: skip


async def test_forbidden_thing_is_refused_in_every_place(shop: EngineConnector):
    passed = []
    for place in PLACES:
        for forbidden in FORBIDDEN:
            try:
                result = await ask(shop, place.replace("{}", forbidden))
            except PlanRejected:
                continue
            passed.append((place, forbidden, result))
    assert passed == []


@pytest.mark.parametrize(
    "statement",
    [
        "delete from orders",
        "insert into secrets values (9, 'x')",
        "drop table orders",
        "create table made (a int)",
        "update orders set total = 0",
    ],
)
async def test_engine_itself_does_not_write(shop: EngineConnector, statement: str):
    """Past the guard, by a login that may write."""
    with pytest.raises(shop._engine.errors):
        shop._engine.fetch(statement, (), rows=1, seconds=2, zone="UTC")
    assert await ask(shop, "select count(*) from orders") == [[60]]


@pytest.mark.parametrize(
    ("engine", "statement"),
    [
        ("sqlite", "attach database '/tmp/qkva_made.db' as made"),
        ("sqlite", "pragma query_only = off"),
        ("duckdb", "attach '/tmp/qkva_made.duckdb' as made"),
        ("duckdb", "select * from read_text('/etc/hostname')"),
        ("duckdb", "copy (select 1) to '/tmp/qkva_made.csv'"),
        ("duckdb", "set enable_external_access = true"),
    ],
)
def test_engine_itself_reaches_nothing_else(engine_urls: Callable[[str], str], engine: str, statement: str):
    connector = open_connector("shop", "sql", {"url": engine_urls(engine)})
    assert isinstance(connector, EngineConnector)
    with pytest.raises(connector._engine.errors):
        connector._engine.fetch(statement, (), rows=1, seconds=2, zone="UTC")
    connector._engine.close()


async def test_slow_query_is_stopped(shop: EngineConnector):
    endless = "select count(*) from orders a, orders b, orders c, orders d, orders e, orders f, orders g"
    with pytest.raises(QueryFailed) as failed:
        await shop.execute(endless, (), {}, Limits(seconds=0.5, any_cost=True))
    assert failed.value.layer == "transaction"
    assert await ask(shop, "select count(*) from orders") == [[60]]


async def test_rows_and_bytes_are_capped(shop: EngineConnector):
    result = await shop.execute("select id from orders order by id -- all rows", (), {}, Limits(rows=7))
    assert ([record.fields["id"] for record in result.records], result.truncated) == ([1, 2, 3, 4, 5, 6, 7], True)


async def test_many_rows_are_too_costly(engine_urls: Callable[[str], str]):
    for engine in ("duckdb", "mariadb"):
        connector = open_connector("shop", "sql", {"url": engine_urls(engine), "max_plan_rows": 1_000})
        with pytest.raises(PlanRejected, match="cost rule"):
            await connector.execute("select count(*) from orders a, orders b, orders c", (), {}, Limits())
        await connector.close()


async def test_denied_is_not_described(shop: EngineConnector):
    description = await shop.describe()
    assert {table.name for table in description.tables} == {"big_orders", "customers", "orders"}
    assert description.field("customers.email") is None
    assert CANARY not in repr(description)
    orders = next(table for table in description.tables if table.name == "orders")
    assert {field.name: field.kind for field in orders.fields} == {
        "id": "integer",
        "customer_id": "integer",
        "status": "text",
        "total": "number",
        "placed_at": "datetime",
    }
    assert [field.references for field in orders.fields if field.references] == ["customers.id"]


def plain(text: str) -> str:
    """Without case and accents, as MariaDB compares."""
    letters = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).replace("ß", "s")


PIECES = st.one_of(
    st.sampled_from(
        ["Ada", "%", "_", "100%", "n_C", "\\", "' or 1=1 --", "é", "{q}", "?", ":x", "%s", '"', "`", "$1", ""]
    ),
    st.text(alphabet="aAdC%_\\'\"?:$%s0 ", max_size=4),
)
NAMES = ["Ada Lovelace", "Émilie du Châtelet", "Carl Gauß", "100% Cotton_Club"]
ON_AN_ENGINE = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@ON_AN_ENGINE
@given(q=PIECES)
async def test_text_means_itself(shop: EngineConnector, q: str):
    text = param("q", "text")
    equal = await ask(shop, "select name from customers where name = {q}", text, q=q)
    assert equal == [[name] for name in NAMES if name == q]
    pattern = "CONCAT('%', {q}, '%')" if shop.dialect == "mysql" else "'%' || {q} || '%'"
    inside = await ask(shop, f"select name from customers where name like {pattern} order by id", text, q=q)
    fold = {"sqlite": str.lower, "mysql": plain, "duckdb": str}[shop.dialect]
    if q.isascii() and q == q.rstrip():  # beyond ASCII, each engine folds in its own way
        assert inside == [[name] for name in NAMES if fold(q) in fold(name)]


@ON_AN_ENGINE
@given(words=st.lists(st.sampled_from([*NAMES, "none", "'", "%"]), max_size=4))
async def test_list_means_its_items(shop: EngineConnector, words: list[str]):
    listed = param("words", "list")
    inside = await ask(shop, "select name from customers where name in ({words}) order by id", listed, words=words)
    outside = await ask(shop, "select name from customers where name not in ({words}) order by id", listed, words=words)
    assert inside == [[name] for name in NAMES if name in words]
    assert outside == [[name] for name in NAMES if name not in words]


@ON_AN_ENGINE
@given(n=st.integers(0, 70))
async def test_limit_means_a_number(shop: EngineConnector, n: int):
    rows = await ask(shop, "select id from orders order by id limit {n}", param("n", "integer"), n=n)
    assert rows == [[number] for number in range(1, 61)][:n]


@pytest.mark.parametrize(
    ("start", "end", "count"),
    [
        ("2026-05-01T00:00:00+00:00", "2026-06-01T00:00:00+00:00", 60),
        ("2026-05-02T00:00:00+00:00", "2026-05-03T00:00:00+00:00", 2),
        ("2026-05-02T12:00:00+00:00", "2026-05-02T12:00:01+00:00", 2),
        ("2026-05-02T14:00:00+02:00", "2026-05-02T14:00:01+02:00", 2),
        (None, "2026-05-02T00:00:00+00:00", 1),
        ("2026-05-31T00:00:00+00:00", None, 1),
    ],
)
async def test_time_range_is_half_open(shop: EngineConnector, start: str | None, end: str | None, count: int):
    query = "select count(*) from orders where placed_at >= {p.start} and placed_at < {p.end}"
    assert await ask(shop, query, param("p", "time_range"), p={"start": start, "end": end}) == [[count]]


async def test_unsaid_value_drops_its_condition(shop: EngineConnector):
    query = "select count(*) from orders where status = {s} and total > 600"
    result = await shop.execute(query, [param("s", "text", required=False)], {"s": None}, Limits())
    assert [list(record.fields.values()) for record in result.records] == [[2]]
    assert result.left_out == ("status = {s}",)


async def test_rights_of_a_server_are_said(engine_urls: Callable[[str], str]):
    url = engine_urls("mariadb")
    for login, may_write in (("writer", True), ("reader", False)):
        connector = open_connector("shop", "sql", {"url": url.replace("writer", login)})
        assert isinstance(connector, EngineConnector)
        rights = await connector.login_rights()
        assert (rights.login, bool(rights.excess)) == (f"{login}@localhost", may_write)
    assert rights.excess == ()


async def test_queries_run_side_by_side(shop: EngineConnector):
    counts = await asyncio.gather(*(ask(shop, "select count(*) from orders") for _ in range(12)))
    assert counts == [[[60]]] * 12


def test_unknown_engine_is_refused():
    with pytest.raises(ConfigError, match="must be an address such as postgresql"):
        open_connector("shop", "sql", {"url": "oracle://a@b/c"})


async def test_file_that_is_none_is_said(tmp_path: Any):
    (tmp_path / "x.db").write_text("no database" * 100)
    connector = open_connector("shop", "sql", {"url": f"sqlite:///{tmp_path}/x.db"})
    with pytest.raises(QkvaError, match='"shop" is unavailable'):
        await connector.describe()
