"""The folders stand behind links in src/qkva: a linter that skips them would say "no errors" for ever."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_mypy_finds_planted_error(copied_project: Path, mypy):
    (copied_project / "nodes" / "planted.py").write_text('"""Planted."""\n\nWIDTH: int = "wide"\n', "utf-8")

    done = mypy(copied_project)

    assert "planted.py:3: error: Incompatible types in assignment" in done.stdout
    assert done.returncode == 1


def lint_imports(project: Path) -> subprocess.CompletedProcess[str]:
    """Run the import linter on the project's own qkva."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=project,
        env={"PYTHONPATH": str(project / "src"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )


def test_layers_hold_without_plant(copied_project: Path):
    done = lint_imports(copied_project)

    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def test_layers_catch_planted_import(copied_project: Path):
    (copied_project / "nodes" / "planted.py").write_text('"""Planted."""\n\nimport qkva.graphs\n', "utf-8")

    done = lint_imports(copied_project)

    assert done.returncode == 1
    assert "qkva.nodes.planted -> qkva.graphs" in done.stdout


@pytest.mark.parametrize(
    "folder", ["graphs", "nodes", "stores", "connectors", "models", "planning", "contracts", "cli"]
)
def test_bare_folder_import_is_banned(copied_project: Path, run_tool, folder: str):
    (copied_project / "nodes" / "planted.py").write_text(
        f'"""Planted."""\n\nfrom {folder} import thing\n\n_ = thing\n', "utf-8"
    )

    done = run_tool(copied_project, "ruff", "check", "--no-cache", "nodes/planted.py")

    assert done.returncode == 1
    assert "TID251" in done.stdout
