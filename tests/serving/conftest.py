"""Real servers (`langgraph dev`) over the library, each with its own cache database and a scripted gateway."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.gateway import Gateway
from tests.graphs.conftest import BOOKS_OF, ROUTE

from qkva.contracts.ask_log import AskEntry
from qkva.contracts.keys import ApiKey, new_key
from qkva.stores.ask_log import PostgresAskLog
from qkva.stores.database import Database
from qkva.stores.embedded import EmbeddedServer
from qkva.stores.keys import PostgresKeyStore

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

    def entries(self, tenant: str) -> list[AskEntry]:
        """The tenant's lines in the audit log."""
        return self.in_database(lambda database: PostgresAskLog(database, retention_days=1).entries(tenant, limit=1000))

    def key(self, tenant: str, user: str, may_review: bool) -> str:
        """A new key, made faster than by a command."""
        key = new_key(tenant)
        kept = ApiKey(id=key.id, tenant_id=tenant, user=user, may_review=may_review, created_at=datetime.now(UTC))
        self.in_database(lambda database: PostgresKeyStore(database).create(key, kept))
        return key.text

    def in_database(self, work: Callable[[Database], Awaitable[Any]]) -> Any:
        """What `work` finds in the server's database, in a loop of its own beside the test's."""

        async def run() -> Any:
            database = await Database.open(self.environment["DATABASE_URL"], "qkva_rw")
            try:
                return await work(database)
            finally:
                await database.close()

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, run()).result()


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
        "PLAN_CACHE_AUDIT_SHARE": "0",
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
