"""A shop with fifteen plans, and questions written as "orders of [Ada Lovelace|customers.name] in [March|time]"."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from qkva.contracts.cache import Candidate, Key
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.models.embeddings import load_wordllama, unit_vectors

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
COMPARISONS = {"over": "over", "more than": "over", "under": "under", "less than": "under", "at least": "at_least",
               "at most": "at_most", "since": "since", "before": "before", "after": "after"}  # fmt: skip


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
        value = {"start": None if said == "before" else last if said == "after" else first,
                 "end": first if said == "before" else None if said in ("since", "after") else last}  # fmt: skip
    elif kind in (SlotType.NUMBER, SlotType.MONEY):
        value = float(text.strip("$")) if "." in text else int(text.strip("$"))
    columns = (label,) if kind is SlotType.VALUE else ()
    return Slot(start=start, end=start + len(text), text=text, type=kind, label=label, value=value, columns=columns,
                comparison=said)  # fmt: skip


def make_plan(key_text: str, query: str, **params: Parameter) -> Plan:
    return Plan(id=key_text, key_text=key_text, query=query, params=tuple(params.values()), source="shop",
                source_type="sql", dialect="postgres")  # fmt: skip


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

C, T, S, L, P = (
    "Ada Lovelace|customers.name",
    "last month|time",
    "shipped|orders.status",
    "Germany|customers.country",
    "Teapot|products.name",
)
# (plan, the question that led to it, its roles, other wordings)
SHOP: list[tuple[Plan, str, tuple[str | None, ...], list[str]]] = [
    (
        make_plan("number of orders of a customer in a time range", f"SELECT count(*) {OC} WHERE c.name = {{customer}} AND {IN_PERIOD}",
                  customer=CUSTOMER, period=PERIOD),
        f"How many orders did [{C}] place [{T}]?", ("customer", "period"),
        ["number of orders by [Grace Hopper|customers.name] in [March|time]", f"count [{C}]'s orders [{T}]",
         "what is the number of orders [Alan Turing|customers.name] placed in [March|time]?",
         "how many orders were placed by [Grace Hopper|customers.name] since [last week|time]?",
         f"Please tell me how many orders [{C}] made [{T}]", f"[{T}], how many orders did customer [{C}] place?"],
    ),
    (
        make_plan("orders of a customer in a time range", f"SELECT o.id, o.total {OC} WHERE c.name = {{customer}} AND {IN_PERIOD} ORDER BY o.placed_at",
                  customer=CUSTOMER, period=PERIOD),
        f"Which orders did [{C}] place [{T}]?", ("customer", "period"),
        ["show me the orders of [Grace Hopper|customers.name] from [last week|time]", "list all orders of [Grace Hopper|customers.name] in [March|time]",
         "[Grace Hopper|customers.name]'s orders [yesterday|time]", "what are the orders that [Alan Turing|customers.name] placed in [2025|time]?",
         "orders placed by [Grace Hopper|customers.name] since [March|time]"],
    ),
    (
        make_plan("orders with a status", f"SELECT o.id, o.total {OC} WHERE o.status = {{status}} ORDER BY o.placed_at", status=STATUS),
        f"Which orders are [{S}]?", ("status",),
        ["show all [paid|orders.status] orders", "list orders with status [pending|orders.status]", "which orders have the status [paid|orders.status]?",
         "give me the [cancelled|orders.status] orders please"],
    ),
    (
        make_plan("number of orders with a status in a time range", f"SELECT count(*) {OC} WHERE o.status = {{status}} AND {IN_PERIOD}",
                  status=STATUS, period=PERIOD),
        f"How many orders were [{S}] [{T}]?", ("status", "period"),
        ["number of [paid|orders.status] orders in [March|time]", "count the [cancelled|orders.status] orders [last week|time]",
         "how many [paid|orders.status] orders were there in [2025|time]?", "what is the total number of [pending|orders.status] orders [last week|time]?"],
    ),
    (
        make_plan("total revenue in a time range", f"SELECT sum(o.total) AS revenue FROM orders o WHERE {IN_PERIOD}", period=PERIOD),
        f"What was the total revenue [{T}]?", ("period",),
        ["total revenue in [March|time]", "show me the total revenue of [2025|time]", "what is the total revenue for [last week|time]",
         "what total revenue was made [yesterday|time]?"],
    ),
    (
        make_plan("average order value of a country", f"SELECT avg(o.total) {OC} WHERE c.country = {{country}}", country=COUNTRY),
        f"What is the average order value in [{L}]?", ("country",),
        ["average value of orders in [France|customers.country]", "mean order value for [France|customers.country]",
         "show the average order value of country [Spain|customers.country]", "what's the average order amount in [France|customers.country]?"],
    ),
    (
        make_plan("largest orders in a time range", f"SELECT o.id, o.total FROM orders o WHERE {IN_PERIOD} ORDER BY o.total DESC LIMIT {{n}}",
                  n=N, period=PERIOD),
        f"What were the [5|number] largest orders [{T}]?", ("n", "period"),
        ["show me the [10|number] biggest orders in [March|time]", "[3|number] largest orders of [2025|time]",
         "list the [7|number] largest orders placed [last week|time]", "which were the [5|number] biggest orders [yesterday|time]?"],
    ),
    (
        make_plan("smallest orders in a time range", f"SELECT o.id, o.total FROM orders o WHERE {IN_PERIOD} ORDER BY o.total ASC LIMIT {{n}}",
                  n=N, period=PERIOD),
        f"What were the [5|number] smallest orders [{T}]?", ("n", "period"),
        ["show me the [10|number] smallest orders in [March|time]", "list [2|number] smallest orders of [2025|time]"],
    ),
    (
        make_plan("orders over an amount", f"SELECT o.id, o.total {OC} WHERE o.total > {{amount}} ORDER BY o.total", amount=AMOUNT),
        "Which orders were over [100|number]?", ("amount",),
        ["list all orders over [250|number]", "show me orders of more than [99|number]", "orders above [1000|number]", "what orders are over [75|number]?"],
    ),
    (
        make_plan("customers of a country without orders",
                  "SELECT c.name FROM customers c WHERE c.country = {country} AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)",
                  country=COUNTRY),
        f"Which customers in [{L}] have no orders?", ("country",),
        ["customers from [France|customers.country] without orders", "show me the customers in [Spain|customers.country] that have no orders",
         "list customers in [France|customers.country] with no orders"],
    ),
    (
        make_plan("customers who bought a product", f"SELECT DISTINCT c.name {OP} WHERE p.name = {{product}} ORDER BY c.name", product=PRODUCT),
        f"Which customers bought [{P}]?", ("product",),
        ["who bought [Kettle|products.name]?", "list the customers that purchased [Kettle|products.name]", "show customers who bought the product [Kettle|products.name]",
         "who purchased [Mug|products.name]?", "customers who have bought [Mug|products.name]"],
    ),
    (
        make_plan("email address of a customer", "SELECT c.email FROM customers c WHERE c.name = {customer}", customer=CUSTOMER),
        f"What is the email address of [{C}]?", ("customer",),
        ["show me [Grace Hopper|customers.name]'s email address", "give me the e-mail address of customer [Grace Hopper|customers.name]",
         "email address of [Alan Turing|customers.name]", "what's the email address for [Alan Turing|customers.name]?"],
    ),
    (
        make_plan("price of a product", "SELECT p.price FROM products p WHERE p.name = {product}", product=PRODUCT),
        f"What is the price of [{P}]?", ("product",),
        ["show me the price of [Kettle|products.name]", "[Kettle|products.name] price", "what's the price of product [Mug|products.name]?",
         "tell me the price for [Mug|products.name]", "what is the cost of [Mug|products.name]?"],
    ),
    (
        make_plan("refunds of damaged goods in a time range", "SELECT r.id, r.amount FROM refunds r JOIN orders o ON o.id = r.order_id "
                  f"WHERE r.reason = 'damaged' AND {IN_PERIOD}", period=PERIOD),
        f"Which refunds were for [damaged|refunds.reason] goods [{T}]?", (None, "period"),
        ["list the refunds for [damaged|refunds.reason] goods in [March|time]", "show me refunds of [damaged|refunds.reason] goods [last week|time]",
         "refunds for [damaged|refunds.reason] goods since [March|time]"],
    ),
    (
        make_plan("number of orders per country", f"SELECT c.country, count(*) AS orders {OC} GROUP BY c.country", ),
        "How many orders are there per country?", (),
        ["number of orders per country", "count the orders for each country", "show the number of orders by each country",
         "how many orders does each country have?"],
    ),
]  # fmt: skip

# Of each question above by its plan: what must not be answered by that plan, though only a word differs.
TWISTS: dict[str, list[str]] = {
    "number of orders of a customer in a time range": [
        "How many orders did [Ada Lovelace|customers.name] not place [last month|time]?", "Which orders did [Ada Lovelace|customers.name] place [last month|time]?",
        "How many refunds did [Ada Lovelace|customers.name] get [last month|time]?", "How many orders did [Ada Lovelace|customers.name] cancel [last month|time]?",
        "How many products did [Ada Lovelace|customers.name] order [last month|time]?", "Did [Ada Lovelace|customers.name] place orders [last month|time]?",
        "How many orders did [Ada Lovelace|customers.name] place?", "How much did [Ada Lovelace|customers.name] spend [last month|time]?",
        "How many orders did [Ada Lovelace|customers.name] place over [100|number] [last month|time]?", "How many orders did [Ada Lovelace|customers.name] and [Grace Hopper|customers.name] place [last month|time]?",
        "When did [Ada Lovelace|customers.name] place orders [last month|time]?", "average number of orders [Ada Lovelace|customers.name] placed [last month|time]",
    ],
    "orders of a customer in a time range": [
        "What was the largest order of [Ada Lovelace|customers.name] [last month|time]?", "What was the latest order of [Ada Lovelace|customers.name] [last month|time]?",
        "Which orders of [Ada Lovelace|customers.name] were not placed [last month|time]?", "Which unpaid orders did [Ada Lovelace|customers.name] place [last month|time]?",
        "Which orders did [Ada Lovelace|customers.name] place except [last month|time]?", "Which refunded orders did [Ada Lovelace|customers.name] place [last month|time]?",
        "Which [shipped|orders.status] orders did [Ada Lovelace|customers.name] place [last month|time]?", "What is the total of the orders of [Ada Lovelace|customers.name] [last month|time]?",
        "Which orders did only [Ada Lovelace|customers.name] place [last month|time]?", "Which products did [Ada Lovelace|customers.name] order [last month|time]?",
        "Which orders over [50|money] did [Ada Lovelace|customers.name] place [last month|time]?",
    ],
    "orders with a status": [
        "Which orders are not [shipped|orders.status]?", "Are orders [shipped|orders.status]?", "How many orders are [shipped|orders.status]?", "Which customers are [shipped|orders.status]?",
        "Which orders were never [shipped|orders.status]?", "Which orders are [shipped|orders.status] or [paid|orders.status]?", "Which is the oldest [shipped|orders.status] order?",
        "Which items are [shipped|orders.status]?", "When were orders [shipped|orders.status]?", "Which orders are both [shipped|orders.status] and refunded?", "which large orders are [shipped|orders.status]?",
        "Which orders are [shipped|orders.status] in [Germany|customers.country]?",
    ],
    "number of orders with a status in a time range": [
        "How many orders were not [shipped|orders.status] [last month|time]?", "Which orders were [shipped|orders.status] [last month|time]?", "How many customers were [shipped|orders.status] [last month|time]?",
        "How many orders were [shipped|orders.status] per day [last month|time]?", "What share of orders were [shipped|orders.status] [last month|time]?", "How many orders were [shipped|orders.status]?",
    ],
    "total revenue in a time range": [
        "What was the average revenue [last month|time]?", "What was the lowest revenue [last month|time]?", "What was the total revenue per country [last month|time]?",
        "What was the total refund [last month|time]?", "What was the total revenue in [Germany|customers.country] [last month|time]?", "What was the total number of orders [last month|time]?",
        "What was the total revenue?", "Which product made the most revenue [last month|time]?", "What was the total revenue of [Teapot|products.name] [last month|time]?", "What was the total revenue without refunds [last month|time]?",
    ],
    "average order value of a country": [
        "What is the total order value in [Germany|customers.country]?", "What is the highest order value in [Germany|customers.country]?", "What is the lowest order value in [Germany|customers.country]?",
        "What is the average refund value in [Germany|customers.country]?", "What is the average order value outside [Germany|customers.country]?", "What is the average order value not in [Germany|customers.country]?",
        "What is the average number of orders in [Germany|customers.country]?", "What is the average order value in [Germany|customers.country] [last month|time]?", "What is the average order value of each customer in [Germany|customers.country]?",
    ],
    "largest orders in a time range": [
        "What were the [5|number] smallest orders [last month|time]?", "What were the [5|number] latest orders [last month|time]?", "What were the [5|number] largest refunds [last month|time]?",
        "What were the [5|number] orders with the most items [last month|time]?", "Who placed the [5|number] largest orders [last month|time]?", "What were the [5|number] largest orders?",
        "What were the [5|number] largest orders not placed [last month|time]?", "How many of the [5|number] largest orders were placed [last month|time]?", "What were the [5|number] oldest orders [last month|time]?",
    ],
    "smallest orders in a time range": ["What were the [5|number] largest orders [last month|time]?", "What were the [5|number] first orders [last month|time]?", "What were the [5|number] smallest customers [last month|time]?"],
    "orders over an amount": [
        "Which orders were under [100|number]?", "Which orders were at least [100|number]?", "Which orders were at most [100|number]?", "Which orders were not over [100|number]?",
        "Which refunds were over [100|number]?", "How many orders were over [100|number]?", "Which orders had over [100|number] items?", "Which orders were over [100|number] days old?",
        "Which customers were over [100|number]?", "Which order was the most over [100|number]?", "Which orders were exactly [100|number]?", "Were orders over [100|number]?", "Which orders were less than [100|number]?",
    ],
    "customers of a country without orders": [
        "Which customers in [Germany|customers.country] have orders?", "How many customers in [Germany|customers.country] have no orders?", "Which customers in [Germany|customers.country] have no refunds?",
        "Which customers not in [Germany|customers.country] have orders?", "Which customers outside [Germany|customers.country] have no orders?", "Which customers in [Germany|customers.country] have the most orders?", "Which customers in [Germany|customers.country] have no email?",
    ],
    "customers who bought a product": [
        "Which customers did not buy [Teapot|products.name]?", "How many customers bought [Teapot|products.name]?", "Which customers returned [Teapot|products.name]?", "Which customers bought only [Teapot|products.name]?",
        "Which customer bought the most [Teapot|products.name]?", "Which customers bought [Teapot|products.name] first?", "Which orders contain [Teapot|products.name]?", "Which customers bought [Teapot|products.name] [last month|time]?",
        "Which customers bought [Teapot|products.name] and [Mug|products.name]?", "Which customers never bought [Teapot|products.name]?", "When was [Teapot|products.name] bought?", "Who sold [Teapot|products.name]?",
    ],
    "email address of a customer": [
        "What is the postal address of [Ada Lovelace|customers.name]?", "What is the country of [Ada Lovelace|customers.name]?", "What is the phone number of [Ada Lovelace|customers.name]?",
        "Does [Ada Lovelace|customers.name] have an email address?", "What is the old email address of [Ada Lovelace|customers.name]?", "How many email addresses does [Ada Lovelace|customers.name] have?",
    ],
    "price of a product": [
        "What is the weight of [Teapot|products.name]?", "What is the highest price of [Teapot|products.name]?", "What is the average price of [Teapot|products.name]?", "What is the stock of [Teapot|products.name]?",
        "What is the total price of [Teapot|products.name]?", "What is the price of [Teapot|products.name] without tax?", "What was the price of [Teapot|products.name] in [2025|time]?", "When did the price of [Teapot|products.name] change?",
    ],
    "refunds of damaged goods in a time range": [
        "Which refunds were for [late|refunds.reason] goods [last month|time]?", "Which refunds were not for [damaged|refunds.reason] goods [last month|time]?", "How many refunds were for [damaged|refunds.reason] goods [last month|time]?",
        "What is the total of refunds for [damaged|refunds.reason] goods [last month|time]?", "Which refunds were for goods [last month|time]?", "Which orders were for [damaged|refunds.reason] goods [last month|time]?", "Which is the largest refund for [damaged|refunds.reason] goods [last month|time]?",
    ],
    "number of orders per country": ["How many orders are there?", "How many orders are there in the country?", "How many customers are there per country?", "Which orders are there per country?", "How many orders are there per product?",
        "What is the average number of orders per country?", "How many orders are there per country [last month|time]?", "Which country has the most orders?", "How many cancelled orders are there per country?"],
}  # fmt: skip


@pytest.fixture(scope="session")
def shop() -> list[tuple[Plan, str, tuple[str | None, ...], list[str]]]:
    return SHOP


@pytest.fixture(scope="session")
def twists() -> dict[str, list[str]]:
    return TWISTS


@pytest.fixture(scope="session")
def marked() -> Callable[[str], MaskedQuestion]:
    return read_marked


@pytest.fixture(scope="session")
def now() -> datetime:
    return NOW


def keys_of(
    plan: Plan, exemplar: str, roles: tuple[str | None, ...], similarity: Callable[[str], float]
) -> tuple[Key, ...]:
    masked = read_marked(exemplar).masked
    keys = [
        Key(id="1", kind="exemplar", masked=masked, similarity=similarity(masked), roles=roles),
        Key(id="2", kind="intent", masked=plan.key_text, similarity=similarity(plan.key_text)),
    ]
    return tuple(sorted(keys, key=lambda key: -key.similarity))


@pytest.fixture(scope="session")
def equally_similar() -> Callable[[Iterable[Any]], list[Candidate]]:
    """Candidates whose every key has a cosine of 0.97: as if similarity told nothing."""
    return lambda rows: [Candidate(plan=p, keys=keys_of(p, e, roles, lambda _: 0.97)) for p, e, roles, _ in rows]


@pytest.fixture(scope="session")
def really_similar() -> Callable[[Iterable[Any], MaskedQuestion], list[Candidate]]:
    """Candidates by the cosine of the local embedder, nearest five first."""
    model = load_wordllama()

    def nearest(rows: Iterable[Any], question: MaskedQuestion) -> list[Candidate]:
        def similarity(masked: str) -> float:
            one, other = unit_vectors(np.asarray(model.embed([masked, question.masked])))
            return float(min(1.0, one @ other))

        found = [Candidate(plan=p, keys=keys_of(p, e, roles, similarity)) for p, e, roles, _ in rows]
        return sorted(found, key=lambda candidate: -candidate.keys[0].similarity)[:5]

    return nearest
