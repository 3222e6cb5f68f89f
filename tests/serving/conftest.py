"""Real servers (`langgraph dev`) over the library, each with its own cache database and a scripted gateway."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.gateway import Gateway
from tests.graphs.conftest import BOOKS_OF, ROUTE

from qkva.stores.embedded import EmbeddedServer

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90


@dataclass(frozen=True)
class Server:
    url: str
    gateway: Gateway
    log: Path


@pytest.fixture(scope="session")
def server(
    postgres_server: EmbeddedServer,
    library_database: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Server]:
    """One server for all tests of a session: it takes ten seconds to start."""
    folder = tmp_path_factory.mktemp("server folder")  # with a space
    postgres_server.create_database("served")
    write_config(folder, library_database)
    with Gateway() as gateway:
        gateway.script("RouteForm", ROUTE)
        gateway.script("PlanForm", BOOKS_OF)
        gateway.script("answer", lambda request: "Here they are [1].")
        yield from serve(folder, environment_of(folder, postgres_server, "served", gateway), gateway)


@dataclass(frozen=True)
class Person:
    tenant: str
    user: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        return {"X-Api-Key": self.key}


@dataclass(frozen=True)
class KeyedServer(Server):
    people: dict[str, Person]
    environment: dict[str, str]

    def qkva(self, *arguments: str) -> dict[str, Any]:
        """What a command of an operator prints."""
        code = "import sys; from qkva.cli.main import main; sys.argv[0] = 'qkva'; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments, "--json"],
            cwd=self.log.parent, env=self.environment, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        return json.loads(done.stdout)


PEOPLE = {"ann": "acme", "abe": "acme", "bea": "bolt", "bob": "bolt"}
JWT_SECRET = "a secret of the identity provider, long enough"


@pytest.fixture(scope="session")
def keyed_server(
    postgres_server: EmbeddedServer,
    library_database: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[KeyedServer]:
    """Two tenants with two users each; ann may review."""
    folder = tmp_path_factory.mktemp("keyed server")
    postgres_server.create_database("keyed")
    write_config(folder, library_database)
    with Gateway() as gateway:
        gateway.script("RouteForm", ROUTE)
        gateway.script("PlanForm", BOOKS_OF)
        gateway.script("answer", lambda request: "Here they are [1].")
        environment = environment_of(folder, postgres_server, "keyed", gateway)
        environment |= {"JWT_KEY": JWT_SECRET, "JWT_AUDIENCE": "qkva", "RATE_LIMIT_PER_MINUTE": "0"}
        people: dict[str, Person] = {}
        for server in serve(folder, environment, gateway):
            keyed = KeyedServer(server.url, gateway, server.log, people, environment)
            for user, tenant in PEOPLE.items():
                rights = ["--reviewer"] if user == "ann" else []
                made = keyed.qkva("keys", "create", "--user", user, "--tenant", tenant, *rights)
                people[user] = Person(tenant, user, made["key"])
            yield keyed


def write_config(folder: Path, library_database: str) -> None:
    (folder / "qkva.toml").write_text(
        f'[clock]\nnow = 2026-06-15T12:00:00Z\n\n[sources.library]\ntype = "sql"\nurl = "{library_database}"\n'
    )


def environment_of(folder: Path, server: EmbeddedServer, database: str, gateway: Gateway) -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
        "HOME": str(folder),
        "DATABASE_URL": server.url_for(database, "postgres"),
        "QKVA_CONFIG": str(folder / "qkva.toml"),
        "LITELLM_PROVIDER_BASE_URL": gateway.url,
        "LLM_MAX_RETRIES": "0",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "1",
        "LANGSMITH_TRACING": "false",
        "LOG_LEVEL": "WARNING",
        "LOG_COLOR": "false",
    }


def serve(folder: Path, environment: dict[str, str], gateway: Gateway) -> Iterator[Server]:
    port, log = free_port(), folder / "server.log"
    tool = Path(sys.executable).parent / "langgraph"
    command = [str(tool), "dev", "--config", str(ROOT / "langgraph.json"), "--no-browser", "--no-reload"]
    command += ["--port", str(port), "--n-jobs-per-worker", "10"]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        wait_until_up(f"http://127.0.0.1:{port}/ok", process, log)
        assert "already in use" not in log.read_text()
        yield Server(f"http://127.0.0.1:{port}", gateway, log)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_up(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise AssertionError(f"the server ended with {process.returncode}:\n{log.read_text()}")
        try:
            if httpx.get(url, timeout=1).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise AssertionError(f"the server was not up after {START_SECONDS} s:\n{log.read_text()}")
