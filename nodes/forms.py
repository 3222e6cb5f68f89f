"""What a model fills in: flat forms, every field required and nullable where it may be empty, so that strict JSON
schema modes take them and small models manage them."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from qkva.contracts.plan import Parameter, ParamType


def null_words(value: Any) -> Any:
    """Small models write null as a word."""
    return None if isinstance(value, str) and value.strip().casefold() in ("", "null", "none", "n/a") else value


OptionalText = Annotated[str | None, BeforeValidator(null_words)]


class StandaloneForm(BaseModel):
    """A follow-up question with its references resolved."""

    question: str = Field(description="the new question, complete")


class RouteForm(BaseModel):
    """How a question is to be answered."""

    strategy: Literal["sql_only", "vector_only", "hybrid", "no_retrieval", "clarify"]
    source: OptionalText = Field(description="name of the source")
    clarifying_question: OptionalText = Field(description="only for clarify")
    why: str = Field(description="a few words")


class PlanParam(BaseModel):
    """One placeholder of a planned query."""

    name: str = Field(description="as in the braces")
    type: Literal["text", "integer", "number", "date", "datetime", "time_range", "boolean", "list"]
    column: OptionalText = Field(description="table.column")
    description: OptionalText = Field(description="a few words")
    value: OptionalText = Field(description="what this question says")


class PlanForm(BaseModel):
    """A planned query."""

    answerable: bool
    query: str = Field(description="with {placeholders}, without values")
    params: list[PlanParam]
    key_text: str = Field(description="the kind of question in at most 12 words, without values")
    why: str = Field(description="a few words")


JSON_TYPES: dict[ParamType, Any] = {
    ParamType.INTEGER: int | None,
    ParamType.NUMBER: float | None,
    ParamType.BOOLEAN: bool | None,
    ParamType.LIST: list[str] | None,
}
"""All others are text, and checked like what a person types."""


class FillForm(BaseModel):
    """The values of a plan's parameters, by name in `model_dump`; null for one that the question does not say."""

    model_config = ConfigDict(serialize_by_alias=True)


def fill_form_for(params: Sequence[Parameter]) -> type[BaseModel]:
    """A FillForm with one nullable field per parameter.

    The fields are numbered and have the parameters' names as aliases: a parameter may be called "json" or "_x",
    which no pydantic field may.
    """
    fields: dict[str, Any] = {}
    for number, param in enumerate(params):
        about = " ".join(part for part in (param.type.value, param.description) if part)
        nullable: Any = Annotated[json_type(param), BeforeValidator(null_words)]
        fields[f"value_{number}"] = (nullable, Field(alias=param.name, description=about))
    form: type[BaseModel] = create_model("FillForm", __base__=FillForm, **fields)
    return form


def json_type(param: Parameter) -> Any:
    """What a value of the parameter is in JSON."""
    if param.type is ParamType.ENUM and param.choices:
        return Literal[param.choices] | None
    return JSON_TYPES.get(param.type, str | None)
