"""The rules that every connector keeps, one per test."""

import asyncio
import json

import pytest
from tests.connectors.contract.conftest import Case

from qkva.contracts.errors import MissingParameter, ParameterError, PlanRejected, SourceUnavailable
from qkva.contracts.plan import Parameter, ParamType
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.contracts.source import Connector, Limits

pytestmark = pytest.mark.db
KINDS = {"text", "number", "integer", "boolean", "date", "datetime", "other"}


def value_of(case: Case, **fields: object) -> Parameter:
    return Parameter.model_validate({"name": "value", "type": ParamType.TEXT, "column": case.column, **fields})


def test_satisfies_the_protocol(case: Case):
    assert isinstance(case.connector, Connector)


async def test_description_names_the_source(case: Case):
    described = await case.connector.describe()
    assert described.name == case.connector.name
    assert described.source_type == case.connector.source_type
    assert described.dialect == case.connector.dialect


async def test_description_has_fields_of_known_kinds(case: Case):
    described = await case.connector.describe()
    assert described.tables
    assert {field.kind for table in described.tables for field in table.fields} <= KINDS


async def test_described_values_belong_to_described_fields(case: Case):
    described = await case.connector.describe()
    assert described.values
    assert all(described.field(held.column) is not None for held in described.values)


async def test_described_values_are_distinct(case: Case):
    for held in (await case.connector.describe()).values:
        assert len(set(held.values)) == len(held.values)


async def test_known_value_is_described(case: Case):
    described = await case.connector.describe()
    assert case.value in next(held.values for held in described.values if held.column == case.column)


async def test_fingerprint_is_stable(case: Case):
    first, second = await case.connector.describe(), await case.connector.describe()
    assert first.fingerprint == second.fingerprint != ""


async def test_sound_plan_passes_the_check(case: Case):
    await case.connector.check(case.plan(case.by_value, value_of(case)))


async def test_unknown_field_is_refused_with_a_hint(case: Case):
    with pytest.raises(PlanRejected, match="did you mean"):
        await case.connector.check(case.plan(case.unknown_field))


async def test_unused_parameter_is_refused(case: Case):
    with pytest.raises(PlanRejected, match='"value"'):
        await case.connector.check(case.plan(case.all_rows, value_of(case)))


async def test_undeclared_parameter_is_refused(case: Case):
    with pytest.raises(PlanRejected, match='"value"'):
        await case.connector.check(case.plan(case.by_value))


async def test_parameter_of_unknown_column_is_refused(case: Case):
    with pytest.raises(PlanRejected, match="nowhere.nothing"):
        await case.connector.check(case.plan(case.by_value, value_of(case, column="nowhere.nothing")))


async def test_writing_is_refused(case: Case):
    with pytest.raises(PlanRejected):
        await case.connector.check(case.plan(case.writes))
    with pytest.raises(PlanRejected):
        await case.connector.execute(case.writes, (), {}, Limits())


async def test_prose_is_refused(case: Case):
    with pytest.raises(PlanRejected):
        await case.connector.execute("I cannot answer this from the data.", (), {}, Limits())


async def test_value_finds_its_records(case: Case):
    all_of_them = await case.connector.execute(case.all_rows, (), {}, Limits())
    some = await case.connector.execute(case.by_value, [value_of(case)], {"value": case.value}, Limits())
    assert 0 < len(some.records) < len(all_of_them.records)


@pytest.mark.parametrize("value", ["", "'", '"', "' or 1=1 --", 'x" or key is not empty', "{value}", "\\", "%", "🫖"])
async def test_hostile_value_finds_nothing(case: Case, value: str):
    result = await case.connector.execute(case.by_value, [value_of(case)], {"value": value}, Limits())
    assert result.records == ()


async def test_records_are_json_with_unique_ids(case: Case):
    records = (await case.connector.execute(case.all_rows, (), {}, Limits())).records
    assert len({record.id for record in records}) == len(records) >= 3
    for record in records:
        assert record.label
        assert record.snippet
        assert json.loads(json.dumps(record.fields)) == record.fields


async def test_equal_runs_give_equal_results(case: Case):
    first = await case.connector.execute(case.all_rows, (), {}, Limits())
    assert await case.connector.execute(case.all_rows, (), {}, Limits()) == first


async def test_result_names_what_it_read(case: Case):
    result = await case.connector.execute(case.all_rows, (), {}, Limits())
    table = case.column.rpartition(".")[0]
    assert f"table:{table}" in result.dependency_ids


async def test_rows_are_capped(case: Case):
    result = await case.connector.execute(case.all_rows, (), {}, Limits(rows=2))
    assert (len(result.records), result.truncated) == (2, True)


async def test_missing_required_value_is_refused(case: Case):
    with pytest.raises(MissingParameter) as missing:
        await case.connector.execute(case.by_value, [value_of(case)], {"value": None}, Limits())
    assert missing.value.parameter == "value"


async def test_wrong_type_is_refused(case: Case):
    with pytest.raises(ParameterError) as wrong:
        await case.connector.execute(case.by_value, [value_of(case)], {"value": 7}, Limits())
    assert wrong.value.parameter == "value"


async def test_unsaid_optional_value_filters_nothing(case: Case):
    param = value_of(case, required=False)
    unfiltered = await case.connector.execute(case.by_value, [param], {"value": None}, Limits())
    everything = await case.connector.execute(case.all_rows, (), {}, Limits())
    assert len(unfiltered.records) == len(everything.records)


async def test_broad_query_passes_the_check_and_runs(case: Case):
    slot = Slot(
        start=5, end=5 + len(case.value), text=case.value, type=SlotType.VALUE, label="x", value=case.value,
        columns=(case.column,),
    )  # fmt: skip
    question = MaskedQuestion(source="x", text=f"what {case.value}", masked="what ‹x›", slots=(slot,))
    broad = await case.connector.broaden(question)
    assert broad is not None
    assert case.value not in broad.query
    await case.connector.check(case.plan(broad.query, *broad.params))
    assert (await case.connector.execute(broad.query, broad.params, broad.values, Limits())).records


async def test_foreign_question_has_no_broad_query(case: Case):
    text = "how is the weather on the moon?"
    assert await case.connector.broaden(MaskedQuestion(source="x", text=text, masked=text)) is None


async def test_source_without_documents_yields_no_pages(case: Case):
    if (await case.connector.describe()).indexable:
        pytest.skip("this source has documents")
    assert [page async for page in case.connector.fetch_changes(None)] == []


async def test_many_runs_at_once(case: Case):
    runs = (case.connector.execute(case.by_value, [value_of(case)], {"value": case.value}, Limits()) for _ in range(12))
    assert len(set(map(repr, await asyncio.gather(*runs)))) == 1


async def test_unreachable_source_says_so(case: Case):
    if case.down is None:
        pytest.skip("this source cannot be unreachable")
    down = case.down()
    with pytest.raises(SourceUnavailable) as failed:
        await down.execute(case.all_rows, (), {}, Limits())
    assert down.name in failed.value.message
    assert "s3cret" not in failed.value.message
    await down.close()


async def test_closing_twice_is_harmless(case: Case):
    await case.connector.close()
    await case.connector.close()
