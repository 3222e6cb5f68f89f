"""Sets up the demo: the shop's database, and the verified plans of both sources. All of it can be run again."""

import asyncio
import contextlib
import fcntl
import hashlib
import os
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path

from qkva.cli.console import note
from qkva.cli.demo.config import ISSUES, SHOP
from qkva.cli.demo.shop import DATABASE, seed_shop
from qkva.contracts.plan import PlanStatus
from qkva.graphs.plan_library import import_plans
from qkva.nodes.runtime import AskServices
from qkva.planning.plan_files.plan_file import parse_plan_file
from qkva.stores.cluster import SUPERUSER
from qkva.stores.embedded import EmbeddedServer

PLAN_FILES = {SHOP: "plans.yaml", ISSUES: "issue_plans.yaml"}
MARKS = "demo-plans"
"""A file with the fingerprint of what was imported last."""


@contextlib.asynccontextmanager
async def only_one(folder: Path) -> AsyncIterator[None]:
    """Set up one at a time; the kernel drops the lock of a killed process."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / "demo.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not try_lock(lock):
            note(f"Another demo is being set up in {folder}: waiting until it is done (Ctrl-C stops waiting).")
            while not try_lock(lock):
                await asyncio.sleep(0.1)
        yield
    finally:
        os.close(lock)


def try_lock(file: int) -> bool:
    """Whether the lock could be had at once."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def set_up_shop(server: EmbeddedServer) -> bool:
    """The shop's database, filled; False if it was there already."""
    await asyncio.to_thread(server.create_database, DATABASE)
    return await seed_shop(server.url_for(DATABASE, SUPERUSER))


async def set_up_plans(services: AskServices, folder: Path) -> dict[str, int]:
    """The verified plans of each source; returns how many there are. Imports only what has changed."""
    counts = {}
    for source, name in PLAN_FILES.items():
        text = files(__package__).joinpath(name).read_text("utf-8")
        keys = {draft.key_text for draft in parse_plan_file(text).drafts}
        counts[source] = len(keys)
        mark = folder / f"{MARKS}-{source}"
        wanted = await fingerprint(services, source, text)
        if not (mark.exists() and mark.read_text() == wanted and keys <= await verified_keys(services, source)):
            await import_plans(services, services.tenant_id, text)
            mark.write_text(wanted)
    return counts


async def fingerprint(services: AskServices, source: str, text: str) -> str:
    """Of all that an import depends on."""
    schema = (await services.sources.ready(source)).description.fingerprint
    parts = (text, schema, services.embedder.fingerprint, services.tenant_id)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


async def verified_keys(services: AskServices, source: str) -> set[str]:
    """The keys of the verified plans that the cache holds."""
    found = await services.plans.list_plans(services.tenant_id, source=source, status=PlanStatus.VERIFIED)
    return {stored.plan.key_text for stored in found}
