"""A label keeps what the judge had thought of the pair, and a plan how many of its hits the judge let through.

So the judge is calibrated like the hit decision itself, and its share of all hits is known.
"""

from qkva.migrations.statements import run

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

LABELS = """
alter table qkva.plan_cache_labels
    add column judge real check (judge between 0 and 1),
    add column judged_by text not null default '';
"""

ENTRIES = """
alter table qkva.plan_cache_entries add column judged_hits bigint not null default 0;
"""


def upgrade() -> None:
    run(LABELS)
    run(ENTRIES)
