"""`qkva stats`: the figures of questions that were asked on the command line."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import run_qkva
from tests.gateway import Gateway
from tests.graphs.conftest import BOOKS_OF, ROUTE

pytestmark = pytest.mark.db

CONFIG = """
[sources.library]
type = "sql"
url = "{url}"

[prices."test-model"]
input = 2.0
output = 10.0
cached = 0.5
"""


@pytest.fixture
def qkva(database_url, library_database, tmp_path: Path):
    """Run a command over a fresh database, the library, and a gateway whose every call costs the same."""
    (tmp_path / "qkva.toml").write_text(CONFIG.format(url=library_database))
    with Gateway() as gateway:
        gateway.script("RouteForm", ROUTE)
        gateway.script("PlanForm", BOOKS_OF)
        gateway.script("answer", "Here they are [1].")

        def run(*arguments, **env):
            return run_qkva(
                *arguments,
                folder=tmp_path,
                DATABASE_URL=database_url,
                LITELLM_PROVIDER_BASE_URL=gateway.url,
                LLM_MODEL="test-model",
                **env,
            )

        yield run


def test_figures_of_a_miss_and_two_hits(qkva):
    for author in ("Ursula Le Guin", "Stanislaw Lem", "Selma Lagerlöf"):
        assert qkva("ask", f"Which books did {author} write?").returncode == 0
    assert qkva("ask", "Delete all books").returncode == 1

    done = qkva("stats", "--json")

    assert done.returncode == 0, done.stderr
    stats = json.loads(done.stdout)
    assert stats["questions"] == 4
    assert stats["statuses"] == {"answered": 3, "refused": 1}
    assert stats["cache"] == {"hit": 2, "miss": 1}
    assert stats["hit_rate"] == pytest.approx(2 / 3)
    # the miss made three calls, each hit one; a call is 70 tokens in, 30 cached and 20 out: 140 + 15 + 200 millionths
    assert stats["saved"] == {"model_calls": 4, "tokens": 480, "money": pytest.approx(4 * 355 / 1_000_000)}
    assert stats["models"] == [
        {
            "model": "test-model",
            "input": 350,
            "cached": 150,
            "output": 100,
            "money": pytest.approx(5 * 355 / 1_000_000),
        }
    ]
    assert [(source["source"], source["queries"]) for source in stats["sources"]] == [("library", 3)]
    assert stats["wrong_hits"] == {"wrong": 0, "right": 0}

    table = qkva("stats").stdout
    for shown in ("Tenant default", "hit rate", "66.7%", "0.0014", "slowest sources", "library", "test-model"):
        assert shown in table
    assert "Guin" not in table


def test_other_tenant_has_its_own_figures(qkva):
    assert qkva("ask", "Which books did Stanislaw Lem write?").returncode == 0

    assert json.loads(qkva("stats", "--json", "--tenant", "other").stdout)["questions"] == 0
    assert "Nothing was asked for the tenant other" in qkva("stats", "--tenant", "other").stdout
    assert json.loads(qkva("stats", "--json", "--source", "nowhere").stdout)["questions"] == 0


def test_without_log_there_are_no_figures(qkva):
    done = qkva("stats", AUDIT_LOG="false")

    assert done.returncode == 2 and "AUDIT_LOG is off" in done.stderr


@pytest.mark.parametrize("days", ["0", "-1", "x"])
def test_days_are_a_number_above_zero(qkva, days):
    done = qkva("stats", "--days", days)

    assert done.returncode == 2 and "--days" in done.stderr
