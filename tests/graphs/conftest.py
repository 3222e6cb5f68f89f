"""A small library as the source, the real stores, and a gateway that a test scripts."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.gateway import Gateway

from qkva.agent import Agent, open_agent
from qkva.settings import Settings, SourceConfig

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)

BOOKS_OF = {
    "key_text": "books of an author",
    "query": "SELECT b.id, b.title FROM books b JOIN authors a ON a.id = b.author_id "
    "WHERE a.name = {authors_name} ORDER BY b.id",
    "params": [
        {"name": "authors_name", "type": "text", "column": "authors.name", "description": "the author", "value": None}
    ],
    "answerable": True,
    "why": "",
}
ROUTE = {"strategy": "sql_only", "source": "library", "clarifying_question": None, "why": "it asks for books"}

OpenAgent = Callable[..., Any]


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    """Plans the books of an author, and answers by citing the first record."""
    with Gateway() as gateway:
        gateway.script("RouteForm", ROUTE)
        gateway.script("PlanForm", BOOKS_OF)
        gateway.script("answer", lambda request: "Here they are [1].")
        yield gateway


@pytest.fixture
def agent_with(database_url: str, library_database: str, tmp_path: Path) -> OpenAgent:
    """Open an agent over a fresh cache database; keyword arguments are settings."""

    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[Agent]:
        library = SourceConfig(type="sql", options={"url": library_database})
        defaults = {
            "database_url": database_url,
            "cache_dir": tmp_path,
            "fixed_now": NOW,
            "sources": {"library": library},
            "llm_max_retries": 0,
            "llm_timeout_sec": 5,
        }
        async with open_agent(
            Settings(_env_file=None, **{"plan_cache_audit_share": 0.0, **defaults, **settings})
        ) as agent:
            yield agent

    return opened


@pytest.fixture
async def agent(agent_with: OpenAgent, gateway: Gateway) -> AsyncIterator[Agent]:
    """An agent whose models are the scripted gateway."""
    async with agent_with(litellm_provider_base_url=gateway.url) as agent:
        yield agent
