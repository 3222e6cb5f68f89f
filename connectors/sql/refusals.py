"""How a query is refused: by which layer and rule, and why."""

from typing import Literal

from rapidfuzz import fuzz, process

from qkva.contracts.errors import PlanRejected

Layer = Literal["login", "statement", "allow-list", "cost", "transaction", "caps", "template"]
"""login: what the database lets the login do. statement: one readable statement. allow-list: what it may name and
call. cost: the database's own estimate. transaction: read only, with time limits. caps: rows and bytes. template: the
places of its placeholders."""

_LAYERS: dict[str, Layer] = {"statement": "statement", "cost": "cost"}


def refusal(rule: str, what: str, *, layer: Layer | None = None) -> PlanRejected:
    """The error of one rule."""
    sentence = f"The query was refused by the {rule} rule: {what}{'' if what.endswith('?') else '.'}"
    return PlanRejected(sentence, layer=layer or _LAYERS.get(rule, "allow-list"))


def template_refusal(sentence: str) -> PlanRejected:
    """The error of a template whose placeholders cannot be bound."""
    return PlanRejected(sentence, layer="template")


def did_you_mean(name: str, known: list[str]) -> str:
    """`; did you mean "…"?`, which ends the sentence, or nothing if none is near."""
    near = nearest(name, known)
    return f'; did you mean "{near}"?' if near else ""


def nearest(name: str, known: list[str]) -> str | None:
    """The known name most like `name`, if it is like enough to be what was meant."""
    found = process.extractOne(name, known, scorer=fuzz.ratio, score_cutoff=60)
    return found[0] if found else None
