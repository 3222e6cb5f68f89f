"""Turn rows into records: JSON-ready fields, an id from the primary key if the result has it, a label, a snippet."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from qkva.contracts.source import Record, Table

SNIPPET_CHARS = 200
EXACT_BELOW = 10**13
"""Decimals with a fraction are floats below this (cents are exact there), and text above it."""
_VALUE_CHARS = 60


@dataclass(frozen=True)
class OutputColumn:
    """One column of the result."""

    name: str
    origin: tuple[str, str] | None = None
    """The described table and column it comes from, if it is one as it stands."""


def make_records(
    columns: Sequence[OutputColumn], rows: Sequence[Sequence[Any]], tables: Sequence[Table]
) -> list[Record]:
    """One record per row; `tables` are those of the query, the main one first."""
    names = _distinct_names(columns)
    key_table, key_places = _key(columns, tables)
    keys = ["-".join(str(to_json(row[place])) for place in key_places) for row in rows]
    if not key_places or len(set(keys)) != len(keys) or any(row[place] is None for row in rows for place in key_places):
        key_table, keys = "", [f"row-{number}" for number in range(1, len(rows) + 1)]
    records = []
    for key, row in zip(keys, rows, strict=True):
        fields = {name: to_json(value) for name, value in zip(names, row, strict=True)}
        label = f"{key_table} {key}" if key_table else _text_label(fields) or key.replace("-", " ")
        records.append(Record(id=key, label=label, fields=fields, snippet=_snippet(fields)))
    return records


def to_json(value: Any) -> Any:
    """A value as JSON can hold it unchanged: decimals without a scale as int, others as float."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "\\x" + bytes(value).hex()
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [to_json(item) for item in value]
    return str(value)


def _decimal(value: Decimal) -> int | float | str:
    if not value.is_finite():
        return str(value)
    if value.as_tuple().exponent == 0:
        return int(value)
    return float(value) if abs(value) < EXACT_BELOW else str(value)


def _distinct_names(columns: Sequence[OutputColumn]) -> list[str]:
    """The output names; a repeated one is told apart by its table, or else by a number."""
    names: list[str] = []
    for column in columns:
        name = "value" if column.name == "?column?" else column.name
        if name in names and column.origin is not None:
            name = f"{column.origin[0]}.{name}"
        number, plain = 2, name
        while name in names:
            name, number = f"{plain}_{number}", number + 1
        names.append(name)
    return names


def _key(columns: Sequence[OutputColumn], tables: Sequence[Table]) -> tuple[str, list[int]]:
    """The first table whose whole primary key is in the result, and the places of that key."""
    places = {column.origin: place for place, column in reversed(list(enumerate(columns))) if column.origin is not None}
    for table in tables:
        key = [(table.name, field.name) for field in table.fields if field.primary_key]
        if key and all(column in places for column in key):
            return table.name, [places[column] for column in key]
    return "", []


def _text_label(fields: Mapping[str, Any]) -> str:
    texts = (value for value in fields.values() if isinstance(value, str) and value.strip())
    return _short(next(texts, ""))


def _snippet(fields: Mapping[str, Any]) -> str:
    parts = (f"{name}: {_short(_shown(value))}" for name, value in fields.items() if value is not None)
    line = ", ".join(parts)
    return line if len(line) <= SNIPPET_CHARS else line[: SNIPPET_CHARS - 1] + "…"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= _VALUE_CHARS else folded[: _VALUE_CHARS - 1] + "…"
