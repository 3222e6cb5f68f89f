"""What the product's nodes need, with a database that lives as long as the run, and no model but a judge."""

import asyncio
import random
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from qkva.contracts.models import ChatModels
from qkva.contracts.source import Connector, SourceDescription
from qkva.contracts.state import AskContext
from qkva.evals.questions import SOURCE
from qkva.models.embeddings import LocalEmbedder
from qkva.nodes.confidences import Confidences
from qkva.nodes.runtime import AskRuntime, AskServices, AskSettings, CallMeter, ReadySource
from qkva.planning.decision.verifier import Verifier, shipped_verifier
from qkva.planning.masking.value_index import ValueIndex
from qkva.stores.cluster import SUPERUSER
from qkva.stores.database import Database
from qkva.stores.embedded import APP_LOGIN, start_embedded
from qkva.stores.migrate import migrate
from qkva.stores.plans import PostgresPlanStore

TENANT = "bench"
AUDIT_SHARE = 0.05
"""As PLAN_CACHE_AUDIT_SHARE has it by default."""
CLOCK = datetime(2026, 5, 13, 15, 30, tzinfo=UTC)
"""The file's questions have no date; one clock makes every run the same."""


class DescribedSource:
    """The bench's one source: described once, and never queried by a node."""

    def __init__(self, description: SourceDescription) -> None:
        # No node that looks up, fills or stores asks the connector for anything.
        self._connector = cast(Connector, None)
        self._ready = ReadySource(
            name=SOURCE, connector=self._connector, description=description, values=ValueIndex.build(description)
        )

    @property
    def connectors(self) -> Mapping[str, Connector]:
        """By name."""
        return {SOURCE: self._connector}

    def forget(self, name: str) -> None:
        """Nothing changes during a run."""

    async def renewed(self, name: str) -> ReadySource:
        """The same: nothing comes in."""
        return await self.ready(name)

    async def ready(self, name: str) -> ReadySource:
        """The source."""
        return self._ready


@asynccontextmanager
async def open_runtime(
    folder: Path,
    description: SourceDescription,
    chat: ChatModels | None = None,
    *,
    verifier: Verifier | None = None,
    seed: int = 0,
) -> AsyncIterator[AskRuntime]:
    """The runtime of the product's nodes over a fresh plan cache. Raises StoreUnavailable."""
    async with temporary_database(folder) as database:
        embedder = LocalEmbedder()
        await embedder.embed(["load the model"])
        services = AskServices(
            tenant_id=TENANT,
            settings=AskSettings(audit_share=AUDIT_SHARE),
            plans=PostgresPlanStore(database),
            sources=await asyncio.to_thread(DescribedSource, description),
            embedder=embedder,
            chat=chat,
            confidences=Confidences(verifier=verifier or shipped_verifier(), chance=random.Random(seed).random),
        )
        yield AskRuntime(
            services=services, context=AskContext(), tenant_id=TENANT, now=CLOCK, meter=CallMeter(budget=0)
        )


@asynccontextmanager
async def temporary_database(folder: Path) -> AsyncIterator[Database]:
    """A migrated database of its own on the embedded server in `folder`, dropped afterwards."""
    server = await asyncio.to_thread(start_embedded, folder)
    name = f"bench_{uuid.uuid4().hex[:12]}"
    try:
        await asyncio.to_thread(server.create_database, name)
        try:
            await asyncio.to_thread(migrate, server.url_for(name, SUPERUSER))
            database = await Database.open(server.url_for(name, APP_LOGIN))
            try:
                yield database
            finally:
                await database.close()
        finally:
            await asyncio.to_thread(server.drop_database, name)
    finally:
        await asyncio.to_thread(server.close)
