"""A query with named variables ("… NAME LIKE "%instructor0%" …") as a template with {placeholders}."""

import re
from collections.abc import Iterable

_PIECE = re.compile(r"\"(?P<double>[^\"]*)\"|'(?P<single>(?:[^']|'')*)'")
_NAME_FOLLOWS = re.compile(r"(?:\b(?:from|join|select|distinct|by|as|into|table)\s*|\.)$", re.IGNORECASE)


def template_of(query: str, names: Iterable[str], dialect: str) -> str:
    """The query with a placeholder for each variable, outside of quotes, and with texts in single quotes.

    In these files double quotes stand around texts; only after FROM, JOIN, SELECT, BY or AS and beside a dot are they
    taken for names.
    """
    query = query.strip().rstrip(";").rstrip()
    variables = variable_pattern(names)
    parts: list[str] = []
    at = 0
    for found in _PIECE.finditer(query):
        parts.append(with_holes(query[at : found.start()], variables))
        parts.append(_quoted(found, query, variables, dialect))
        at = found.end()
    return "".join((*parts, with_holes(query[at:], variables)))


def placeholder_name(variable: str) -> str:
    """A variable's name as a parameter may have it: `year0` of "Year0", `p_1st_year` of "1st-year"."""
    name = re.sub(r"\W", "_", variable.lower(), flags=re.ASCII)
    return name if name[:1].isalpha() or name.startswith("_") else f"p_{name}"


def variable_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Finds the variables' names as whole words, the longest first; nothing at all without names."""
    longest_first = sorted(names, key=len, reverse=True)
    if not longest_first:
        return re.compile(r"(?!)")
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


def with_holes(text: str, variables: re.Pattern[str]) -> str:
    """Each variable as its placeholder."""
    return variables.sub(lambda found: f"{{{placeholder_name(found[0])}}}", text)


def _quoted(found: re.Match[str], query: str, variables: re.Pattern[str], dialect: str) -> str:
    if found["double"] is not None and _is_name(found, query):
        return found[0]
    inner = found["double"] if found["double"] is not None else found["single"].replace("''", "'")
    pieces: list[str] = []
    at = 0
    for hole in variables.finditer(inner):
        pieces += [*_text(inner[at : hole.start()]), f"{{{placeholder_name(hole[0])}}}"]
        at = hole.end()
    if not pieces:
        return _literal(inner)
    pieces += _text(inner[at:])
    if len(pieces) > 1 and dialect == "mysql":
        return f"CONCAT({', '.join(pieces)})"
    return " || ".join(pieces)


def _is_name(found: re.Match[str], query: str) -> bool:
    return query[found.end() :].startswith(".") or _NAME_FOLLOWS.search(query[: found.start()]) is not None


def _text(inner: str) -> list[str]:
    return [_literal(inner)] if inner else []


def _literal(inner: str) -> str:
    return "'" + inner.replace("'", "''") + "'"
