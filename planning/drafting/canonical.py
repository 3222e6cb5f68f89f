"""One hash for all spellings of a plan: equal for plans that mean the same, different when the meaning differs."""

import hashlib
import json
import re

from qkva.contracts.plan import PLACEHOLDER, Plan
from qkva.planning.drafting.canonical_jql import canonical_jql
from qkva.planning.drafting.canonical_sql import canonical_sql
from qkva.planning.reading.plan_form import sqlglot_dialect

_QUOTED = re.compile(r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")")


def canonical_form(plan: Plan) -> str:
    """The sha256 (hex) of the plan's canonical text.

    Names of parameters and aliases, white space, letter case outside quotes and the order of what has no order do not
    matter. A query that no reader understands is hashed as its folded text.
    """
    text = _number_parameters(plan, canonical_text(plan.query, plan.dialect))
    return hashlib.sha256(f"{plan.source}\n{plan.strategy.value}\n{text}".encode()).hexdigest()


def canonical_params(plan: Plan) -> tuple[str, ...]:
    """The names of the plan's parameters in the order of its canonical text: the same places in all plans that mean
    the same, whatever each calls them."""
    return tuple(dict.fromkeys(found[1] for found in PLACEHOLDER.finditer(canonical_text(plan.query, plan.dialect))))


def canonical_text(query: str, dialect: str) -> str:
    """A query in its canonical spelling, with its parameters' own names."""
    name = sqlglot_dialect(dialect)
    text: str | None = None
    if name is not None:
        text = canonical_sql(query, name)
    elif dialect.lower() == "jql":
        text = canonical_jql(query)
    return text if text is not None else _folded(query)


def _folded(query: str) -> str:
    parts = _QUOTED.split(query.strip().rstrip(";"))
    return "".join(part if at % 2 else re.sub(r"\s+", " ", part.lower()) for at, part in enumerate(parts)).strip()


def _number_parameters(plan: Plan, text: str) -> str:
    """Names by order of appearance, followed by what a default adds to the meaning."""
    numbers: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        number = numbers.setdefault(found[1], len(numbers) + 1)
        return f"{{p{number}{'.' + found[2] if found[2] else ''}}}"

    text = PLACEHOLDER.sub(numbered, text)
    defaults = {
        number: param.default
        for param in plan.params
        if (number := numbers.get(param.name)) is not None and param.default is not None
    }
    return f"{text}\n{json.dumps(defaults, sort_keys=True, default=str)}" if defaults else text
