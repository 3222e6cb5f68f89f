"""Puts the demo shop into the embedded PostgreSQL, with a login role that can only read it."""

from importlib.resources import files
from typing import LiteralString

from psycopg import AsyncConnection, sql

from qkva.cli.demo.shop_data import Shop, build_shop

DATABASE = "shop"
READER = "shop_reader"
LAYOUT = 1
"""Raise it when shop.sql or the grants below change, so that an older shop is built anew."""


async def seed_shop(url: str, shop: Shop | None = None) -> bool:
    """Fill the database behind `url` (a superuser's), replacing what is there; False if it is up to date.

    All or nothing, and one at a time: a killed run leaves the old shop, a second one waits for the first.
    """
    shop = shop or build_shop()
    mark = f"qkva demo shop {LAYOUT}.{shop.fingerprint()}"
    async with await AsyncConnection.connect(url) as connection:
        await connection.execute("select pg_advisory_xact_lock(hashtext('qkva demo shop'))")
        if await read_mark(connection) == mark:
            return False
        await connection.execute("drop schema if exists public cascade")
        await connection.execute("create schema public")
        await connection.execute(read_script())
        for table, rows in shop._asdict().items():
            await copy_rows(connection, table, rows)
        await let_reader_in(connection)
        await connection.execute("analyze")
        await connection.execute(
            sql.SQL("comment on database {} is {}").format(sql.Identifier(connection.info.dbname), sql.Literal(mark))
        )
    return True


def read_script() -> LiteralString:
    """The statements of shop.sql, which lies beside this file."""
    return files(__package__).joinpath("shop.sql").read_text("utf-8")


async def read_mark(connection: AsyncConnection) -> str | None:
    """The version of the data that the database holds, kept as its comment."""
    cursor = await connection.execute(
        "select shobj_description(oid, 'pg_database') from pg_database where datname = current_database()"
    )
    row = await cursor.fetchone()
    return row[0] if row else None


async def copy_rows(connection: AsyncConnection, table: str, rows: list[tuple[object, ...]]) -> None:
    """Load one table by COPY."""
    async with (
        connection.cursor() as cursor,
        cursor.copy(sql.SQL("copy {} from stdin").format(sql.Identifier(table))) as copy,
    ):
        for row in rows:
            await copy.write_row(row)


async def let_reader_in(connection: AsyncConnection) -> None:
    """A role that logs in and reads the shop, and can do nothing else."""
    cursor = await connection.execute("select 1 from pg_roles where rolname = %s", (READER,))
    reader, database = sql.Identifier(READER), sql.Identifier(connection.info.dbname)
    if await cursor.fetchone() is None:
        await connection.execute(sql.SQL("create role {} login noinherit").format(reader))
    for statement in (
        "alter role {reader} nosuperuser nocreatedb nocreaterole connection limit 40",
        "alter role {reader} set default_transaction_read_only = on",
        "alter role {reader} set statement_timeout = '10s'",
        "alter role {reader} set idle_in_transaction_session_timeout = '60s'",
        "revoke all on database {database} from public",
        "grant connect on database {database} to {reader}",
        "revoke all on schema public from public",
        "grant usage on schema public to {reader}",
        "grant select on all tables in schema public to {reader}",
    ):
        await connection.execute(sql.SQL(statement).format(reader=reader, database=database))
