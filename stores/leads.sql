-- try_lead --
-- Take the lock of a key if it is free. The key is written as JSON, so that no two keys make one text.
select pg_try_advisory_lock(
    hashtextextended(jsonb_build_array(%(tenant_id)s::text, %(source)s::text, %(masked)s::text)::text, 0)
) as done

-- release_lead --
-- Give the lock of a key back.
select pg_advisory_unlock(
    hashtextextended(jsonb_build_array(%(tenant_id)s::text, %(source)s::text, %(masked)s::text)::text, 0)
) as done
