"""`qkva demo`: ends by itself, again and again, beside another, and after any interruption."""

import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from tests.cli.conftest import run_qkva, start_qkva

from qkva.cli.main import was_interrupted
from qkva.stores.embedded import EmbeddedServer

pytestmark = [pytest.mark.db, pytest.mark.slow]


@pytest.fixture
def folder(tmp_path: Path):
    """A folder of its own; whatever server was left running in it is stopped."""
    yield tmp_path
    run_qkva("demo", "--stop", folder=tmp_path)
    assert not (tmp_path / ".qkva" / "postgres" / "data" / "postmaster.pid").exists()


def steady(text: str) -> str:
    """What does not change from run to run."""
    return re.sub(r"\d+ ms", "… ms", text)


def test_demo_runs_twice_alike(folder):
    first, second = run_qkva("demo", folder=folder), run_qkva("demo", folder=folder)
    assert first.returncode == second.returncode == 0
    assert steady(first.stdout) == steady(second.stdout)
    table = first.stdout.split("   question")[1]
    outcomes = re.findall(r"^\d\. .*?  (answered|refused|no_records|error) +(\S+)", table, re.MULTILINE)
    assert outcomes == [("answered", "hit")] * 7 + [("answered", "fallback"), ("refused", "-")]
    assert "[1] orders 1458 · shop" in first.stdout and "no model calls" in first.stdout
    assert (
        "{customer} = Grace Hopper" in first.stdout
        and "number of customers in a country (country = Germany)" in first.stdout
    )


def test_suggested_commands_work(demo_folder):
    printed = run_qkva("demo", folder=demo_folder).stdout
    suggested = re.findall(r"^  qkva (.*)$", printed.split("Try next:")[1], re.MULTILINE)
    assert len(suggested) == 4
    for line in suggested:
        arguments = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', line)]
        done = run_qkva(*arguments, folder=demo_folder)
        assert done.returncode == 0, (line, done.stderr)


def test_two_at_once_both_end_well(folder):
    both = [start_qkva("demo", folder=folder) for _ in range(2)]
    outputs = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert steady(outputs[0][0]) == steady(outputs[1][0])
    with_shop = "has been written into"
    assert sum(with_shop in errors for _, errors in outputs) == 1


@pytest.mark.parametrize("seconds", [0.3, 1.0, 2.0])
def test_interrupted_run_says_one_line(folder, seconds):
    process = start_qkva("demo", folder=folder)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode in (130, 0), errors  # 0: it had ended before
    assert "Traceback" not in errors
    if process.returncode == 130:
        assert errors.splitlines()[-1] == "Stopped."
    assert run_qkva("demo", "--setup-only", folder=folder).returncode == 0


def test_killed_run_blocks_nobody(folder):
    process = start_qkva("demo", folder=folder)
    lock = folder / ".qkva" / "demo.lock"
    deadline = time.monotonic() + 20
    while not lock.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=10)
    again = run_qkva("demo", "--setup-only", folder=folder)
    assert again.returncode == 0 and "waiting" not in again.stderr


def test_waiting_demo_says_so(demo_folder):
    lock = demo_folder / ".qkva" / "demo.lock"
    if shutil.which("flock") is None:
        pytest.skip("needs the program flock")
    holder = subprocess.Popen(
        ["flock", str(lock), "sh", "-c", "echo held; cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    waiting = start_qkva("demo", "--setup-only", folder=demo_folder)
    assert waiting.stderr.readline().startswith("Another demo is being set up in .qkva: waiting")
    holder.communicate()
    waiting.communicate(timeout=60)
    assert waiting.returncode == 0


def test_given_database_gets_plans_and_no_shop(folder, postgres_server: EmbeddedServer):
    postgres_server.create_database("given")
    url = postgres_server.url_for("given", "postgres")
    done = run_qkva("demo", folder=folder, DATABASE_URL=url)
    assert done.returncode == 0, done.stderr
    assert "kept in the database of DATABASE_URL" in done.stdout
    with psycopg.connect(url) as connection:
        tables = connection.execute("select schemaname from pg_tables where tablename = 'orders'").fetchall()
        plans = connection.execute(sql.SQL("select count(*) from qkva.plan_cache_entries")).fetchone()
    assert tables == [] and plans is not None and plans[0] >= 40


def test_foreign_config_is_left_alone(folder):
    config = folder / ".qkva" / "qkva.toml"
    config.parent.mkdir()
    config.write_text("[sources.mine]\ntype = 'stub'\n")
    done = run_qkva("demo", folder=folder)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "has no source 'shop'" in done.stderr
    assert config.read_text() == "[sources.mine]\ntype = 'stub'\n"


def test_own_config_in_the_folder_is_not_asked(folder):
    (folder / "qkva.toml").write_text("[sources.mine]\ntype = 'stub'\n")
    done = run_qkva("demo", folder=folder)
    assert done.returncode == 0
    assert "QKVA_CONFIG=.qkva/qkva.toml qkva ask" in done.stdout


def test_unwritable_folder_is_one_sentence(folder):
    (folder / ".qkva").write_text("a file")
    done = run_qkva("demo", folder=folder)
    assert done.returncode in (1, 2) and done.stderr.count("\n") == 1
    (folder / ".qkva").unlink()


def test_interrupt_in_compiled_code_is_seen():
    assert was_interrupted(ValueError("Error building `model` serializer:\n  KeyboardInterrupt: "))
    wrapped = ImportError("x")
    wrapped.__context__ = KeyboardInterrupt()
    assert was_interrupted(wrapped)
    assert not was_interrupted(ValueError("Error building `model` serializer"))
