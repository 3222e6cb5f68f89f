"""The login that a source is read by: what it may do, and the statements that make one which may only read."""

from collections.abc import Iterator, Mapping

from psycopg import AsyncRawCursor, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from qkva.connectors.sql.database import Database
from qkva.connectors.sql.functions import written_functions
from qkva.connectors.sql.introspect import Row, Structure, load_blocks
from qkva.connectors.sql.options import SqlOptions
from qkva.contracts.source import LoginRights

SQL = load_blocks("login.sql", keep_comments=True)
RIGHTS_SECONDS = 10.0
CONNECTIONS_PER_PROCESS = 10
"""How many processes of qkva may read the source at once, by the login's connection limit."""

_STRUCTURE_FUNCTIONS = (
    "format_type obj_description col_description has_schema_privilege has_column_privilege has_table_privilege "
    "has_any_column_privilege has_database_privilege has_function_privilege pg_has_role pg_get_viewdef "
    "current_database acldefault aclexplode"
).split()
"""By which qkva reads tables, columns and rights."""
_SYNTAX_FUNCTIONS = "like_escape similar_to_escape similar_escape overlaps is_normalized".split()
"""Behind LIKE … ESCAPE, SIMILAR TO, OVERLAPS and IS NORMALIZED."""


async def read_rights(database: Database) -> LoginRights:
    """What the login may do besides reading. Raises SourceUnavailable or AuthError."""
    async with database.transaction(seconds=RIGHTS_SECONDS, timezone="UTC") as connection:
        cursor = AsyncRawCursor(connection, row_factory=dict_row)
        await cursor.execute(SQL["login_rights"])
        row = await cursor.fetchone()
    assert row is not None, "a login is always one of the roles"
    return LoginRights(login=row["login"], excess=tuple(_excess(row)), functions=tuple(row["functions"]))


def _excess(row: Row) -> Iterator[str]:
    """Its rights in words."""
    if row["superuser"]:
        yield "is a superuser"
        return
    if row["attributes"]:
        yield f"may {', '.join(row['attributes'])}"
    if row["roles"]:
        yield f"is a member of {', '.join(row['roles'])}"
    if row["writable"]:
        yield f"may write or owns {', '.join(row['writable'])}"
    if row["creatable"]:
        yield f"may create in {', '.join(row['creatable'])}"


def grant_statements(source: str, role: str, options: SqlOptions, structure: Structure) -> str:
    """SQL for a database's administrator: a login `role` that may read what the options show, and nothing else."""
    database = str(conninfo_to_dict(options.url.get_secret_value()).get("dbname") or role)
    names: dict[str, sql.Composable] = {
        "source": sql.Literal(source),
        "database": sql.Identifier(database),
        "role": sql.Identifier(role),
        "role_text": sql.Literal(role),
        "others": sql.Identifier(f"{role}_excepted"),
        "others_text": sql.Literal(f"{role}_excepted"),
        "connections": sql.Literal(options.max_connections * CONNECTIONS_PER_PROCESS),
        "path": sql.SQL(", ").join(map(sql.Identifier, options.schemas)),
        "allowed": sql.Literal(_callable_names(options)),
    }
    parts = [_filled("role_begin", names)]
    parts += [_filled("role_schema", {**names, "schema": sql.Identifier(schema)}) for schema in options.schemas]
    parts.append("\n".join(_grants(structure, sql.Identifier(role))))
    parts.append(_filled("role_functions", names))
    return "\n\n".join(parts) + "\n"


def _callable_names(options: SqlOptions) -> list[str]:
    return sorted({*written_functions(), *options.allow.functions, *_STRUCTURE_FUNCTIONS, *_SYNTAX_FUNCTIONS})


def _filled(block: str, names: Mapping[str, sql.Composable]) -> str:
    return sql.SQL(SQL[block]).format(**names).as_string(None)


def _grants(structure: Structure, role: sql.Identifier) -> Iterator[str]:
    """SELECT on each table, or on the columns that are shown of one that hides some."""
    hiding = {column.rpartition(".")[0] for column in structure.denied}
    for name, columns in structure.tables:
        table = sql.Identifier(columns[0]["table_schema"], columns[0]["table_name"])
        shown = sql.SQL(", ").join(sql.Identifier(column["name"]) for column in columns)
        what = sql.SQL("select ({})").format(shown) if name in hiding else sql.SQL("select")
        yield sql.SQL("grant {} on {} to {};").format(what, table, role).as_string(None)
