"""The tutorial is followed to the letter in a copy of the project."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@pytest.fixture
def followed(copied_project: Path) -> Path:
    """The copy after the files of the tutorial were written into it."""
    text = (ROOT / "docs" / "add_a_source.md").read_text("utf-8")
    files = re.findall(r"^`([\w./]+)`[^\n]*:\n\n```\w+\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in files] == ["connectors/csv/__init__.py", "qkva.toml", "trees.csv", "trees.yaml"]
    for name, content in files:
        path = copied_project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, "utf-8")
    return copied_project


def qkva(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the copy's own command line."""
    return subprocess.run(
        [str(BIN / "qkva"), *arguments],
        cwd=project,
        env={"PATH": os.environ["PATH"], "HOME": str(project), "PYTHONPATH": str(project / "src")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_tutorial_source_answers(followed: Path):
    imported = qkva(followed, "plans", "import", "trees.yaml")
    assert imported.returncode == 0, imported.stdout + imported.stderr

    oak = qkva(followed, "ask", "Which oak trees stand in Leipzig?")
    pine = qkva(followed, "ask", "Which pine trees stand in Leipzig?")

    assert "Old Oak" in oak.stdout, oak.stdout + oak.stderr
    assert "Twin Oak" not in oak.stdout
    assert "Tall Pine" in pine.stdout, pine.stdout + pine.stderr
    assert "Oak" not in pine.stdout.replace("oak", "")


def test_tutorial_source_refuses_wrong_column(followed: Path):
    plans = (followed / "trees.yaml").read_text("utf-8").replace("kind = {kind}", "height = {kind}")
    (followed / "trees.yaml").write_text(plans, "utf-8")

    done = qkva(followed, "plans", "import", "trees.yaml")

    assert done.returncode != 0
    assert "trees.csv has no column 'height'" in done.stdout + done.stderr


def test_tutorial_source_passes_types(followed: Path, mypy, run_tool):
    done = mypy(followed, "-p", "qkva.connectors.csv")
    styled = run_tool(followed, "ruff", "check", "--no-cache", "connectors/csv")

    assert done.returncode == 0, done.stdout
    assert styled.returncode == 0, styled.stdout
