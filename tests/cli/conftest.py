"""The command line as a person runs it: a process of its own, in a folder of its own."""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from qkva.cli import main
from qkva.settings import Settings
from qkva.stores.embedded import start_embedded

QKVA = Path(sys.executable).parent / "qkva"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(**changes: str) -> dict[str, str]:
    """What a shell has, and nothing that configures qkva."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "NO_COLOR": "1", **changes}


def run_qkva(*arguments: str, folder: Path, stdin: bytes = b"", **env: str) -> "subprocess.CompletedProcess[str]":
    """Run one command to its end; a minute is far more than any needs."""
    done = subprocess.run(
        [str(QKVA), *arguments],
        cwd=folder,
        env=environment(**env),
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )


def start_qkva(*arguments: str, folder: Path, **env: str) -> "subprocess.Popen[str]":
    """Start a command and come back at once."""
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([str(QKVA), *arguments], cwd=folder, env=environment(**env), text=True, **pipes)


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which the demo has been set up; its server stays up, so that each command finds it running."""
    folder = tmp_path_factory.mktemp("demo folder")  # with a space
    server = start_embedded(folder / ".qkva" / "postgres", options={"fsync": "off", "synchronous_commit": "off"})
    try:
        done = run_qkva("demo", "--setup-only", folder=folder)
        assert done.returncode == 0, done.stderr
        yield folder
    finally:
        server.close()


@pytest.fixture
def qkva_process(demo_folder: Path) -> Run:
    """Run a command in the demo's folder, as a process."""

    def run(*arguments: str, folder: Path = demo_folder, stdin: bytes = b"", **env: str) -> Any:
        return run_qkva(*arguments, folder=folder, stdin=stdin, **env)

    return run


@pytest.fixture
def qkva(demo_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The same inside this process, which spares two seconds of imports."""
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("QKVA_CONFIG", raising=False)

    def run(*arguments: str, folder: Path = demo_folder, stdin: bytes = b"", **env: str) -> Any:
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            for name, value in env.items():
                patch.setenv(name, value)
            capsys.readouterr()
            code = main.run(arguments)
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, printed.out, printed.err)

    return run
