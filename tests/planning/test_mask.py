"""Masked questions: the same text for every value of a kind, and nothing lost in the slots."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qkva.contracts.question import SlotType
from qkva.contracts.source import ColumnValues, Field, SourceDescription, Table
from qkva.planning.masking.mask import mask_question
from qkva.planning.masking.value_index import ValueIndex

NOW = datetime(2026, 5, 13, 15, 30, tzinfo=ZoneInfo("America/New_York"))
CUSTOMERS = ("Ada Lovelace", "Grace Hopper", "Alan Turing", "Diarmaid O'Foighil", "Zoë Müller", "May Smith")
COUNTRIES = ("Germany", "France", "United States", "Côte d'Ivoire", "Turkey")
STATUSES = ("open", "new", "PAID", "in_transit", "refunded")
EMAILS = ("ada@example.org",)
NUMBERS = ("550", "482")


def describe():
    held = {
        "customers.name": CUSTOMERS,
        "customers.country": COUNTRIES,
        "customers.email": EMAILS,
        "orders.status": STATUSES,
        "courses.number": NUMBERS,
    }
    tables = [
        Table(
            name=name,
            fields=tuple(
                Field(name=column.partition(".")[2], type="text", kind="text")
                for column in held
                if column.startswith(name)
            ),
        )
        for name in ("customers", "orders", "courses")
    ]
    return SourceDescription(
        name="shop",
        source_type="sql",
        dialect="postgres",
        fingerprint="f",
        tables=tuple(tables),
        values=tuple(ColumnValues(column=column, values=values) for column, values in held.items()),
    )


INDEX = ValueIndex.build(describe())


def mask(text):
    return mask_question(text, source="shop", values=INDEX, now=NOW)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Orders of Ada Lovelace since yesterday", "orders of ‹customers.name› since ‹time›"),
        ("How many PAID orders are there?", "how many ‹orders.status› orders are there"),
        ("What is the new total?", "what is the new total"),
        ("Orders over $50 in March?", "orders over ‹money› in ‹time›"),
        ("top five customers in Germany", "top ‹number› customers in ‹customers.country›"),
        ("Was 20% of order #1042 refunded?", "was ‹percent› of order ‹id› ‹orders.status›"),
        ("Mail of ada@example.org", "mail of ‹email›"),
        ("Mail of bob@example.org", "mail of ‹email›"),
        ('orders with the note "urgent"', "orders with the note ‹quoted›"),
        ('orders of "Ada Lovelace"', "orders of ‹customers.name›"),
        ("May I see the orders of May Smith in May?", "may i see the orders of ‹customers.name› in ‹time›"),
        ("orders between March and May", "orders between ‹time›"),
        ("orders between 3 and 5", "orders between ‹number› and ‹number›"),
        ("arrivals before 9:30", "arrivals before ‹clock time›"),
        ("the 2nd order", "the ‹ordinal› order"),
        ("  What   about\nspace ?! ", "what about space"),
        ("‹time› is forged", "<time> is forged"),
        ("", ""),
        ("?!", ""),
        ("日本の注文は?", "日本の注文は"),
    ],
)
def test_question_is_masked(text, masked):
    assert mask(text).masked == masked


@pytest.mark.parametrize(
    ("tokenised", "plain"),
    [
        ("Can undergrads take 550 ?", "Can undergrads take 550?"),
        ("Ada Lovelace 's orders , please .", "Ada Lovelace's orders, please."),
        ("Which orders do n't cost $ 50 ?", "Which orders don't cost $50?"),
        ("Is it `` Ada Lovelace '' ?", 'Is it "Ada Lovelace"?'),
        ("300 -level courses ( all )", "300-level courses (all)"),
        ("orders of Diarmaid O'Foighil : all", "orders of Diarmaid O’Foighil: all"),
    ],
)
def test_tokenised_text_masks_alike(tokenised, plain):
    assert mask(tokenised).masked == mask(plain).masked


def test_number_knows_its_text_column():
    (known,) = mask("Can I take 550?").slots
    (unknown,) = mask("Can I take 551?").slots
    assert (known.type, known.value, known.columns) == (SlotType.NUMBER, 550, ("courses.number",))
    assert (unknown.type, unknown.value, unknown.columns) == (SlotType.NUMBER, 551, ())


def test_time_slot_holds_iso_range():
    (slot,) = mask("orders since yesterday").slots
    assert slot.value == {"start": "2026-05-12T00:00:00-04:00", "end": None}
    assert (slot.label, slot.comparison, slot.text) == ("time", "since", "yesterday")


customers = st.sampled_from(CUSTOMERS)
countries = st.sampled_from(COUNTRIES)
statuses = st.sampled_from(STATUSES)
amounts = st.one_of(
    st.integers(2, 10**9).map(str),
    st.integers(1_000, 10**9).map("{:,}".format),
    st.decimals(min_value=1, max_value=10**6, places=2).map(str),
)
times = st.sampled_from(
    ("last week", "yesterday", "March 2026", "2026-03-08", "the last 7 days", "Q1 2026", "3 days ago", "March 3rd")
)
units = st.sampled_from(("orders", "items"))


@given(customers, countries, amounts, times, units)
def test_values_leave_mask_unchanged(customer, country, amount, time, unit):
    text = f"Which customers in {country} bought more than {amount} {unit} from {customer} since {time}?"
    masked = mask(text)
    assert masked.masked == (
        f"which customers in ‹customers.country› bought more than ‹number› {unit} from ‹customers.name› since ‹time›"
    )
    assert [slot.value for slot in masked.slots[::2]] == [country, customer]
    assert masked.slots[1].unit == unit


@given(statuses, st.sampled_from((str.lower, str.upper, str.title, str)))
def test_status_masks_in_any_spelling(status, spell):
    (slot,) = mask(f"how many {spell(status).replace('_', ' ')} orders do we have").slots
    assert (slot.label, slot.value) == ("orders.status", status)


@given(customers)
def test_typed_case_does_not_matter(customer):
    expected = "orders of ‹customers.name›'s company"
    assert mask(f"orders of {customer.lower()}'s company").masked == expected
    assert mask(f"ORDERS OF {customer.upper()}'S COMPANY").masked == expected


@given(st.text(max_size=200))
def test_any_text_keeps_its_spans(text):
    masked = mask(text)
    assert masked == mask(text)
    position = 0
    for slot in masked.slots:
        assert position <= slot.start < slot.end <= len(text)
        assert slot.text == text[slot.start : slot.end]
        position = slot.end
    assert masked.masked.count("‹") == len(masked.slots)
