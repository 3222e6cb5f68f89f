"""API keys and rate limits in PostgreSQL. Each method has a statement of its name in keys.sql."""

from qkva.contracts.errors import NotAuthenticated, TooManyCalls
from qkva.contracts.identity import Caller
from qkva.contracts.keys import ApiKey, PresentedKey
from qkva.stores.database import Database
from qkva.stores.sql_blocks import load_blocks

SQL = load_blocks("keys.sql")
NOBODY = "*"
"""The tenant of the row that says that keys are demanded; no caller can have it."""


class PostgresKeyStore:
    """A `contracts.keys.KeyStore`; a budget is shared by all processes that serve."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._demanded = False

    async def create(self, key: PresentedKey, kept: ApiKey) -> None:
        """Keep a new key. Servers demand keys before it exists, so that it never stands beside an open door."""
        await self._database.execute(NOBODY, SQL["demand_keys"], {})
        values = {**kept.model_dump(exclude={"revoked_at", "last_used_at"}), "secret_hash": key.secret_hash}
        await self._database.execute(kept.tenant_id, SQL["create_key"], values)

    async def list_keys(self, tenant_id: str) -> list[ApiKey]:
        """All keys of the tenant, newest first."""
        rows = await self._database.fetch_all(tenant_id, SQL["list_keys"], {"tenant_id": tenant_id})
        return [ApiKey.model_validate(row) for row in rows]

    async def end(self, tenant_id: str, key_id: str, *, after_minutes: float | None = None) -> bool:
        """Revoke a key, or let it expire; False if there is none that is valid."""
        values = {"tenant_id": tenant_id, "id": key_id, "after_minutes": after_minutes}
        return await self._database.execute(tenant_id, SQL["end_key"], values) > 0

    async def use(self, key: PresentedKey, *, per_minute: int) -> Caller:
        """Who shows this key, in one round trip. Raises NotAuthenticated or TooManyCalls."""
        values = {
            "tenant_id": key.tenant_id,
            "id": key.id,
            "secret_hash": key.secret_hash,
            "per_minute": per_minute,
            "caller": f"key {key.id}",
        }
        rows = await self._database.fetch_all(key.tenant_id, SQL["use_key"], values)
        if not rows:
            raise NotAuthenticated
        (row,) = rows
        if not row["counted"]:
            raise TooManyCalls(row["per_minute"])
        return Caller(tenant_id=key.tenant_id, user=row["user"], may_review=row["may_review"])

    async def count_call(self, caller: Caller, *, per_minute: int) -> None:
        """Count one call of a user. Raises TooManyCalls."""
        if per_minute == 0:
            return
        values = {"tenant_id": caller.tenant_id, "caller": f"user {caller.user}", "per_minute": per_minute}
        if not await self._database.fetch_all(caller.tenant_id, SQL["count_call"], values):
            raise TooManyCalls(per_minute)

    async def demanded(self) -> bool:
        """Whether a key has ever been created here; once true it is not asked again."""
        if not self._demanded:
            rows = await self._database.fetch_all(NOBODY, SQL["demanded"], {})
            self._demanded = bool(rows[0]["demanded"])
        return self._demanded
