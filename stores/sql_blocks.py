"""Loads the named statements of a .sql file: `-- name --`, a line of purpose, the statement."""

import re
from importlib.resources import files
from typing import LiteralString, cast

NAME = re.compile(r"^-- (\w+) --$", re.MULTILINE)


def load_blocks(file_name: str) -> dict[str, LiteralString]:
    """The statements of `stores/<file_name>` by name. They are part of the program, hence literal strings."""
    text = files("qkva.stores").joinpath(file_name).read_text(encoding="utf-8")
    _, *parts = NAME.split(text)
    return {name: cast(LiteralString, body.strip()) for name, body in zip(parts[::2], parts[1::2], strict=True)}
