"""Prompts: one per node that asks a model, with a fingerprint."""

import re
from pathlib import Path

import pytest

from qkva.nodes.prompts import fingerprint, prompt

FOLDER = Path(__file__).parents[2] / "nodes" / "prompts"
NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))


def test_each_asked_for_prompt_is_there():
    nodes = "\n".join(path.read_text("utf-8") for path in FOLDER.parent.rglob("*.py"))
    asked = set(re.findall(r'(?:prompt|fingerprint)\("(\w+)"', nodes))
    assert asked == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_prompt_needs_no_values(name):
    assert prompt(name) == (FOLDER / f"{name}.md").read_text("utf-8").strip()


def test_fingerprints_tell_prompts_apart():
    assert len({fingerprint(name) for name in NAMES}) == len(NAMES) > 4
    assert re.fullmatch(r"[0-9a-f]{12}", fingerprint("build_plan"))


def test_unknown_prompt():
    with pytest.raises(KeyError):
        prompt("make_coffee")


@pytest.mark.parametrize("name", ["answer", "build_plan"])
def test_records_and_samples_are_data(name):
    assert "ignore them" in prompt(name)
