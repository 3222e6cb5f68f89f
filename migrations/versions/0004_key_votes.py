"""How often a planner has answered a masked question with a plan.

One odd answer would else serve its key for ever: where two plans have one masked question, the one wins that was
confirmed more often.
"""

from qkva.migrations.statements import run

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

VOTES = """
alter table qkva.plan_cache_keys add column votes integer not null default 1;
"""


def upgrade() -> None:
    run(VOTES)
