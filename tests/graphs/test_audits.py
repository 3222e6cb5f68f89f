"""A would-be hit that is audited is planned all the same: it is served from the fresh plan, labels, and repairs."""

import psycopg
import pytest
from tests.graphs.conftest import BOOKS_OF
from tests.graphs.test_ask import LE_GUIN
from tests.graphs.test_labels import GENRES, labels

pytestmark = pytest.mark.db

LEM = "Which books did Stanislaw Lem write?"


@pytest.fixture
async def audited(agent_with, gateway):
    """An agent that audits every hit while the evidence is thin."""
    async with agent_with(litellm_provider_base_url=gateway.url, plan_cache_audit_share=1.0) as agent:
        yield agent


def planned(gateway):
    return len(gateway.asked("PlanForm"))


async def test_audit_plans_and_confirms(audited, gateway, database_url):
    await audited.ask(LE_GUIN)
    result = await audited.ask(LEM)

    assert (result.cache, planned(gateway)) == ("miss", 2)
    assert [door.verdict for door in result.doors if door.name == "audit"] == ["shut"]
    assert [label[2:4] for label in labels(database_url)] == [("same", "audit")]
    with psycopg.connect(database_url) as connection:
        votes = connection.execute("select votes from qkva.plan_cache_keys where kind = 'exemplar'").fetchall()
    assert votes == [(2,)]


async def test_wrong_hit_is_found_and_outvoted(agent_with, gateway, database_url):
    """The first plan was odd: the audit stores another one under the same question, and then neither is served."""
    async with agent_with(litellm_provider_base_url=gateway.url, plan_cache_audit_share=1.0) as agent:
        gateway.script("PlanForm", GENRES)
        await agent.ask(LE_GUIN)
        gateway.script("PlanForm", BOOKS_OF)
        result = await agent.ask(LEM)
        assert "genre" not in result.plan.query
        assert [label[2:4] for label in labels(database_url)] == [("different", "audit")]
    async with agent_with(litellm_provider_base_url=gateway.url) as agent:
        tied = await agent.ask(LE_GUIN)
        assert tied.cache == "miss"  # one against one; the planner's third word decides
        assert [door.name for door in tied.doors if door.verdict == "shut"] == ["margin"]
        again = await agent.ask(LEM)
        assert again.cache == "hit" and "genre" not in again.plan.query


async def test_plan_proven_wrong_is_retired(audited, gateway, database_url):
    gateway.script("PlanForm", GENRES)
    await audited.ask(LE_GUIN)
    gateway.script("PlanForm", BOOKS_OF)
    store, tenant = audited.services.plans, audited.services.tenant_id
    (wrong,) = await store.list_plans(tenant)
    for number in range(2):
        await store.add_label(
            tenant, plan_id=wrong.plan.id, masked=f"question {number}", verdict="different", similarity=0.9, score=None,
            source_of_label="audit", key_masked="which books did ‹authors.name› write",
        )  # fmt: skip
    await audited.ask(LEM)

    found = await store.get_plan(tenant, wrong.plan.id)
    assert found.plan.status == "retired" and found.questions == ()


async def test_no_planner_no_audit(agent_with, gateway):
    async with agent_with(plan_cache_audit_share=1.0) as agent:
        assert agent.services.settings.audit_share == 0.0
