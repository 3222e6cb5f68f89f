-- find_candidates --
-- The live plans with the nearest keys, and of each its nearest keys; only those with an equal mask if there is one.
-- This is what a mirror (mirror.sql) has to equal, and what is asked while no mirror is there: about 5 microseconds a key.
-- Measured by bench/lookup.py on two shared cores, in process (medians), beside 1 or 1,000 other tenants alike: 300 keys
-- 4.5 ms, and half of that by a mirror; 30,000 keys 170 ms, and by a mirror one fortieth of that with the local
-- embedder's 256 columns, one seventeenth with all 1536; with an equal mask among those 1.5 to 2 ms either way.
with equal_masks as materialized (
    select k.plan_id
    from qkva.plan_cache_keys k
    join qkva.plan_cache_entries e on e.tenant_id = k.tenant_id and e.id = k.plan_id
    where k.tenant_id = %(tenant_id)s and k.source = %(source)s and k.embedder = %(embedder)s
        and k.masked_hash = %(masked_hash)s
        and e.status <> 'retired' and e.schema_fingerprint = %(schema_fingerprint)s
        and (e.expires_at is null or e.expires_at > now())
),
reached as materialized (
    -- A zero vector has no angle (NaN, which would sort as the best): it counts as unrelated.
    select k.plan_id, k.id, k.masked_hash = %(masked_hash)s as exact,
        1 - coalesce(nullif(k.embedding <=> %(embedding)s::halfvec, 'NaN'), 1) as similarity
    from qkva.plan_cache_keys k
    where k.tenant_id = %(tenant_id)s and k.embedder = %(embedder)s
        and k.plan_id in (select plan_id from equal_masks)
    union all
    select k.plan_id, k.id, false, 1 - coalesce(nullif(k.embedding <=> %(embedding)s::halfvec, 'NaN'), 1)
    from qkva.plan_cache_keys k
    join qkva.plan_cache_entries e on e.tenant_id = k.tenant_id and e.id = k.plan_id
    where not exists (select from equal_masks)
        and k.tenant_id = %(tenant_id)s and k.source = %(source)s and k.embedder = %(embedder)s
        and e.status <> 'retired' and e.schema_fingerprint = %(schema_fingerprint)s
        and (e.expires_at is null or e.expires_at > now())
),
nearest_plans as materialized (
    select plan_id, bool_or(exact) as exact, max(similarity) as similarity
    from reached
    group by plan_id
    order by bool_or(exact) desc, max(similarity) desc, plan_id
    limit %(top_k)s
),
nearest_keys as materialized (
    select r.plan_id, r.id, r.exact, r.similarity,
        row_number() over (partition by r.plan_id order by r.exact desc, r.similarity desc, r.id) as place
    from reached r
    join nearest_plans using (plan_id)
)
select e.*, found.keys,
    (
        select count(*)
        from qkva.plan_cache_keys x
        where x.tenant_id = %(tenant_id)s and x.plan_id = p.plan_id and x.embedder = %(embedder)s and x.kind = 'exemplar'
    ) as exemplars
from nearest_plans p
join qkva.plan_cache_entries e on e.tenant_id = %(tenant_id)s and e.id = p.plan_id
cross join lateral (
    select jsonb_agg(
        jsonb_build_object(
            'id', k.id, 'kind', k.kind, 'masked', k.masked, 'roles', k.roles, 'votes', k.votes, 'exact', n.exact,
            'similarity', case when n.exact then 1 else greatest(-1, least(1, n.similarity)) end
        )
        order by n.place
    ) as keys
    from nearest_keys n
    join qkva.plan_cache_keys k on k.tenant_id = %(tenant_id)s and k.id = n.id
    where n.plan_id = p.plan_id and n.place <= %(keys_per_plan)s
) found
order by p.exact desc, p.similarity desc, p.plan_id

-- list_plans --
-- The plans that fit every given condition, newest first, with the exemplars that they are found by.
select e.*, asked.questions
from qkva.plan_cache_entries e
cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object('masked', k.masked, 'roles', k.roles) order by k.created_at, k.id), '[]')
        as questions
    from qkva.plan_cache_keys k
    where k.tenant_id = e.tenant_id and k.plan_id = e.id and k.kind = 'exemplar'
) asked
where e.tenant_id = %(tenant_id)s
    and (%(source)s::text is null or e.source = %(source)s)
    and (%(status)s::text is null or e.status = %(status)s)
    and (%(canonical)s::text is null or e.canonical = %(canonical)s)
    and (%(id_prefix)s::text is null or starts_with(e.id::text, %(id_prefix)s))
    and (not %(live)s or e.status <> 'retired' and (e.expires_at is null or e.expires_at > now()))
order by e.created_at desc, e.id

-- insert_plan --
-- Store a plan, unless one of the same meaning is there that is not retired.
insert into qkva.plan_cache_entries (
    tenant_id, source, source_type, dialect, strategy, key_text, query, params, status, canonical, schema_fingerprint,
    dependency_ids, model, prompt, expires_at
)
values (
    %(tenant_id)s, %(source)s, %(source_type)s, %(dialect)s, %(strategy)s, %(key_text)s, %(query)s, %(params)s, %(status)s,
    %(canonical)s, %(schema_fingerprint)s, %(dependency_ids)s::text[], %(model)s, %(prompt)s,
    now() + %(ttl_hours)s::float8 * interval '1 hour'
)
on conflict (tenant_id, source, canonical) where status <> 'retired' do nothing
returning id

-- replace_plan --
-- Put a verified plan in the place of the one of the same meaning, or any plan in the place of an expired one.
update qkva.plan_cache_entries
set source_type = %(source_type)s, dialect = %(dialect)s, strategy = %(strategy)s, key_text = %(key_text)s,
    query = %(query)s, params = %(params)s, status = %(status)s, schema_fingerprint = %(schema_fingerprint)s,
    dependency_ids = %(dependency_ids)s::text[], model = %(model)s, prompt = %(prompt)s,
    expires_at = now() + %(ttl_hours)s::float8 * interval '1 hour'
where tenant_id = %(tenant_id)s and source = %(source)s and canonical = %(canonical)s and status <> 'retired'
    and (%(status)s = 'verified' or expires_at <= now())
returning id

-- renew_plan --
-- A live plan has been found anew: it stays as it is and lives on, on the schema it was found for.
update qkva.plan_cache_entries
set schema_fingerprint = %(schema_fingerprint)s,
    expires_at = case when expires_at is null or %(ttl_hours)s::float8 is null then null
        else greatest(expires_at, now() + %(ttl_hours)s::float8 * interval '1 hour') end
where tenant_id = %(tenant_id)s and source = %(source)s and canonical = %(canonical)s and status <> 'retired'
returning id

-- drop_misfit_keys --
-- Remove the keys whose slots fill parameters that the plan no longer has.
delete from qkva.plan_cache_keys
where tenant_id = %(tenant_id)s and plan_id = %(plan_id)s
    and not array(select role from unnest(roles) as role where role not like '=%%') <@ %(param_names)s::text[]

-- lock_plan --
-- Who changes the keys of a plan waits for whoever is doing so.
select id
from qkva.plan_cache_entries
where tenant_id = %(tenant_id)s and id = %(plan_id)s
for no key update

-- add_keys --
-- Add a key that the plan does not have yet, or count that a planner has confirmed it; a file's own word counts more.
insert into qkva.plan_cache_keys (
    tenant_id, plan_id, source, embedder, kind, masked, masked_hash, roles, embedding, from_file
)
select e.tenant_id, e.id, e.source, %(embedder)s, %(kind)s, %(masked)s, %(masked_hash)s, %(roles)s::text[], %(embedding)s,
    %(from_file)s
from qkva.plan_cache_entries e
where e.tenant_id = %(tenant_id)s and e.id = %(plan_id)s
    and array(select role from unnest(%(roles)s::text[]) as role where role not like '=%%')
        <@ array(select parameter ->> 'name' from jsonb_array_elements(e.params) as parameter)
on conflict (tenant_id, plan_id, embedder, kind, masked_hash) do update
set from_file = plan_cache_keys.from_file or excluded.from_file,
    roles = case when excluded.from_file then excluded.roles else plan_cache_keys.roles end,
    votes = plan_cache_keys.votes + case when excluded.from_file then 0 else 1 end
where not excluded.from_file or not plan_cache_keys.from_file or plan_cache_keys.roles is distinct from excluded.roles
returning id, kind, xmax = 0 as is_new  -- a row that the update has met bears this transaction's lock

-- drop_unwritten_keys --
-- Remove the keys that an older reading of the plan's file brought, and that the newest does not have.
delete from qkva.plan_cache_keys
where tenant_id = %(tenant_id)s and plan_id = %(plan_id)s and from_file
    and masked_hash <> all (%(masked_hashes)s::bytea[])

-- crowded_exemplars --
-- The exemplars of a plan that has too many, the most confirmed first, then the oldest; none of a plan that has not.
select id, from_file, embedding
from (
    select id, from_file, embedding, votes, created_at, count(*) over () as exemplars
    from qkva.plan_cache_keys
    where tenant_id = %(tenant_id)s and plan_id = %(plan_id)s and embedder = %(embedder)s and kind = 'exemplar'
) mine
where exemplars > %(max_exemplars)s
order by votes desc, created_at, id

-- delete_keys --
-- Remove the exemplars that are crowded out.
delete from qkva.plan_cache_keys
where tenant_id = %(tenant_id)s and id = any(%(key_ids)s::uuid[])

-- remove_key --
-- Remove an exemplar, by whichever embedder.
delete from qkva.plan_cache_keys
where tenant_id = %(tenant_id)s and plan_id = %(plan_id)s and kind = 'exemplar' and masked_hash = %(masked_hash)s

-- forget_old_plans --
-- Delete the learned plans that expired a week ago, or that the limit leaves no place for: expired ones go first, then those
-- whose last use is longest ago, where each doubling of a plan's hits makes up for a day. The plan that is about to be saved
-- stays, for it is renewed; rows in another saver's hands are left to it.
delete from qkva.plan_cache_entries
where tenant_id = %(tenant_id)s and id in (
    select id from qkva.plan_cache_entries
    where tenant_id = %(tenant_id)s and id in (
        select id from (
            select id, expires_at, row_number() over (
                order by coalesce(expires_at <= now(), false),
                    coalesce(last_used_at, created_at) + log(2, 1 + hits)::float8 * interval '1 day' desc, id
            ) as place
            from qkva.plan_cache_entries
            where tenant_id = %(tenant_id)s and source = %(source)s and status = 'learned' and canonical <> %(canonical)s
        ) learned
        where expires_at < now() - interval '7 days' or place >= %(max_learned_plans)s
    )
    for update skip locked
)

-- forget_old_changes --
-- Delete the oldest notes of changes, a few at a time, once every mirror has either read them or is too old to be used.
with oldest as materialized (
    select xid, plan_id
    from qkva.plan_cache_changes
    where tenant_id = %(tenant_id)s and source = %(source)s
    order by xid, plan_id
    limit 200
),
outdated as materialized (
    select c.xid, c.plan_id
    from oldest o
    join qkva.plan_cache_changes c on c.tenant_id = %(tenant_id)s and c.source = %(source)s
        and c.xid = o.xid and c.plan_id = o.plan_id
    where c.changed_at < now() - interval '1 day'
    for update of c skip locked
)
delete from qkva.plan_cache_changes c
using outdated o
where c.tenant_id = %(tenant_id)s and c.source = %(source)s and c.xid = o.xid and c.plan_id = o.plan_id

-- count_stale_plans --
-- The live plans that were found for another schema and say which columns they need.
select count(*) as plans
from qkva.plan_cache_entries
where tenant_id = %(tenant_id)s and source = %(source)s and status <> 'retired'
    and schema_fingerprint <> %(schema_fingerprint)s and %(columns_listed)s = any(dependency_ids)

-- follow_schema --
-- Of those, the plans whose tables and columns are all still there live on; the others are retired.
update qkva.plan_cache_entries
set schema_fingerprint = %(schema_fingerprint)s,
    status = case when array(
        select needed from unnest(dependency_ids) as needed where needed like 'table:%%' or needed like 'column:%%'
    ) <@ %(known_ids)s::text[] then status else 'retired' end
where tenant_id = %(tenant_id)s and source = %(source)s and status <> 'retired'
    and schema_fingerprint <> %(schema_fingerprint)s and %(columns_listed)s = any(dependency_ids)
returning status

-- record_hit --
-- Count one use. Losing the last few in a crash is worth less than waiting for the disk on each hit.
with unhurried as materialized (
    select set_config('synchronous_commit', 'off', true)
)
update qkva.plan_cache_entries
set hits = hits + 1, judged_hits = judged_hits + %(judged)s::int, last_used_at = now()
from unhurried
where tenant_id = %(tenant_id)s and id = %(plan_id)s

-- retire_rivals --
-- Make room for a plan that becomes live again: one meaning has one live plan.
update qkva.plan_cache_entries rival
set status = 'retired'
from qkva.plan_cache_entries chosen
where chosen.tenant_id = %(tenant_id)s and chosen.id = %(plan_id)s
    and rival.tenant_id = chosen.tenant_id and rival.source = chosen.source and rival.canonical = chosen.canonical
    and rival.id <> chosen.id and rival.status <> 'retired'

-- set_status --
-- Verify or retire a plan; a verified one does not expire any more.
update qkva.plan_cache_entries
set status = %(status)s, expires_at = case when %(status)s = 'verified' then null else expires_at end
where tenant_id = %(tenant_id)s and id = %(plan_id)s

-- invalidate_plans_for_records --
-- Retire the learned plans that depend on any of these ids.
update qkva.plan_cache_entries
set status = 'retired'
where tenant_id = %(tenant_id)s and status = 'learned' and dependency_ids && %(dependency_ids)s::text[]

-- add_label --
-- Keep what was found of a plan and a masked question; the newest finding of the pair counts.
insert into qkva.plan_cache_labels as kept (
    tenant_id, source, plan_id, embedder, masked, key_masked, similarity, score, verdict, origin, judge, judged_by
)
select e.tenant_id, e.source, e.id, %(embedder)s, %(masked)s, %(key_masked)s, %(similarity)s, %(score)s, %(verdict)s,
    %(origin)s, %(judge)s, %(judged_by)s
from qkva.plan_cache_entries e
where e.tenant_id = %(tenant_id)s and e.id = %(plan_id)s
on conflict (tenant_id, plan_id, origin, embedder, hashtextextended(masked, 0)) do update
set key_masked = excluded.key_masked, similarity = excluded.similarity, score = excluded.score,
    verdict = excluded.verdict, created_at = excluded.created_at, judge = coalesce(excluded.judge, kept.judge),
    judged_by = case when excluded.judge is null then kept.judged_by else excluded.judged_by end

-- label_counts --
-- How many labels a source has, by what showed them and what they say.
select origin, verdict, count(*) as labels
from qkva.plan_cache_labels
where tenant_id = %(tenant_id)s and source = %(source)s and origin in ('miss', 'audit')
group by origin, verdict

-- label_scores --
-- The newest labels with what the hit decision and the judge had thought.
select score, judge, judged_by, verdict = 'same' as same, origin
from qkva.plan_cache_labels
where tenant_id = %(tenant_id)s and source = %(source)s and embedder = %(embedder)s and score is not null
order by created_at desc, id
limit %(limit)s

-- hit_counts --
-- How often the plans of a source were served, apart by whether it took the judge.
select coalesce(sum(judged_hits), 0)::bigint as judged, coalesce(sum(hits - judged_hits), 0)::bigint as other
from qkva.plan_cache_entries
where tenant_id = %(tenant_id)s and source = %(source)s

-- audit_counts --
-- How often audits found a plan right and wrong, of all its keys or of one.
select count(*) filter (where verdict = 'same') as same, count(*) filter (where verdict = 'different') as different
from qkva.plan_cache_labels
where tenant_id = %(tenant_id)s and plan_id = %(plan_id)s and origin = 'audit'
    and (%(key_masked)s::text is null or key_masked = %(key_masked)s)
