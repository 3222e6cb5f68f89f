"""The embedded PostgreSQL: shared by processes, whatever its path, whoever is killed."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from qkva.contracts.errors import StoreUnavailable
from qkva.stores.embedded import start_embedded

pytestmark = pytest.mark.db

USER_PROCESS = textwrap.dedent(
    """
    import sys, warnings
    warnings.simplefilter("error")
    from pathlib import Path
    from qkva.stores.embedded import start_embedded
    server = start_embedded(Path(sys.argv[1]))
    print(server.admin_url, flush=True)
    sys.stdin.read()
    """
)


@contextmanager
def another_process(folder):
    """A process that uses the server until its input ends."""
    environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    with subprocess.Popen(
        [sys.executable, "-c", USER_PROCESS, str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    ) as process:  # fmt: skip
        try:
            assert process.stdout.readline().startswith("postgresql://postgres@/qkva?")
            yield process
        finally:
            process.stdin.close()
            process.wait(30)


def query(url, statement):
    with psycopg.connect(url, autocommit=True, connect_timeout=3) as connection:
        return connection.execute(statement).fetchone()


def server_pid(folder):
    return int((folder / "data" / "postmaster.pid").read_text().split("\n")[0])


def is_stopped(folder):
    return not (folder / "data" / "postmaster.pid").exists()


@pytest.mark.parametrize("name", ["with a space", "quote's, comma and ünicode", "l" * 200, 'q"uote $HOME `x`'])
def test_any_path_will_do(tmp_path, name):
    server = start_embedded(tmp_path / name)
    try:
        assert query(server.admin_url, "select current_database(), current_user") == ("qkva", "postgres")
        assert query(server.app_url, "select current_user, rolsuper from pg_roles where rolname = current_user") == (
            "qkva_app",
            False,
        )
    finally:
        server.close()
    assert is_stopped(tmp_path / name)


def test_second_start_is_fast_and_keeps_data(tmp_path):
    server = start_embedded(tmp_path)
    server.create_database("kept")
    server.create_database("kept")
    server.close()

    started = time.monotonic()
    server = start_embedded(tmp_path)
    try:
        assert time.monotonic() - started < 3  # 0.12 s on an idle machine
        assert query(server.url_for("kept", "postgres"), "select 1") == (1,)
    finally:
        server.close()


def test_last_one_out_stops_it(tmp_path):
    with another_process(tmp_path):
        server = start_embedded(tmp_path)
        pid = server_pid(tmp_path)
        server.close()
        server.close()
        assert server_pid(tmp_path) == pid
        assert query(server.admin_url, "select 1") == (1,)
    assert is_stopped(tmp_path)


def test_killed_user_is_forgotten(tmp_path):
    with another_process(tmp_path) as process:
        process.kill()
        process.wait()
    pid = server_pid(tmp_path)

    server = start_embedded(tmp_path)

    assert server_pid(tmp_path) == pid
    server.close()
    assert is_stopped(tmp_path)


def test_killed_server_recovers(tmp_path):
    server = start_embedded(tmp_path)
    with psycopg.connect(server.admin_url, autocommit=True) as connection:
        connection.execute("create table t as select 42 as x")
    os.kill(server_pid(tmp_path), signal.SIGKILL)
    time.sleep(0.2)

    again = start_embedded(tmp_path)
    try:
        assert query(again.admin_url, "select x from t") == (42,)
        assert query(server.admin_url, "select x from t") == (42,)  # the old URL still leads there
    finally:
        server.close()
        again.close()
    assert is_stopped(tmp_path)


def test_pid_of_another_program(tmp_path):
    """After a container's restart the pid in a stale pid file may belong to anything."""
    start_embedded(tmp_path).close()
    pid_file = tmp_path / "data" / "postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n{tmp_path}/data\n0\n5432\n{tmp_path}/data\n\n 1 1\nready\n")

    server = start_embedded(tmp_path)

    assert query(server.admin_url, "select 1") == (1,)
    server.close()


def test_half_made_cluster_is_made_anew(tmp_path):
    (tmp_path / "data.new" / "base").mkdir(parents=True)

    server = start_embedded(tmp_path)

    assert query(server.admin_url, "select 1") == (1,)
    server.close()


def test_many_processes_start_at_once(tmp_path):
    command = [sys.executable, "-c", USER_PROCESS, str(tmp_path)]
    processes = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) for _ in range(4)]
    for process in processes:
        output, _ = process.communicate(timeout=60)
        assert (process.returncode, output[:13]) == (0, b"postgresql://")
    assert is_stopped(tmp_path)


def test_unusable_folder_is_told(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreUnavailable, match="cannot use its folder .*Not a directory.*set DATABASE_URL"):
        start_embedded(tmp_path / "file" / "folder")


def test_failed_start_is_told(tmp_path):
    start_embedded(tmp_path).close()
    (tmp_path / "data" / "global" / "pg_control").write_bytes(b"")

    with pytest.raises(StoreUnavailable, match=r"did not start: .*pg_control.* See .*server\.log") as caught:
        start_embedded(tmp_path)
    assert "\n" not in caught.value.message


def test_full_disk_is_told(tmp_path):
    """A limit on file size fails initdb as a full disk does: by an error of write."""
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
        "import sys; from pathlib import Path; from qkva.stores.embedded import start_embedded\n"
        "from qkva.contracts.errors import StoreUnavailable\n"
        "try: start_embedded(Path(sys.argv[1]))\n"
        "except StoreUnavailable as error: print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", limited, str(tmp_path)], capture_output=True, text=True, check=True)

    assert "could not be created: " in done.stdout
    assert len(done.stdout.splitlines()) == 1
    start_embedded(tmp_path).close()


def test_socket_is_private(tmp_path):
    server = start_embedded(tmp_path)
    try:
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0
        socket = Path(psycopg.conninfo.conninfo_to_dict(server.app_url)["host"]) / ".s.PGSQL.5432"
        assert socket.stat().st_mode & 0o077 == 0
        assert query(server.admin_url, "show listen_addresses") == ("",)
    finally:
        server.close()
