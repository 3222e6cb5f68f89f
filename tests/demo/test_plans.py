"""The demo's verified plans: each is accepted, finds something, and says what independent SQL says."""

import re
from decimal import Decimal
from importlib.resources import files
from typing import Any

import pytest

from qkva.contracts.plan import PlanStatus
from qkva.contracts.source import Limits
from qkva.graphs.plan_library import import_plans
from qkva.planning.plan_files.plan_file import PlanDraft, parse_plan_file

pytestmark = pytest.mark.db

TEXTS = {name: files("qkva.cli.demo").joinpath(name).read_text("utf-8") for name in ("plans.yaml", "issue_plans.yaml")}
SHOP = {draft.key_text: draft for draft in parse_plan_file(TEXTS["plans.yaml"]).drafts}
ISSUES = {draft.key_text: draft for draft in parse_plan_file(TEXTS["issue_plans.yaml"]).drafts}
YEAR = {"start": "2025-06-01T00:00:00+00:00", "end": "2026-06-01T00:00:00+00:00"}
MAY = {"start": "2026-05-01T00:00:00+00:00", "end": "2026-06-01T00:00:00+00:00"}
APRIL = {"start": "2026-04-01T00:00:00+00:00", "end": "2026-05-01T00:00:00+00:00"}
SAID = {
    "customer": "Ada Lovelace", "country": "Germany", "product": "Desk Lamp", "category": "Books", "status": "pending",
    "reason": "damaged", "order_id": 1458, "n": 5, "period": YEAR, "amount": 50, "type": "Bug",
    "person": "Grace Hopper", "priority": "High", "component": "Payments", "issue": "SHOP-17",
}  # fmt: skip


def values_for(draft: PlanDraft) -> dict[str, Any]:
    """One set of values for a plan's parameters."""
    said = dict(SAID)
    if draft.key_text == "revenue of two countries compared":
        said |= {"first": "Germany", "second": "France"}
    if draft.key_text == "revenue of two time ranges compared":
        said |= {"first": APRIL, "second": MAY}
    if draft.key_text == "issues with a status":
        said["status"] = "In Progress"
    return {param.name: said[param.name] for param in draft.params}


async def run(services, source: str, draft: PlanDraft, values: dict[str, Any]) -> list[dict[str, Any]]:
    ready = await services.sources.ready(source)
    await ready.connector.check(draft.plan_for(ready.description))
    result = await ready.connector.execute(draft.query, draft.params, values, Limits())
    return [record.fields for record in result.records]


@pytest.mark.parametrize("key", SHOP)
async def test_shop_plan_finds_rows(services, key):
    assert await run(services, "shop", SHOP[key], values_for(SHOP[key]))


@pytest.mark.parametrize("key", ISSUES)
async def test_issue_plan_finds_rows(services, key):
    assert await run(services, "issues", ISSUES[key], values_for(ISSUES[key]))


INDEPENDENT = {
    "number of orders with a status in a time range": (
        {"status": "cancelled", "period": MAY},
        "select count(*) filter (where status = 'cancelled') from orders "
        "where to_char(placed_at at time zone 'UTC', 'YYYY-MM') = '2026-05'",
    ),
    "number of refunds in a time range": (
        {"period": MAY},
        "select count(*) from refunds where extract(month from refunded_at at time zone 'UTC') = 5 "
        "and extract(year from refunded_at at time zone 'UTC') = 2026",
    ),
    "number of orders in a time range": (
        {"period": MAY},
        "select count(*) from orders where to_char(placed_at at time zone 'UTC', 'YYYY-MM') = '2026-05'",
    ),
    "revenue in a time range": (
        {"period": MAY},
        "select sum(quantity * unit_price) from order_items where order_id in (select id from orders "
        "where date_trunc('month', placed_at at time zone 'UTC') = '2026-05-01' and status != 'cancelled')",
    ),
    "revenue from one country in a time range": (
        {"country": "France", "period": YEAR},
        "select sum(total) from customers join orders on customers.id = customer_id where country = 'France' "
        "and placed_at between '2025-06-01Z' and '2026-05-31 23:59:59.999Z' "
        "and status in ('pending', 'paid', 'shipped', 'delivered')",
    ),
    "average order value in a time range": (
        {"period": YEAR},
        "select round(sum(total) / count(*), 2) from orders where status != 'cancelled' "
        "and placed_at >= '2025-06-01Z' and placed_at < '2026-06-01Z'",
    ),
    "number of customers in a country": (
        {"country": "Germany"}, "select count(*) from customers where country like 'Ger%'",
    ),
    "amount refunded in a time range": (
        {"period": MAY},
        "select sum(amount) from refunds where to_char(refunded_at at time zone 'UTC', 'YYYY-MM') = '2026-05'",
    ),
    "number of orders with a status": (
        {"status": "cancelled"}, "select count(*) from orders where status like 'canc%'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("key", INDEPENDENT)
async def test_number_agrees_with_independent_sql(services, shop, key):
    values, statement = INDEPENDENT[key]
    (row,) = await run(services, "shop", SHOP[key], values)
    (expected,) = await (await shop.execute(statement)).fetchone()
    assert expected > 0
    assert Decimal(str(next(iter(row.values())))) == expected


async def test_top_customers_are_ranked(services, shop):
    rows = await run(services, "shop", SHOP["customers who spent the most in a time range"], {"n": 3, "period": YEAR})
    cursor = await shop.execute(
        "select name from (select customer_id, sum(total) as spent from orders where status != 'cancelled' "
        "and placed_at >= '2025-06-01Z' and placed_at < '2026-06-01Z' group by 1) s join customers on id = customer_id "
        "order by spent desc limit 3"
    )
    assert [row["name"] for row in rows] == [name for (name,) in await cursor.fetchall()]


async def test_refunds_of_last_month_are_found(services):
    rows = await run(
        services,
        "shop",
        SHOP["refunded orders of a customer in a time range"],
        {"customer": "Ada Lovelace", "period": MAY},
    )
    assert [(row["id"], row["reason"]) for row in rows] == [(1419, "damaged")]


async def test_customers_without_orders_have_none(services, shop):
    rows = await run(services, "shop", SHOP["customers without orders"], {})
    (expected,) = await (await shop.execute("select 100 - count(distinct customer_id) from orders")).fetchone()
    assert len(rows) == expected > 0


async def test_listed_rows_begin_with_their_key():
    for draft in SHOP.values():
        listed = re.match(r"SELECT (\w)\.id\b", draft.query)
        assert listed or "count(" in draft.query or "sum(" in draft.query or "avg(" in draft.query, draft.key_text


def test_plans_are_of_many_kinds():
    assert len(SHOP) >= 18 and len(ISSUES) >= 6
    assert all(3 <= len(draft.questions) <= 8 for draft in [*SHOP.values(), *ISSUES.values()])


@pytest.mark.parametrize(("source", "name"), [("shop", "plans.yaml"), ("issues", "issue_plans.yaml")])
async def test_file_is_imported_without_warning(services, source, name):
    report = await import_plans(services, "t", TEXTS[name])
    assert report.source == source and not report.warnings and report.replaced == 0
    stored = await services.plans.list_plans("t", source=source)
    drafts = parse_plan_file(TEXTS[name]).drafts
    assert {plan.plan.key_text for plan in stored} == {draft.key_text for draft in drafts}
    assert all(plan.plan.status is PlanStatus.VERIFIED and plan.expires_at is None for plan in stored)
    for plan in stored:
        for question in plan.questions:
            assert len(re.findall("‹", question.masked)) == len(question.roles)
            assert None not in question.roles
