"""Each transaction leaves a note of the plans whose keys or whose being served it changed.

Processes keep a tenant's keys in memory, and read these notes at each look-up: what another process stored, retired or
deleted a moment ago has to be seen at once. Triggers write them, so no statement can forget to, not even one typed by
hand or sent by an older release.

A note bears its transaction's number and no counter: a counter would make the savers of a tenant wait for each other,
and deadlock where they come to it in different orders. Which notes are new to a reader, its last snapshot tells.

Keys that come from a plan file are marked: they are never crowded out, and go when the file lets them go.
"""

from qkva.migrations.statements import run

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

CHANGES = """
create table qkva.plan_cache_changes (
    tenant_id text not null,
    source text not null,
    xid xid8 not null default pg_current_xact_id(),
    plan_id uuid not null,
    changed_at timestamptz not null default clock_timestamp(),
    primary key (tenant_id, source, xid, plan_id)
);

alter table qkva.plan_cache_changes enable row level security;
alter table qkva.plan_cache_changes force row level security;
create policy tenant_border on qkva.plan_cache_changes
    using (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')))
    with check (tenant_id = (select nullif(current_setting('app.tenant_id', true), '')));
grant select, insert, update, delete on qkva.plan_cache_changes to qkva_rw;
"""

# A deleted plan takes its keys along, and their trigger notes it. Hits are counted without a note.
TRIGGERS = """
create function qkva.note_changed_keys() returns trigger language plpgsql as $$
begin
    insert into qkva.plan_cache_changes (tenant_id, source, plan_id)
    select distinct tenant_id, source, plan_id from changed
    on conflict do nothing;
    return null;
end
$$;

create function qkva.note_changed_plan() returns trigger language plpgsql as $$
begin
    insert into qkva.plan_cache_changes (tenant_id, source, plan_id)
    values (new.tenant_id, new.source, new.id)
    on conflict do nothing;
    return null;
end
$$;

create trigger note_new_keys after insert on qkva.plan_cache_keys
    referencing new table as changed for each statement execute function qkva.note_changed_keys();
create trigger note_altered_keys after update on qkva.plan_cache_keys
    referencing new table as changed for each statement execute function qkva.note_changed_keys();
create trigger note_deleted_keys after delete on qkva.plan_cache_keys
    referencing old table as changed for each statement execute function qkva.note_changed_keys();
create trigger note_altered_plan after update on qkva.plan_cache_entries
    for each row when (
        (old.status, old.schema_fingerprint, old.expires_at)
            is distinct from (new.status, new.schema_fingerprint, new.expires_at)
    )
    execute function qkva.note_changed_plan();
"""


def upgrade() -> None:
    run("alter table qkva.plan_cache_keys add column from_file boolean not null default false")
    run(CHANGES)
    run(TRIGGERS)
