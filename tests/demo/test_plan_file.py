"""Plan files: strict reading, one sentence per mistake, and the way back."""

from importlib.resources import files

import pytest
from qkva.contracts.errors import PlanRejected
from qkva.contracts.plan import Exemplar, ParamType, Plan, StoredPlan, Strategy
from qkva.planning.plan_dump import draft_of, dump_plan_file
from qkva.planning.plan_file import parse_plan_file

GOOD = """\
source: shop
plans:
  - key: orders of a customer
    questions:
      - Which orders did {customer} place {period}?
    query: |
      SELECT id FROM orders WHERE name = {customer} AND at >= {period.start} AND at < {period.end}
    params:
      customer: {type: text, column: customers.name}
      period: {type: time_range, required: false, default: last month}
"""


def test_reads_what_is_written():
    file = parse_plan_file(GOOD)
    (draft,) = file.drafts
    assert file.source == "shop"
    assert draft.key_text == "orders of a customer"
    assert draft.line == 3
    assert draft.questions == ("Which orders did {customer} place {period}?",)
    assert draft.query.startswith("SELECT id FROM orders") and draft.query.endswith("{period.end}")
    assert [(param.name, param.type, param.default) for param in draft.params] == [
        ("customer", ParamType.TEXT, None),
        ("period", ParamType.TIME_RANGE, "last month"),
    ]
    assert draft.strategy is Strategy.SQL_ONLY


MISTAKES = {
    "empty file": ("", "The file is empty"),
    "no YAML": ("source: shop\nplans: [", "Line 2: the file is no valid YAML"),
    "control character": ("source: shop\x00", "no valid YAML"),
    "a list": ("- 1\n", "Line 1: the file must be a mapping with source, plans"),
    "no source": ("plans:\n - {key: a, query: x}\n", "Line 1: the file has no `source`"),
    "source is a number": ("source: 5\nplans:\n - {key: a, query: x}\n", "Line 1: `source` must be text"),
    "no plans": ("source: shop\nplans: []\n", "Line 2: `plans` must be a list of at least one plan"),
    "unknown key": (GOOD.replace("query:", "querry:"), "Line 6: plan 'orders of a customer' has the unknown key 'querry' (did you mean 'query'?)"),
    "key twice": (GOOD + "    query: SELECT 1\n", "Line 11: plan 'orders of a customer' has the key 'query' twice"),
    "no key": (GOOD.replace("key: orders of a customer", "questions: []").replace("    questions:\n      - Which orders did {customer} place {period}?\n", ""), "Line 3: a plan has no `key`"),
    "no query": ("source: s\nplans:\n  - key: all orders\n", "Line 3: plan 'all orders' has no `query`"),
    "empty query": ("source: s\nplans:\n  - key: all orders\n    query: ''\n", "Line 4: `query` of plan 'all orders' must be text"),
    "undeclared": (GOOD.replace("name = {customer}", "name = {custmer}"), "uses {custmer} in its query but declares no parameter 'custmer' (did you mean 'customer'?)"),
    "unused": (GOOD.replace("name = {customer} AND ", ""), "declares the parameter 'customer' but its query does not use it"),
    "unknown type": (GOOD.replace("type: text", "type: txt"), "Line 9: parameter 'customer' of plan 'orders of a customer' has the type 'txt'; types are text, enum"),
    "no type": (GOOD.replace("type: text, ", ""), "parameter 'customer' of plan 'orders of a customer' has no `type`"),
    "unknown field": (GOOD.replace("column:", "colum:"), "has the unknown key 'colum' (did you mean 'column'?)"),
    "bad name": (GOOD.replace("customer:", "Customer:"), "parameter 'Customer' of plan 'orders of a customer': name"),
    "wrong default": (GOOD.replace("type: time_range, required: false, default: last month", "type: integer, default: many").replace("{period.start}", "{period}").replace("{period.end}", "{period}"), "has the default 'many', which is no integer"),
    "enum without choices": (GOOD.replace("type: text", "type: enum"), "is an enum without `choices`"),
    "choices of a text": (GOOD.replace("type: text", "type: text, choices: [a]"), "has `choices`, which belong to an enum"),
    "bare range": (GOOD.replace("{period.end}", "{period}"), "uses {period}, a time range; write {period.start} and {period.end}"),
    "side of a text": (GOOD.replace("name = {customer}", "name = {customer.start}"), "uses {customer.start}, but 'customer' is of type text"),
    "odd placeholder": (GOOD.replace("name = {customer}", "name = {Customer}"), "has {Customer} in its query; write {name}"),
    "question with an unknown name": (GOOD.replace("did {customer} place", "did {client} place"), "Line 5: a question of plan 'orders of a customer' has {client}, which is none of its parameters"),
    "question starts with a brace": (GOOD.replace("- Which orders did {customer}", "- {customer} orders"), "quote a text that starts with {"),
    "same key twice": (GOOD + GOOD.partition("plans:\n")[2].replace("orders of a customer", "Orders of a Customer"), "is already that of the plan in line 3"),
    "wrong strategy": (GOOD + "    strategy: clarify\n", "has the strategy 'clarify'; a plan with a query is sql_only or hybrid"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_one_sentence(mistake):
    text, expected = MISTAKES[mistake]
    with pytest.raises(PlanRejected) as caught:
        parse_plan_file(text)
    assert expected in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("name", ["plans.yaml", "issue_plans.yaml"])
def test_demo_file_survives_round_trip(name):
    file = parse_plan_file(files("qkva.cli.demo").joinpath(name).read_text("utf-8"))
    assert parse_plan_file(dump_plan_file(file)) == file


def test_odd_texts_survive_round_trip():
    odd = GOOD.replace("SELECT id", "SELECT id, 'a: b # c', '{1,2}'  ").replace("last month", '"2026-01-01"')
    odd = odd.replace("- Which orders", '- "{customer}: which orders — Zoë\'s"\n      - Which orders')
    file = parse_plan_file(odd)
    assert file.drafts[0].params[1].default == "2026-01-01"
    assert parse_plan_file(dump_plan_file(file)) == file


def test_masked_questions_get_their_parameters_back():
    plan = parse_plan_file(GOOD).drafts[0]
    stored = StoredPlan(
        plan=Plan(
            key_text=plan.key_text, query=plan.query, params=plan.params, source="shop", source_type="sql", dialect="postgres"
        ),
        canonical="",
        schema_fingerprint="",
        questions=(
            Exemplar(masked="orders of ‹customers.name› in ‹time›", roles=("customer", "period")),
            Exemplar(masked="‹orders.status› orders ‹time›", roles=(None, "period")),
        ),
    )
    assert draft_of(stored).questions == ("orders of {customer} in {period}", "‹orders.status› orders {period}")
