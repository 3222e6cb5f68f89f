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


@pytest.fixture(scope="session")
def copy_project() -> Callable[[Path], Path]:
    """Copy the project to a folder, links kept as links."""

    def copy(target: Path) -> Path:
        return Path(shutil.copytree(ROOT, target, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED)))

    return copy


@pytest.fixture
def copied_project(copy_project: Callable[[Path], Path], tmp_path: Path) -> Path:
    """A copy of the project for this test, in a folder with a space in its name."""
    return copy_project(tmp_path / "a copy")


@pytest.fixture
def mypy(run_tool: Run) -> Run:
    """Run mypy in a copy of the project, warm where the project itself has been checked (3 s instead of 30)."""

    def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        if (ROOT / ".mypy_cache").is_dir() and not (folder / ".mypy_cache").exists():
            shutil.copytree(ROOT / ".mypy_cache", folder / ".mypy_cache")
        return run_tool(folder, "mypy", *arguments)

    return run


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory, run_tool: Run) -> Path:
    """The wheel, built through the sdist as a release is."""
    folder = tmp_path_factory.mktemp("dist")
    built = run_tool(ROOT, "build", "--no-isolation", "--outdir", str(folder), ".")
    assert built.returncode == 0, built.stdout + built.stderr
    return next(folder.glob("*.whl"))
