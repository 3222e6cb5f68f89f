"""The work of `qkva keys`."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from qkva.cli.console import line, note, print_json
from qkva.cli.own_database import with_database
from qkva.cli.show import columns
from qkva.contracts.errors import QkvaError
from qkva.contracts.identity import check_tenant, check_user
from qkva.contracts.keys import ApiKey, PresentedKey, new_key
from qkva.settings import Settings, load_settings
from qkva.stores.database import Database
from qkva.stores.keys import PostgresKeyStore


@dataclass(frozen=True, kw_only=True)
class KeyWishes:
    """What a new key shall be."""

    user: str
    name: str = ""
    expires_days: float | None = None
    per_minute: int | None = None
    may_review: bool = False


def create_key(tenant: str | None, wishes: KeyWishes, *, as_json: bool) -> int:
    """`qkva keys create`"""
    settings = load_settings()
    key, kept = drawn(tenant_of(tenant, settings), wishes)
    with_database(settings, lambda database: PostgresKeyStore(database).create(key, kept))
    show_new(key, kept, as_json=as_json)
    return 0


def list_keys(tenant: str | None, *, as_json: bool) -> int:
    """`qkva keys list`"""
    settings = load_settings()
    tenant_id = tenant_of(tenant, settings)
    found = with_database(settings, lambda database: PostgresKeyStore(database).list_keys(tenant_id))
    if as_json:
        print_json({"keys": [shown(key) for key in found]})
        return 0
    if not found:
        line(f"The tenant {tenant_id} has no keys. `qkva keys create --user NAME` makes one.")
        return 0
    rows = [["id", "user", "state", "name", "rights", "calls a minute", "created", "expires", "last used"]]
    for key in found:
        rights = "ask, review" if key.may_review else "ask"
        rate = "default" if key.per_minute is None else "no limit" if key.per_minute == 0 else str(key.per_minute)
        times = [day(key.created_at), day(key.expires_at), day(key.last_used_at)]
        rows.append([key.id, key.user, state_of(key), key.name, rights, rate, *times])
    for row in columns(rows):
        line(row)
    return 0


def rotate_key(tenant: str | None, key_id: str, grace_minutes: float, *, as_json: bool) -> int:
    """`qkva keys rotate`"""
    settings = load_settings()
    tenant_id = tenant_of(tenant, settings)

    async def rotate(database: Database) -> tuple[PresentedKey, ApiKey]:
        store = PostgresKeyStore(database)
        old = next((key for key in await store.list_keys(tenant_id) if key.id == key_id), None)
        if old is None or state_of(old) != "valid":
            raise not_valid(tenant_id, key_id)
        left = (old.expires_at - old.created_at) / timedelta(days=1) if old.expires_at else None
        wishes = KeyWishes(
            user=old.user, name=old.name, expires_days=left, per_minute=old.per_minute, may_review=old.may_review
        )
        key, kept = drawn(tenant_id, wishes)
        await store.create(key, kept)
        await store.end(tenant_id, key_id, after_minutes=grace_minutes or None)
        return key, kept

    key, kept = with_database(settings, rotate)
    show_new(key, kept, as_json=as_json)
    if not as_json:
        ends = f"works for {grace_minutes:g} more minutes" if grace_minutes else "works no more"
        note(f"The old key {key_id} {ends}.")
    return 0


def revoke_key(tenant: str | None, key_id: str, *, as_json: bool) -> int:
    """`qkva keys revoke`"""
    settings = load_settings()
    tenant_id = tenant_of(tenant, settings)
    if not with_database(settings, lambda database: PostgresKeyStore(database).end(tenant_id, key_id)):
        raise not_valid(tenant_id, key_id)
    if as_json:
        print_json({"revoked": key_id})
    else:
        line(f"The key {key_id} works no more.")
    return 0


def drawn(tenant_id: str, wishes: KeyWishes) -> tuple[PresentedKey, ApiKey]:
    """A fresh key and what is kept of it. Raises ConfigError."""
    key = new_key(tenant_id)
    created = datetime.now(UTC)
    kept = ApiKey(
        id=key.id,
        tenant_id=tenant_id,
        user=check_user(wishes.user),
        name=wishes.name,
        may_review=wishes.may_review,
        per_minute=wishes.per_minute,
        created_at=created,
        expires_at=created + timedelta(days=wishes.expires_days) if wishes.expires_days else None,
    )
    return key, kept


def show_new(key: PresentedKey, kept: ApiKey, *, as_json: bool) -> None:
    """The only time that the key itself is shown."""
    if as_json:
        print_json({"key": key.text, **shown(kept)})
        return
    line(key.text)
    note(f"This is the key {kept.id} of {kept.user} for the tenant {kept.tenant_id}; it is not shown again.")
    note("Send it as the header X-Api-Key, or as Authorization: Bearer.")


def shown(key: ApiKey) -> dict[str, object]:
    """What `--json` tells of a key."""
    return {**key.model_dump(mode="json"), "state": state_of(key)}


def state_of(key: ApiKey) -> str:
    """valid, expired or revoked"""
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.expires_at is not None and key.expires_at <= datetime.now(UTC) else "valid"


def tenant_of(tenant: str | None, settings: Settings) -> str:
    """The named tenant, or the configured one. Raises ConfigError."""
    return check_tenant(tenant) if tenant is not None else settings.tenant_id


def day(moment: datetime | None) -> str:
    """To the minute, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}" if moment else "-"


def not_valid(tenant_id: str, key_id: str) -> QkvaError:
    """The sentence for a key that there is not."""
    return QkvaError(f"The tenant {tenant_id} has no valid key {key_id}; `qkva keys list` shows its keys.")
