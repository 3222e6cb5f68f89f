"""What the wheel holds, and how it lives beside another application."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def names(wheel: Path) -> set[str]:
    """The files in the wheel."""
    return set(zipfile.ZipFile(wheel).namelist())


def tracked(*patterns: str) -> set[str]:
    """Files of the project's packages that git knows, by pattern."""
    return set(subprocess.check_output(["git", "ls-files", *patterns], cwd=ROOT, text=True).split())


def test_wheel_holds_only_qkva(names):
    top = {name.split("/")[0] for name in names if ".dist-info/" not in name}

    assert top == {"qkva"}


@pytest.mark.parametrize("kind", ["*.py", "*.sql", "*.md", "*.yaml", "*.toml", "*.mako", "*/py.typed"])
def test_wheel_holds_each_file(names, kind):
    folders = {link.name for link in (ROOT / "src" / "qkva").iterdir() if link.is_symlink()}
    wanted = {f"qkva/{path}" for path in tracked(kind) if path.split("/")[0] in folders}

    assert wanted <= names


def test_wheel_holds_own_modules(names):
    own = {path.removeprefix("src/") for path in tracked("src/qkva/*.py", "src/qkva/py.typed")}

    assert own
    assert own <= names


def test_wheel_holds_no_tests(names):
    assert not [name for name in names if "test" in name.lower()]


def test_wheel_carries_its_data(names):
    assert any(name.endswith(".sql") and name.startswith("qkva/stores/") for name in names)
    assert any(name.startswith("qkva/migrations/versions/") for name in names)
    assert any(name.startswith("qkva/nodes/prompts/") and name.endswith(".md") for name in names)
    assert any(name.startswith("qkva/cli/demo/") and name.endswith(".yaml") for name in names)


@pytest.mark.slow
def test_wheel_lives_beside_host(wheel: Path):
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("check_wheel.py")), str(wheel)], capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "host app: ok" in done.stdout
