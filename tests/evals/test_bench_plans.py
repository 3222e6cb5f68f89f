"""The bench on files whose figures can be counted by hand, over the real cache."""

import json
import sqlite3
from pathlib import Path

import psycopg
import pytest

from qkva.cli.main import run as run_cli
from qkva.contracts.errors import ConfigError
from qkva.evals.report import wrong_hits
from qkva.evals.run import BenchOptions, run_bench
from qkva.stores.embedded import start_embedded

pytestmark = pytest.mark.db

TINY = Path(__file__).parent / "tiny.json"
ADVISING = Path(__file__).resolve().parents[3] / "shared" / "data" / "advising.json"
KEYS = """
    questions plans ceiling hits wrong_hits hit_rate wrong_rate wrong_rate_low wrong_rate_high planner_calls audits
    filled_exact filled_by_model end_to_end_correct executed_correct median_ms p95_ms""".split()
PEOPLE = [("Ada", "Poland"), ("Bo", "Poland"), ("Cy", "Sweden"), ("Di", "Norway"), ("Ed", "France")]


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory):
    """Where the runs' PostgreSQL lives."""
    return tmp_path_factory.mktemp("bench")


@pytest.fixture
def play(cache_dir):
    async def play_file(data, **options):
        return await run_bench(BenchOptions(data=data, **options), cache_dir / "postgres")

    return play_file


@pytest.fixture
def contradicting(tmp_path):
    """A file in which two questions that differ in a value only have different plans."""
    first, *_ = json.loads(TINY.read_text())
    other = json.loads(json.dumps(first).replace("AUTHORalias0.NAME", "AUTHORalias0.BIRTHDAY"))
    first["sentences"], other["sentences"] = first["sentences"][:1], other["sentences"][1:]
    data = tmp_path / "contradicting.json"
    data.write_text(json.dumps([first, other]))
    return data


@pytest.fixture
def authors_database(tmp_path):
    """A database for tiny.json, without the table of books."""
    path = tmp_path / "authors.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table AUTHOR (NAME text, COUNTRY text, BIRTHDAY text)")
        connection.executemany("insert into AUTHOR values (?, ?, '')", PEOPLE)
    connection.close()
    return path


@pytest.mark.parametrize("seed", [0, 1])
async def test_second_of_each_kind_hits(play, seed):
    tally = (await play(TINY, seed=seed)).tally

    assert (tally.questions, tally.plans) == (5, 3)  # the sixth repeats the fifth to the letter
    assert tally.ceiling == pytest.approx(0.4)
    assert (tally.hits, tally.wrong_hits, tally.planner_calls) == (2, 0, 3)
    assert (tally.hit_rate, tally.filled_exact, tally.end_to_end_correct) == (0.4, 2, 5)


async def test_contradicting_labels_are_a_wrong_hit(play, contradicting):
    run = await play(contradicting)

    assert (run.tally.hits, run.tally.wrong_hits, run.tally.wrong_rate) == (1, 1, 1.0)
    assert run.tally.wrong_rate_high == 1.0
    assert run.tally.end_to_end_correct == 1
    [listed] = wrong_hits(run)
    assert "masked    which authors come from ‹author.country›" in listed
    assert "AUTHORalias0.BIRTHDAY" in listed and "AUTHORalias0.NAME" in listed
    assert "  mask       open    the masked question is one that led to this plan" in listed


async def test_literal_policy_does_not_hit(play):
    tally = (await play(TINY, policy="literal")).tally

    assert (tally.hits, tally.planner_calls, tally.end_to_end_correct) == (0, 5, 5)


async def test_masked_policy_takes_lists_for_counts(play):
    tally = (await play(TINY, policy="masked")).tally

    assert tally.wrong_hits > 0  # "which authors …" and "how many authors …" are alike above its threshold
    assert tally.end_to_end_correct == tally.questions - tally.wrong_hits


async def test_results_are_compared_on_database(play, authors_database, contradicting):
    tally = (await play(TINY, db=authors_database)).tally
    assert (tally.hits, tally.executed, tally.executed_correct) == (2, 4, 4)  # no table of books, so 4 of 5 run

    wrong = (await play(contradicting, db=authors_database)).tally
    assert (wrong.wrong_hits, wrong.executed, wrong.executed_correct) == (1, 2, 1)


async def test_split_sets_templates_aside(play):
    tally = (await play(TINY, split=0.67)).tally

    assert tally.plans == 1


async def test_database_is_dropped_afterwards(play, cache_dir):
    await play(TINY, limit=1)
    server = start_embedded(cache_dir / "postgres")
    try:
        with psycopg.connect(server.url_for("postgres", "postgres")) as connection:
            left = connection.execute("select datname from pg_database where datname like 'bench%'").fetchall()
    finally:
        server.close()

    assert left == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "luck"}, "no policy 'luck'"),
        ({"split": 1.5}, "--split is 1.5"),
        ({"db": Path("nowhere.sqlite")}, "nowhere.sqlite does not exist"),
        ({"db": TINY}, "cannot be read as a SQLite database"),
    ],
)
async def test_wrong_options_are_refused(play, options, message):
    with pytest.raises(ConfigError, match=message):
        await play(TINY, **options)


def test_json_is_one_object(cache_dir, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CACHE_DIR", str(cache_dir))
    listed = tmp_path / "wrong.txt"

    code = run_cli(["bench", "plans", "--data", str(TINY), "--json", "--wrong-hits", str(listed)])

    shown = json.loads(capsys.readouterr().out)
    assert code == 0
    assert set(KEYS) <= set(shown)
    assert (shown["questions"], shown["hits"], shown["audits"], shown["executed_correct"]) == (5, 2, 0, None)
    assert listed.read_text() == ""


def test_missing_file_is_one_sentence(cache_dir, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CACHE_DIR", str(cache_dir))

    code = run_cli(["bench", "plans", "--data", "nowhere.json"])

    assert code == 2
    assert capsys.readouterr().err == "The questions in nowhere.json cannot be read: No such file or directory.\n"


@pytest.mark.slow
async def test_advising_stays_in_its_bounds(play):
    if not ADVISING.exists():
        pytest.skip("advising.json is not beside the project")
    tally = (await play(ADVISING, limit=150)).tally

    assert tally.questions == 150
    assert tally.hits >= 8
    assert tally.wrong_hits <= 1
    assert tally.planner_calls == tally.questions - tally.hits
