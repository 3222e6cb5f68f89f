"""How the driver reads what Python has no exact value for."""

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.types.datetime import DateLoader, TimestampLoader, TimestamptzLoader
from psycopg.types.string import TextLoader


def register_loaders(adapters: AdaptersMap) -> None:
    """Let infinity, the year 20000 and years before Christ stay the text that the database wrote; intervals always."""
    for name, loader in _LOADERS.items():
        adapters.register_loader(name, loader)


class _DateOrText(DateLoader):
    def load(self, data: Buffer) -> object:  # type: ignore[override]
        """A date, or its text."""
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


class _TimestampOrText(TimestampLoader):
    def load(self, data: Buffer) -> object:  # type: ignore[override]
        """A datetime, or its text."""
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


class _TimestamptzOrText(TimestamptzLoader):
    def load(self, data: Buffer) -> object:  # type: ignore[override]
        """An aware datetime in the session's zone, or its text."""
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


_LOADERS: dict[str, type[Loader]] = {
    "date": _DateOrText,
    "timestamp": _TimestampOrText,
    "timestamptz": _TimestamptzOrText,
    "interval": TextLoader,
    "time": TextLoader,
    "timetz": TextLoader,
}
