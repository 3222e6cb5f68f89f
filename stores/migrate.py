"""Brings qkva's own database to the newest revision; of many processes one migrates and the others wait."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

import psycopg
from psycopg import errors, sql
from psycopg.abc import QueryNoTemplate

from qkva.contracts.errors import ConfigError, StoreUnavailable
from qkva.stores.connection import libpq_url, reason

LOCK_KEY = 0x716B7661  # "qkva"
CONNECT_TIMEOUT_SEC = 5
"""A first question waits no longer for a database that is not there."""
LOCK_DEADLINE_SEC = 120.0
OLDEST_PGVECTOR = (0, 7)
"""The first with half-precision vectors."""

# Before PostgreSQL 16 every member may take a role on; since then that is a right of its own, which the creator lacks.
MAY_NOT_SET_ROLE = """
select not pg_has_role(rolname, 'qkva_rw',
    case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end)
from pg_roles where rolname = %s
"""


def migrate(admin_url: str) -> str:
    """Create or upgrade the schema `qkva` as the database's owner; returns the revision it is at.

    Blocks: 10 ms when there is nothing to do, about 0.6 s from zero. Raises StoreUnavailable when the database does not
    answer, ConfigError when it lacks pgvector or the login lacks a right.
    """
    url = libpq_url(admin_url)
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_SEC) as connection:
            if _revision(connection) < head_revision():
                with _migration_lock(connection):
                    if _revision(connection) < head_revision():
                        _prepare(connection)
                        _upgrade(url)
            return _revision(connection)
    except errors.InsufficientPrivilege as error:
        raise ConfigError(
            f"The login of DATABASE_URL may not migrate the database ({reason(error)}): use the database's owner."
        ) from error
    except psycopg.Error as error:
        raise StoreUnavailable(f"qkva's own database could not be migrated: {reason(error)}.") from error


def head_revision() -> str:
    """The newest revision; each file of `migrations/versions` begins with its own."""
    names = (path.name for path in files("qkva.migrations").joinpath("versions").iterdir())
    return max(name for name in names if name[0].isdigit()).split("_")[0]


def _revision(connection: psycopg.Connection) -> str:
    """Empty before the first. It may be newer than this program knows: then a newer one has migrated."""
    try:
        row = connection.execute("select version_num from qkva.alembic_version").fetchone()
    except (errors.UndefinedTable, errors.InvalidSchemaName):
        return ""
    return str(row[0]) if row else ""


@contextmanager
def _migration_lock(connection: psycopg.Connection) -> Iterator[None]:
    """Polled, since waiting in pg_advisory_lock holds a snapshot, and `create index concurrently` waits for those."""
    deadline = time.monotonic() + LOCK_DEADLINE_SEC
    while not _scalar(connection, "select pg_try_advisory_lock(%s)", LOCK_KEY):
        if time.monotonic() > deadline:
            raise StoreUnavailable(
                f"Another process has been migrating the database for {LOCK_DEADLINE_SEC:.0f} s: wait for it or end it."
            )
        time.sleep(0.1)
    try:
        yield
    finally:
        connection.execute("select pg_advisory_unlock(%s)", (LOCK_KEY,))


def _prepare(connection: psycopg.Connection) -> None:
    """See to the extension, the role and the schema, which the revisions take for granted."""
    _require_pgvector(connection)
    connection.execute("create schema if not exists qkva")
    _require_role(connection)


def _require_pgvector(connection: psycopg.Connection) -> None:
    found = _scalar(connection, "select extversion from pg_extension where extname = 'vector'")
    if found is None:
        found = _scalar(connection, "select default_version from pg_available_extensions where name = 'vector'")
        if found is None:
            major = connection.info.server_version // 10000
            raise ConfigError(
                f"The database has no pgvector: install it on its server (package postgresql-{major}-pgvector, or "
                f"image pgvector/pgvector:pg{major}), or unset DATABASE_URL to use the embedded PostgreSQL."
            )
        try:
            connection.execute("create extension if not exists vector")
        except errors.InsufficientPrivilege as error:
            raise ConfigError(
                "pgvector is installed but not enabled, and this login may not enable it: "
                "have a superuser run `create extension vector` in this database."
            ) from error
    if tuple(int(part) for part in str(found).split(".")[:2]) < OLDEST_PGVECTOR:
        raise ConfigError(
            f"The database has pgvector {found}, qkva needs 0.7 or newer: run `alter extension vector update` in it."
        )


def _require_role(connection: psycopg.Connection) -> None:
    """Create the role that rows are read through; roles belong to the whole server, so it may be there already."""
    login = connection.info.user
    missing = f'grant qkva_rw to "{login}"'
    try:
        if not _scalar(connection, "select true from pg_roles where rolname = 'qkva_rw'"):
            missing = f"create role qkva_rw nologin; {missing}"
            connection.execute("create role qkva_rw nologin nosuperuser nobypassrls")
        for member in ("qkva_app", login):
            if _scalar(connection, MAY_NOT_SET_ROLE, member):
                connection.execute(sql.SQL("grant qkva_rw to {}").format(sql.Identifier(member)))
    except (errors.DuplicateObject, errors.UniqueViolation):
        _require_role(connection)  # a migration of another database of this server was faster
    except errors.InsufficientPrivilege as error:
        raise ConfigError(
            f"The login of DATABASE_URL may not create or grant roles: have a superuser run `{missing}`."
        ) from error


def _upgrade(url: str) -> None:
    # Alembic takes 0.35 s to import, which a database that is up to date need not pay.
    from qkva.migrations.upgrade import upgrade_to_head  # noqa: PLC0415

    upgrade_to_head(url)


def _scalar(connection: psycopg.Connection, query: QueryNoTemplate, *values: object) -> object:
    row = connection.execute(query, values or None).fetchone()
    return row[0] if row else None
