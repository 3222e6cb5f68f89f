"""API keys: what they look like, what is kept of them, and what a server may ask of their store.

A key is `qkva.<tenant>.<id>.<secret>`. The tenant stands in it (in base64), so that the store can look only at the rows
of that tenant, behind the same border as everything else; the secret has 256 random bits, and only its SHA-256 is kept.
"""

import base64
import binascii
import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from qkva.contracts.errors import NotAuthenticated
from qkva.contracts.identity import TENANT, Caller

PREFIX = "qkva."
PARTS = 4


class PresentedKey(BaseModel):
    """A key as a caller shows it."""

    model_config = ConfigDict(frozen=True)

    tenant_id: str
    id: str
    secret: str

    @property
    def text(self) -> str:
        """The key as one word."""
        tenant = base64.urlsafe_b64encode(self.tenant_id.encode()).decode().rstrip("=")
        return f"{PREFIX}{tenant}.{self.id}.{self.secret}"

    @property
    def secret_hash(self) -> bytes:
        """What is kept. A slow hash would add nothing to 256 random bits, and every call would pay for it."""
        return hashlib.sha256(self.secret.encode()).digest()


class ApiKey(BaseModel):
    """What is kept of a key."""

    model_config = ConfigDict(frozen=True)

    id: str
    tenant_id: str
    user: str
    name: str = ""
    may_review: bool = False
    per_minute: int | None = None
    """Its own rate limit; None: the configured one, 0: none."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


def new_key(tenant_id: str) -> PresentedKey:
    """A fresh key; its text is shown once."""
    return PresentedKey(tenant_id=tenant_id, id=secrets.token_hex(6), secret=secrets.token_urlsafe(32))


def read_key(text: str) -> PresentedKey:
    """A key that a caller shows. Raises NotAuthenticated where it has another form; its text is in no message."""
    parts = text.split(".")
    if len(parts) != PARTS or not text.startswith(PREFIX) or not text.isascii():
        raise NotAuthenticated
    _, tenant, key_id, secret = parts
    try:
        tenant_id = base64.b64decode(tenant + "=" * (-len(tenant) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise NotAuthenticated from None
    if not TENANT.fullmatch(tenant_id):
        raise NotAuthenticated
    return PresentedKey(tenant_id=tenant_id, id=key_id, secret=secret)


class KeyStore(Protocol):
    """The keys of all tenants; each method acts for one. All raise StoreUnavailable."""

    async def create(self, key: PresentedKey, kept: ApiKey) -> None:
        """Keep a new key; from now on this database's servers demand one."""
        ...

    async def list_keys(self, tenant_id: str) -> Sequence[ApiKey]:
        """All keys of the tenant, newest first, also those that are over."""
        ...

    async def end(self, tenant_id: str, key_id: str, *, after_minutes: float | None = None) -> bool:
        """Revoke a key, or let it expire after some minutes; False if there is none that is valid."""
        ...

    async def use(self, key: PresentedKey, *, per_minute: int) -> Caller:
        """Who shows this key, counted as one call. Raises NotAuthenticated or TooManyCalls."""
        ...

    async def count_call(self, caller: Caller, *, per_minute: int) -> None:
        """Count one call of a caller who has shown something else than a key. Raises TooManyCalls."""
        ...

    async def demanded(self) -> bool:
        """Whether a key has ever been created here. Revoking the last one does not open a server."""
        ...
