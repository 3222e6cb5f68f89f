"""Reads YAML node by node, so that a mistake can be named with its line."""

from collections.abc import Iterable
from datetime import date
from typing import Any, NoReturn

import yaml
from rapidfuzz import process

from qkva.contracts.errors import PlanRejected


def read_mapping(
    node: yaml.Node, what: str, known: tuple[str, ...] | None, *, required: tuple[str, ...] = ()
) -> dict[str, yaml.Node]:
    """The entries of a mapping by key; unknown, doubled and missing ones are mistakes. `known=None` allows any key."""
    if not isinstance(node, yaml.MappingNode):
        reject(node, f"{what} must be a mapping{' with ' + ', '.join(known) if known else ''}.")
    fields: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = str(key.value)
        if known is not None and name not in known:
            reject(
                key, f"{what} has the unknown key {name!r}{did_you_mean(name, known)}; known are {', '.join(known)}."
            )
        if name in fields:
            reject(key, f"{what} has the key {name!r} twice.")
        fields[name] = value
    for name in required:
        if name not in fields:
            reject(node, f"{what} has no `{name}`.")
    return fields


def read_text(loader: yaml.SafeLoader, node: yaml.Node, what: str) -> str:
    """A text that is not empty."""
    value = loader.construct_object(node, deep=True)
    if not isinstance(value, str) or not value.strip():
        hint = "; quote it if it holds { or :" if isinstance(node, yaml.MappingNode) else ""
        reject(node, f"{what} must be text{hint}.")
    return value.strip()


def plain(value: Any) -> Any:
    """JSON-ready: YAML reads an unquoted day as a date."""
    if isinstance(value, date):
        return value.isoformat()
    return [plain(item) for item in value] if isinstance(value, list) else value


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """ " (did you mean 'x'?)", or nothing."""
    best = process.extractOne(name, list(known), score_cutoff=70)
    return f" (did you mean {best[0]!r}?)" if best else ""


def reject(node: yaml.Node, problem: str) -> NoReturn:
    """Raise, with the line in front."""
    raise PlanRejected(f"Line {node.start_mark.line + 1}: {problem}")
