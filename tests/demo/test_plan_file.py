"""Plan files: strict reading, one sentence per mistake, and the way back."""

from importlib.resources import files

import pytest

from qkva.contracts.errors import PlanRejected
from qkva.contracts.plan import Exemplar, ParamType, Plan, StoredPlan, Strategy
from qkva.planning.plan_files.plan_dump import draft_of, dump_plan_file
from qkva.planning.plan_files.plan_file import parse_plan_file

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


ORDERS = "plan 'orders of a customer'"
CUSTOMER = "parameter 'customer' of plan 'orders of a customer'"
WHOLE = {
    "empty file": ("", "The file is empty"),
    "no YAML": ("source: shop\nplans: [", "Line 2: the file is no valid YAML"),
    "control character": ("source: shop\x00", "no valid YAML"),
    "a list": ("- 1\n", "Line 1: the file must be a mapping with source, plans"),
    "no source": ("plans:\n - {key: a, query: x}\n", "Line 1: the file has no `source`"),
    "number as source": ("source: 5\nplans:\n - {key: a, query: x}\n", "Line 1: `source` must be text"),
    "no plans": ("source: shop\nplans: []\n", "Line 2: `plans` must be a list of at least one plan"),
    "no key": ("source: s\nplans:\n  - query: x\n", "Line 3: a plan has no `key`"),
    "no query": ("source: s\nplans:\n  - key: all orders\n", "Line 3: plan 'all orders' has no `query`"),
    "empty query": (
        "source: s\nplans:\n  - key: all orders\n    query: ''\n",
        "Line 4: `query` of plan 'all orders' must be text",
    ),
    "wrong default": (
        "source: s\nplans:\n  - key: a\n    query: x {n}\n    params:\n      n: {type: integer, default: many}\n",
        "Line 6: parameter 'n' of plan 'a' has the default 'many', which is no integer",
    ),
    "key twice": (GOOD + "    query: SELECT 1\n", f"Line 11: {ORDERS} has the key 'query' twice"),
    "wrong strategy": (
        GOOD + "    strategy: clarify\n",
        f"Line 11: {ORDERS} has the strategy 'clarify'; a plan with a query is sql_only or hybrid",
    ),
    "two plans of one key": (
        GOOD + GOOD.partition("plans:\n")[2].replace("orders of", "Orders of"),
        "Line 11: the key 'Orders of a customer' is already that of the plan in line 3",
    ),
}
EDITS = {
    "unknown key": ("query:", "querry:", f"Line 6: {ORDERS} has the unknown key 'querry' (did you mean 'query'?)"),
    "undeclared": (
        "name = {customer}",
        "name = {custmer}",
        "uses {custmer} in its query but declares no parameter 'custmer' (did you mean 'customer'?)",
    ),
    "unused": (
        "name = {customer} AND ",
        "",
        f"Line 6: {ORDERS} declares the parameter 'customer' but its query does not use it",
    ),
    "unknown type": ("type: text", "type: txt", f"Line 9: {CUSTOMER} has the type 'txt'; types are text, enum"),
    "no type": ("type: text, ", "", f"Line 9: {CUSTOMER} has no `type`"),
    "unknown field": ("column:", "colum:", f"Line 9: {CUSTOMER} has the unknown key 'colum' (did you mean 'column'?)"),
    "bad name": ("customer:", "Customer:", "Line 9: parameter 'Customer' of plan 'orders of a customer': name"),
    "enum without choices": ("type: text", "type: enum", "is an enum without `choices`"),
    "choices of a text": ("type: text", "type: text, choices: [a]", "has `choices`, which belong to an enum"),
    "bare range": ("{period.end}", "{period}", "uses {period}, a time range; write {period.start} and {period.end}"),
    "side of a text": (
        "name = {customer}",
        "name = {customer.start}",
        "uses {customer.start}, but 'customer' is of type text",
    ),
    "odd placeholder": ("name = {customer}", "name = {Customer}", "has {Customer} in its query; write {name}"),
    "unknown name in a question": (
        "did {customer} place",
        "did {client} place",
        f"Line 5: a question of {ORDERS} has {{client}}, which is none of its parameters",
    ),
    "brace at the start": ("- Which orders did {customer}", "- {customer} orders", "quote a text that starts with {"),
}
MISTAKES = WHOLE | {name: (GOOD.replace(old, new), expected) for name, (old, new, expected) in EDITS.items()}


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
            key_text=plan.key_text,
            query=plan.query,
            params=plan.params,
            source="shop",
            source_type="sql",
            dialect="postgres",
        ),
        canonical="",
        schema_fingerprint="",
        questions=(
            Exemplar(masked="orders of ‹customers.name› in ‹time›", roles=("customer", "period")),
            Exemplar(masked="‹orders.status› orders ‹time›", roles=(None, "period")),
        ),
    )
    assert draft_of(stored).questions == ("orders of {customer} in {period}", "‹orders.status› orders {period}")
