"""Small question domains written for training, as YAML: templates with their wordings, and values to put into them.

tables: {book: {id: integer, title: text}}
values: {book.title: [Dune, …]}
templates:
  - sql: SELECT b.pages FROM book AS b WHERE b.title = "book0"
    variables: {book0: book.title, number0: [3, 5]}
    sentences: [How many pages has book0 ?, …]
"""

import random
import re
from pathlib import Path
from typing import Any

import yaml

from qkva.contracts.errors import ConfigError


def read_domain(path: Path, seed: int = 0) -> list[dict[str, Any]]:
    """The entries of a file of questions: every sentence says values of its own. Raises ConfigError."""
    try:
        domain = yaml.safe_load(path.read_text("utf-8"))
        rng = random.Random(seed)
        return [_entry(template, domain["values"], rng) for template in domain["templates"]]
    except OSError as error:
        raise ConfigError(f"The domain {path} cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ConfigError(
            f"{path} is no domain of questions: it needs values and templates ({error!r:.120})."
        ) from None


def _entry(template: dict[str, Any], values: dict[str, list[Any]], rng: random.Random) -> dict[str, Any]:
    pools = {
        name: values[column] if isinstance(column, str) else column
        for name, column in (template.get("variables") or {}).items()
    }
    return {
        "sql": [template["sql"]],
        "variables": [
            {"name": name, "type": re.sub(r"\d+$", "", name), "example": str(pool[0]), "location": "both"}
            for name, pool in pools.items()
        ],
        "sentences": [
            {"text": text, "variables": {name: str(rng.choice(pool)) for name, pool in pools.items()}}
            for text in template["sentences"]
        ],
    }
