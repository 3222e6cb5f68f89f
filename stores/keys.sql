-- demand_keys --
-- From now on nobody is served without a key (as tenant '*').
insert into qkva.key_demands (tenant_id) values ('*')
on conflict do nothing

-- demanded --
-- Whether a key has ever been created (as tenant '*').
select exists (select from qkva.key_demands where tenant_id = '*') as demanded

-- create_key --
-- Keep a key by the hash of its secret.
insert into qkva.api_keys (tenant_id, id, user_id, name, secret_hash, may_review, per_minute, created_at, expires_at)
values (
    %(tenant_id)s, %(id)s, %(user)s, %(name)s, %(secret_hash)s, %(may_review)s, %(per_minute)s, %(created_at)s,
    %(expires_at)s
)

-- list_keys --
-- All keys of the tenant, newest first.
select id, tenant_id, user_id as "user", name, may_review, per_minute, created_at, expires_at, revoked_at, last_used_at
from qkva.api_keys
where tenant_id = %(tenant_id)s
order by created_at desc, id

-- end_key --
-- Revoke a key at once, or let it expire in a while; one that is over stays so.
update qkva.api_keys
set revoked_at = case when %(after_minutes)s::float8 is null then now() else revoked_at end,
    expires_at = case
        when %(after_minutes)s::float8 is null then expires_at
        else least(expires_at, now() + %(after_minutes)s::float8 * interval '1 minute')
    end
where tenant_id = %(tenant_id)s and id = %(id)s
    and revoked_at is null and (expires_at is null or expires_at > now())

-- use_key --
-- Who shows this key, and one call of its budget; a row without `counted` has used it up. The hashes of random secrets
-- may be compared in any time: what leaks of a hash leads to no secret.
with unhurried as materialized (
    select set_config('synchronous_commit', 'off', true)
),
key as materialized (
    select user_id, may_review, coalesce(per_minute, %(per_minute)s::integer) as per_minute
    from qkva.api_keys, unhurried
    where tenant_id = %(tenant_id)s and id = %(id)s and secret_hash = %(secret_hash)s
        and revoked_at is null and (expires_at is null or expires_at > now())
),
used as (
    update qkva.api_keys
    set last_used_at = now()
    where tenant_id = %(tenant_id)s and id = %(id)s and exists (select from key)
        and (last_used_at is null or last_used_at < now() - interval '1 minute')
),
counted as (
    insert into qkva.call_budgets as b (tenant_id, caller, calls_left, filled_at)
    select %(tenant_id)s, %(caller)s, key.per_minute - 1, clock_timestamp() from key where key.per_minute > 0
    on conflict (tenant_id, caller) do update
    set calls_left = least(
            excluded.calls_left + 1,
            b.calls_left + greatest(0, extract(epoch from excluded.filled_at - b.filled_at))
                * (excluded.calls_left + 1) / 60
        ) - 1,
        filled_at = excluded.filled_at
    where least(
            excluded.calls_left + 1,
            b.calls_left + greatest(0, extract(epoch from excluded.filled_at - b.filled_at))
                * (excluded.calls_left + 1) / 60
        ) >= 1
    returning 1
)
select user_id as "user", may_review, per_minute, per_minute = 0 or exists (select from counted) as counted
from key

-- count_call --
-- One call of a caller's budget; no row if it is used up.
insert into qkva.call_budgets as b (tenant_id, caller, calls_left, filled_at)
values (%(tenant_id)s, %(caller)s, %(per_minute)s::integer - 1, clock_timestamp())
on conflict (tenant_id, caller) do update
set calls_left = least(
        excluded.calls_left + 1,
        b.calls_left + greatest(0, extract(epoch from excluded.filled_at - b.filled_at))
            * (excluded.calls_left + 1) / 60
    ) - 1,
    filled_at = excluded.filled_at
where least(
        excluded.calls_left + 1,
        b.calls_left + greatest(0, extract(epoch from excluded.filled_at - b.filled_at))
            * (excluded.calls_left + 1) / 60
    ) >= 1
returning 1 as counted
