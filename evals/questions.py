"""Read a file of questions: templates of queries, each with the many ways in which it is asked for.

    [{"sql": ["SELECT … WHERE COURSEalias0.NUMBER = number0 ;", …],      equivalent forms, the first one is the plan
      "variables": [{"name": "number0", "type": "number", "example": "595", "location": "both"}],
      "sentences": [{"text": "Can undergrads take number0 ?", "variables": {"number0": "550"}}]}]

A variable that a sentence does not say takes the template's example. One of location "sql-only" is never said: it
becomes a parameter with the example as its default. What a sentence says beyond that is part of its text.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qkva.contracts.errors import ConfigError
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.evals.key_phrase import key_phrase
from qkva.evals.sql_template import placeholder_name, template_of, variable_pattern
from qkva.planning.drafting.canonical import canonical_form, canonical_params
from qkva.planning.reading.plan_form import read_plan_form

SOURCE = "bench"


@dataclass(frozen=True)
class Form:
    """One way of writing a template's query, as a plan."""

    plan: Plan
    canonical: str


@dataclass(frozen=True)
class Template:
    """One entry of the file."""

    number: int
    """Its place in the file."""
    forms: tuple[Form, ...]
    """At least one; the first is what the planner answers with."""
    examples: Mapping[str, str]
    """By parameter, what a question means that does not say it."""


@dataclass(frozen=True)
class Asked:
    """One question with its right plan and the right values."""

    text: str
    template: Template
    values: Mapping[str, str]
    """By parameter of the first form."""
    said: frozenset[str] = field(default=frozenset())
    """The parameters whose value stands in the text."""

    def values_for(self, plan: Plan, canonical: str) -> dict[str, str] | None:
        """The right values by the parameters of a plan that means the same; None where nothing pairs the names."""
        for form in self.template.forms:
            if form.canonical == canonical:
                pairs = zip(canonical_params(form.plan), canonical_params(plan), strict=True)
                return {theirs: self.values[ours] for ours, theirs in pairs if ours in self.values}
        return None


def read_templates(path: Path, dialect: str) -> list[tuple[Template, tuple[Asked, ...]]]:
    """Every template with its questions, in the order of the file. Raises ConfigError for a file that is none such."""
    try:
        entries = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"The questions in {path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise ConfigError(f"{path} is no JSON file of questions.") from None
    return read_entries(entries, path, dialect)


def read_entries(entries: Any, path: Path, dialect: str) -> list[tuple[Template, tuple[Asked, ...]]]:
    """The same from the content of a file. Raises ConfigError."""
    try:
        return [_read_entry(number, entry, dialect) for number, entry in enumerate(entries)]
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        told = " ".join(repr(error).split())[:120]
        raise ConfigError(
            f"{path} is no file of questions: each entry needs sql, variables and sentences ({told})."
        ) from None


def without_duplicates(asked: Sequence[Asked]) -> list[Asked]:
    """Every text once; of a text with several plans the first one. A text without a letter or digit asks nothing."""
    first: dict[str, Asked] = {}
    for question in asked:
        if any(map(str.isalnum, question.text)):
            first.setdefault(" ".join(question.text.split()), question)
    return list(first.values())


def meanings(templates: Sequence[Template]) -> dict[str, int]:
    """By canonical form, a number that equal templates share: equal in any of their forms, or through a third."""
    found: dict[str, int] = {}
    for template in templates:
        known = {found[form.canonical] for form in template.forms if form.canonical in found}
        number = min(known, default=template.number)
        for canonical, other in found.items():
            if other in known:
                found[canonical] = number
        found |= {form.canonical: number for form in template.forms}
    return found


def _read_entry(number: int, entry: Mapping[str, Any], dialect: str) -> tuple[Template, tuple[Asked, ...]]:
    variables = {variable["name"]: variable for variable in entry.get("variables") or ()}
    known = {name: _known_values(name, variable, entry["sentences"]) for name, variable in variables.items()}
    forms = tuple(_form(query, variables, known, dialect) for query in _queries(entry["sql"]))
    examples = {placeholder_name(name): str(variable.get("example") or "") for name, variable in variables.items()}
    template = Template(number, forms, {param.name: examples[param.name] for param in forms[0].plan.params})
    return template, tuple(_asked(sentence, template) for sentence in entry["sentences"])


def _queries(sql: str | Sequence[str]) -> Sequence[str]:
    return [sql] if isinstance(sql, str) else sql


def _known_values(name: str, variable: Mapping[str, Any], sentences: Sequence[Mapping[str, Any]]) -> list[str]:
    said = [values_in(sentence).get(name, "") for sentence in sentences]
    return [value for value in (str(variable.get("example") or ""), *said) if value]


def _form(
    query: str, variables: Mapping[str, Mapping[str, Any]], known: Mapping[str, Sequence[str]], dialect: str
) -> Form:
    template = template_of(query, variables, dialect)
    params = tuple(
        _parameter(variable, _type(query, name, known[name]))
        for name, variable in variables.items()
        if f"{{{placeholder_name(name)}}}" in template
    )
    plan = Plan(key_text="", query=template, params=params, source=SOURCE, source_type="sql", dialect=dialect)
    uses = read_plan_form(plan).uses
    columns = {param.name: {use.column for use in uses.get(param.name, ()) if use.column} for param in params}
    params = tuple(
        param.model_copy(update={"column": next(iter(columns[param.name]))}) if len(columns[param.name]) == 1 else param
        for param in params
    )
    plan = plan.model_copy(update={"params": params})
    plan = plan.model_copy(update={"key_text": key_phrase(plan)})
    return Form(plan, canonical_form(plan))


def _parameter(variable: Mapping[str, Any], type_: ParamType) -> Parameter:
    unsaid = variable.get("location") == "sql-only"
    example = str(variable.get("example") or "")
    default: Any = example if type_ is ParamType.TEXT else float(example or 0)
    if type_ is ParamType.INTEGER:
        default = int(default)
    return Parameter(
        name=placeholder_name(variable["name"]),
        type=type_,
        required=not unsaid,
        default=default if unsaid and example else None,
    )


def _type(query: str, name: str, values: Sequence[str]) -> ParamType:
    """A number where the query compares it without quotes, and every value of the file is one."""
    outside = " ".join(part for at, part in enumerate(query.replace("'", '"').split('"')) if at % 2 == 0)
    if not variable_pattern([name]).search(outside) or not values:
        return ParamType.TEXT
    if all(value.lstrip("+-").isdecimal() for value in values):
        return ParamType.INTEGER
    return ParamType.NUMBER if all(is_number(value) for value in values) else ParamType.TEXT


def is_number(value: str) -> bool:
    """Whether a value of the file is a finite number."""
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


def values_in(sentence: Mapping[str, Any]) -> dict[str, str]:
    """What a sentence says, by variable; an empty value means that it does not say it."""
    return {name: str(value) for name, value in (sentence.get("variables") or {}).items() if value not in ("", None)}


def _asked(sentence: Mapping[str, Any], template: Template) -> Asked:
    values = values_in(sentence)
    pattern = variable_pattern(values)
    in_text = {placeholder_name(found[0]) for found in pattern.finditer(sentence["text"])}
    given = {placeholder_name(name): value for name, value in values.items()}
    return Asked(
        text=pattern.sub(lambda found: values[found[0]], sentence["text"]),
        template=template,
        values={name: given.get(name, example) for name, example in template.examples.items()},
        said=frozenset(in_text & set(template.examples)),
    )


def all_questions(read: Sequence[tuple[Template, Sequence[Asked]]]) -> Iterator[Asked]:
    """The questions of all templates."""
    for _, questions in read:
        yield from questions
