-- open_mirror --
-- The moment from which on a mirror follows the changes, and how many keys it will hold.
-- A snapshot means something on one server and for one life of the table: `generation` tells those apart.
select now() as now, pg_current_snapshot()::text as snapshot,
    concat(pg_postmaster_start_time(), ' ', pg_relation_filenode('qkva.plan_cache_keys')) as generation,
    (
        select count(*)
        from qkva.plan_cache_keys
        where tenant_id = %(tenant_id)s and source = %(source)s and embedder = %(embedder)s
    ) as keys

-- read_plans --
-- Plans that may be served with all their keys, packed: a page of them after an id, or some by their ids.
select e.id as plan_id, e.schema_fingerprint, e.expires_at, packed.*
from (
    select id, schema_fingerprint, expires_at
    from qkva.plan_cache_entries
    where tenant_id = %(tenant_id)s and source = %(source)s
        and status <> 'retired' and (expires_at is null or expires_at > now())
        and (%(plan_ids)s::uuid[] is null or id = any(%(plan_ids)s::uuid[]))
        and (%(after)s::uuid is null or id > %(after)s::uuid)
    order by id
    limit %(page)s
) e
cross join lateral (
    select string_agg(uuid_send(k.id), '' order by k.id) as key_ids,
        string_agg(k.masked_hash, '' order by k.id) as masked_hashes,
        string_agg(halfvec_send(k.embedding), '' order by k.id) as vectors
    from qkva.plan_cache_keys k
    where k.tenant_id = %(tenant_id)s and k.plan_id = e.id and k.source = %(source)s and k.embedder = %(embedder)s
) packed
order by e.id

-- confirm_choice --
-- The plans and keys that a mirror chose, as they are now, best first; at least one row. `changed` names the plans that a
-- transaction which the mirror's snapshot did not see has changed: unless it is empty, the choice is not to be trusted.
-- (A note from before a restore to another server may bear a number that this server has yet to reach; it is not of now.)
with chosen_keys as materialized (
    select n.place, n.similarity, k.id, k.plan_id, k.kind, k.masked, k.roles, k.votes,
        k.masked_hash = %(masked_hash)s as exact
    from unnest(%(key_ids)s::uuid[], %(similarities)s::float8[]) with ordinality as n (id, similarity, place)
    join qkva.plan_cache_keys k on k.tenant_id = %(tenant_id)s and k.id = n.id
)
select now() as now, pg_current_snapshot()::text as snapshot,
    concat(pg_postmaster_start_time(), ' ', pg_relation_filenode('qkva.plan_cache_keys')) as generation,
    array(
        select distinct c.plan_id
        from qkva.plan_cache_changes c
        where c.tenant_id = %(tenant_id)s and c.source = %(source)s
            and c.xid >= pg_snapshot_xmin(%(snapshot)s::pg_snapshot)
            and not pg_visible_in_snapshot(c.xid, %(snapshot)s::pg_snapshot)
            and pg_visible_in_snapshot(c.xid, pg_current_snapshot())
    ) as changed,
    e.*, found.keys, found.exemplars
from (values (true)) always
left join unnest(%(plan_ids)s::uuid[]) with ordinality as chosen (plan_id, place) on true
left join qkva.plan_cache_entries e on e.tenant_id = %(tenant_id)s and e.id = chosen.plan_id
left join lateral (
    select jsonb_agg(
            jsonb_build_object(
                'id', k.id, 'kind', k.kind, 'masked', k.masked, 'roles', k.roles, 'votes', k.votes, 'exact', k.exact,
                'similarity', case when k.exact then 1 else greatest(-1, least(1, k.similarity)) end
            )
            order by k.place
        ) as keys,
        (
            select count(*)
            from qkva.plan_cache_keys x
            where x.tenant_id = %(tenant_id)s and x.plan_id = e.id and x.embedder = %(embedder)s and x.kind = 'exemplar'
        ) as exemplars
    from chosen_keys k
    where k.plan_id = e.id
) found on true
order by chosen.place
