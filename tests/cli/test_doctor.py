"""`qkva doctor`, `qkva migrate`, `qkva --version`."""

import json
import subprocess
import time

import psycopg
import pytest
from tests.cli.conftest import QKVA
from tests.gateway import Gateway

from qkva.stores.embedded import EmbeddedServer

pytestmark = pytest.mark.db


def checks_of(done) -> dict[str, list[dict]]:
    """The checks by name."""
    found: dict[str, list[dict]] = {}
    for check in json.loads(done.stdout)["checks"]:
        found.setdefault(check["name"], []).append(check)
    return found


def test_everything_works_after_the_demo(qkva):
    done = qkva("doctor")
    assert done.returncode == 0 and "Everything works." in done.stdout
    checks = checks_of(qkva("doctor", "--json"))
    assert checks["mode"][0]["found"].startswith("no gateway")
    assert "PostgreSQL 18" in checks["plan cache"][0]["found"]
    assert checks["cache role"][0]["found"].startswith("qkva_app: neither owner nor superuser")
    assert "vectors of 1536" in checks["embedder"][0]["found"]
    told = " ".join(check["found"] for check in checks["source shop"])
    assert "customers, order_items, orders, products, refunds" in told
    assert "rows of customers are readable" in told and "shop_reader may only read" in told


def test_models_are_really_called(qkva):
    with Gateway() as gateway:
        gateway.script("Ready", {"ready": True})
        gateway.script("answer", "yes")
        gateway.script("doctor", "yes")
        checks = checks_of(qkva("doctor", "--json", LITELLM_PROVIDER_BASE_URL=gateway.url))
    assert checks["mode"][0]["found"].startswith("gateway at")
    assert checks["model answers"][0]["state"] == "ok"
    assert checks["model plans"][0]["state"] == "ok"


def test_dead_gateway_is_broken(qkva):
    done = qkva("doctor", LITELLM_PROVIDER_BASE_URL="http://127.0.0.1:1/v1", LLM_MAX_RETRIES="0")
    assert done.returncode == 1
    assert "BROKEN model answers" in done.stdout and "LITELLM_PROVIDER_BASE_URL" in done.stdout
    assert "source shop" in done.stdout  # the rest is examined all the same


def test_dead_database_is_broken(qkva):
    done = qkva("doctor", DATABASE_URL="postgresql://me:secret@127.0.0.1:1/x")
    assert done.returncode == 1 and "BROKEN plan cache" in done.stdout
    assert "secret" not in done.stdout + done.stderr


def test_writing_login_is_noted(qkva, tmp_path, demo_folder, postgres_server: EmbeddedServer):
    postgres_server.create_database("writable")
    url = postgres_server.url_for("writable", "postgres")
    with psycopg.connect(url) as connection:
        connection.execute("create table if not exists things (id integer primary key, name text)")
    (tmp_path / "qkva.toml").write_text(f'[sources.mine]\ntype = "sql"\nurl = "{url}"\n')
    done = qkva("doctor", folder=tmp_path, CACHE_DIR=str(demo_folder / ".qkva"))
    assert done.returncode == 0
    assert "the login postgres is a superuser" in done.stdout and "qkva source grant-sql" in done.stdout


def test_migrate_names_the_revision(qkva):
    done = qkva("migrate")
    assert done.returncode == 0
    assert done.stdout.startswith("The embedded database in .qkva is at revision ")


def test_version_is_quick():
    started = time.perf_counter()
    done = subprocess.run([QKVA, "--version"], capture_output=True, text=True, check=True)
    took = time.perf_counter() - started
    assert done.stdout == "qkva 0.1.0\n"
    assert took < 2  # a quarter of a second when the machine is idle; imports of the graph alone take longer than this


def test_help_names_every_command(qkva):
    shown = qkva("--help").stdout
    assert all(name in shown for name in ("ask", "plans", "migrate", "doctor", "demo"))


def test_closed_pipe_is_no_error(demo_folder):
    command = f"'{QKVA}' plans export shop | head -1"
    done = subprocess.run(["sh", "-c", command], cwd=demo_folder, capture_output=True, text=True, check=False)
    assert done.stdout == "source: shop\n" and done.stderr == ""
