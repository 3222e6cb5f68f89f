"""The login that questions use on our own database: one that row-level security holds for, whatever SQL it runs.

Taking on a role (`set role`) would be no border: `reset role` takes it off again, and a superuser sees every tenant's
rows. So the owner of the database makes a login of its own that owns nothing and may nothing but read and write rows.
Its password is derived from the owner's: every process finds the same one, and it is kept nowhere.
"""

import hashlib
import hmac

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import make_conninfo

from qkva.contracts.errors import ConfigError, StoreUnavailable
from qkva.stores.connection import Login, libpq_url, reason
from qkva.stores.migrate import CONNECT_TIMEOUT_SEC, migrate

APP_ROLE = "qkva_rw"
LOGIN_PREFIX = "qkva_app_"

BEYOND_BORDER = """
select r.rolsuper or r.rolbypassrls
    or exists (
        select from pg_roles above
        where (above.rolsuper or above.rolbypassrls) and pg_has_role(r.rolname, above.oid, 'member')
    ) as passes_rules,
    exists (
        select from pg_class c
        where c.relnamespace = 'qkva'::regnamespace and pg_has_role(r.rolname, c.relowner, 'member')
    ) as owns
from pg_roles r
where r.rolname = session_user
"""


def migrate_and_log_in(owner_url: str, app_url: str | None = None) -> Login:
    """Migrate as the owner, and find the login for questions: the given one, else one that is made.

    Raises StoreUnavailable, or ConfigError for a login that row-level security does not hold for.
    """
    migrate(owner_url)
    if app_url is not None:
        return checked(app_url, "DATABASE_APP_URL")
    return own_login(libpq_url(owner_url))


def checked(app_url: str, named: str) -> Login:
    """A login that somebody chose. Raises ConfigError if it could see past the border."""
    try:
        with psycopg.connect(libpq_url(app_url), autocommit=True, connect_timeout=CONNECT_TIMEOUT_SEC) as connection:
            passes_rules, owns = beyond_border(connection)
    except psycopg.Error as error:
        raise StoreUnavailable(f"The login of {named} cannot connect: {reason(error)}.") from error
    if passes_rules or owns:
        what = "is a superuser or passes row-level security by" if passes_rules else "owns the tables"
        raise ConfigError(
            f"The login of {named} {what}, so one tenant could see another's rows: "
            f"name a login that is only a member of {APP_ROLE}."
        )
    return Login(app_url, APP_ROLE)


def own_login(owner_url: str) -> Login:
    """The login that the owner makes, or the owner itself where that is harmless and nothing else can be had."""
    with psycopg.connect(owner_url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_SEC) as owner:
        passes_rules, owns = beyond_border(owner)
        if not passes_rules and not owns:
            return Login(owner_url, APP_ROLE)
        login = login_name(owner.info.dbname)
        password = derived_password(owner.info.password, login)
        app_url = make_conninfo(owner_url, user=login, **({"password": password} if password else {}))
        problem = refusal(app_url)
        if problem is not None:
            problem = made(owner, login, password) or refusal(app_url)
        if problem is None:
            return Login(app_url, APP_ROLE)
    advice = f"have a login made that is only a member of {APP_ROLE}, and name it in DATABASE_APP_URL"
    if passes_rules:
        raise ConfigError(
            f"The login of DATABASE_URL passes row-level security by, and no other could be made ({problem}): {advice}."
        )
    # Row-level security is forced, so it holds for an owner too, as long as the owner does not switch it off.
    why = f"Questions use the owner's login of the database, since no other could be made ({problem}): {advice}."
    return Login(owner_url, APP_ROLE, why)


def beyond_border(connection: psycopg.Connection) -> tuple[bool, bool]:
    """Whether the login could see past row-level security, and whether it could switch that off."""
    row = connection.execute(BEYOND_BORDER).fetchone()
    return (bool(row[0]), bool(row[1])) if row else (True, True)


def refusal(app_url: str) -> str | None:
    """Why a login cannot be used, or None."""
    try:
        with psycopg.connect(app_url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_SEC) as connection:
            connection.execute(sql.SQL("set role {}").format(sql.Identifier(APP_ROLE)))
            if any(beyond_border(connection)):
                return f"the login {connection.info.user} has too many rights"
    except psycopg.Error as error:
        return reason(error)
    return None


def made(owner: psycopg.Connection, login: str, password: str | None) -> str | None:
    """Make the login, or give the one that is there its password; returns why that failed."""
    name = sql.Identifier(login)
    try:
        if not owner.execute("select from pg_roles where rolname = %s", (login,)).rowcount:
            owner.execute(
                sql.SQL("create role {} login nosuperuser nocreatedb nocreaterole noinherit nobypassrls").format(name)
            )
        if password:
            # The server gets the verifier, so that no password can stand in its log.
            verifier = owner.pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256").decode()
            owner.execute(sql.SQL("alter role {} password {}").format(name, sql.Literal(verifier)))
        owner.execute(sql.SQL("grant {} to {}").format(sql.Identifier(APP_ROLE), name))
    except (errors.DuplicateObject, errors.UniqueViolation):
        return made(owner, login, password)  # another process was faster
    except psycopg.Error as error:
        return reason(error)
    return None


def login_name(database: str) -> str:
    """A login of this database alone: logins belong to a whole server, and two databases may have two owners."""
    name = LOGIN_PREFIX + database
    if len(name.encode()) <= 63:
        return name
    return LOGIN_PREFIX + hashlib.sha256(database.encode()).hexdigest()[:16]


def derived_password(owners: str, login: str) -> str | None:
    """The login's password; None where the owner needs none."""
    return hmac.new(owners.encode(), f"login {login}".encode(), hashlib.sha256).hexdigest() if owners else None
