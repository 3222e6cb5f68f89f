"""`qkva source grant-sql` and `qkva source check`."""

import json

import pytest

pytestmark = pytest.mark.db


def judged(done) -> list[dict]:
    return json.loads(done.stdout)["results"]


def test_queries_are_judged_one_a_line(qkva):
    lines = [
        "select count(*) from orders",
        "",
        "delete from orders",
        "select 1; select 2",
        "select pg_sleep(1)",
        "select id from orders where id = {n}",
        json.dumps(
            {
                "query": "select id from orders where id = {n}",
                "params": [{"name": "n", "type": "integer"}],
                "values": {"n": 1003},
            }
        ),
        '{"qery": 1}',
        "with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t",
    ]
    said = "\n".join(lines).encode()
    done = qkva("source", "check", "shop", "--query", "-", "--run", "--json", stdin=said, SQL_QUERY_TIMEOUT_SEC="0.3")
    assert done.returncode == 1
    results = judged(done)
    assert [(result["line"], result["verdict"], result["layer"]) for result in results] == [
        (1, "allowed", None),
        (3, "refused", "allow-list"),
        (4, "refused", "statement"),
        (5, "refused", "allow-list"),
        (6, "refused", "template"),
        (7, "allowed", None),
        (8, "refused", "template"),
        (9, "failed", "transaction"),
    ]
    assert results[0]["count"] == 1 and results[0]["rows"][0]["count"] > 0
    assert results[5]["rows"] == [{"id": 1003}]
    assert "only SELECT is allowed" in results[1]["reason"]


def test_without_run_nothing_is_run(qkva):
    endless = b"with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t"
    done = qkva("source", "check", "shop", "--query", "-", "--json", stdin=endless)
    assert (done.returncode, judged(done)[0]["verdict"]) == (0, "allowed")
    assert "rows" not in judged(done)[0]


def test_verdicts_read_well(qkva):
    done = qkva(
        "source",
        "check",
        "shop",
        "--query",
        "-",
        "--run",
        stdin=b"select id from orders order by id\ndrop table orders",
    )
    assert "1  allowed  select id from orders" in done.stdout
    assert "200 rows, cut" in done.stdout and '{"id": 1001}' in done.stdout
    assert "2  refused (allow-list)  drop table orders" in done.stdout


def test_unknown_source_is_named(qkva):
    done = qkva("source", "check", "nowhere", "--query", "-", stdin=b"select 1")
    assert done.returncode == 2 and "There is no source 'nowhere'" in done.stderr


def test_grants_are_printed(qkva):
    done = qkva("source", "grant-sql", "shop")
    assert done.returncode == 0
    assert 'grant select on "public"."orders" to "shop_reader";' in done.stdout
    assert 'alter role "shop_reader" set default_transaction_read_only = on;' in done.stdout
    assert qkva("source", "grant-sql", "shop", "--role", "x; drop role y").returncode == 2
    assert "is no database" in qkva("source", "grant-sql", "issues").stderr


def test_login_that_may_write_is_warned_of_and_refused_if_strict(qkva, demo_folder, tmp_path):
    config = tmp_path / "qkva.toml"
    config.write_text('[sources.shop]\ntype = "sql"\nurl = "embedded://postgres@/shop"\n')
    env = {"QKVA_CONFIG": str(config)}
    warned = qkva("source", "check", "shop", "--query", "-", stdin=b"select 1 as n", **env)
    assert warned.returncode == 0 and "is not read-only: it is a superuser." in warned.stderr
    refused = qkva("source", "check", "shop", "--query", "-", "--strict", stdin=b"select 1 as n", **env)
    assert refused.returncode == 2 and "--strict refuses it" in refused.stderr

    asked = qkva("ask", "how many orders are there?", **env)
    assert "is not read-only: it is a superuser." in asked.stderr
    refused = qkva("ask", "how many orders are there?", "--strict", **env)
    assert refused.returncode == 2 and "is not read-only" in refused.stderr
    by_setting = qkva("ask", "how many orders are there?", STRICT_SOURCES="true", **env)
    assert by_setting.returncode == 2 and "STRICT_SOURCES refuses it" in by_setting.stderr
    assert "BROKEN" in qkva("doctor", "--strict", **env).stdout
