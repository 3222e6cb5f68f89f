"""Forms that models fill: strict, flat, and forgiving of the habits of small models."""

import json

import pytest
from pydantic import BaseModel, ValidationError

from qkva.contracts.plan import Parameter, ParamType, Strategy
from qkva.models.chat import form_schema
from qkva.nodes.forms import PlanForm, PlanParam, RouteForm, StandaloneForm, fill_form_for

PARAMS = [
    Parameter(name="customer", type=ParamType.TEXT, description="the customer's name"),
    Parameter(name="status", type=ParamType.ENUM, choices=("open", "closed")),
    Parameter(name="most", type=ParamType.INTEGER),
    Parameter(name="price", type=ParamType.NUMBER),
    Parameter(name="paid", type=ParamType.BOOLEAN),
    Parameter(name="tags", type=ParamType.LIST),
    Parameter(name="period", type=ParamType.TIME_RANGE),
]


def objects(schema: dict) -> list[dict]:
    """Every object within a schema."""
    found = [schema] if schema.get("type") == "object" else []
    items = [schema["items"]] if "items" in schema else []
    for part in [*schema.get("properties", {}).values(), *items, *schema.get("anyOf", [])]:
        found += objects(part)
    return found


@pytest.mark.parametrize("form", [StandaloneForm, RouteForm, PlanForm, fill_form_for(PARAMS)])
def test_forms_are_strict(form: type[BaseModel]):
    schema = form_schema(form)
    assert schema["name"] == form.__name__
    assert "$ref" not in str(schema)
    assert objects(schema["schema"])
    for each in objects(schema["schema"]):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])


def test_every_strategy_can_be_chosen():
    assert set(form_schema(RouteForm)["schema"]["properties"]["strategy"]["enum"]) == set(Strategy)


def test_parameters_are_filled_by_name():
    form = fill_form_for(PARAMS)
    values = {
        "customer": "Ada",
        "status": "open",
        "most": 3,
        "price": 9.5,
        "paid": True,
        "tags": ["x"],
        "period": "last week",
    }
    assert form.__name__ == "FillForm"
    assert form.model_validate_json(json.dumps(values)).model_dump() == values


def test_every_parameter_may_be_unsaid():
    form = fill_form_for(PARAMS)
    values = dict.fromkeys((param.name for param in PARAMS), None)
    assert form.model_validate(values).model_dump() == values
    assert form.model_validate({**values, "customer": "null", "most": "None", "period": ""}).model_dump() == values


@pytest.mark.parametrize(("name", "value"), [("status", "lost"), ("most", "many"), ("paid", "perhaps")])
def test_wrong_value_is_refused(name, value):
    values: dict = dict.fromkeys((param.name for param in PARAMS), None)
    with pytest.raises(ValidationError):
        fill_form_for(PARAMS).model_validate({**values, name: value})


@pytest.mark.parametrize("name", ["json", "schema", "copy", "model_config", "model_dump", "_hidden", "class", "__"])
def test_parameter_may_have_any_name(name):
    form = fill_form_for([Parameter(name=name, type=ParamType.TEXT)])
    assert list(form_schema(form)["schema"]["properties"]) == [name]
    assert form.model_validate_json(f'{{"{name}": "x"}}').model_dump() == {name: "x"}


def plan_param(name: str) -> PlanParam:
    return PlanParam(name=name, type="time_range", column="null", description=None, value="n/a")


@pytest.mark.parametrize("name", ["period", "{period}", "period.start", "{period.end}", " period "])
def test_placeholder_name_is_bared(name):
    assert plan_param(name).name == "period"


def test_words_for_null_are_null():
    param = plan_param("period")
    assert (param.column, param.value) == (None, None)


def test_two_sides_are_one_parameter():
    form = PlanForm(
        key_text="k",
        query="q",
        params=[plan_param("period.start"), plan_param("{customer}"), plan_param("period.end")],
        answerable=True,
        why=None,
    )
    assert [param.name for param in form.params] == ["period", "customer"]
