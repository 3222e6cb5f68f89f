"""The script that makes .venv: which Python it takes, and what it says when it cannot go on."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

OLD_PYTHON = """#!/bin/sh
case "$2" in *ensurepip*) exit 1 ;; *) echo "is Python 3.9.18" ;; esac
"""


@pytest.fixture
def project(copied_project: Path) -> Path:
    """A copy whose PATH holds a python3 of version 3.9 and no other."""
    tools = copied_project / "tools"
    tools.mkdir()
    for name in ["python", "python3"]:
        (tools / name).write_text(OLD_PYTHON, "utf-8")
        (tools / name).chmod(stat.S_IRWXU)
    for name in ["cat", "cksum", "dirname", "grep", "mkdir", "rm", "tr", "sh"]:
        (tools / name).symlink_to(
            next(Path(folder) / name for folder in ("/usr/bin", "/bin") if Path(folder, name).exists())
        )
    return copied_project


def set_up(project: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script with only that PATH."""
    return subprocess.run(
        ["/bin/sh", "scripts/environment.sh", "runtime"],
        cwd=project,
        env={"PATH": str(project / "tools"), **environment},
        capture_output=True,
        text=True,
    )


def test_old_python_is_named(project: Path):
    done = set_up(project)

    assert done.returncode == 1
    assert done.stderr.startswith(
        "qkva needs Python 3.11, 3.12 or 3.13 with its venv module, and python3 is Python 3.9.18."
    )
    assert not (project / ".venv").exists()


def test_chosen_python_must_run(project: Path):
    done = set_up(project, PYTHON="/nowhere/python3.12")

    assert done.returncode == 1
    assert "/nowhere/python3.12 does not run" in done.stderr


def test_unfinished_environment_is_removed(project: Path):
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "qkva-environment").write_text("unfinished\n", "utf-8")

    set_up(project)

    assert not (project / ".venv").exists()


def test_foreign_environment_is_kept(project: Path):
    (project / ".venv").mkdir()
    (project / ".venv" / "mine").write_text("keep", "utf-8")

    done = set_up(project)

    assert done.returncode == 1
    assert "was not made by this Makefile" in done.stderr
    assert (project / ".venv" / "mine").exists()


def test_second_run_says_first_is_busy(project: Path):
    (project / ".venv.lock").mkdir()
    (project / ".venv.lock" / "pid").write_text(str(os.getpid()), "utf-8")

    done = set_up(project)

    assert done.returncode == 1
    assert f"Another run (process {os.getpid()}) is making .venv" in done.stderr
    assert (project / ".venv.lock").exists()


def test_lock_of_dead_run_is_taken_over(project: Path):
    (project / ".venv.lock").mkdir()
    (project / ".venv.lock" / "pid").write_text("4194999", "utf-8")  # above the kernel's greatest pid

    done = set_up(project)

    assert "qkva needs Python" in done.stderr
    assert not (project / ".venv.lock").exists()
