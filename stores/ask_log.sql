-- add_entry --
-- Keep one question.
insert into qkva.ask_log (
    tenant_id, expires_at, user_id, thread_id, status, cache, strategy, source, plan_id, plan_status, plan_is_new,
    param_types, doors, also, model_calls, tokens, row_count, truncated, execute_ms, total_ms, question, masked,
    param_values
)
values (
    %(tenant_id)s, clock_timestamp() + %(retention_days)s::float8 * interval '1 day', %(user)s, %(thread_id)s,
    %(status)s, %(cache)s, %(strategy)s, %(source)s, %(plan_id)s, %(plan_status)s, %(plan_is_new)s, %(param_types)s,
    %(doors)s, %(also)s, %(model_calls)s, %(tokens)s, %(row_count)s, %(truncated)s, %(execute_ms)s, %(total_ms)s,
    %(question)s, %(masked)s, %(param_values)s
)

-- forget_old_entries --
-- Delete what is over, of every tenant: the policies of the table let nothing else be deleted, and a condition here
-- would need sight of the rows, which only their tenant has.
delete from qkva.ask_log

-- entries --
-- The newest questions.
select user_id as "user", thread_id, status, cache, strategy, source, plan_id::text, plan_status, plan_is_new,
    param_types, doors, also, model_calls, tokens, row_count, truncated, execute_ms, total_ms, question, masked,
    param_values
from qkva.ask_log
where tenant_id = %(tenant_id)s
order by asked_at desc, id
limit %(limit)s

-- since --
-- The beginning of the stretch, by the database's clock.
select now() - %(days)s::float8 * interval '1 day' as since

-- statuses --
-- How questions ended.
select status, count(*) as questions
from qkva.ask_log
where tenant_id = %(tenant_id)s and asked_at >= %(since)s and (%(source)s::text is null or source = %(source)s)
group by status
order by count(*) desc, status

-- outcomes --
-- What the cache had to do with it, and what models cost.
with asked as materialized (
    select id, source, cache, model_calls, tokens
    from qkva.ask_log
    where tenant_id = %(tenant_id)s and asked_at >= %(since)s and (%(source)s::text is null or source = %(source)s)
),
counted as (
    select source, cache, count(*) as questions,
        coalesce(sum((select sum(calls.value::bigint) from jsonb_each_text(model_calls) calls)), 0)::bigint as model_calls
    from asked
    group by source, cache
),
spent as (
    select source, cache, jsonb_object_agg(kind, tokens) as tokens
    from (
        select source, cache, used.key as kind, sum(used.value::bigint) as tokens
        from asked, jsonb_each_text(tokens) used
        group by source, cache, used.key
    ) by_kind
    group by source, cache
)
select c.source, c.cache, c.questions, c.model_calls, coalesce(s.tokens, '{}') as tokens
from counted c
left join spent s on s.source is not distinct from c.source and s.cache is not distinct from c.cache
order by c.source nulls last, c.questions desc, c.cache

-- sources --
-- How long sources took, slowest first.
select source, count(execute_ms) as queries,
    coalesce(percentile_cont(0.5) within group (order by execute_ms), 0) as median_ms,
    coalesce(percentile_cont(0.95) within group (order by execute_ms), 0) as p95_ms,
    count(*) filter (where status = 'source_unavailable') as unavailable
from qkva.ask_log
where tenant_id = %(tenant_id)s and asked_at >= %(since)s and (%(source)s::text is null or source = %(source)s)
    and source is not null
group by source
having count(execute_ms) > 0 or count(*) filter (where status = 'source_unavailable') > 0
order by p95_ms desc, source

-- labels --
-- What was found of plans and questions.
select source, origin, verdict, count(*) as labels
from qkva.plan_cache_labels
where tenant_id = %(tenant_id)s and created_at >= %(since)s and (%(source)s::text is null or source = %(source)s)
group by source, origin, verdict
order by source, origin, verdict
