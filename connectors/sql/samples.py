"""Values that stand in for real ones while the database plans a query that is only checked."""

from collections.abc import Sequence
from typing import Any

from qkva.connectors.sql.binds import Bind
from qkva.connectors.sql.catalog import Catalog
from qkva.contracts.plan import Parameter

_BY_TYPE: dict[str, Any] = {
    "integer": 1,
    "bigint": 1,
    "numeric": 1,
    "boolean": True,
    "date": "2026-01-01",
    "timestamptz": "2026-01-01T00:00:00+00:00",
}


def sample_values(
    binds: Sequence[Bind], params: Sequence[Parameter], missing: frozenset[str], catalog: Catalog
) -> list[Any]:
    """One value per bind; a text that nothing is known of is NULL, which no cast in the query can stumble over."""
    declared = {param.name: param for param in params}
    return [None if bind.name in missing else _sample(bind, declared[bind.name], catalog) for bind in binds]


def _sample(bind: Bind, param: Parameter, catalog: Catalog) -> Any:
    base = bind.type.removesuffix("[]")
    value = _BY_TYPE.get(base)
    if value is None:
        field = catalog.field(param.column) if param.column else None
        known = [*param.choices, *(field.samples if field else ())]
        value = known[0] if known else None
    return [value] if bind.type.endswith("[]") else value
