"""The canonical text of a JQL template."""

from qkva.planning.reading.jql_form import JqlToken, read_jql_tokens

_KEYWORDS = frozenset(
    "and or not in is was empty null order by asc desc changed on during before after from to".split()
)


def canonical_jql(query: str) -> str | None:
    """Placeholders stay `{name}`; None for a query that cannot be read."""
    tokens = read_jql_tokens(query)
    if not tokens:
        return None
    spelled = [_spell(token, at, tokens) for at, token in enumerate(tokens)]
    order_at = next((at for at in range(len(spelled) - 1) if spelled[at : at + 2] == ["order", "by"]), len(spelled))
    return f"{_filter(spelled[:order_at])} order {_ordering(spelled[order_at + 2 :])}"


def _spell(token: JqlToken, at: int, tokens: tuple[JqlToken, ...]) -> str:
    """Keywords, fields and functions lower-cased; values in one kind of quotes, for JQL ignores their case too."""
    lowered = token.text.lower()
    if token.kind in ("hole", "op", "punct"):
        return lowered
    if token.kind == "word" and lowered in _KEYWORDS:
        return lowered
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    if token.kind == "word" and following is not None and following.text == "(":
        return lowered
    return '"' + lowered + '"'


def _filter(parts: list[str]) -> str:
    """Conjuncts sorted at the top level, lists sorted inside; with an OR at the top all keeps its order."""
    clauses: list[list[str]] = [[]]
    depth, has_or = 0, False
    for part in parts:
        depth += (part == "(") - (part == ")")
        has_or = has_or or (part == "or" and depth == 0)
        if part == "and" and depth == 0:
            clauses.append([])
        else:
            clauses[-1].append(part)
    written = [_clause(clause) for clause in clauses]
    return " and ".join(written if has_or else sorted(set(written), key=_nameless))


def _clause(parts: list[str]) -> str:
    if "in" in parts and parts[-1:] == [")"]:
        start = parts.index("in") + 1
        items = [part for part in parts[start + 1 : -1] if part != ","]
        if parts[start : start + 1] == ["("] and not any(part in "()" for part in items):
            return " ".join([*parts[:start], "(", ",".join(sorted(set(items), key=_nameless)), ")"])
    return " ".join(parts)


def _nameless(text: str) -> tuple[str, str]:
    """Sorted without regard to the names of parameters."""
    return "".join("{}" if part.startswith("{") else part for part in text.replace("{", " {").split()), text


def _ordering(parts: list[str]) -> str:
    """JQL sorts ascending unless told."""
    written: list[str] = []
    for part in parts:
        if part == "desc" and written:
            written[-1] += " desc"
        elif part not in ("asc", ","):
            written.append(part)
    return ",".join(written)
