"""JQL: reading, writing, refusing, and values that stay values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qkva.connectors.stub.evaluate import bind
from qkva.connectors.stub.jql import Clause, Group, Hole, Not, Now, Query, Text, drop_missing, render
from qkva.connectors.stub.parser import parse
from qkva.contracts.errors import PlanRejected
from qkva.contracts.plan import Parameter, ParamType

Q = Parameter(name="q", type=ParamType.TEXT)


def test_query_is_read_as_a_tree():
    query = parse('project = SHOP AND (status in ("To Do", {q}) or not due < now()) order by created desc, key')
    assert query == Query(
        Group(
            "and",
            (
                Clause("project", "=", (Text("SHOP"),)),
                Group(
                    "or",
                    (
                        Clause("status", "in", (Text("To Do"), Hole("q"))),
                        Not(Clause("due", "<", (Now(),))),
                    ),
                ),
            ),
        ),
        (("created", True), ("key", False)),
    )


@pytest.mark.parametrize(
    "text",
    [
        "status =",
        "= Done",
        "status Done",
        "(status = Done",
        "status = Done)",
        "status = Done and",
        "status in Done",
        "status in ()",
        "status is Done",
        'status = "Done',
        "status = Done; drop",
        "status = '{q",
        "order created",
        "status = Done order by",
        "(" * 2000 + "status = Done" + ")" * 2000,
        "not " * 2000 + "status = Done",
        'summary ~ "' + "x" * 20_000 + '"',
    ],
)
def test_broken_query_is_refused(text: str):
    with pytest.raises(PlanRejected, match="The JQL was refused"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ORDER BY created DESC",
        'status = "Done"',
        'NOT (assignee IS EMPTY) AND (status != "Done" OR due < now())',
        'labels NOT IN ("a", {q}) AND created >= {p.start} ORDER BY key ASC',
    ],
)
def test_written_query_reads_the_same(text: str):
    assert render(parse(text)) == text


@given(st.text())
def test_bound_value_is_one_operand(value: str):
    """The tree with a value is the tree with the placeholder, but for that one text; written out it reads the same."""
    template = parse("project = SHOP AND status = {q} OR summary ~ {q}")
    bound = bind(template, [Q], {"q": value})
    expected = Query(
        Group(
            "or",
            (
                Group("and", (Clause("project", "=", (Text("SHOP"),)), Clause("status", "=", (Text(value),)))),
                Clause("summary", "~", (Text(value),)),
            ),
        )
    )
    assert bound == expected
    assert parse(render(bound)) == expected


def test_injected_text_is_quoted():
    bound = bind(parse("reporter = {q}"), [Q], {"q": 'X") OR project = "SECRET\\'})
    assert render(bound) == 'reporter = "X\\") OR project = \\"SECRET\\\\"'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("status = {q}", ""),
        ("project = SHOP and status = {q}", 'project = "SHOP"'),
        ("project = SHOP and (status = {q} or type = Bug) and key = A", 'project = "SHOP" AND key = "A"'),
        ("not status = {q} order by key", "ORDER BY key ASC"),
    ],
)
def test_missing_value_drops_its_condition(text: str, left: str):
    assert render(drop_missing(parse(text), frozenset({"q"}))) == left
