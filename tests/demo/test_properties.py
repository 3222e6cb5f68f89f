"""What a question's values may and may not change, tried with many values of the demo's own data."""

import random
import re

import pytest
from tests.demo.test_plans import SHOP, TEXTS

from qkva.contracts.plan import ParamType
from qkva.contracts.state import AskContext
from qkva.graphs.plan_library import import_plans
from qkva.nodes.ask.look_up import decided_on, find
from qkva.nodes.runtime import AskRuntime, CallMeter
from qkva.planning.filling.fill import fill_from_question
from qkva.planning.masking.mask import mask_question

pytestmark = pytest.mark.db
ROUNDS = 3
PERIODS = ("last month", "last week", "last quarter", "last year", "yesterday")


def said(param, description, rng):
    """A value that somebody could say for a parameter, or None where the demo has none."""
    if param.type in (ParamType.TIME_RANGE, ParamType.DATE, ParamType.DATETIME):
        return rng.choice(PERIODS)
    if param.type in (ParamType.INTEGER, ParamType.NUMBER):
        return str(rng.randint(3, 60))
    if param.choices:
        return rng.choice(param.choices)
    values = [held.values for held in description.values if held.column == param.column]
    return rng.choice(values[0]) if values and values[0] else None


async def test_values_change_neither_mask_nor_plan(services):
    """The same question with other values has the same mask and is served the same plan, filled with these values."""
    await import_plans(services, services.tenant_id, TEXTS["plans.yaml"])
    ready = await services.sources.ready("shop")
    runtime = AskRuntime(
        services=services, context=AskContext(), tenant_id=services.tenant_id, now=services.fixed_now,
        meter=CallMeter(budget=0),
    )  # fmt: skip
    rng = random.Random(11)
    tried, broken = 0, []
    for draft in SHOP.values():
        for question in draft.questions:
            found = set()
            for _ in range(ROUNDS):
                values = {param.name: said(param, ready.description, rng) for param in draft.params}
                names = re.findall(r"\{(\w+)\}", question)
                if any(values[name] is None for name in names):
                    break
                text = re.sub(r"\{(\w+)\}", lambda hole: values[hole[1]], question)  # noqa: B023
                masked = mask_question(text, source="shop", values=ready.values, now=runtime.now)
                (vector,) = await services.embedder.embed([masked.masked])
                hit = (await decided_on(masked, await find(masked, vector, runtime), runtime)).hit
                filled = fill_from_question(hit.plan, masked, keys=hit.keys, now=runtime.now).values if hit else {}
                texts = {name for name in names if draft_type(draft, name) is ParamType.TEXT}
                found.add((masked.masked, hit.plan.key_text if hit else None))
                tried += 1
                if hit and any(filled[name] != values[name] for name in texts):
                    broken.append((text, filled))
            if len(found) > 1:
                broken.append((question, found))
    assert tried > 500
    assert broken == []


def draft_type(draft, name):
    return next(param.type for param in draft.params if param.name == name)
