"""The bench on a file whose figures can be counted by hand."""

import json
from pathlib import Path

import pytest

from qkva.evals.run import BenchOptions, run_bench

pytestmark = pytest.mark.db

TINY = Path(__file__).parent / "tiny.json"
ADVISING = Path(__file__).resolve().parents[3] / "shared" / "data" / "advising.json"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bench")


async def play(folder, data, **options):
    return await run_bench(BenchOptions(data=data, **options), folder, lambda number: None)


@pytest.mark.parametrize("seed", [0, 1])
async def test_second_of_each_kind_hits(folder, seed):
    tally = (await play(folder, TINY, seed=seed)).tally
    assert (tally.questions, tally.plans) == (5, 3)  # the sixth repeats the fifth to the letter
    assert tally.ceiling == pytest.approx(0.4)
    assert (tally.hits, tally.wrong_hits, tally.planner_calls) == (2, 0, 3)
    assert (tally.hit_rate, tally.filled_exact, tally.end_to_end_correct) == (0.4, 2, 5)


async def test_contradicting_labels_are_a_wrong_hit(folder, tmp_path):
    first, *_ = json.loads(TINY.read_text())
    other = json.loads(json.dumps(first).replace("AUTHORalias0.NAME", "AUTHORalias0.BIRTHDAY"))
    first["sentences"], other["sentences"] = first["sentences"][:1], other["sentences"][1:]
    data = tmp_path / "contradicting.json"
    data.write_text(json.dumps([first, other]))
    run = await play(folder, data)
    assert (run.tally.hits, run.tally.wrong_hits, run.tally.wrong_rate) == (1, 1, 1.0)
    assert run.tally.wrong_rate_high == 1.0
    assert run.tally.end_to_end_correct == 1


async def test_split_sets_templates_aside(folder):
    tally = (await play(folder, TINY, split=0.67)).tally
    assert tally.plans == 1


@pytest.mark.slow
async def test_advising_stays_in_its_bounds(folder):
    if not ADVISING.exists():
        pytest.skip("advising.json is not beside the project")
    tally = (await play(folder, ADVISING, limit=150)).tally
    assert tally.questions == 150
    assert tally.hits >= 8
    assert tally.wrong_hits <= 1
    assert tally.planner_calls == tally.questions - tally.hits
