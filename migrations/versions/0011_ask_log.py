"""Each question leaves one line: who asked, what was decided and why, what it cost. Text and values only where wished.

The log can only grow: the application may add lines and read its tenant's, and delete nothing but lines whose time is
over. Those it may delete of every tenant, since a tenant that asks nothing any more would keep its lines for ever; a
`delete` needs no sight of the rows, and the second policy leaves it nothing else to delete.
"""

from qkva.migrations.statements import run

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

LOG = """
create table qkva.ask_log (
    tenant_id text not null,
    id uuid not null default gen_random_uuid(),
    asked_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null,
    user_id text,
    thread_id text,
    status text not null,
    cache text,
    strategy text,
    source text,
    plan_id uuid,
    plan_status text,
    plan_is_new boolean not null,
    param_types jsonb not null,
    doors jsonb not null,
    also jsonb not null,
    model_calls jsonb not null,
    tokens jsonb not null,
    row_count integer,
    truncated boolean,
    execute_ms double precision,
    total_ms double precision not null,
    question text,
    masked text,
    param_values jsonb,
    primary key (tenant_id, id)
);

create index ask_log_asked on qkva.ask_log (tenant_id, asked_at);
"""

BORDER = """
alter table qkva.ask_log enable row level security;
alter table qkva.ask_log force row level security;
create policy tenant_border on qkva.ask_log
    using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')))
    with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')));
create policy over_for_all on qkva.ask_log for delete using (expires_at < now());
create policy over_only on qkva.ask_log as restrictive for delete using (expires_at < now());
grant select, insert, delete on qkva.ask_log to qkva_rw;
"""


def upgrade() -> None:
    run(LOG)
    run(BORDER)
