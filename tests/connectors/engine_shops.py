"""The shop on SQLite, DuckDB and MariaDB, each on the real thing."""

import getpass
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pymysql
import pytest

TABLES = """
create table customers (
    id integer primary key, name varchar(80) not null, email varchar(120), country varchar(40), vip boolean
);
create table orders (
    id integer primary key, customer_id integer not null, status varchar(20) not null, total decimal(10, 2) not null,
    placed_at timestamp not null, foreign key (customer_id) references customers (id)
);
create table secrets (id integer primary key, token varchar(40));
create view mails as select id, email as mail from customers;
create view big_orders as select id, total from orders where total > 300;
insert into customers values
    (1, 'Ada Lovelace', 'CANARY ada@example.org', 'United Kingdom', true),
    (2, 'Émilie du Châtelet', 'CANARY emilie@example.org', 'France', false),
    (3, 'Carl Gauß', 'CANARY carl@example.org', 'Germany', false),
    (4, '100% Cotton_Club', 'CANARY club@example.org', 'Germany', false);
insert into secrets values (1, 'CANARY token');
"""
STATUSES = ("pending", "paid", "shipped", "cancelled")
ORDERS = [
    f"insert into orders values ({n}, {1 + n % 4}, '{STATUSES[n % 4]}', {n * 10.25}, "
    f"'2026-05-{1 + n % 31:02d} 12:00:00');"
    for n in range(1, 61)
]
STATEMENTS = [part.strip() for part in (TABLES + "\n".join(ORDERS)).split(";") if part.strip()]


def sqlite_shop(folder: Path) -> str:
    with sqlite3.connect(folder / "shop.db") as connection:
        connection.executescript(";".join(STATEMENTS))
    connection.close()
    return f"sqlite:///{folder}/shop.db"


def duckdb_shop(folder: Path) -> str:
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        for statement in STATEMENTS:
            connection.execute(statement)
    return f"duckdb:///{folder}/shop.duckdb"


@contextmanager
def mariadb_shop(folder: Path) -> Iterator[str]:
    """A server of its own; its url has a login that may write everything, and `reader` may only read."""
    server, install = (
        shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/bin") for name in ("mariadbd", "mariadb-install-db")
    )
    if server is None or install is None:
        pytest.skip("MariaDB's server is not installed (Debian: apt-get install mariadb-server)")
    address, data = folder / "s", folder / "data"
    data.mkdir()
    options = [f"--datadir={data}", f"--user={getpass.getuser()}"]
    subprocess.run(
        [install, *options, "--auth-root-authentication-method=normal", "--skip-test-db"],
        check=True,
        capture_output=True,
    )
    process = subprocess.Popen(
        [server, "--no-defaults", *options, f"--socket={address}", "--skip-networking", f"--pid-file={folder}/pid",
         "--innodb-flush-log-at-trx-commit=0"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        connection = connected(str(address), process)
        with connection, connection.cursor() as cursor:
            for statement in ["create database shop character set utf8mb4", "use shop", *STATEMENTS]:
                cursor.execute(statement)
            for login, right in (("writer", "all"), ("reader", "select")):
                cursor.execute(f"create user {login}@localhost")
                cursor.execute(f"grant {right} on shop.* to {login}@localhost")
            connection.commit()
        yield f"mysql://writer@localhost/shop?unix_socket={address}"
    finally:
        process.terminate()
        process.wait(timeout=20)


def connected(path: str, process: "subprocess.Popen[bytes]") -> "pymysql.Connection[pymysql.cursors.Cursor]":
    """A connection as soon as the server takes one."""
    until = time.monotonic() + 30
    while not answers(path):
        assert process.poll() is None, "the server ended"
        assert time.monotonic() < until, "the server does not answer"
        time.sleep(0.1)
    return pymysql.connect(unix_socket=path, user="root", charset="utf8mb4")


def answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as attempt:
        return attempt.connect_ex(path) == 0
