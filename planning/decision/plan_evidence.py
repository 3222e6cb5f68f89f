"""The question against the query itself: what the tree returns, picks, compares and negates."""

from qkva.planning.reading.query_form import QueryForm
from qkva.planning.reading.question_form import QuestionForm

_EXTREME = {"max": "max", "latest": "max", "min": "min", "earliest": "min"}


def disagreement(asked: QuestionForm, query: QueryForm, *, by_intent: bool) -> str | None:
    """A sentence when question and query contradict each other.

    Beside an exemplar only flat contradictions count, for what both questions leave out the plan may well add; beside a
    generic intent phrase the query has to bear out each mark.
    """
    return _aggregate(asked, query) or (_strict(asked, query) if by_intent else None)


def _aggregate(asked: QuestionForm, query: QueryForm) -> str | None:
    aggregates = {*query.aggregates, *query.inner_aggregates}
    if "average" in asked.marks and aggregates and "avg" not in aggregates and "sum" not in aggregates:
        return "an average is asked for, and the query makes none"
    return None


def _strict(asked: QuestionForm, query: QueryForm) -> str | None:
    counts = "count" in query.aggregates
    if (asked.ask.kind == "count") != counts and "count" not in asked.marks:
        return "the query counts" if counts else "a count is asked for, and the query makes none"
    sums = "sum" in query.aggregates
    if sums and "sum" not in asked.marks and asked.ask.kind != "much":
        return "the query sums up"
    extremes = {_EXTREME[mark] for mark in asked.marks if mark in _EXTREME}
    if extremes != ({query.superlative} if query.superlative else set()):
        return (
            "the query picks an extreme" if query.superlative else "an extreme is asked for, and the query picks none"
        )
    if ("not" in asked.marks) != query.negated:
        return "the query negates" if query.negated else "a negation is said, and the query has none"
    if asked.ask.kind == "yes_no":
        return "yes or no is asked, and the query lists"
    return None
