"""Every registered connector with what the rules need to know of it; a new one adds a case here, or is skipped."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from qkva.connectors.registry import known_types, open_connector
from qkva.contracts.plan import Parameter, Plan
from qkva.contracts.source import Connector
from qkva.stores.embedded import EmbeddedServer


@dataclass(frozen=True)
class Case:
    """One connector and questions that it can answer."""

    connector: Connector
    down: Callable[[], Connector] | None
    """The same kind of source, unreachable; None for one that cannot be."""
    column: str
    value: str
    by_value: str
    """A query with the placeholder {value} on `column` that finds something."""
    all_rows: str
    """A query that finds at least three records."""
    writes: str
    """A query that would change something, or the nearest thing to it."""
    unknown_field: str

    def plan(self, query: str, *params: Parameter) -> Plan:
        """A plan for this source."""
        return Plan(
            key_text="contract",
            query=query,
            params=params,
            source=self.connector.name,
            source_type=self.connector.source_type,
            dialect=self.connector.dialect,
        )


def sql_case(server: EmbeddedServer, url: str) -> Case:
    return Case(
        connector=open_connector("shop", "sql", {"url": url}),
        down=lambda: open_connector("shop", "sql", {"url": "postgresql://ann:s3cret@127.0.0.1:1/none"}),
        column="customers.name",
        value="Ada Lovelace",
        by_value="select id, name from customers where name = {value}",
        all_rows="select id, name from customers order by id",
        writes="delete from customers",
        unknown_field="select nmae from customers",
    )


def stub_case(server: EmbeddedServer, url: str) -> Case:
    return Case(
        connector=open_connector("tracker", "stub", {}),
        down=None,
        column="issues.status",
        value="Done",
        by_value="status = {value}",
        all_rows="order by key",
        writes="delete issues",
        unknown_field="stauts = Done",
    )


def engine_case(engine: str, url: str) -> Case:
    return Case(
        connector=open_connector("shop", "sql", {"url": url}),
        down=lambda: open_connector("shop", "sql", {"url": UNREACHABLE[engine]}),
        column="customers.name",
        value="Ada Lovelace",
        by_value="select id, name from customers where name = {value}",
        all_rows="select id, name from customers order by id",
        writes="delete from customers",
        unknown_field="select nmae from customers",
    )


UNREACHABLE = {
    "sqlite": "sqlite:////nowhere/s3cret.db",
    "duckdb": "duckdb:////nowhere/s3cret.duckdb",
    "mariadb": "mysql://ann:s3cret@127.0.0.1:1/none",
}
CASES: dict[str, Callable[[EmbeddedServer, str], Case]] = {"sql": sql_case, "stub": stub_case}


@pytest.fixture(params=[*known_types(), *UNREACHABLE])
async def case(
    request: Any, postgres_server: EmbeddedServer, shop_url: str, engine_urls: Callable[[str], str]
) -> AsyncIterator[Case]:
    """One case per registered type, and one per further engine of SQL."""
    if request.param in UNREACHABLE:
        case = engine_case(request.param, engine_urls(request.param))
    elif request.param in CASES:
        case = CASES[request.param](postgres_server, shop_url)
    else:
        pytest.skip(f"no contract case for {request.param}: add one to CASES in {__name__}")
    yield case
    await case.connector.close()
