"""What the bench's source holds: the text values that questions are masked by.

From a SQLite database if there is one; else from the file itself, minus a few that the index then does not know, plus
values that nobody asks about.
"""

import random
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import closing
from pathlib import Path

from sqlglot import exp

from qkva.contracts.errors import ConfigError
from qkva.contracts.plan import ParamType, Plan
from qkva.contracts.source import ColumnValues, Field, SourceDescription, Table
from qkva.evals.questions import SOURCE, Asked, Form
from qkva.planning.reading.plan_form import read_plan_form
from qkva.planning.reading.sql_form import parse_template

UNKNOWN_SHARE = 0.03
"""Of the file's values: an index is never quite up to date."""
DISTRACTOR_SHARE = 0.1
"""Of a column's values: made of halves of two of them."""
MAX_VALUES = 10_000
"""Of a column, as for a live source."""
MAX_LENGTH = 200
OWN_TABLES = "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'"
Columns = Mapping[str, dict[str, None]]


def describe_file(forms: Iterable[Form], questions: Iterable[Asked], rng: random.Random) -> SourceDescription:
    """Tables and columns as the queries name them; the values are those of the questions and the queries."""
    plans = list({form.canonical: form.plan for form in forms}.values())
    values = _values_of(plans, questions)
    spellings = sorted({value for held in values.values() for value in held})
    unknown = set(rng.sample(spellings, round(UNKNOWN_SHARE * len(spellings))))
    constants = _constants_of(plans)
    columns: dict[str, dict[str, None]] = {}
    fields = _fields_of(plans)
    for column in sorted({*values, *constants}):
        if column.rpartition(".")[0] not in fields:  # a subquery's
            continue
        held = [value for value in values.get(column, {}) if value not in unknown]
        columns[column] = dict.fromkeys((*held, *constants.get(column, {}), *distractors(held, unknown, rng)))
    return _description(
        {table: [_field(name, "text" if f"{table}.{name}" in columns else "integer") for name in names]
         for table, names in fields.items()},
        columns,
    )  # fmt: skip


def distractors(values: Sequence[str], unknown: Set[str], rng: random.Random) -> list[str]:
    """Values like these that are none of them: the first words of one with the last of another."""
    found = []
    for _ in range(round(DISTRACTOR_SHARE * len(values))):
        one, other = rng.choice(values), rng.choice(values)
        first, last = one.split(), other.split()
        found.append(" ".join((*first[:-1], last[-1])) if len(first) > 1 else one[: len(one) // 2 + 1] + other[-2:])
    return [value for value in found if value not in unknown]


def describe_database(path: Path) -> SourceDescription:
    """Tables, columns and text values of a SQLite file. Raises ConfigError if it is none."""
    try:
        with closing(open_read_only(path)) as connection:
            names = [row[0] for row in connection.execute(OWN_TABLES)]
            fields = {name.lower(): _columns_of(connection, name) for name in names}
            columns = {
                f"{table.lower()}.{field.name}": dict.fromkeys(_texts(connection, table, field.name))
                for table in names
                for field in fields[table.lower()]
                if field.kind == "text"
            }
    except sqlite3.Error as error:
        raise ConfigError(f"{path} cannot be read as a SQLite database: {error}.") from None
    return _description(fields, {column: held for column, held in columns.items() if held})


def open_read_only(path: Path) -> sqlite3.Connection:
    """A connection that cannot write and creates no file; bytes that are no UTF-8 are read as marks."""
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def _values_of(plans: Iterable[Plan], questions: Iterable[Asked]) -> dict[str, dict[str, None]]:
    """By column, the values that text parameters on it take."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    columns = {id(plan): _text_columns(plan) for plan in plans}
    for asked in questions:
        plan = asked.template.forms[0].plan
        held = columns.get(id(plan)) or columns.setdefault(id(plan), _text_columns(plan))
        for name, value in asked.values.items():
            for column in held.get(name, ()):
                if value:
                    found[column][value] = None
    return found


def _text_columns(plan: Plan) -> dict[str, list[str]]:
    uses = read_plan_form(plan).uses
    return {
        param.name: sorted({use.column.lower() for use in uses.get(param.name, ()) if use.column})
        for param in plan.params
        if param.type is ParamType.TEXT
    }


def _constants_of(plans: Iterable[Plan]) -> dict[str, dict[str, None]]:
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for plan in plans:
        for constant in read_plan_form(plan).constants:
            if constant.column and constant.value and not constant.is_number:
                found[constant.column.lower()][constant.value] = None
    return found


def _fields_of(plans: Iterable[Plan]) -> dict[str, list[str]]:
    """Every column that a query names, by table."""
    found: dict[str, set[str]] = defaultdict(set)
    for plan in plans:
        tree = parse_template(plan.query, plan.dialect)
        if tree is None:
            continue
        tables = {table.alias_or_name.lower(): table.name.lower() for table in tree.find_all(exp.Table)}
        for column in tree.find_all(exp.Column):
            only = next(iter(tables.values())) if len(tables) == 1 else None
            table = tables.get(column.table.lower(), only)
            if table and column.name:
                found[table].add(column.name.lower())
    return {table: sorted(names) for table, names in sorted(found.items())}


def _field(name: str, kind: str) -> Field:
    return Field(name=name, type=kind, kind=kind)


def _columns_of(connection: sqlite3.Connection, table: str) -> list[Field]:
    references = {
        row[3].lower(): f"{row[2]}.{row[4] or row[3]}".lower()
        for row in connection.execute(f"pragma foreign_key_list({_quoted(table)})")
    }
    return [
        Field(
            name=name.lower(),
            type=type_.lower() or "text",
            kind=_kind(type_),
            nullable=not not_null,
            primary_key=bool(key),
            references=references.get(name.lower()),
        )
        for _, name, type_, not_null, _, key in connection.execute(f"pragma table_info({_quoted(table)})")
    ]


def _kind(type_: str) -> str:
    """By SQLite's own rules of affinity; dates are texts to it, but none that an index should hold."""
    name = type_.upper()
    if "INT" in name:
        return "integer"
    if "DATE" in name or "TIME" in name:
        return "datetime"
    if any(word in name for word in ("REAL", "FLOA", "DOUB", "NUM", "DEC")):
        return "number"
    return "text"


def _texts(connection: sqlite3.Connection, table: str, column: str) -> list[str]:
    name = _quoted(column)
    rows = connection.execute(
        f"select distinct {name} from {_quoted(table)} where typeof({name}) = 'text'"
        f" and length({name}) between 1 and {MAX_LENGTH} limit {MAX_VALUES}"
    )
    return [str(row[0]) for row in rows]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _description(fields: Mapping[str, Sequence[Field]], columns: Columns) -> SourceDescription:
    return SourceDescription(
        name=SOURCE,
        source_type="sql",
        dialect="sqlite",
        tables=tuple(Table(name=table, fields=tuple(found)) for table, found in fields.items()),
        values=tuple(ColumnValues(column=column, values=tuple(held)) for column, held in columns.items()),
        fingerprint=SOURCE,
    )
