"""An issue tracker in memory, asked in JQL: for tests, and for learning the flow without an account."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict

from qkva.connectors.options import read_options
from qkva.connectors.stub.connector import StubConnector

source_type = "stub"


class StubOptions(BaseModel):
    """What a `type = "stub"` table of qkva.toml may hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    today: date = date(2026, 6, 15)
    """The day that the issues' dates count from; the default is the demo shop's."""


def connect(name: str, options: Mapping[str, Any]) -> StubConnector:
    """A connector for the made-up issues. Raises ConfigError."""
    return StubConnector(name, read_options(StubOptions, name, options).today)
