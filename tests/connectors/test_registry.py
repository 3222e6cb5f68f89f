"""Which connectors there are, and how a wrong source table is refused."""

import pytest

from qkva.connectors.registry import known_types, open_connector
from qkva.contracts.errors import ConfigError
from qkva.contracts.source import Connector


def test_shipped_types_are_found():
    assert {"sql", "stub"} <= set(known_types())


def test_opening_connects_to_nothing():
    connector = open_connector("orders", "sql", {"url": "postgresql://ann@192.0.2.1/shop"})
    assert isinstance(connector, Connector)
    assert (connector.name, connector.source_type, connector.dialect) == ("orders", "sql", "postgres")


def test_unknown_type_names_the_known_ones():
    with pytest.raises(ConfigError, match='"orders" has the unknown type "oracle"; known types: .*sql, stub'):
        open_connector("orders", "oracle", {})


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({}, 'option "url" is missing'),
        ({"url": "postgresql://a@b/c", "tables": ["x"]}, 'option "tables" is unknown; allowed options: allow,'),
        ({"url": "oracle://ann:s3cret@b/c"}, 'option "url"'),
        ({"url": "postgresql://ann:s3cret@b:port=1/c?nonsense=1"}, 'option "url"'),
        ({"url": "s3cret"}, 'option "url"'),
        ({"url": "postgresql://a@b/c", "deny": {"columns": ["email"]}}, 'option "deny.columns"'),
        ({"url": "postgresql://a@b/c", "schemas": []}, 'option "schemas"'),
    ],
)
def test_wrong_sql_option_is_named(options: dict[str, object], what: str):
    with pytest.raises(ConfigError) as wrong:
        open_connector("orders", "sql", options)
    assert 'Source "orders"' in wrong.value.message
    assert what in wrong.value.message
    assert "s3cret" not in wrong.value.message
    assert wrong.value.__suppress_context__


def test_sqlalchemy_url_is_taken():
    open_connector("orders", "sql", {"url": "postgresql+psycopg://ann@localhost/shop"})


def test_wrong_stub_option_is_named():
    with pytest.raises(ConfigError, match='option "fail" is unknown; allowed options: today'):
        open_connector("tracker", "stub", {"fail": True})
