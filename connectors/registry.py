"""Find the connectors: every sub-package that has a `source_type` and a `connect(name, options)`."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol, cast

import qkva.connectors
from qkva.contracts.errors import ConfigError
from qkva.contracts.source import Connector


class ConnectorPackage(Protocol):
    """What `connectors/<name>/__init__.py` holds."""

    source_type: str

    def connect(self, name: str, options: Mapping[str, Any]) -> Connector:
        """A connector for the source called `name`; opens nothing yet. Raises ConfigError."""
        ...


@cache
def _packages() -> dict[str, ConnectorPackage]:
    found: dict[str, ConnectorPackage] = {}
    for module in pkgutil.iter_modules(qkva.connectors.__path__):
        if module.ispkg:
            package = cast(ConnectorPackage, importlib.import_module(f"qkva.connectors.{module.name}"))
            found[package.source_type] = package
    return found


def known_types() -> list[str]:
    """The source types that can be configured, sorted."""
    return sorted(_packages())


def open_connector(name: str, source_type: str, options: Mapping[str, Any]) -> Connector:
    """A connector for one configured source; connects at its first use.

    Raises ConfigError for an unknown type, or a missing, unknown or wrong option.
    """
    package = _packages().get(source_type)
    if package is None:
        known = ", ".join(known_types())
        raise ConfigError(f'Source "{name}" has the unknown type "{source_type}"; known types: {known}.')
    return package.connect(name, options)
