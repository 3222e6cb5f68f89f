"""A shop with fifteen plans, and questions written as "orders of [Ada Lovelace|customers.name] in [March|time]"."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qkva.contracts.cache import Candidate, Key
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.models.embeddings import unit_vectors
from qkva.word_vectors import load_wordllama

NOW = datetime(2026, 4, 10, 12, tzinfo=UTC)
MARKED = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")
TIMES = {
    "March": ("2026-03-01T00:00:00+00:00", "2026-04-01T00:00:00+00:00"),
    "last month": ("2026-03-01T00:00:00+00:00", "2026-04-01T00:00:00+00:00"),
    "last week": ("2026-03-30T00:00:00+00:00", "2026-04-06T00:00:00+00:00"),
    "2025": ("2025-01-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00"),
    "yesterday": ("2026-04-09T00:00:00+00:00", "2026-04-10T00:00:00+00:00"),
}
KINDS = {"time": SlotType.TIME_RANGE, "number": SlotType.NUMBER, "money": SlotType.MONEY, "id": SlotType.ID}
COMPARISONS = {
    "over": "over",
    "more than": "over",
    "under": "under",
    "less than": "under",
    "at least": "at_least",
    "at most": "at_most",
    "since": "since",
    "before": "before",
    "after": "after",
}


def read_marked(text: str) -> MaskedQuestion:
    """The masked question of a text with its values marked."""
    spoken, masked, at = "", "", 0
    slots: list[Slot] = []
    for found in MARKED.finditer(text):
        between = text[at : found.start()]
        spoken, masked, at = spoken + between, masked + between + f"‹{found[2]}›", found.end()
        said = next((c for words, c in COMPARISONS.items() if between.rstrip().endswith(words)), None)
        slots.append(make_slot(found[1], found[2], len(spoken), said))
        spoken += found[1]
    masked = " ".join((masked + text[at:]).lower().split())
    return MaskedQuestion(source="shop", text=spoken + text[at:], masked=masked, slots=tuple(slots))


def make_slot(text: str, label: str, start: int, said: str | None) -> Slot:
    kind = KINDS.get(label, SlotType.VALUE)
    value: Any = text
    if kind is SlotType.TIME_RANGE:
        first, last = TIMES[text]
        value = {
            "start": None if said == "before" else last if said == "after" else first,
            "end": first if said == "before" else None if said in ("since", "after") else last,
        }
    elif kind in (SlotType.NUMBER, SlotType.MONEY):
        value = float(text.strip("$")) if "." in text else int(text.strip("$"))
    columns = (label,) if kind is SlotType.VALUE else ()
    return Slot(
        start=start,
        end=start + len(text),
        text=text,
        type=kind,
        label=label,
        value=value,
        columns=columns,
        comparison=said,
    )


def make_plan(key_text: str, query: str, **params: Parameter) -> Plan:
    return Plan(
        id=key_text,
        key_text=key_text,
        query=query,
        params=tuple(params.values()),
        source="shop",
        source_type="sql",
        dialect="postgres",
    )


def text_of(name: str, column: str) -> Parameter:
    return Parameter(name=name, type=ParamType.TEXT, column=column)


PERIOD = Parameter(name="period", type=ParamType.TIME_RANGE)
CUSTOMER = text_of("customer", "customers.name")
STATUS = text_of("status", "orders.status")
COUNTRY = text_of("country", "customers.country")
PRODUCT = text_of("product", "products.name")
IN_PERIOD = "o.placed_at >= {period.start} AND o.placed_at < {period.end}"
OC = "FROM orders o JOIN customers c ON c.id = o.customer_id"
OP = f"{OC} JOIN order_items i ON i.order_id = o.id JOIN products p ON p.id = i.product_id"
N = Parameter(name="n", type=ParamType.INTEGER)
AMOUNT = Parameter(name="amount", type=ParamType.NUMBER, column="orders.total")

PLANS = [
    make_plan(
        "number of orders of a customer in a time range",
        f"SELECT count(*) {OC} WHERE c.name = {{customer}} AND {IN_PERIOD}",
        customer=CUSTOMER,
        period=PERIOD,
    ),
    make_plan(
        "orders of a customer in a time range",
        f"SELECT o.id, o.total {OC} WHERE c.name = {{customer}} AND {IN_PERIOD} ORDER BY o.placed_at",
        customer=CUSTOMER,
        period=PERIOD,
    ),
    make_plan(
        "orders with a status",
        f"SELECT o.id, o.total {OC} WHERE o.status = {{status}} ORDER BY o.placed_at",
        status=STATUS,
    ),
    make_plan(
        "number of orders with a status in a time range",
        f"SELECT count(*) {OC} WHERE o.status = {{status}} AND {IN_PERIOD}",
        status=STATUS,
        period=PERIOD,
    ),
    make_plan(
        "total revenue in a time range",
        f"SELECT sum(o.total) AS revenue FROM orders o WHERE {IN_PERIOD}",
        period=PERIOD,
    ),
    make_plan(
        "average order value of a country", f"SELECT avg(o.total) {OC} WHERE c.country = {{country}}", country=COUNTRY
    ),
    make_plan(
        "largest orders in a time range",
        f"SELECT o.id, o.total FROM orders o WHERE {IN_PERIOD} ORDER BY o.total DESC LIMIT {{n}}",
        n=N,
        period=PERIOD,
    ),
    make_plan(
        "smallest orders in a time range",
        f"SELECT o.id, o.total FROM orders o WHERE {IN_PERIOD} ORDER BY o.total ASC LIMIT {{n}}",
        n=N,
        period=PERIOD,
    ),
    make_plan(
        "orders over an amount", f"SELECT o.id, o.total {OC} WHERE o.total > {{amount}} ORDER BY o.total", amount=AMOUNT
    ),
    make_plan(
        "customers of a country without orders",
        "SELECT c.name FROM customers c WHERE c.country = {country} "
        "AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)",
        country=COUNTRY,
    ),
    make_plan(
        "customers who bought a product",
        f"SELECT DISTINCT c.name {OP} WHERE p.name = {{product}} ORDER BY c.name",
        product=PRODUCT,
    ),
    make_plan(
        "email address of a customer", "SELECT c.email FROM customers c WHERE c.name = {customer}", customer=CUSTOMER
    ),
    make_plan("price of a product", "SELECT p.price FROM products p WHERE p.name = {product}", product=PRODUCT),
    make_plan(
        "refunds of damaged goods in a time range",
        "SELECT r.id, r.amount FROM refunds r JOIN orders o ON o.id = r.order_id "
        f"WHERE r.reason = 'damaged' AND {IN_PERIOD}",
        period=PERIOD,
    ),
    make_plan(
        "number of orders per country",
        f"SELECT c.country, count(*) AS orders {OC} GROUP BY c.country",
    ),
]


@dataclass(frozen=True)
class Row:
    """A plan, the question that led to it, its roles, and what is asked for and against it."""

    plan: Plan
    exemplar: str
    roles: tuple[str | None, ...] = ()
    rewordings: tuple[str, ...] = ()
    twists: tuple[str, ...] = ()


def read_rows(path: Path) -> list[Row]:
    rows: list[Row] = []
    by_key = {plan.key_text: plan for plan in PLANS}
    for line in path.read_text().splitlines():
        sign, _, text = line.partition(" ")
        if sign == "=":
            rows.append(Row(by_key[text], ""))
        elif sign == ">":
            exemplar, _, roles = text.partition(" => ")
            named = tuple(None if role == "-" else role for role in roles.split())
            rows[-1] = replace(rows[-1], exemplar=exemplar.removesuffix(" =>"), roles=named)
        elif sign == "+":
            rows[-1] = replace(rows[-1], rewordings=(*rows[-1].rewordings, text))
        elif sign == "-":
            rows[-1] = replace(rows[-1], twists=(*rows[-1].twists, text))
    return rows


@pytest.fixture(scope="session")
def shop() -> list[Row]:
    return read_rows(Path(__file__).with_name("questions.txt"))


@pytest.fixture(scope="session")
def marked() -> Callable[[str], MaskedQuestion]:
    return read_marked


@pytest.fixture(scope="session")
def now() -> datetime:
    return NOW


def keys_of(row: Row, similarity: Callable[[str], float]) -> tuple[Key, ...]:
    masked, plan = read_marked(row.exemplar).masked, row.plan
    keys = [
        Key(id="1", kind="exemplar", masked=masked, similarity=similarity(masked), roles=row.roles),
        Key(id="2", kind="intent", masked=plan.key_text, similarity=similarity(plan.key_text)),
    ]
    return tuple(sorted(keys, key=lambda key: -key.similarity))


@pytest.fixture(scope="session")
def equally_similar() -> Callable[[Iterable[Row]], list[Candidate]]:
    """Candidates whose every key has a cosine of 0.97: as if similarity told nothing."""
    return lambda rows: [Candidate(plan=row.plan, keys=keys_of(row, lambda _: 0.97)) for row in rows]


@pytest.fixture(scope="session")
def really_similar() -> Callable[[Iterable[Row], MaskedQuestion], list[Candidate]]:
    """Candidates by the cosine of the local embedder, nearest five first."""
    model = load_wordllama()

    def nearest(rows: Iterable[Row], question: MaskedQuestion) -> list[Candidate]:
        def similarity(masked: str) -> float:
            one, other = unit_vectors(np.asarray(model.embed([masked, question.masked])))
            return float(min(1.0, one @ other))

        found = [Candidate(plan=row.plan, keys=keys_of(row, similarity)) for row in rows]
        return sorted(found, key=lambda candidate: -candidate.keys[0].similarity)[:5]

    return nearest
