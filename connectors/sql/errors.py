"""The one place where the driver's errors become ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from qkva.contracts.errors import AuthError, QueryFailed, SourceError, SourceUnavailable

# Classes of SQLSTATE that say "not now" rather than "not so": connection, resources, shutdown, system, internal I/O.
_TRANSIENT_CLASSES = ("08", "53", "57P", "58")
_REFUSED_LOGIN = ("authentication failed", "no password supplied", "pg_hba.conf", "role")


@contextmanager
def mapped_errors(source: str, seconds: float) -> Iterator[None]:
    """Raise contracts.errors for whatever psycopg raises inside; `seconds` is the time limit to name."""
    try:
        yield
    except psycopg.Error as error:
        raise map_error(error, source, seconds) from error
    except (TimeoutError, OSError) as error:
        raise SourceUnavailable(f'The data source "{source}" is unavailable: its database does not answer.') from error


def map_error(error: psycopg.Error, source: str, seconds: float) -> SourceError:
    """The error of ours that says the same."""
    state = error.sqlstate or ""
    message = (error.diag.message_primary or str(error).partition("\n")[0]).strip().rstrip(".")
    if isinstance(error, errors.QueryCanceled):
        return QueryFailed(
            f'The query took longer than {seconds:g} s on "{source}" and was stopped: ask for less.',
            layer="transaction",
        )
    if isinstance(error, errors.LockNotAvailable):
        sentence = f'The tables of "{source}" are locked by someone else: ask again in a moment.'
        return QueryFailed(sentence, layer="transaction")
    if isinstance(error, errors.InsufficientPrivilege):
        return QueryFailed(f'The login of "{source}" may not read this: {message}.', layer="login")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return QueryFailed(f'Queries of "{source}" only read: {message}.', layer="transaction")
    if state.startswith("28"):
        return AuthError(f'The data source "{source}" refused the login: check its url.')
    if state.startswith(_TRANSIENT_CLASSES) or (not state and isinstance(error, _CONNECTION_ERRORS)):
        return SourceUnavailable(f'The data source "{source}" is unavailable: its database does not answer.')
    return QueryFailed(f'The data source "{source}" did not accept the query: {message}.')


def map_connect_error(error: psycopg.Error, source: str) -> SourceError:
    """For an attempt to connect, where the driver gives no SQLSTATE; its text is not repeated, as it names the host."""
    text = str(error)
    if any(sign in text for sign in _REFUSED_LOGIN):
        return AuthError(f'The data source "{source}" refused the login: check its url.')
    if "does not exist" in text:
        return SourceUnavailable(f'The data source "{source}" is unavailable: its server has no such database.')
    return SourceUnavailable(f'The data source "{source}" is unavailable: its database does not answer.')


_CONNECTION_ERRORS = (psycopg.OperationalError, psycopg.InterfaceError)
