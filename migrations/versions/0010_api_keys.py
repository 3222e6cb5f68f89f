"""Callers of the server show API keys, of which only a hash is kept, and have a budget of calls each minute.

`key_demands` has one row, of the tenant '*' that no caller can have, once a first key has been created: it tells a
server that it may serve nobody without one, and no row of any tenant has to be seen for that. It is never deleted,
since revoking the last key must not open a server.
"""

from qkva.migrations.statements import run

revision = "0010"
down_revision = "0005"
branch_labels = None
depends_on = None

KEYS = """
create table qkva.api_keys (
    tenant_id text not null check (tenant_id <> '*'),
    id text not null,
    user_id text not null,
    name text not null,
    secret_hash bytea not null,
    may_review boolean not null,
    per_minute integer check (per_minute >= 0),
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    primary key (tenant_id, id)
);
"""

DEMANDS = """
create table qkva.key_demands (
    tenant_id text primary key check (tenant_id = '*'),
    since timestamptz not null default now()
);
"""

# One bucket for a key or a user: full at a minute's calls, and filled up evenly.
BUDGETS = """
create table qkva.call_budgets (
    tenant_id text not null,
    caller text not null,
    calls_left double precision not null,
    filled_at timestamptz not null,
    primary key (tenant_id, caller)
) with (fillfactor = 50);
"""

BORDER = """
alter table qkva.{table} enable row level security;
alter table qkva.{table} force row level security;
create policy tenant_border on qkva.{table}
    using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')))
    with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')));
grant {rights} on qkva.{table} to qkva_rw;
"""

RIGHTS = {
    "api_keys": "select, insert, update",
    "key_demands": "select, insert",
    "call_budgets": "select, insert, update, delete",
}


def upgrade() -> None:
    for tables in (KEYS, DEMANDS, BUDGETS):
        run(tables)
    for table, rights in RIGHTS.items():
        run(BORDER.replace("{table}", table).replace("{rights}", rights))
