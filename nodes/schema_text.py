"""A source's schema as a model reads it: the tables nearest to the question first, within a budget of characters."""

from collections.abc import Callable

from qkva.contracts.question import MaskedQuestion
from qkva.contracts.source import Field, SourceDescription, Table
from qkva.planning.text import FUNCTION_WORDS, stems, words_of_name

TABLE_NAME, FIELD_NAME, COMMENT, SLOT = 4.0, 1.0, 0.5, 6.0
"""What a word of the question is worth where it occurs, and what a value of the question is to the table holding it."""

NEIGHBOUR = 0.4
"""Share of its score that a table lends to the tables it is joined with: they are often needed between two others."""

LISTED_VALUES = 12
"""A column with no more distinct values has them all listed, because plans need their spelling."""

SAMPLE_CHARS = 40
COMMENT_CHARS = 120

Render = Callable[[Table, SourceDescription], str]


def schema_text(
    description: SourceDescription, question: MaskedQuestion | None = None, budget_chars: int = 6000
) -> str:
    """CREATE TABLE-like text with keys, references, comments and samples; for JQL a list of fields.

    A table that does not fit is written without comments and samples, and if that is still too long only its name
    is listed. What comes from the source is kept to one line each, so that it cannot look like a part of a prompt.
    """
    renders: list[Render] = [full_fields] if description.dialect == "jql" else [full_table, bare_table]
    parts: list[str] = []
    left_out: list[str] = []
    room = budget_chars
    for table in by_relevance(description, question):
        written = next((text for render in renders if len(text := render(table, description)) <= room), None)
        if written is None:
            left_out.append(table.name)
        else:
            parts.append(written)
            room -= len(written) + 1
    if left_out:
        parts.append(one_line(f"Further tables, not shown: {', '.join(left_out)}", max(200, room)))
    return "\n".join(parts)


def by_relevance(description: SourceDescription, question: MaskedQuestion | None) -> list[Table]:
    """All tables, the most relevant first; without a question as they are described."""
    if question is None:
        return list(description.tables)
    said = {stem for stem in stems(question.text) if stem not in FUNCTION_WORDS}
    held = [column.rpartition(".")[0] for slot in question.slots for column in slot.columns]
    own = {table.name: own_score(table, said) + SLOT * held.count(table.name) for table in description.tables}
    total = {name: score + NEIGHBOUR * lent(name, description, own) for name, score in own.items()}
    return sorted(description.tables, key=lambda table: -total[table.name])


def own_score(table: Table, said: set[str]) -> float:
    """How much of the question occurs in the table's names and comments."""
    score = TABLE_NAME * len(said & set(words_of_name(table.name))) + COMMENT * len(said & set(stems(table.comment)))
    for field in table.fields:
        score += FIELD_NAME * len(said & set(words_of_name(field.name))) + COMMENT * len(
            said & set(stems(field.comment))
        )
    return score


def lent(name: str, description: SourceDescription, own: dict[str, float]) -> float:
    """The best score among the tables that are joined with this one."""
    neighbours = set()
    for table in description.tables:
        targets = {field.references.rpartition(".")[0] for field in table.fields if field.references}
        if table.name == name:
            neighbours |= targets
        elif name in targets:
            neighbours.add(table.name)
    return max((own[each] for each in neighbours if each in own and each != name), default=0.0)


def full_table(table: Table, description: SourceDescription) -> str:
    """One column a line, with comments and samples."""
    head = f"CREATE TABLE {table.name} (" + (f"  -- {one_line(table.comment, COMMENT_CHARS)}" if table.comment else "")
    lines = []
    for field in table.fields:
        about = "; ".join(
            part for part in (one_line(field.comment, COMMENT_CHARS), spelling(table, field, description)) if part
        )
        lines.append(f"  {column_text(field)}," + (f"  -- {about}" if about else ""))
    return "\n".join([head, *lines, ")"])


def bare_table(table: Table, _: SourceDescription) -> str:
    """All columns on one line."""
    return f"CREATE TABLE {table.name} ({', '.join(column_text(field) for field in table.fields)})"


def column_text(field: Field) -> str:
    """ "customer_id integer REFERENCES customers.id"."""
    key = " PRIMARY KEY" if field.primary_key else ""
    return f"{field.name} {field.type}{key}" + (f" REFERENCES {field.references}" if field.references else "")


def full_fields(table: Table, description: SourceDescription) -> str:
    """The fields of a source with its own operators, one a line."""
    lines = [f"Fields of {table.name}:"]
    for field in table.fields:
        operators = f"; operators {' '.join(field.operators)}" if field.operators else ""
        values = spelling(table, field, description)
        lines.append(f"- {field.name} ({field.type}){operators}" + (f"; {values}" if values else ""))
    return "\n".join(lines)


def spelling(table: Table, field: Field, description: SourceDescription) -> str:
    """All values of a column that has few, else some samples."""
    column = f"{table.name}.{field.name}"
    listed = next((each for each in description.values if each.column == column), None)
    if listed and listed.complete and 0 < len(listed.values) <= LISTED_VALUES:
        return "one of " + ", ".join(map(quoted, listed.values))
    return "e.g. " + ", ".join(map(quoted, field.samples[:3])) if field.samples else ""


def quoted(value: str) -> str:
    """A value in quotes, on one line."""
    return "'" + one_line(value, SAMPLE_CHARS).replace("'", "''") + "'"


def one_line(text: str, limit: int) -> str:
    """White space folded, and cut with an ellipsis."""
    folded = " ".join(text.split())
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"
