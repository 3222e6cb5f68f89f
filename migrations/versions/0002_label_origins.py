"""The cache labels itself, from misses and from audits, so a label says which and what the hit decision had thought.

A plan that expires is planned anew for the same questions day after day; the index lets the newest label of a pair
replace the one before, for a pair that counts many times would look like much evidence.
"""

from qkva.migrations.statements import run

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

LABELS = """
alter table qkva.plan_cache_labels
    add column score real,
    drop constraint plan_cache_labels_origin_check,
    add constraint plan_cache_labels_origin_check check (origin in ('miss', 'audit', 'planner', 'judge', 'person'));

-- A mask may be longer than an index takes.
create unique index plan_cache_labels_pair
    on qkva.plan_cache_labels (tenant_id, plan_id, origin, embedder, hashtextextended(masked, 0));
"""


def upgrade() -> None:
    run(LABELS)
