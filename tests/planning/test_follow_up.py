"""Follow-up questions: what they mean after the question before, and which ones stand alone."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from qkva.contracts.source import ColumnValues, Field, SourceDescription, Table
from qkva.planning.conversation.follow_up import resolve_follow_up
from qkva.planning.masking.mask import mask_question
from qkva.planning.masking.value_index import ValueIndex

NOW = datetime(2026, 5, 13, 15, 30, tzinfo=ZoneInfo("America/New_York"))
HELD = {
    "customers.name": ("Ada Lovelace", "Grace Hopper"),
    "customers.country": ("Germany", "France", "Spain"),
    "orders.status": ("open", "new", "paid", "refunded"),
}
INDEX = ValueIndex.build(
    SourceDescription(
        name="shop",
        source_type="sql",
        dialect="postgres",
        fingerprint="f",
        tables=(
            Table(
                name="customers",
                fields=(Field(name="name", type="text", kind="text"), Field(name="country", type="text", kind="text")),
            ),
            Table(name="orders", fields=(Field(name="status", type="text", kind="text"),)),
        ),
        values=tuple(ColumnValues(column=column, values=values) for column, values in HELD.items()),
    )
)


def mask(text):
    return mask_question(text, source="shop", values=INDEX, now=NOW)


@pytest.mark.parametrize(
    ("question", "previous", "meant"),
    [
        ("and in Germany?", "How many customers are in France?", "How many customers are in Germany?"),
        ("And Germany?", "How many customers are in France?", "How many customers are in Germany?"),
        ("what about last month?", "How many orders were paid last week?", "How many orders were paid last month?"),
        ("what about last month?", "How many orders since Monday?", "How many orders last month?"),
        ("and since Monday?", "How many orders last month?", "How many orders since Monday?"),
        ("and on Friday?", "orders on Monday", "orders on Friday"),
        ("and April?", "How many orders in March?", "How many orders in April?"),
        ("what about 2024?", "Orders in 2025 by country", "Orders in 2024 by country"),
        ("and 2024?", "Orders in 2025", "Orders in 2024"),
        ("and for Ada Lovelace?", "Orders of Grace Hopper in March?", "Orders for Ada Lovelace in March?"),
        ("what about Ada's?", "What are Grace Hopper's orders?", "What are Ada's orders?"),
        ("how about the top 10?", "Who are the top 5 customers in 2025?", "Who are the top 10 customers in 2025?"),
        ("and the top three", "top 5 customers", "top three customers"),
        ("and over $50?", "Orders over $20?", "Orders over $50?"),
        ("and under $50?", "Orders over $20 in March?", "Orders under $50 in March?"),
        ("in Germany?", "How many orders were paid?", "How many orders were paid in Germany?"),
        ("And those from Germany?", "How many customers are there?", "How many customers are there from Germany?"),
        ("what about yesterday in Spain?", "orders to France in March?", "orders in Spain yesterday?"),
        ("what about open ones?", "How many paid orders?", "How many open orders?"),
        ("and refunded?", "Which orders are paid?", "Which orders are refunded?"),
    ],
)
def test_follow_up_is_resolved(question, previous, meant):
    assert resolve_follow_up(question, previous, mask=mask) == meant


@pytest.mark.parametrize(
    ("question", "previous"),
    [
        ("How many customers are in France?", "How many orders were paid?"),
        ("And how many orders are open?", "How many orders were paid?"),
        ("and who is Ada Lovelace?", "Orders of Grace Hopper?"),
        ("thanks", "Orders of Grace Hopper?"),
        ("and why?", "Orders of Grace Hopper?"),
        ("what about the weather?", "Orders of Grace Hopper in March?"),
        ("and in Germany?", None),
        ("and in Germany?", ""),
        ("", "Orders of Grace Hopper?"),
        ("?", "Orders of Grace Hopper?"),
    ],
)
def test_question_stands_alone(question, previous):
    assert resolve_follow_up(question, previous, mask=mask) is None
