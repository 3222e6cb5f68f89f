"""`qkva keys`, as an operator uses it; what the keys open is tested where the server is."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import run_qkva

from qkva.contracts.keys import read_key

pytestmark = pytest.mark.db


@pytest.fixture
def qkva(database_url, tmp_path: Path):
    """Run a command over a fresh database."""

    def run(*arguments, **env):
        return run_qkva(*arguments, folder=tmp_path, DATABASE_URL=database_url, **env)

    return run


def ids(done):
    assert done.returncode == 0, done.stderr
    return {key["id"]: key["state"] for key in json.loads(done.stdout)["keys"]}


def test_key_is_printed_alone_and_once(qkva):
    made = qkva("keys", "create", "--user", "ann", "--tenant", "acme", "--name", "laptop")

    assert made.returncode == 0
    (line,) = made.stdout.splitlines()
    key = read_key(line)
    assert key.tenant_id == "acme" and len(key.secret) == 43
    assert "not shown again" in made.stderr and line not in made.stderr
    listed = qkva("keys", "list", "--tenant", "acme")
    assert key.id in listed.stdout and "laptop" in listed.stdout and key.secret not in listed.stdout
    assert key.secret not in qkva("keys", "list", "--tenant", "acme", "--json").stdout


def test_keys_are_made_listed_rotated_and_revoked(qkva):
    first = json.loads(qkva("keys", "create", "--user", "ann", "--rate", "5", "--expires-days", "2", "--json").stdout)
    assert (first["tenant_id"], first["user"], first["per_minute"], first["state"]) == ("default", "ann", 5, "valid")
    second = json.loads(qkva("keys", "rotate", first["id"], "--json").stdout)
    assert (second["user"], second["per_minute"]) == ("ann", 5) and second["expires_at"] > first["expires_at"]
    assert ids(qkva("keys", "list", "--json")) == {first["id"]: "revoked", second["id"]: "valid"}

    done = qkva("keys", "revoke", second["id"])
    assert (done.returncode, done.stdout) == (0, f"The key {second['id']} works no more.\n")
    assert set(ids(qkva("keys", "list", "--json")).values()) == {"revoked"}
    for command in ("revoke", "rotate"):
        again = qkva("keys", command, second["id"])
        assert again.returncode == 1 and "has no valid key" in again.stderr


def test_tenants_keys_are_apart(qkva):
    made = json.loads(qkva("keys", "create", "--user", "ann", "--tenant", "acme", "--json").stdout)

    assert ids(qkva("keys", "list", "--json", TENANT_ID="bolt")) == {}
    assert qkva("keys", "revoke", made["id"], "--tenant", "bolt").returncode == 1
    assert ids(qkva("keys", "list", "--json", TENANT_ID="acme")) == {made["id"]: "valid"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--user", ""], "cannot name a user"),
        (["--user", "/root"], "cannot name a user"),
        (["--user", "a\nb"], "cannot name a user"),
        (["--user", "ann", "--tenant", "a/b"], "cannot name a tenant"),
        (["--user", "ann", "--tenant", "*"], "cannot name a tenant"),
        ([], "--user"),
        (["--user", "ann", "--rate", "-1"], "--rate"),
    ],
)
def test_what_cannot_be_is_told(qkva, arguments, said):
    done = qkva("keys", "create", *arguments)

    assert done.returncode == 2 and done.stdout == ""
    assert said in done.stderr and "Traceback" not in done.stderr
