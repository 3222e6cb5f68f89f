"""Our own database for commands that need no source and no model."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeVar

from qkva.cli.console import nothing_else_on_stdout
from qkva.graphs.embedded_postgres import EmbeddedPostgres
from qkva.graphs.services import open_database
from qkva.settings import Settings
from qkva.stores.database import Database

Result = TypeVar("Result")


def with_database(settings: Settings, work: Callable[[Database], Awaitable[Result]]) -> Result:
    """Run `work` over the database, migrated and as questions see it. Raises QkvaError."""

    async def run() -> Result:
        async with AsyncExitStack() as stack:
            embedded = EmbeddedPostgres(settings.cache_dir / "postgres", stack)
            return await work(await open_database(settings, embedded, stack))

    with nothing_else_on_stdout():
        return asyncio.run(run())
