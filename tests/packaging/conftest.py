"""A copy of the project to plant errors in, and a wheel built from it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOT_COPIED = (
    ".git",
    ".venv*",
    ".qkva",
    ".langgraph_api",
    "build",
    "dist",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
    ".env",
)

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def run_tool() -> Run:
    """Run a Python module of this environment in a project folder, whose own qkva goes before the installed one."""

    def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONWARNINGS": ""},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture
def copied_project(tmp_path: Path) -> Path:
    """The project in a folder with a space in its name, links kept as links."""
    return Path(shutil.copytree(ROOT, tmp_path / "a copy", symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED)))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory, run_tool: Run) -> Path:
    """The wheel, built through the sdist as a release is."""
    folder = tmp_path_factory.mktemp("dist")
    built = run_tool(ROOT, "build", "--no-isolation", "--outdir", str(folder), ".")
    assert built.returncode == 0, built.stdout + built.stderr
    return next(folder.glob("*.whl"))
