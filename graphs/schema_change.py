"""Plans follow a source whose schema changes: those that use what is gone are retired, all others live on."""

from collections.abc import Sequence
from contextlib import suppress

from qkva.contracts.cache import Candidate
from qkva.contracts.errors import SourceError
from qkva.nodes.runtime import SourceBook
from qkva.stores.database import Database
from qkva.stores.plans import PostgresPlanStore


class FollowingPlanStore(PostgresPlanStore):
    """The plan cache, which looks at a tenant's plans once for each schema that it meets."""

    def __init__(self, database: Database, sources: SourceBook, *, mirror_bytes: int, max_exemplars: int) -> None:
        super().__init__(database, mirror_bytes=mirror_bytes, max_exemplars=max_exemplars)
        self._sources = sources
        self._followed: set[tuple[str, str, str]] = set()

    async def find_candidates(
        self,
        tenant_id: str,
        *,
        source: str,
        masked: str,
        embedding: Sequence[float],
        embedder: str,
        schema_fingerprint: str,
        top_k: int,
    ) -> list[Candidate]:
        """As before, after plans of an older schema have been looked at."""
        seen = (tenant_id, source, schema_fingerprint)
        if seen not in self._followed:
            with suppress(SourceError):  # whoever asks it next says so; here the plans of the known schema are enough
                await self._follow(tenant_id, source, schema_fingerprint)
                self._followed.add(seen)
        return await super().find_candidates(
            tenant_id,
            source=source,
            masked=masked,
            embedding=embedding,
            embedder=embedder,
            schema_fingerprint=schema_fingerprint,
            top_k=top_k,
        )

    async def _follow(self, tenant_id: str, source: str, schema_fingerprint: str) -> None:
        """Retire only by what the source says now: a process that has not looked for a while knows an older schema."""
        if not await self.count_stale_plans(tenant_id, source=source, schema_fingerprint=schema_fingerprint):
            return
        self._sources.forget(source)
        description = (await self._sources.ready(source)).description
        if description.fingerprint == schema_fingerprint:
            await self.follow_schema(
                tenant_id, source=source, schema_fingerprint=schema_fingerprint, known_ids=description.dependency_ids()
            )
