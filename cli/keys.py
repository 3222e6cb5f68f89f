"""`qkva keys`: who may call the server."""

from typing import Annotated

import typer

from qkva.cli.options import AsJson, TenantName

app = typer.Typer(help="Create, list, rotate and revoke API keys of the server.", no_args_is_help=True)

KeyId = Annotated[str, typer.Argument(help="The key's id, as `qkva keys list` shows it.")]
User = Annotated[str, typer.Option("--user", help="Whose key it is: a person or a program.")]
Name = Annotated[str, typer.Option("--name", help="A word on what it is for.")]
ExpiresDays = Annotated[float | None, typer.Option(min=0.0001, max=36_500, help="Days it is valid; default: for ever.")]
Rate = Annotated[int | None, typer.Option(min=0, help="Calls a minute; 0: no limit; default: RATE_LIMIT_PER_MINUTE.")]
Reviewer = Annotated[bool, typer.Option("--reviewer", help="May decide which plans the whole tenant is served.")]
Grace = Annotated[float, typer.Option("--grace-minutes", min=0, max=525_600, help="How long the old key still works.")]


@app.command()
def create(
    user: User,
    tenant: TenantName = None,
    name: Name = "",
    expires_days: ExpiresDays = None,
    rate: Rate = None,
    reviewer: Reviewer = False,
    as_json: AsJson = False,
) -> int:
    """Make a key, and print it once: only a hash of it is kept."""
    from qkva.cli.key_commands import KeyWishes, create_key

    wishes = KeyWishes(user=user, name=name, expires_days=expires_days, per_minute=rate, may_review=reviewer)
    return create_key(tenant, wishes, as_json=as_json)


@app.command("list")
def list_keys(tenant: TenantName = None, as_json: AsJson = False) -> int:
    """List the keys of a tenant, newest first."""
    from qkva.cli import key_commands

    return key_commands.list_keys(tenant, as_json=as_json)


@app.command()
def rotate(key_id: KeyId, tenant: TenantName = None, grace_minutes: Grace = 0, as_json: AsJson = False) -> int:
    """Make a new key for the same user with the same rights, and end the old one."""
    from qkva.cli import key_commands

    return key_commands.rotate_key(tenant, key_id, grace_minutes, as_json=as_json)


@app.command()
def revoke(key_id: KeyId, tenant: TenantName = None, as_json: AsJson = False) -> int:
    """End a key at once."""
    from qkva.cli import key_commands

    return key_commands.revoke_key(tenant, key_id, as_json=as_json)
