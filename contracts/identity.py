"""Who calls. The identity that a server hands to the graph is `tenant/user`, since a cron job keeps nothing else."""

import re
from typing import Self

from pydantic import BaseModel, ConfigDict

from qkva.contracts.errors import ConfigError

TENANT = re.compile(r"[^\W_](?:[\w.@:+-]{0,126}[^\W_])?")
"""Letters and digits of any script, and between them a few signs; no slash, which ends the tenant in an identity."""
USER = re.compile(r"[^\s/](?:[^\x00-\x1f\x7f]{0,254}\S)?")
REVIEW = "review"
"""The permission to decide which plans the whole tenant is served."""


class Caller(BaseModel):
    """One authenticated caller."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    user: str
    may_review: bool = False

    @property
    def identity(self) -> str:
        """`tenant/user`"""
        return f"{self.tenant_id}/{self.user}"

    @property
    def permissions(self) -> list[str]:
        """As LangGraph carries them."""
        return ["ask", REVIEW] if self.may_review else ["ask"]

    @classmethod
    def from_identity(cls, identity: str) -> Self:
        """Read `tenant/user` back; an identity without a slash is a tenant of its own."""
        tenant_id, _, user = identity.partition("/")
        return cls(tenant_id=tenant_id, user=user)


def check_tenant(tenant_id: str) -> str:
    """The tenant, if it can be one. Raises ConfigError."""
    if not TENANT.fullmatch(tenant_id):
        raise ConfigError(
            f"{tenant_id!r} cannot name a tenant: use 1 to 128 letters and digits, with . _ - @ : + between them."
        )
    return tenant_id


def check_user(user: str) -> str:
    """The user, if it can be one. Raises ConfigError."""
    if not USER.fullmatch(user):
        raise ConfigError(
            f"{user!r} cannot name a user: use 1 to 256 printable characters, not beginning with a slash."
        )
    return user
