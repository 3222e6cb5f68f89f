"""A library without the right plan must miss: a neighbour may not take the questions of a plan that is not there."""

import re

import pytest
from tests.demo.test_plans import SHOP, TEXTS, values_for

from qkva.contracts.plan import ParamType, PlanStatus
from qkva.contracts.state import AskContext
from qkva.graphs.ask import build_ask_graph
from qkva.graphs.plan_library import import_plans

pytestmark = [pytest.mark.db, pytest.mark.slow]

SAID_AS = {"period": "last month", "first": "April", "second": "May"}


def spoken(draft, question):
    """The question with values in its places."""
    values = values_for(draft)
    times = {param.name for param in draft.params if param.type is ParamType.TIME_RANGE}

    def value(found):
        name = found[1]
        return SAID_AS[name] if name in times else str(values[name])

    return re.sub(r"\{(\w+)\}", value, question)


async def test_absent_plan_is_missed(services):
    """Each plan retired in turn, and asked by its own questions."""
    await import_plans(services, services.tenant_id, TEXTS["plans.yaml"])
    graph = build_ask_graph(lambda: services)
    stored = {plan.plan.key_text: plan.plan.id for plan in await services.plans.list_plans(services.tenant_id)}
    taken = []
    for key, draft in SHOP.items():
        await services.plans.set_status(services.tenant_id, stored[key], PlanStatus.RETIRED)
        for question in draft.questions:
            asked = spoken(draft, question)
            output = await graph.ainvoke({"question": asked}, context=AskContext(source="shop"))
            if output["cache"] == "hit":
                taken.append((key, asked, output["plan"]["key_text"]))
        await services.plans.set_status(services.tenant_id, stored[key], PlanStatus.VERIFIED)
    assert "\n".join(map(str, taken)) == ""
