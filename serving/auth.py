"""What a caller may see of the LangGraph server: the things of its tenant, and of those its own.

The server keeps assistants, threads, runs, crons and stored items of all tenants together and asks here before each
use. Whatever has no rule below is refused. The identity is `tenant/user`, since a cron job keeps nothing else of who
made it.
"""

from typing import Any

from langgraph_sdk import Auth
from starlette.exceptions import HTTPException

from qkva.contracts.errors import QkvaError
from qkva.contracts.identity import REVIEW, Caller
from qkva.serving.callers import default_callers
from qkva.serving.gate import CALLER, answer_to

auth = Auth()

Context = Auth.types.AuthContext
Filter = dict[str, Any]
MARKS = ("tenant_id", "owner", "created_by")


@auth.authenticate
async def authenticate(scope: dict[str, Any]) -> Auth.types.MinimalUserDict:
    """The caller whom the gate has let pass; where there is no gate, whoever can show a key here."""
    caller: Caller | None = scope.get(CALLER)
    if caller is None:
        try:
            caller = await (await default_callers()).identify(scope)
        except QkvaError as error:
            status, headers = answer_to(error)
            raise HTTPException(status, error.message, headers) from None
    return {
        "identity": caller.identity,
        "display_name": caller.user,
        "is_authenticated": True,
        "permissions": caller.permissions,
    }


@auth.on
async def refuse_what_is_new(ctx: Context, value: dict[str, Any]) -> bool:
    """A kind of thing that a later server has and nobody has thought about here."""
    return False


@auth.on(resources=["threads", "runs", "crons"])
async def own_threads(ctx: Context, value: dict[str, Any]) -> Filter:
    """Threads with their runs, and crons: a conversation is its user's, unless the tenant shares all."""
    caller = caller_of(ctx)
    if ctx.action in ("create", "create_run"):
        stamp(value, {"tenant_id": caller.tenant_id, "owner": caller.identity})
    elif ctx.action == "update":
        keep_marks(value)
    if (await default_callers()).settings.share_within_tenant:
        return {"tenant_id": caller.tenant_id}
    return {"tenant_id": caller.tenant_id, "owner": caller.identity}


@auth.on(resources="assistants")
async def tenants_assistants(ctx: Context, value: dict[str, Any]) -> Filter:
    """Assistants are the tenant's to use, and their maker's to change; those of the server itself are everybody's."""
    caller = caller_of(ctx)
    if ctx.action == "create":
        # `created_by: system` would show an assistant to every tenant
        stamp(value, {"tenant_id": caller.tenant_id, "created_by": caller.identity})
        return {"tenant_id": caller.tenant_id}
    if ctx.action in ("read", "search"):
        return {"$or": [{"tenant_id": caller.tenant_id}, {"created_by": "system"}]}
    if ctx.action == "update":
        keep_marks(value)
    if caller.may_review:
        return {"tenant_id": caller.tenant_id}
    return {"tenant_id": caller.tenant_id, "created_by": caller.identity}


@auth.on.store
async def own_shelf(ctx: Context, value: dict[str, Any]) -> None:
    """Stored items lie below the tenant and the user, also where a namespace names somebody else."""
    caller = caller_of(ctx)
    shelf = [label(caller.tenant_id)]
    if not (await default_callers()).settings.share_within_tenant:
        shelf.append(label(caller.user))
    asked = tuple(value.get("namespace") or ())
    if asked[: len(shelf)] != tuple(shelf):
        value["namespace"] = (*shelf, *asked)
        if value.get("max_depth"):
            value["max_depth"] += len(shelf)


def caller_of(ctx: Context) -> Caller:
    """The caller, as far as an identity tells."""
    caller = Caller.from_identity(ctx.user.identity)
    return caller.model_copy(update={"may_review": REVIEW in (ctx.permissions or ())})


def stamp(value: dict[str, Any], marks: dict[str, str]) -> None:
    """Write whose a thing is over whatever the request says; the server goes on with the very dict that it gave."""
    if isinstance(value.get("metadata"), dict):
        value["metadata"].update(marks)
    else:
        value["metadata"] = dict(marks)


def keep_marks(value: dict[str, Any]) -> None:
    """Take out of a change what says whose a thing is: that stays as it is."""
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        for name in MARKS:
            metadata.pop(name, None)


def label(name: str) -> str:
    """A name as one label of a namespace, which holds no period; other names never give the same label."""
    return name.replace("%", "%25").replace(".", "%2E")
