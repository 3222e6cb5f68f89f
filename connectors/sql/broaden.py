"""A broad query near the question, for when no plan could be had: the newest rows of the table it is about.

The table is chosen by the words and values of the question; its values filter, through foreign keys where a value
lives in a neighbouring table.
"""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from qkva.contracts.plan import Parameter, ParamType
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.contracts.source import BroadQuery, Field, Table

ROWS = 20
MAX_HOPS = 2
"""How many foreign keys away a value may live: order_items → orders → customers."""

_COMMON = frozenset(
    "id name date type number time at on created updated code value day year month week title status state key data "
    "a of the by first last new old no count total many much".split()
)
"""Column words that occur in any question and so say nothing of which table is meant."""
_DATES = ("placed", "ordered", "created", "occurred", "date", "time", "at", "on")
_LATER_DATES = ("updated", "modified", "deleted", "birth", "expire", "due", "valid", "until", "ended", "closed")


@dataclass
class _Draft:
    """The query as it grows."""

    conditions: list[exp.Expr] = field(default_factory=list)
    params: list[Parameter] = field(default_factory=list)
    values: dict[str, object] = field(default_factory=dict)
    about: list[str] = field(default_factory=list)


def broad_query(question: MaskedQuestion, tables: Sequence[Table], dialect: str = "postgres") -> BroadQuery | None:
    """The newest rows of the table that the question is about, or None if it is about none of them."""
    table = _choose_table(question, tables)
    if table is None:
        return None
    date = _main_date(table)
    draft = _Draft()
    _filter_by_values(draft, question, table, tables)
    _filter_by_key(draft, question, table)
    _filter_by_time(draft, question, date)
    newest = date or next((column for column in table.fields if column.primary_key), None)
    query = exp.select(*(_column(column) for column in table.fields)).from_(_table(table)).limit(ROWS)
    for condition in draft.conditions:
        query = query.where(condition)
    if newest is not None:
        query = query.order_by(exp.Ordered(this=_column(newest), desc=True, nulls_first=False))
    which = f" for {', '.join(draft.about)}" if draft.about else ""
    return BroadQuery(
        query=query.sql(dialect),
        params=tuple(draft.params),
        values=draft.values,
        about=f"the newest rows of {table.name}{which}",
    )


def _choose_table(question: MaskedQuestion, tables: Sequence[Table]) -> Table | None:
    words = _words(re.sub(r"‹[^›]*›", " ", question.masked))
    holders = {column.rpartition(".")[0] for slot in question.slots for column in slot.columns}
    scored = [(_score(table, words, holders), -place) for place, table in enumerate(tables)]
    best = max(scored, default=(0.0, 0))
    return tables[-best[1]] if best[0] >= 1 else None


def _score(table: Table, words: set[str], holders: set[str]) -> float:
    """Its own name counts most, then the values it holds, then the columns that were named, then values next door."""
    name = _words(table.name)
    named = sum(1.0 if word in words else 0.5 for word in name if any(_same_word(word, other) for other in words))
    columns = {word for column in table.fields for word in _words(column.name)} - _COMMON
    score = 4.0 * named / len(name) + (1.5 if table.name in holders else 0.0) + min(2, len(columns & words))
    neighbours = {column.references.rpartition(".")[0] for column in table.fields if column.references}
    return score + (0.5 if neighbours & holders and score else 0.0)


def _words(text: str) -> set[str]:
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower()
    return {_stem(word) for word in re.findall(r"[^\W\d_]+", split)}


def _stem(word: str) -> str:
    """The singular, roughly; both sides go through it."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def _same_word(word: str, other: str) -> bool:
    """Equal, or the other is a form of it: refund, refunded."""
    return word == other or (len(word) > 3 and other.startswith(word) and len(other) - len(word) <= 3)


def _filter_by_values(draft: _Draft, question: MaskedQuestion, table: Table, tables: Sequence[Table]) -> None:
    by_column: dict[str, list[Slot]] = {}
    paths: dict[str, list[_Step]] = {}
    for slot in question.slots:
        if slot.type == SlotType.VALUE:
            near = _nearest_column(slot.columns, table, tables)
            if near is not None:
                by_column.setdefault(near[0], []).append(slot)
                paths[near[0]] = near[1]
    for number, (column, slots) in enumerate(by_column.items(), start=1):
        name = f"value_{number}"
        found = list(dict.fromkeys(str(slot.value) for slot in slots))
        many = len(found) > 1
        draft.params.append(Parameter(name=name, type=ParamType.LIST if many else ParamType.TEXT, column=column))
        draft.values[name] = found if many else found[0]
        draft.about.append(f"{column} {' or '.join(found)}")
        draft.conditions.append(_through(paths[column], column.rpartition(".")[2], name, many))


def _filter_by_key(draft: _Draft, question: MaskedQuestion, table: Table) -> None:
    """ "order 1042": a number right after the table's name is its key."""
    keys = [column for column in table.fields if column.primary_key and column.kind == "integer"]
    if len(keys) != 1:
        return
    for slot in question.slots:
        before = _words(" ".join(re.findall(r"[^\W\d_]+", question.text[: slot.start])[-1:]))
        digits = re.sub(r"\D", "", slot.text)
        if slot.type in (SlotType.ID, SlotType.NUMBER) and 0 < len(digits) < 19 and before & _words(table.name):
            draft.params.append(Parameter(name="key", type=ParamType.INTEGER, column=f"{table.name}.{keys[0].name}"))
            draft.values["key"] = int(digits)
            draft.about.append(f"{keys[0].name} {digits}")
            draft.conditions.append(exp.EQ(this=_column(keys[0]), expression=exp.var("{key}")))
            return


def _filter_by_time(draft: _Draft, question: MaskedQuestion, date: Field | None) -> None:
    slot = next((slot for slot in question.slots if slot.type == SlotType.TIME_RANGE), None)
    if slot is None or date is None:
        return
    draft.params.append(Parameter(name="period", type=ParamType.TIME_RANGE))
    draft.values["period"] = slot.value
    draft.about.append(slot.text)
    draft.conditions.append(exp.GTE(this=_column(date), expression=exp.var("{period.start}")))
    draft.conditions.append(exp.LT(this=_column(date), expression=exp.var("{period.end}")))


def _main_date(table: Table) -> Field | None:
    """The date column by which its rows are new or old."""
    dates = [column for column in table.fields if column.kind in ("date", "datetime")]

    def rank(column: Field) -> int:
        if any(word in column.name.lower() for word in _LATER_DATES):
            return len(_DATES) + 1
        return next((place for place, word in enumerate(_DATES) if word in column.name.lower()), len(_DATES))

    return min(dates, key=rank, default=None)


@dataclass(frozen=True)
class _Step:
    """From a column here to the column of the table there that holds the same keys."""

    here: Field
    there: Table
    there_column: Field


def _nearest_column(columns: Sequence[str], table: Table, tables: Sequence[Table]) -> tuple[str, list[_Step]] | None:
    """The column nearest to the table along foreign keys, with the way to it."""
    waiting: deque[tuple[Table, list[_Step]]] = deque([(table, [])])
    seen = {table.name}
    while waiting:
        here, way = waiting.popleft()
        for column in columns:
            if column.rpartition(".")[0] == here.name:
                return column, way
        for step in _steps(here, tables) if len(way) < MAX_HOPS else ():
            if step.there.name not in seen:
                seen.add(step.there.name)
                waiting.append((step.there, [*way, step]))
    return None


def _steps(table: Table, tables: Sequence[Table]) -> list[_Step]:
    found = []
    for other in tables:
        for mine in table.fields:
            found += [_Step(mine, other, theirs) for theirs in other.fields if _points(mine, other, theirs)]
            found += [_Step(mine, other, theirs) for theirs in other.fields if _points(theirs, table, mine)]
    return found


def _points(source: Field, target: Table, column: Field) -> bool:
    return source.references == f"{target.name}.{column.name}"


def _through(way: Sequence[_Step], column: str, name: str, many: bool) -> exp.Expr:
    """`column = {name}`, wrapped into one IN (SELECT …) per step."""
    if not way:
        this = exp.column(_identifier(column))
        hole = exp.var(f"{{{name}}}")
        return exp.In(this=this, expressions=[hole]) if many else exp.EQ(this=this, expression=hole)
    step, *rest = way
    inner = exp.select(_column(step.there_column)).from_(_table(step.there)).where(_through(rest, column, name, many))
    return exp.In(this=_column(step.here), query=exp.Subquery(this=inner))


def _column(column: Field) -> exp.Column:
    return exp.column(_identifier(column.name))


def _table(table: Table) -> exp.Table:
    schema, _, name = table.name.rpartition(".")
    return exp.Table(this=_identifier(name), db=_identifier(schema) if schema else None)


def _identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)  # always: "order" and "user" are words of SQL
