"""Import and export through the real masker, source and store."""

import hashlib

import pytest

from qkva.contracts.cache import NewKey
from qkva.contracts.errors import PlanRejected, UnknownSource
from qkva.contracts.plan import Exemplar
from qkva.graphs.plan_library import export_plans, import_plans
from qkva.planning.masking.mask import mask_question
from qkva.planning.plan_files.plan_dump import draft_of
from qkva.planning.plan_files.plan_file import parse_plan_file

pytestmark = pytest.mark.db

TENANT = "tenant"
FILE = """\
source: shop
plans:
  - key: orders of a customer in a time range
    questions:
      - Which orders did {customer} place {period}?
      - What did Grace Hopper order since March?
    query: |
      SELECT o.id, o.total
      FROM orders o JOIN customers c ON c.id = o.customer_id
      WHERE c.name = {customer} AND o.placed_at >= {period.start} AND o.placed_at < {period.end}
    params:
      customer: {type: text, column: customers.name}
      period: {type: time_range, required: false, default: last month}
  - key: number of customers
    questions:
      - How many customers are there?
    query: SELECT count(*) AS customers FROM customers
"""


async def stored_keys(services):
    return {plan.plan.key_text for plan in await services.plans.list_plans(TENANT)}


async def test_placeholder_and_value_mask_alike(services):
    await import_plans(services, TENANT, FILE)
    (plan,) = [p for p in await services.plans.list_plans(TENANT) if p.plan.params]
    values = (await services.sources.ready("shop")).values
    for question in ("Which orders did Alan Turing place in April?", "What did Ada Lovelace order since yesterday?"):
        asked = mask_question(question, source="shop", values=values, now=services.fixed_now)
        known = {exemplar.masked.replace("place ‹time›", "place in ‹time›") for exemplar in plan.questions}
        assert asked.masked in known
    assert {exemplar.roles for exemplar in plan.questions} == {("customer", "period")}


async def test_file_survives_import_and_export(services):
    await import_plans(services, TENANT, FILE)
    written = await export_plans(services, TENANT, "shop")
    before = {(d.key_text, d.query, d.params) for d in parse_plan_file(FILE).drafts}
    assert {(d.key_text, d.query, d.params) for d in parse_plan_file(written).drafts} == before
    stored = {draft_of(plan).key_text: set(plan.questions) for plan in await services.plans.list_plans(TENANT)}
    await import_plans(services, "another", written)
    again = {draft_of(plan).key_text: set(plan.questions) for plan in await services.plans.list_plans("another")}
    assert again == stored
    assert Exemplar(masked="how many customers are there") in again["number of customers"]


async def test_importing_again_changes_nothing(services):
    await import_plans(services, TENANT, FILE)
    before = await services.plans.list_plans(TENANT)
    report = await import_plans(services, TENANT, FILE)
    after = await services.plans.list_plans(TENANT)
    assert report.replaced == 0
    assert [(plan.plan, set(plan.questions)) for plan in after] == [(plan.plan, set(plan.questions)) for plan in before]


async def test_question_that_left_the_file_goes(services):
    """What the cache learned of the same plan stays, and so does what other plans have."""
    await import_plans(services, TENANT, FILE)
    [plan] = [plan for plan in await services.plans.list_plans(TENANT) if plan.plan.params]
    learned = NewKey(
        kind="exemplar", masked="what has ‹customers.name› bought", roles=("customer",), embedding=(1.0,) * 1536
    )
    await services.plans.add_keys(TENANT, plan.plan.id, [learned], embedder=services.embedder.fingerprint)

    await import_plans(services, TENANT, FILE.replace("      - What did Grace Hopper order since March?\n", ""))

    masks = {
        stored.plan.key_text: {exemplar.masked for exemplar in stored.questions}
        for stored in await services.plans.list_plans(TENANT)
    }
    assert masks == {
        "orders of a customer in a time range": {"which orders did ‹customers.name› place ‹time›", learned.masked},
        "number of customers": {"how many customers are there"},
    }


async def test_changed_plan_replaces_the_old(services):
    await import_plans(services, TENANT, FILE)
    changed = FILE.replace("SELECT count(*) AS customers FROM customers", "SELECT count(*) FROM customers WHERE id > 0")
    report = await import_plans(services, TENANT, changed)
    assert report.replaced == 1
    live = [plan.plan.query for plan in await services.plans.list_plans(TENANT) if plan.plan.status == "verified"]
    assert sorted(query[:15] for query in live) == ["SELECT count(*)", "SELECT o.id, o."]
    assert any("id > 0" in query for query in live)


async def test_tenants_do_not_share_plans(services):
    await import_plans(services, TENANT, FILE)
    assert await services.plans.list_plans("another") == []
    assert await export_plans(services, "another", "shop") == ""


MISTAKES = {
    "wrong column": (FILE.replace("o.total", "o.totl"), "Line 3: plan 'orders of a customer in a time range': "),
    "wrong table": (FILE.replace("FROM customers\n", "FROM customer\n"), "Line 14: plan 'number of customers': "),
    "a change": (FILE.replace("SELECT count(*) AS customers FROM customers", "DELETE FROM customers"), "Line 14: "),
    "two statements": (FILE.replace("AS customers FROM customers", "FROM customers; DROP TABLE orders"), "Line 14: "),
    "column of a parameter": (FILE.replace("column: customers.name", "column: customers.nam"), "customers.nam"),
    "default that is no time": (FILE.replace("default: last month", "default: the other day"), "the other day"),
    "undeclared parameter": (FILE.replace("c.name = {customer}", "c.name = {client}"), "{client}"),
    "same question twice": (
        FILE.replace("How many customers are there?", "Which orders did Ada Lovelace place last month?"),
        "stands with",
    ),
    "same meaning twice": (
        FILE + "  - key: count of customers\n    query: select count(*) as customers from customers\n",
        "mean the same",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_wrong_plan_keeps_nothing_of_its_file(services, mistake):
    text, expected = MISTAKES[mistake]
    with pytest.raises(PlanRejected) as caught:
        await import_plans(services, TENANT, text)
    assert expected in caught.value.message and "\n" not in caught.value.message
    assert await stored_keys(services) == set()


async def test_long_key_is_rejected(services):
    with pytest.raises(PlanRejected, match="30 are allowed"):
        await import_plans(services, TENANT, FILE.replace("key: number of customers", "key: " + "customers and " * 20))
    assert await stored_keys(services) == set()


async def test_unknown_source_names_known_ones(services):
    with pytest.raises(UnknownSource, match="issues, shop"):
        await import_plans(services, TENANT, FILE.replace("source: shop", "source: stop"))


async def test_constant_in_a_question_is_kept(services):
    text = """\
source: shop
plans:
  - key: customers in Germany
    questions: ["Who are our customers in Germany?"]
    query: SELECT c.id, c.name FROM customers c WHERE c.country = 'Germany'
"""
    await import_plans(services, TENANT, text)
    (plan,) = await services.plans.list_plans(TENANT)
    said = hashlib.sha256(b"germany").hexdigest()[:12]
    assert plan.questions == (Exemplar(masked="who are our customers in ‹customers.country›", roles=(f"={said}",)),)
    await import_plans(services, "another", await export_plans(services, TENANT, "shop"))
    (again,) = await services.plans.list_plans("another")
    assert again.questions == plan.questions


async def test_value_that_is_not_recognised_is_told(services):
    text = """\
source: issues
plans:
  - key: open issues of a type
    questions: ["Which anti{type} issues are open?"]
    query: type = {type} AND status != Done
    params:
      type: {type: text, column: issues.type}
"""
    report = await import_plans(services, TENANT, text)
    assert "{type}" in report.warnings[0] and "Which anti{type} issues are open?" in report.warnings[0]
