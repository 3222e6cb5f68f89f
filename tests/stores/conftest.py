"""Plans and vectors whose similarities can be worked out by hand."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from qkva.contracts.cache import Candidate, NewKey
from qkva.contracts.plan import Parameter, ParamType, Plan, PlanStatus, StoredPlan
from qkva.contracts.stores import PlanStore

EMBEDDER = "toy/1536"
SCHEMA = "schema-1"


@pytest.fixture
def at_angle() -> Callable[[float], list[float]]:
    """A unit vector in the plane of the first two axes; its cosine to `at_angle(0)` is the angle's cosine."""

    def vector(degrees: float) -> list[float]:
        radians = math.radians(degrees)
        return [math.cos(radians), math.sin(radians)] + [0.0] * 1534

    return vector


@pytest.fixture
def new_key(at_angle) -> Callable[..., NewKey]:
    """An exemplar key at an angle."""

    def key(masked: str, degrees: float = 0, **fields: Any) -> NewKey:
        return NewKey(**{"kind": "exemplar", "masked": masked, "embedding": tuple(at_angle(degrees)), **fields})

    return key


@pytest.fixture
def new_plan() -> Callable[..., StoredPlan]:
    """A plan that is about to be stored; plans of one `canonical` mean the same."""

    def plan(canonical: str = "c1", *, status: PlanStatus = PlanStatus.LEARNED, **fields: Any) -> StoredPlan:
        of_plan = {name: fields.pop(name) for name in ("source", "query", "params", "key_text") if name in fields}
        return StoredPlan(
            plan=Plan(
                **{
                    "key_text": f"intent of {canonical}",
                    "query": "select id from orders where customer = {customer}",
                    "params": (Parameter(name="customer", type=ParamType.TEXT),),
                    "source": "shop",
                    "source_type": "sql",
                    "dialect": "postgres",
                    "status": status,
                    **of_plan,
                }
            ),
            **{"canonical": canonical, "schema_fingerprint": SCHEMA, **fields},
        )

    return plan


@pytest.fixture
def save(plan_store, new_plan, new_key) -> Callable[..., Any]:
    """Store a plan of one key for a tenant."""

    async def save(
        tenant: str = "a", canonical: str = "c1", *, degrees: float = 0, masked: str = "", **fields: Any
    ) -> StoredPlan:
        ttl = fields.pop("ttl_hours", 24)
        keys = [new_key(masked or f"mask of {canonical}", degrees)]
        return await plan_store.save_plan(tenant, new_plan(canonical, **fields), keys, embedder=EMBEDDER, ttl_hours=ttl)

    return save


@pytest.fixture
def find_in(at_angle) -> Callable[..., Any]:
    """The candidates that a store finds."""

    async def candidates(
        store: PlanStore, tenant: str = "a", *, masked: str = "unseen", degrees: float = 0, **fields: Any
    ) -> Sequence[Candidate]:
        asked = {
            "source": "shop", "embedder": EMBEDDER, "schema_fingerprint": SCHEMA, "top_k": 5, **fields,
        }  # fmt: skip
        return await store.find_candidates(tenant, masked=masked, embedding=at_angle(degrees), **asked)

    return candidates


@pytest.fixture
def find(plan_store, find_in) -> Callable[..., Any]:
    """The candidates that the test's store finds."""
    return partial(find_in, plan_store)
