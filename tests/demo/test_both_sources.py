"""The demo's two sources know the same people; still each of its questions belongs to one of them alone."""

import re

import pytest
from tests.demo.test_plans import ISSUES, SHOP, TEXTS

from qkva.agent import Agent
from qkva.graphs.plan_library import import_plans

pytestmark = pytest.mark.db

SAID = {
    "customer": "Grace Hopper", "country": "Germany", "product": "Desk Lamp", "category": "Books", "reason": "damaged",
    "order_id": "1458", "n": "5", "period": "last month", "amount": "50", "type": "Bug", "person": "Grace Hopper",
    "priority": "High", "component": "Payments", "issue": "SHOP-17",
}  # fmt: skip


def questions(drafts, **said):
    """Each question of the plans with values in it; those that need more values than these are left out."""
    said = {**SAID, **said}
    return [
        re.sub(r"\{(\w+)\}", lambda name: said[name[1]], question)
        for draft in drafts.values()
        for question in draft.questions
        if set(re.findall(r"\{(\w+)\}", question)) <= set(said)
    ]


async def test_no_question_of_one_source_is_answered_by_the_other(services):
    for text in TEXTS.values():
        await import_plans(services, services.tenant_id, text)
    agent = Agent(services)
    asked = {"shop": questions(SHOP, status="pending"), "issues": questions(ISSUES, status="In Progress")}
    assert len(asked["shop"]) > 150 and len(asked["issues"]) > 30
    strangers = []
    for source, texts in asked.items():
        results = [await agent.ask(text) for text in texts]
        hits = [result for result in results if result.cache == "hit"]
        assert len(hits) > 0.9 * len(results)
        strangers += [result.question for result in hits if result.source != source or result.also]
    assert strangers == []
