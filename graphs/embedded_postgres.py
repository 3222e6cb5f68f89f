"""The embedded PostgreSQL as services use it: started at its first need, left when they close.

A source may live on it too: in qkva.toml, `url = "embedded://LOGIN@/DATABASE"` stands for wherever its socket is.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from qkva.contracts.errors import ConfigError
from qkva.stores.embedded import EmbeddedServer, start_embedded

SCHEME = "embedded://"


class EmbeddedPostgres:
    """The server in a folder, or the intention to start it."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._server: EmbeddedServer | None = None

    async def start(self) -> EmbeddedServer:
        """The running server. Raises StoreUnavailable."""
        if self._server is None:
            self._server = await asyncio.to_thread(start_embedded, self._folder)
            self._stack.push_async_callback(asyncio.to_thread, self._server.close)
        return self._server

    async def resolve(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """A source's options, with an embedded URL replaced by a real one. Raises ConfigError or StoreUnavailable."""
        url = options.get("url")
        if not isinstance(url, str) or not url.startswith(SCHEME):
            return dict(options)
        parts = urlsplit(url)
        login, database = unquote(parts.username or ""), unquote(parts.path.strip("/"))
        if not login or not database or parts.hostname:
            raise ConfigError(f"The url {url!r} is none of the embedded PostgreSQL; write {SCHEME}LOGIN@/DATABASE.")
        return {**options, "url": (await self.start()).url_for(database, login)}
