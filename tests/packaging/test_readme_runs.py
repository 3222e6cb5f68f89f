"""The code of the README is run as it stands, on the demo shop; and `make dev`'s server with its port taken."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from qkva.cli.demo.shop_data import build_shop

ROOT = Path(__file__).resolve().parents[2]
PROMISED_URL = "http://127.0.0.1:2024"
START_SECONDS = 120


def block(name: str, language: str) -> str:
    """The code block of the README that `<!-- runs: name -->` stands above."""
    text = (ROOT / "README.md").read_text("utf-8")
    return re.search(rf"<!-- runs: {name} -->\n```{language}\n(.*?)```", text, re.DOTALL)[1]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """As on a machine that has set nothing."""
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path_factory.mktemp("home")),
        "VENV": sys.prefix,
    }


@pytest.fixture(scope="module")
def demo_project(copy_project, tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """A copy of the project with the demo set up in it, as `make dev` leaves it."""
    project = copy_project(tmp_path_factory.mktemp("readme") / "a copy")
    environment["PYTHONPATH"] = str(project / "src")
    run(["qkva", "demo", "--setup-only"], project, environment)
    return project


def run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """What it printed; a failure shows all of it."""
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def server_url(demo_project: Path, environment: dict[str, str]) -> Iterator[str]:
    """The server of `make dev`, started with the port it wishes for taken by another process."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        wished = taken.getsockname()[1]
        log = demo_project / "server.log"
        with log.open("w") as output:
            process = subprocess.Popen(
                ["sh", "scripts/serve.sh", str(wished)],
                cwd=demo_project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        try:
            yield wait_for_server(process, log, wished)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=30)


def wait_for_server(process: "subprocess.Popen[bytes]", log: Path, wished: int) -> str:
    """The URL that the script printed, once the server answers there."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        said = re.search(r"Serving qkva on (\S+)", log.read_text())
        try:
            if said and httpx.get(f"{said[1]}/ok", timeout=1).status_code == 200:
                assert f"Port {wished} is taken by another process" in log.read_text()
                return said[1]
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"the server did not come up:\n{log.read_text()}")


@pytest.fixture(scope="module")
def customers_in_france() -> str:
    """How many there are, counted in the demo's own rows and not by qkva."""
    country = 3
    return str(sum(row[country] == "France" for row in build_shop().customers))


@pytest.mark.parametrize("name", ["agent", "host-graph"])
def test_python_block_answers(name, demo_project, environment, customers_in_france):
    printed = run([sys.executable, "-c", block(name, "python")], demo_project, environment)

    assert re.search(rf"\b{customers_in_france}\b", printed)


@pytest.mark.server
@pytest.mark.slow
def test_sdk_block_answers_twice(server_url, demo_project, environment, customers_in_france):
    code = block("sdk", "python").replace(PROMISED_URL, server_url)

    first, second = run([sys.executable, "-c", code], demo_project, environment).split("answered ")[1:]

    assert re.search(rf"\b{customers_in_france}\b", first)
    assert first != second


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("name", ["mcp", "a2a"])
def test_shell_block_answers(name, server_url, demo_project, environment, customers_in_france):
    code = block(name, "bash").replace(PROMISED_URL, server_url)

    printed = run(["bash", "-c", code], demo_project, environment)

    assert re.search(rf"\b{customers_in_france}\b", printed)


def test_config_block_is_accepted(tmp_path, environment):
    (tmp_path / "qkva.toml").write_text(block("config", "toml"), "utf-8")
    code = "from qkva.settings import load_settings; print(load_settings().sources['shop'].options['url'])"
    secret = {"SHOP_DATABASE_URL": "postgresql://reader@db/shop"}

    assert run([sys.executable, "-c", code], tmp_path, {**environment, **secret}).strip() == secret["SHOP_DATABASE_URL"]
