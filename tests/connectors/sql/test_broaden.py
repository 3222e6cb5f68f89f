"""The broad query: which table a question is about, and what it is filtered by."""

from typing import Any

import pytest

from qkva.connectors.sql.connector import SqlConnector
from qkva.contracts.plan import Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.contracts.source import BroadQuery, Limits, QueryResult

pytestmark = pytest.mark.db


def value(text: str, *columns: str) -> dict[str, Any]:
    return {"text": text, "type": SlotType.VALUE, "label": columns[0], "value": text, "columns": columns}


def period(text: str, start: str | None, end: str | None) -> dict[str, Any]:
    return {"text": text, "type": SlotType.TIME_RANGE, "label": "time", "value": {"start": start, "end": end}}


def asked(text: str, *found: dict[str, Any]) -> MaskedQuestion:
    """The question with its values masked where they stand."""
    slots, masked = [], text.lower()
    for fields in found:
        start = text.index(fields["text"])
        slots.append(Slot(start=start, end=start + len(fields["text"]), **fields))
        masked = masked.replace(fields["text"].lower(), f"‹{fields['label']}›", 1)
    return MaskedQuestion(
        source="shop", text=text, masked=masked, slots=tuple(sorted(slots, key=lambda slot: slot.start))
    )


ADA = value("Ada Lovelace", "customers.name")
MAY = period("in May", "2026-05-01T00:00:00+00:00", "2026-06-01T00:00:00+00:00")


async def broad(shop: SqlConnector, question: MaskedQuestion) -> tuple[BroadQuery, QueryResult]:
    found = await shop.broaden(question)
    assert found is not None
    await shop.check(
        Plan(key_text="x", query=found.query, params=found.params, source="shop", source_type="sql", dialect="postgres")
    )
    return found, await shop.execute(found.query, found.params, found.values, Limits())


async def test_named_table_is_shown_newest_first(shop: SqlConnector):
    found, result = await broad(shop, asked("What is strange about our orders?"))
    assert found.about == "the newest rows of orders"
    assert [record.id for record in result.records] == [str(number) for number in range(1, 21)]


async def test_value_next_door_filters(shop: SqlConnector):
    found, result = await broad(shop, asked("Any weird order of Ada Lovelace in May?", ADA, MAY))
    assert [record.id for record in result.records] == ["15", "20", "25", "30", "35", "40", "45"]
    assert found.about == "the newest rows of orders for customers.name Ada Lovelace, in May"
    assert found.values == {"value_1": "Ada Lovelace", "period": MAY["value"]}
    assert "Ada" not in found.query


async def test_value_two_tables_away_filters(shop: SqlConnector):
    _, result = await broad(shop, asked("Show refunds for Ada Lovelace", ADA))
    assert {record.fields["order_id"] for record in result.records} == {15, 30}


async def test_value_of_children_filters(shop: SqlConnector):
    damaged = value("damaged", "refunds.reason")
    _, result = await broad(shop, asked("customers with damaged things", damaged))
    assert {record.id for record in result.records} == {"2", "3", "4", "5", "1"}


async def test_several_values_of_one_column_are_either(shop: SqlConnector):
    question = asked(
        "customers in Germany and France", value("Germany", "customers.country"), value("France", "customers.country")
    )
    found, result = await broad(shop, question)
    assert {record.id for record in result.records} == {"2", "3", "4"}
    assert found.values == {"value_1": ["Germany", "France"]}


async def test_number_after_the_table_is_its_key(shop: SqlConnector):
    number = {"text": "17", "type": SlotType.NUMBER, "label": "number", "value": 17}
    _, result = await broad(shop, asked("what happened to order 17?", number))
    assert [record.id for record in result.records] == ["17"]


async def test_value_alone_chooses_its_table(shop: SqlConnector):
    found, result = await broad(shop, asked("Who is Ada Lovelace?", ADA))
    assert found.about == "the newest rows of customers for customers.name Ada Lovelace"
    assert [record.id for record in result.records] == ["1"]


async def test_inflected_word_finds_its_table(shop: SqlConnector):
    found, _ = await broad(shop, asked("What was refunded?"))
    assert found.about == "the newest rows of refunds"


async def test_quoted_names_stay_quoted(shop: SqlConnector):
    found, result = await broad(shop, asked("show me odd names"))
    assert '"Odd Names"' in found.query
    assert result.records[0].fields["Mixed Case"] == "Aa"


@pytest.mark.parametrize("text", ["What is the meaning of life?", "How will the weather be tomorrow?", "", "?!"])
async def test_foreign_question_gets_nothing(shop: SqlConnector, text: str):
    assert await shop.broaden(asked(text)) is None
