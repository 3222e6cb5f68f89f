"""The rules for what a caller may see, asked directly: what a tenant shares, and what the rules do not know."""

import pytest
from langgraph_sdk import Auth
from langgraph_sdk.auth.types import AuthContext

from qkva.graphs.services import close_default_services
from qkva.serving import auth as rules

pytestmark = pytest.mark.db


class User:
    def __init__(self, identity):
        self.identity = identity


def context(identity, resource, action, *permissions):
    return AuthContext(user=User(identity), permissions=permissions, resource=resource, action=action)


@pytest.fixture
async def shared(database_url, tmp_path, monkeypatch):
    """The rules of a server whose tenants share all within themselves."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"DATABASE_URL": database_url, "SHARE_WITHIN_TENANT": "true"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("QKVA_CONFIG", raising=False)
    await close_default_services()
    yield rules
    await close_default_services()


async def test_tenant_may_share_its_threads(shared):
    value = {"metadata": {"owner": "bolt/bea", "tenant_id": "bolt", "note": "mine"}}
    metadata = value["metadata"]

    found = await shared.own_threads(context("acme/ann", "threads", "create"), value)

    assert found == {"tenant_id": "acme"}
    assert metadata == {"owner": "acme/ann", "tenant_id": "acme", "note": "mine"}  # the very dict that was given


async def test_change_by_a_colleague_leaves_whose_it_is(shared):
    value = {"metadata": {"owner": "acme/abe", "tenant_id": "bolt", "note": "changed"}}
    await shared.own_threads(context("acme/abe", "threads", "update"), value)
    assert value == {"metadata": {"note": "changed"}}


async def test_tenant_may_share_its_shelf(shared):
    value = {"namespace": ("notes",), "max_depth": 1}
    await shared.own_shelf(context("acme.org/ann", "store", "search"), value)
    assert value == {"namespace": ("acme%2Eorg", "notes"), "max_depth": 2}
    await shared.own_shelf(context("acme.org/abe", "store", "search"), value)
    assert value["namespace"] == ("acme%2Eorg", "notes")
    await shared.own_shelf(context("bolt/bea", "store", "search"), value)
    assert value["namespace"] == ("bolt", "acme%2Eorg", "notes")


async def test_what_no_rule_knows_is_refused():
    assert await rules.refuse_what_is_new(context("acme/ann", "threads", "read"), {}) is False
    assert rules.auth._global_handlers == [rules.refuse_what_is_new]


def test_every_kind_of_thing_has_a_rule():
    """Read from the SDK, so that a kind that it learns is thought about here."""
    kinds = {name for name in Auth().on.__slots__ if not name.startswith("_")} - {"value"}
    ruled = {resource for resource, _ in rules.auth._handlers}
    assert {"assistants", "threads", "runs", "crons", "store"} <= kinds <= ruled
