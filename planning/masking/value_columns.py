"""What a column is called, which columns hold people, and which share a label."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from qkva.contracts.source import ColumnValues, SourceDescription, Table
from qkva.planning.masking.common_words import is_common
from qkva.planning.masking.detectors import ID, UUID
from qkva.planning.text import tokenise, words_of_name

PERSON_WORDS = frozenset(
    """actor agent analyst artist assignee attendee author buyer candidate client colleague consultant contact customer
    developer director doctor driver employee engineer guest instructor lead lecturer manager member nurse operator
    owner participant passenger patient person people player professor recipient rep reporter representative
    reviewer seller sender speaker staff student subscriber teacher trainer tutor user visitor volunteer worker
    writer""".split()
)
SHARED = 0.2
"""Columns that share this part of the smaller one's values are labelled alike, so that a question keeps its mask
whichever value it names: a status that orders and payments have, countries of customers and of suppliers."""


@dataclass(frozen=True)
class ColumnNames:
    """The words that name a column and its table in a question, as stems."""

    name: str
    column: frozenset[str]
    """The last word of its name, which carries the meaning: "status" of "order_status"."""
    table: frozenset[str]
    """The last word of its table's name and of the table that its table is a detail of: "order" for orders and
    order_items."""
    ids: bool
    """Whether nearly all of its values look like ids ("SHOP-17"); they are labelled so, known or new."""
    everyday: bool
    """Whether most of its one-word values are everyday words, as "open" and "new" are; then none counts without a
    neighbour."""


def name_columns(description: SourceDescription) -> dict[str, ColumnNames]:
    """By "table.column", for every column with values."""
    parents = {
        table.name: [parent for parent in parents_of(table) if is_detail(table, parent)] for table in description.tables
    }
    named = {}
    for values in description.values:
        table, _, column = values.column.rpartition(".")
        heads = {head(table), *(head(parent) for parent in parents.get(table, ()))}
        named[values.column] = ColumnNames(
            name=values.column,
            column=frozenset((head(column),)),
            table=frozenset(heads - {""}),
            ids=are_ids(values.values),
            everyday=is_everyday(values.values),
        )
    return named


def parents_of(table: Table) -> list[str]:
    """The tables that its foreign keys point to."""
    return [field.references.rpartition(".")[0] for field in table.fields if field.references]


def is_detail(table: Table, parent: str) -> bool:
    """Whether a table only says more about the rows of another one: by its name ("order_items"), or because it holds
    nothing but its key and one thing ("area": course_id, area). So "new customers" does not look for "new" among the
    orders."""
    own = [field for field in table.fields if not field.references and not field.primary_key]
    return head(parent) in words_of_name(table.name) or len(own) <= 1


def head(name: str) -> str:
    """The last word of a name, in the singular."""
    words = words_of_name(name)
    return words[-1] if words else ""


def is_everyday(values: Iterable[str]) -> bool:
    """Whether at least half of the one-word values are everyday words."""
    single = [tokens[0].folded for tokens in map(tokenise, values) if len(tokens) == 1]
    return sum(map(is_common, single)) * 2 >= len(single) > 0


def are_ids(values: tuple[str, ...]) -> bool:
    """Whether nine in ten of the values are written like an id."""
    return sum(1 for value in values if ID.fullmatch(value) or UUID.fullmatch(value)) >= 0.9 * len(values) > 0


def person_columns(description: SourceDescription) -> list[ColumnValues]:
    """The columns that list people by full name, and list all of them."""
    found = []
    for values in description.values:
        table, _, column = values.column.rpartition(".")
        words = {*words_of_name(table), *words_of_name(column)}
        if values.complete and words & PERSON_WORDS and mostly_full_names(values.values):
            found.append(values)
    return found


def mostly_full_names(values: tuple[str, ...]) -> bool:
    """Whether nine in ten are two to four capitalised words."""
    full = sum(
        1 for value in values if 2 <= len(value.split()) <= 4 and all(word[0].isupper() for word in value.split())
    )
    return full >= 0.9 * len(values) > 0


def labels_of(holders: Mapping[tuple[str, ...], tuple[tuple[str, str], ...]]) -> dict[str, frozenset[str]]:
    """By column, the columns that share its label, itself included."""
    sizes: Counter[str] = Counter()
    shared: Counter[tuple[str, str]] = Counter()
    for held in holders.values():
        columns = sorted({column for _, column in held})
        sizes.update(columns)
        shared.update(combinations(columns, 2))
    groups = {column: {column} for column in sizes}
    for (one, other), count in sorted(shared.items()):
        if count >= SHARED * min(sizes[one], sizes[other]) and groups[one] is not groups[other]:
            groups[one] |= groups[other]
            for column in groups[other]:
                groups[column] = groups[one]
    return {column: frozenset(group) for column, group in groups.items()}
