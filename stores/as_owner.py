"""How root runs PostgreSQL's programs, which refuse to run as root: as the owner of the cluster's folder."""

import os
import pwd
import stat
from pathlib import Path

from typing_extensions import TypedDict


class Account(TypedDict, total=False):
    """What `subprocess.run` needs to run as somebody else; empty for who is not root."""

    user: int
    group: int
    extra_groups: list[int]


def give_to_account(folder: Path) -> None:
    """If root made this folder, hand it to an account that can run a server in it."""
    if os.geteuid() != 0:
        return
    try:
        account = pwd.getpwnam("postgres")
    except KeyError:
        account = pwd.getpwnam("nobody")
    os.chown(folder, account.pw_uid, account.pw_gid)


def account_for(data: Path, programs: Path) -> Account:
    """The owner of `data`, able to reach it and the programs.

    On the way may lie private folders of root's (mode 0700). They are opened to their own group, usually root's, and
    the server alone is put into that group: nobody else gains anything.
    """
    if os.geteuid() != 0:
        return {}
    owner = data.stat()
    groups = {owner.st_gid}
    if not (programs / "postgres").stat().st_mode & stat.S_IXOTH:  # installed under a private umask
        groups.add(programs.stat().st_gid)
        for path in programs.parent.rglob("*"):
            searchable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(path.stat().st_mode | (0o050 if searchable else 0o040))
    for folder in {*data.parents, *(programs / "postgres").resolve().parents}:
        info = folder.stat()
        if not info.st_mode & stat.S_IXOTH:
            folder.chmod(info.st_mode | stat.S_IXGRP)
            groups.add(info.st_gid)
    return {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": sorted(groups)}
