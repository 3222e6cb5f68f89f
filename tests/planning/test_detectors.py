"""Typed values: each row is a text and what stands in it, as (text, type, value, unit, comparison)."""

import pytest

from qkva.planning.masking.detectors import detect

TABLE = [
    ("more than 3 orders", ("3", "number", 3, "orders", "over")),
    ("at least $50", ("$50", "money", 50, "USD", "at_least")),
    ("a bill of $1,200.50", ("$1,200.50", "money", 1200.5, "USD", None)),
    ("under €30", ("€30", "money", 30, "EUR", "under")),
    ("about 30 €", ("30 €", "money", 30, "EUR", None)),
    ("$ 50 each", ("$ 50", "money", 50, "USD", None)),
    ("50 dollars", ("50 dollars", "money", 50, "USD", None)),
    ("USD 50", ("USD 50", "money", 50, "USD", None)),
    ("$1.2k", ("$1.2k", "money", 1200, "USD", None)),
    ("up to 1.2k", ("1.2k", "number", 1200, None, "at_most")),
    ("3 million people", ("3 million", "number", 3_000_000, "people", None)),
    ("20% off", ("20%", "percent", 20, "%", None)),
    ("over 12.5 percent", ("12.5 percent", "percent", 12.5, "%", "over")),
    ("top five", ("five", "number", 5, None, None)),
    ("twenty-five products", ("twenty-five", "number", 25, "products", None)),
    ("two hundred and fifty", ("two hundred and fifty", "number", 250, None, None)),
    ("a dozen eggs", ("a dozen", "number", 12, "eggs", None)),
    ("at least one order", ("one", "number", 1, None, "at_least")),
    ("within one week", ("one", "number", 1, "week", None)),
    ("5 or more", ("5", "number", 5, None, "at_least")),
    ("3 or fewer", ("3", "number", 3, None, "at_most")),
    ("50+ users", ("50", "number", 50, None, "at_least")),
    ("no more than 4", ("4", "number", 4, None, "at_most")),
    ("no less than 4", ("4", "number", 4, None, "at_least")),
    (">= 4", ("4", "number", 4, None, "at_least")),
    ("lighter than 5kg", ("5kg", "number", 5, "kg", "under")),
    ("-5 degrees", ("-5", "number", -5, "degrees", None)),
    ("rated 4.5 stars", ("4.5", "number", 4.5, "stars", None)),
    ("take 550 ?", ("550", "number", 550, None, None)),
    ("the 2nd order", ("2nd", "ordinal", 2, None, None)),
    ("the third largest", ("third", "ordinal", 3, None, None)),
    ("issue SHOP-17", ("SHOP-17", "id", "SHOP-17", None, None)),
    ("order #1042", ("#1042", "id", "1042", None, None)),
    ("course EECS482", ("EECS482", "id", "EECS482", None, None)),
    ("code 007", ("007", "id", "007", None, None)),
    ("version 1.2.3", ("1.2.3", "id", "1.2.3", None, None)),
    (
        "id 0b8f4f3e-9f0a-4c53-8f1c-0a2b3c4d5e6f",
        ("0b8f4f3e-9f0a-4c53-8f1c-0a2b3c4d5e6f", "id", "0b8f4f3e-9f0a-4c53-8f1c-0a2b3c4d5e6f", None, None),
    ),
    ("from Ada@Example.org", ("Ada@Example.org", "email", "ada@example.org", None, None)),
    ("see https://a.example/b?c=d.", ("https://a.example/b?c=d", "url", "https://a.example/b?c=d", None, None)),
    ('called "Blue Lamp"', ('"Blue Lamp"', "quoted", "Blue Lamp", None, None)),
    ("called 'Blue Lamp'", ("'Blue Lamp'", "quoted", "Blue Lamp", None, None)),
    ("called `` Blue Lamp ''", ("`` Blue Lamp ''", "quoted", "Blue Lamp", None, None)),
    ("after 9:30", ("9:30", "clock_time", "09:30", None, "after")),
    ("before 5 pm", ("5 pm", "clock_time", "17:00", None, "before")),
    ("at 12:15 a.m.", ("12:15 a.m.", "clock_time", "00:15", None, None)),
    ("at noon", ("noon", "clock_time", "12:00", None, None)),
    ("in the early morning", ("early morning", "clock_time", {"start": "05:00", "end": "08:00"}, None, None)),
]


def longest(text):
    """What masking keeps of overlapping readings."""
    kept = []
    for slot in sorted(detect(text), key=lambda slot: (slot.start - slot.end, slot.type == "number")):
        if all(slot.end <= other.start or slot.start >= other.end for other in kept):
            kept.append(slot)
    return [
        (slot.text, slot.type.value, slot.value, slot.unit, slot.comparison)
        for slot in sorted(kept, key=lambda slot: slot.start)
    ]


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_one_value_is_read(text, expected):
    assert longest(text) == [expected]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("between 3 and 5 orders", [3, 5]),
        ("10-20 items", [10, 20]),
        ("between $5 and $10", [5, 10]),
        ("between 9:00 and 11:00", ["09:00", "11:00"]),
    ],
)
def test_both_ends_of_range_are_between(text, values):
    assert [(value, compared) for _, _, value, _, compared in longest(text)] == [(value, "between") for value in values]


@pytest.mark.parametrize(
    "text",
    [
        "which one is the cheapest one",
        "one of them",
        "no one",
        "the first order",
        "second hand",
        "b2b customers",
        "James' orders and Ada's",
        "don't, can't and it's",
        "a third of them, half the price",
        "email or url",
    ],
)
def test_plain_words_are_no_values(text):
    assert detect(text) == []
