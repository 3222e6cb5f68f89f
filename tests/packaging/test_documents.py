"""Documents that can fail: links lead somewhere, tables name what the code has, and the code in them runs."""

import re
from pathlib import Path

import pytest

from qkva.contracts.result import RESULT_VERSION, AskResult, CacheOutcome, Citation, PlanView, Status
from qkva.graphs.ask import NODES, graph

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path):
    targets = re.findall(r"\]\(([^)#\s]+)", document.read_text("utf-8"))

    missing = [target for target in targets if "://" not in target and not (document.parent / target).exists()]

    assert missing == []


def first_column(table_head: str) -> list[str]:
    """The names in the first column of the table of docs/result.md that starts with this head."""
    text = (ROOT / "docs" / "result.md").read_text("utf-8")
    table = text.split(table_head, 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^\| `([a-z_]+)` \|", table, re.MULTILINE)


def test_result_fields_are_documented():
    assert first_column("| field | what it holds |") == list(AskResult.model_fields)
    assert first_column("| `status` | meaning |") == [status.value for status in Status]
    assert first_column("| `cache` | meaning |") == [outcome.value for outcome in CacheOutcome]


@pytest.mark.parametrize(("part", "model"), [("citations", Citation), ("plan", PlanView)])
def test_parts_of_result_are_documented(part, model):
    text = (ROOT / "docs" / "result.md").read_text("utf-8")
    row = next(line for line in text.splitlines() if line.startswith(f"| `{part}` |"))

    assert [name for name in model.model_fields if f"`{name}`" not in row] == []


def test_result_version_is_documented():
    assert f"version **{RESULT_VERSION}**" in (ROOT / "docs" / "result.md").read_text("utf-8")


def test_one_word_for_one_idea():
    rows = re.findall(r"^\| ([a-z ]+) \|", (ROOT / "docs" / "glossary.md").read_text("utf-8"), re.MULTILINE)

    assert len(rows) == len(set(rows))
    assert {"tenant", "source", "plan", "key", "mask", "hit", "miss", "fallback", "wrong hit", "record"} <= set(rows)


def test_picture_shows_each_way():
    drawn = {(edge.source, edge.target) for edge in graph.get_graph().edges}

    assert {source for source, _ in drawn} == {"__start__", *(node.__name__ for node in NODES)}
    assert {("look_up", "fill_params"), ("look_up", "route"), ("build_plan", "fall_back")} <= drawn
    assert ("look_up", "execute") not in drawn
