"""Attacks of every form, by a login that could do harm, on a database that notices: what the guard alone has to hold.

A canary is a text that may never come back, a function that says so when it is called, another tenant's row, and every
table's rows. The strings are every forbidden thing in every place of a query in every disguise, and tokens at random.
"""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.connectors.sql.test_guard import lines

from qkva.connectors.registry import open_connector
from qkva.connectors.sql.connector import SqlConnector
from qkva.contracts.errors import PlanRejected, QueryFailed
from qkva.contracts.source import Limits
from qkva.stores.embedded import EmbeddedServer

pytestmark = pytest.mark.db

CANARY = "CANARY"
SETUP = f"""
create role shop_insider login;
grant pg_read_all_data, pg_write_all_data, pg_read_server_files, pg_execute_server_program to shop_insider;
grant create on schema public to shop_insider;
alter role shop_insider set app.tenant_id = 'ours';
update secrets set token = '{CANARY} token';
update customers set email = '{CANARY} ' || email;
create view customer_mails as select id, email as mail from customers;
create view whole_customers as select to_jsonb(c) as everything from customers c;
create view harmless as select id, country from customers;
create view hidden_deeper as select * from customer_mails;
create table heirs (note text) inherits (products);
create sequence numbers;
create function canary() returns text language plpgsql as $$ begin raise exception '{CANARY} was called'; end $$;
create function canary(anyelement) returns text language plpgsql as $$ begin raise exception '{CANARY} was called'; end $$;
create function canary(record) returns text language plpgsql as $$ begin raise exception '{CANARY} was called'; end $$;
create function lower(integer) returns text language plpgsql as $$ begin raise exception '{CANARY} was called'; end $$;
create table tenants (tenant text, note text);
insert into tenants values ('ours', 'fine'), ('theirs', '{CANARY} of another tenant');
alter table tenants enable row level security;
create policy only_ours on tenants using (tenant = current_setting('app.tenant_id'));
grant all on all tables in schema public to shop_insider;
"""
DENY = {"tables": ["secrets"], "columns": ["*.email"]}

FORBIDDEN = [
    "pg_sleep(5)", "canary()", "canary(1)", "canary(orders)", "lower(7)", "set_config('app.tenant_id', 'theirs', false)",
    "set_config('statement_timeout', '0', false)", "pg_read_file('/etc/hostname')", "lo_import('/etc/hostname')",
    "query_to_xml('select token from secrets', true, true, '')", "table_to_xml('secrets', true, true, '')", "lo_create(0)",
    "nextval('numbers')", "pg_notify('a', 'b')", "pg_advisory_lock(7)", "current_setting('data_directory')",
    "pg_terminate_backend(1)", "'secrets'::regclass::text", "to_regclass('secrets')", "pg_ls_dir('.')", "version()",
    "ts_stat('select token from secrets')", "pg_logical_emit_message(true, 'a', 'b')", "current_user",
    "(select token from secrets limit 1)", "(select email from customers limit 1)", "(select max(c.email) from customers c)",
    "(select c from customers c limit 1)", "(select mail from customer_mails limit 1)",
    "(select everything from whole_customers limit 1)", "(select mail from hidden_deeper limit 1)",
    "(select rolpassword from pg_authid limit 1)", "(select f.pg_sleep from unnest(array[5.0::float8]) f)",
    "('/etc/hostname'::text).pg_read_file", "(select x.canary from (select 1) x)", "(select (x).canary from (select 1) x)",
    "(select count(*) from customers natural join (select 'CANARY ada@example.org' as email) x)",
    "(select count(*) from customers join (select 'a' as email) x using (email))",
    "(select c.row_to_json::text from customers c where exists (select 1 from (select 1) c))",
    "(select e from customers c(i, n, e) limit 1)", "(select 1 from orders for update limit 1)",
    "(with d as (delete from orders returning id) select max(id) from d)", "(select max(id) into copied from orders)",
    "(select 1 operator(pg_catalog.+) 2)", "xpath('/a', query_to_xml('select 1', true, true, ''))",
]  # fmt: skip
PLACES = [
    "select {}", "select id, {} as x from orders", "select id from orders where {} is not null",
    "select id from orders order by {}", "select count(*) from orders group by {}",
    "select id from orders group by id having {} is null", "select case when {} is null then 1 end from orders",
    "select coalesce(null, {}::text)", "with x as (select {} as a) select a from x",
    "with x as materialized (select {} as a) select 1 from x", "select * from (select {} as a) x",
    "select a from orders, lateral (select {} as a) x", "select o.id from orders o join customers c on {} is null",
    "select count(*) filter (where {} is null) from orders", "select sum(total) over (order by {}) from orders",
    "select array[{}::text]", "select * from (values ({})) v", "select id from orders limit (select length({}::text))",
    "select 1 union all select length({}::text)", "select distinct on ({}) id from orders", "select jsonb_build_object('a', {})",
    "select id from orders where id in (select length({}::text))", "select exists (select {})", "select not ({} is null)",
    "select id from orders where exists (select 1 where {} is null)", "select (select {})", "select row({}, 1)",
    "select string_agg({}::text, ',') from orders", "select * from unnest(array[{}::text]) u",
    "select 'a' like {}::text", "select date_trunc({}::text, now())", "with recursive r as (select 1 as n union all "
    "select n + 1 from r where n < 3 and {} is null) select n from r",
]  # fmt: skip
DISGUISES = [
    lambda text: text,
    lambda text: text.upper() if "'" not in text else text.replace("select", "SeLeCt"),
    lambda text: text.replace("(", "/* ; */ (", 1),
    lambda text: text.replace("(", "\n\t(").replace(" ", "  "),
    lambda text: f"{text} -- limit 1",
    lambda text: f"({text})",
    lambda text: text.replace("pg_", 'pg_catalog."pg_', 1).replace("(", '"(', 1) if "pg_" in text else f"{text};",
    lambda text: f"/* select 1 */ {text}",
]


def attacks() -> list[str]:
    """Every forbidden thing in every place, each in two of the disguises."""
    chosen = random.Random(7)
    found = dict.fromkeys(
        disguise(place.replace("{}", forbidden))
        for forbidden, place in itertools.product(FORBIDDEN, PLACES)
        for disguise in chosen.sample(DISGUISES, 2)
    )
    return [*found, *lines("refused.sql")]


@pytest.fixture(scope="module")
def insider_url(postgres_server: EmbeddedServer) -> Iterator[str]:
    postgres_server.create_database("connector_attacked")
    owner = postgres_server.url_for("connector_attacked", "postgres")
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute((Path(__file__).parent / "shop.sql").read_text())
        connection.execute(SETUP.encode())
    yield postgres_server.url_for("connector_attacked", "shop_insider")
    with psycopg.connect(postgres_server.url_for("postgres", "postgres"), autocommit=True) as connection:
        connection.execute("drop database connector_attacked with (force)")
        connection.execute("drop role shop_insider")


@pytest.fixture(scope="module")
async def attacked(insider_url: str):
    connector = open_connector("shop", "sql", {"url": insider_url, "deny": DENY})
    assert isinstance(connector, SqlConnector)
    yield connector
    await connector.close()


STATE = """
select (select count(*) from orders), (select count(*) from customers), (select count(*) from refunds),
    (select count(*) from tenants), (select count(*) from pg_class), (select count(*) from pg_proc),
    (select count(*) from pg_largeobject_metadata), (select last_value from numbers), (select is_called from numbers),
    (select count(*) from pg_locks where locktype = 'advisory' and database = (
        select oid from pg_database where datname = current_database())),
    (select count(*) from pg_stat_activity where usename = 'shop_insider' and state <> 'idle')
"""


@pytest.fixture(scope="module")
def unharmed(postgres_server: EmbeddedServer, insider_url: str) -> Iterator[None]:
    """Nothing has been written, made, locked or left running when all attacks are over."""
    with psycopg.connect(postgres_server.url_for("connector_attacked", "postgres"), autocommit=True) as connection:
        before = connection.execute(STATE).fetchone()
        yield
        assert connection.execute(STATE).fetchone() == before


async def outcome(connector: SqlConnector, query: str) -> str:
    """ "refused", "failed" or "ran"; fails if a canary came back."""
    try:
        result = await connector.execute(query, (), {}, Limits(rows=5, seconds=1))
    except PlanRejected:
        return "refused"
    except QueryFailed as error:
        assert CANARY not in error.message, query
        return "failed"
    assert CANARY not in repr(result), query
    return "ran"


def test_corpus_is_large_enough():
    assert len(attacks()) >= 2_000


async def test_every_attack_is_refused(attacked: SqlConnector, unharmed: None):
    passed = [query for query in attacks() if await outcome(attacked, query) != "refused"]
    assert passed == []


async def test_no_setting_is_left(attacked: SqlConnector, unharmed: None):
    for query in attacks()[::40]:
        await outcome(attacked, query)
    result = await attacked.execute("select note from tenants", (), {}, Limits())
    assert [record.fields for record in result.records] == [{"note": "fine"}]


async def test_harmless_view_is_read(attacked: SqlConnector):
    names = {table.name for table in (await attacked.describe()).tables}
    assert "harmless" in names
    assert not names & {"secrets", "customer_mails", "whole_customers", "hidden_deeper"}


WORDS = [
    "select", "from", "where", "orders", "customers", "c", "o", "x", ".", ",", "(", ")", "*", "email", "id", "name",
    "secrets", "token", "canary", "pg_sleep", "lower", "1", "'a'", "'secrets'", "::", "text", "regclass", "as", "with",
    "natural", "join", "using", "lateral", "unnest", "array", "[", "]", "union", "all", "exists", "row_to_json", "in",
    "(select", "order by", "group by", "limit", "into", "for update", "delete", "returning", ";", "--", "/*", "*/", '"',
    "U&", "$$", "E'", "operator", "table", "values", "over", "filter", "case", "when", "end", "is null", "=", "tenants",
]  # fmt: skip


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=14), glued=st.booleans())
async def test_tokens_at_random_show_no_canary(attacked: SqlConnector, unharmed: None, words: list[str], glued: bool):
    await outcome(attacked, f"select {('' if glued else ' ').join(words)}")
    await outcome(attacked, f"select * from customers c, orders o where {' '.join(words)}")
    await outcome(attacked, f"select {' '.join(words)} from customers c join orders o on o.customer_id = c.id")
