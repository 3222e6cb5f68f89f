"""A wire to a PostgreSQL socket that a test can cut and mend: the real way in which a database goes away.

async with Wire(socket_path) as wire:
    wire.url("library")          # a TCP URL that leads to the server
    await wire.cut()             # connections break, new ones are refused
    await wire.mend()
"""

import asyncio
from contextlib import suppress
from pathlib import Path


class Wire:
    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def __aenter__(self) -> "Wire":
        await self.mend()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()

    async def mend(self) -> None:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, database: str, user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_unix_connection(str(self._socket))
        self._writers |= {writer, there_writer}
        for source, target in ((reader, there_writer), (there_reader, writer)):
            task = asyncio.create_task(pump(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    with suppress(ConnectionError, RuntimeError):
        target.close()
