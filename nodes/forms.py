"""What a model fills in: flat forms, every field required and nullable where it may be empty, so that strict JSON
schema modes take them and small models manage them."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model

from qkva.contracts.plan import Parameter, ParamType


def null_words(value: Any) -> Any:
    """Small models write null as a word."""
    return None if isinstance(value, str) and value.strip().casefold() in ("", "null", "none", "n/a") else value


OptionalText = Annotated[str | None, BeforeValidator(null_words)]


def bare_name(value: str) -> str:
    """A placeholder's name without the braces and sides that models copy: "{period.start}" is period."""
    return value.strip().strip("{}").removesuffix(".start").removesuffix(".end").strip()


def first_of_each_name(params: list["PlanParam"]) -> list["PlanParam"]:
    """One entry per name: the two sides of a time range are one parameter."""
    named: dict[str, PlanParam] = {}
    for param in params:
        named.setdefault(param.name, param)
    return list(named.values())


class StandaloneForm(BaseModel):
    """A follow-up question with its references resolved."""

    question: str = Field(description="the new question, complete")


class RouteForm(BaseModel):
    """How a question is to be answered."""

    strategy: Literal["sql_only", "vector_only", "hybrid", "no_retrieval", "clarify"]
    source: OptionalText = Field(description="name of the source")
    clarifying_question: OptionalText = Field(description="only for clarify")
    why: str = Field(description="a few words")


def percentage(value: int) -> int:
    """From 0 to 100; a limit in the schema is not understood by every gateway."""
    if not 0 <= value <= 100:
        raise ValueError("a percentage is from 0 to 100")
    return value


class JudgeForm(BaseModel):
    """How probable it is that a stored query means a question."""

    percent: Annotated[int, AfterValidator(percentage)] = Field(
        description="a whole number from 0 to 100: how probable it is that the query means the new question"
    )


class PlanParam(BaseModel):
    """One placeholder of a planned query."""

    name: Annotated[str, AfterValidator(bare_name)] = Field(description="as in the braces")
    type: Literal["text", "integer", "number", "date", "datetime", "time_range", "boolean", "list"]
    column: OptionalText = Field(description="table.column")
    description: OptionalText = Field(description="a few words, or null")
    value: OptionalText = Field(description="what this question says")


class PlanForm(BaseModel):
    """A planned query. `answerable` comes late: a model writes in order, and so decides it with the query in sight."""

    key_text: str = Field(description="the kind of question, at most 12 words, no names, numbers or dates")
    query: str = Field(description="with {placeholders} instead of values")
    params: Annotated[list[PlanParam], AfterValidator(first_of_each_name)]
    answerable: bool
    why: OptionalText = Field(description="null, or what is missing if it is not answerable")


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
        about = "; ".join(part for part in (param.type.value, param.description, "null if not said") if part)
        nullable: Any = Annotated[json_type(param), BeforeValidator(null_words)]
        fields[f"value_{number}"] = (nullable, Field(alias=param.name, description=about))
    form: type[BaseModel] = create_model("FillForm", __base__=FillForm, **fields)
    return form


def json_type(param: Parameter) -> Any:
    """What a value of the parameter is in JSON."""
    if param.type is ParamType.ENUM and param.choices:
        return Literal[param.choices] | None
    return JSON_TYPES.get(param.type, str | None)
