"""Plans are kept with the keys they are found by, each tenant's behind row-level security.

A plan cache is small (hundreds to thousands of keys for a tenant and source), so keys are scanned exactly behind a
B-tree: recall 1.0 in about 1 ms, where an approximate index, asked for one tenant of many, silently finds too few rows.
"""

from qkva.migrations.statements import run

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ENTRIES = """
create table qkva.plan_cache_entries (
    tenant_id text not null,
    id uuid not null default gen_random_uuid(),
    source text not null,
    source_type text not null,
    dialect text not null,
    strategy text not null,
    key_text text not null,
    query text not null,
    params jsonb not null,
    status text not null check (status in ('learned', 'verified', 'retired')),
    canonical text not null,
    schema_fingerprint text not null,
    dependency_ids text[] not null,
    model text,
    prompt text,
    hits bigint not null default 0,
    created_at timestamptz not null default now(),
    last_used_at timestamptz,
    expires_at timestamptz,
    primary key (tenant_id, id)
) with (fillfactor = 80);

-- One live plan for one meaning; savers of the same plan meet here.
create unique index plan_cache_entries_canonical
    on qkva.plan_cache_entries (tenant_id, source, canonical) where status <> 'retired';
"""

KEYS = """
create table qkva.plan_cache_keys (
    tenant_id text not null,
    id uuid not null default gen_random_uuid(),
    plan_id uuid not null,
    source text not null,
    embedder text not null,
    kind text not null check (kind in ('intent', 'exemplar')),
    masked text not null,
    masked_hash bytea not null,
    roles text[] not null,
    embedding halfvec(1536) not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, id),
    unique (tenant_id, plan_id, embedder, kind, masked_hash),
    foreign key (tenant_id, plan_id) references qkva.plan_cache_entries on delete cascade
);

-- Its whole width finds equal masks, its first three columns bound the exact scan.
create index plan_cache_keys_lookup on qkva.plan_cache_keys (tenant_id, source, embedder, masked_hash);
"""

# A label outlives its plan: what it says of two texts stays true, and is what the hit decision is calibrated with.
LABELS = """
create table qkva.plan_cache_labels (
    tenant_id text not null,
    id uuid not null default gen_random_uuid(),
    source text not null,
    plan_id uuid not null,
    embedder text not null,
    masked text not null,
    key_masked text not null,
    similarity real not null,
    verdict text not null check (verdict in ('same', 'different')),
    origin text not null check (origin in ('planner', 'judge', 'person')),
    created_at timestamptz not null default now(),
    primary key (tenant_id, id)
);

create index plan_cache_labels_source on qkva.plan_cache_labels (tenant_id, source, created_at);
"""

# The setting reads '' once a transaction that had set it is over; (select …) is evaluated once for a statement.
BORDER = """
alter table qkva.{table} enable row level security;
alter table qkva.{table} force row level security;
create policy tenant_border on qkva.{table}
    using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')))
    with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')));
grant select, insert, update, delete on qkva.{table} to qkva_rw;
"""


def upgrade() -> None:
    for tables in (ENTRIES, KEYS, LABELS):
        run(tables)
    for table in ("plan_cache_entries", "plan_cache_keys", "plan_cache_labels"):
        run(BORDER.replace("{table}", table))
    run("grant usage on schema qkva to qkva_rw")
