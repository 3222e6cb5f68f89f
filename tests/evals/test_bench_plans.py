"""The bench on files whose figures can be counted by hand, over the real cache."""

import json
import sqlite3
from pathlib import Path

import psycopg
import pytest
from tests.gateway import Gateway

from qkva.cli.main import run as run_cli
from qkva.contracts.errors import ConfigError
from qkva.evals.domains import read_domain
from qkva.evals.judge import JudgeAt, open_judge
from qkva.evals.report import wrong_hits
from qkva.evals.run import BenchOptions, run_bench
from qkva.nodes.forms import JudgeForm
from qkva.planning.decision import decide
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


async def test_split_trains_on_some_templates_and_plays_the_others(play, tmp_path):
    entries = read_domain(Path(__file__).parents[2] / "bench" / "domains" / "places.yaml")
    path = tmp_path / "places.json"
    path.write_text(json.dumps(entries), "utf-8")
    tally = (await play(path, split=0.5)).tally

    assert tally.plans == 40  # of 80
    assert 0 < tally.hits and tally.wrong_hits <= 0.1 * tally.hits


async def test_too_little_to_train_on_is_said(play):
    with pytest.raises(ConfigError, match="need plans that are right and plans that are wrong"):
        await play(TINY, split=0.67)


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


@pytest.fixture
def grey_zone(monkeypatch):
    """Leave to the judge what any door kept shut."""
    monkeypatch.setattr(decide.Verdict, "is_grey", property(lambda verdict: not verdict.passed))


@pytest.fixture
def judge():
    with Gateway() as gateway:
        gateway.script("yes_no", {"yes": 0.9, "no": 0.1})
        yield gateway


async def test_judge_is_asked_and_counted(play, grey_zone, judge):
    tally = (await play(TINY, judge=JudgeAt(url=judge.url, model="wise"))).tally

    assert (tally.hits, tally.planner_calls, tally.judged_hits) == (2, 3, 0)  # it has no labels yet
    assert tally.judge_calls == len(judge.asked("yes_no")) == 2  # of three misses the first found an empty cache
    assert {request.body["model"] for request in judge.requests} == {"wise"}
    assert len(judge.requests) == 2  # nothing else is asked of a model


async def test_equal_prompt_is_answered_from_memory(judge):
    judge.script("JudgeForm", {"percent": 40})
    async with open_judge(JudgeAt(url=judge.url, model="wise")) as models:
        for user in ("one", "other", "one"):
            asked = {"system": "s", "user": user, "purpose": "judge"}
            assert await models.judge.probability_of_yes(**asked) == pytest.approx(0.9)
            assert (await models.judge.fill_form(JudgeForm, **asked)).percent == 40

    assert [request.user for request in judge.asked("yes_no")] == ["one", "other"]
    assert [request.user for request in judge.asked("JudgeForm")] == ["one", "other"]


@pytest.fixture
def many_wordings(tmp_path):
    """One plan, asked 400 times in the same words, and 72 times in others."""
    first, *_ = json.loads(TINY.read_text())
    texts = [("Which authors come from country0 ?", f"Land{number}") for number in range(400)]
    openings = ("I wonder", "Please find out", "My boss asks", "It would help to hear", "Kindly report", "Do tell")
    middles = ("whose pens", "what scribes", "the novelists that", "any wordsmiths who")
    ends = ("grew up around country0", "hail from country0", "call country0 their home")
    wordings = [f"{opening} {middle} {end} ." for opening in openings for middle in middles for end in ends]
    texts += [(text, f"Land{number}") for number, text in enumerate(wordings)]
    first["sentences"] = [{"text": text, "variables": {"country0": name}} for text, name in texts]
    data = tmp_path / "many_wordings.json"
    data.write_text(json.dumps([first]))
    return data


async def test_judge_earns_its_hits(play, grey_zone, judge, many_wordings):
    alone = (await play(many_wordings)).tally
    run = await play(many_wordings, judge=JudgeAt(url=judge.url, model="wise"))
    tally = run.tally

    assert alone.judge_calls == alone.judged_hits == 0
    assert tally.judged_hits > 0
    assert tally.judged_wrong_hits == tally.wrong_hits == 0
    assert tally.hits > alone.hits
    assert tally.planner_calls == tally.questions - tally.hits
    judged = [turn for turn in run.turns if any(door.name == "judge" for door in turn.looked.doors)]
    # 45 labels with none wrong prove 5 %, which is what a judge may miss whose hits are a fifth of all.
    assert not any(turn.hit for turn in judged[:45])
    assert sum(turn.hit for turn in judged) == tally.judged_hits


async def test_judge_out_of_reach_ends_the_run(play, grey_zone, judge):
    judge.fail("500")
    with pytest.raises(ConfigError, match="The bench needs its judge. The gateway 127.0.0.1:[0-9]+ answered 500"):
        await play(TINY, judge=JudgeAt(url=judge.url, model="wise", max_retries=0))


async def test_judge_that_answers_nonsense_is_a_miss(play, grey_zone, judge):
    judge.gives_logprobs = False
    judge.script("JudgeForm", {"percent": 1000})
    tally = (await play(TINY, judge=JudgeAt(url=judge.url, model="wise"))).tally
    assert (tally.hits, tally.planner_calls, tally.judge_calls) == (2, 3, 4)


def test_judge_on_the_command_line(cache_dir, tmp_path, monkeypatch, capsys, grey_zone, judge):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CACHE_DIR", str(cache_dir))
    arguments = ["bench", "plans", "--data", str(TINY)]

    assert run_cli([*arguments, "--judge", judge.url, "--judge-model", "wise", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["judge_calls"] == 2
    assert run_cli([*arguments, "--judge", judge.url, "--judge-model", "wise"]) == 0
    assert "judge calls             2  (let 0 hits through, 0 wrong)" in capsys.readouterr().out
    assert run_cli([*arguments, "--judge-model", "wise"]) == 2
    assert run_cli([*arguments, "--judge", "localhost:80"]) == 2
    assert run_cli([*arguments, "--judge", judge.url, "--policy", "raw"]) == 2
    assert capsys.readouterr().err.splitlines()[-3:] == [
        "--judge-model names the model of a judge: give its endpoint with --judge.",
        "--judge must be a URL such as http://127.0.0.1:4000/v1.",
        "The policy raw has no judge; --judge goes with the policy product.",
    ]


@pytest.mark.slow
async def test_advising_stays_in_its_bounds(play):
    if not ADVISING.exists():
        pytest.skip("advising.json is not beside the project")
    tally = (await play(ADVISING, limit=150)).tally

    assert tally.questions == 150
    assert tally.hits >= 4  # nothing is known of the source yet
    assert tally.wrong_hits <= 1
    assert tally.planner_calls == tally.questions - tally.hits
