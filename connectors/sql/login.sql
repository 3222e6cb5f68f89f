-- login_rights --
-- Whatever lets the login do more than read; the first few of a kind are enough to name.
select
    current_user::text as login,
    r.rolsuper as superuser,
    array(
        select attribute from (values
            (r.rolcreaterole, 'create roles'), (r.rolcreatedb, 'create databases'), (r.rolreplication, 'replicate'),
            (r.rolbypassrls, 'pass row-level security by'),
            (has_database_privilege(current_database(), 'create'), 'create schemas')
        ) as held(is_held, attribute)
        where is_held
    ) as attributes,
    array(
        select m.rolname::text from pg_roles m
        where m.rolname in (
                'pg_write_all_data', 'pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files',
                'pg_signal_backend', 'pg_maintain', 'pg_create_subscription'
            )
            and pg_has_role(m.oid, 'member')
        order by 1
    ) as roles,
    array(
        select format('%s.%s', n.nspname, c.relname)
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p', 'f', 'v', 'm')
            and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\_t%'
            and (
                has_table_privilege(c.oid, 'insert, update, delete, truncate')
                or has_any_column_privilege(c.oid, 'insert, update')
                or pg_has_role(c.relowner, 'member')
            )
        order by 1
        limit 4
    ) as writable,
    array(
        select n.nspname::text
        from pg_namespace n
        where n.nspname not like 'pg\_t%' and has_schema_privilege(n.oid, 'create')
        order by 1
        limit 4
    ) as creatable,
    array(
        select p.proname::text
        from pg_proc p
        join pg_namespace n on n.oid = p.pronamespace and n.nspname = 'pg_catalog'
        where p.proname in ('set_config', 'pg_sleep', 'pg_notify', 'lo_create', 'query_to_xml', 'pg_advisory_lock')
            and has_function_privilege(p.oid, 'execute')
        group by 1
        order by 1
    ) as functions
from pg_roles r
where r.rolname = current_user

-- role_begin --
-- Read access for qkva's source {source}, as its options in qkva.toml bound it.
-- Run it in the database {database}, with psql -v ON_ERROR_STOP=1 -f FILE, as a superuser. Where there is none, an owner
-- may run it: revoking PostgreSQL's own functions then only warns, and qkva's other layers hold without that.
-- It may be run again after tables or options have changed. Give the login its password by \password {role}
begin;

do $do$ begin
    if not exists (select from pg_roles where rolname = {role_text}) then
        create role {role} login;
    end if;
    if not exists (select from pg_roles where rolname = {others_text}) then
        create role {others} nologin;
    end if;
end $do$;
alter role {role} noinherit connection limit {connections};
alter role {role} set default_transaction_read_only = on;
alter role {role} set statement_timeout = '60s';
alter role {role} set lock_timeout = '10s';
alter role {role} set idle_in_transaction_session_timeout = '60s';
alter role {role} set search_path = {path};

-- What everybody may do, but this login may not, stays with all other roles: they are members of {others}.
-- Roles that are made later are not: grant {others} to them.
do $do$
declare
    member record;
begin
    for member in
        select rolname from pg_roles
        where not rolsuper and rolname !~ '^pg_' and rolname not in ({role_text}, {others_text})
    loop
        execute format('grant {others} to %I', member.rolname);
    end loop;
end $do$;
grant connect on database {database} to {role};
grant temporary on database {database} to {others};
revoke temporary, create on database {database} from public, {role};

-- role_schema --
revoke create on schema {schema} from public, {role};
revoke all on all tables in schema {schema} from {role};
revoke all on all sequences in schema {schema} from {role};
grant usage on schema {schema} to {role};

-- role_functions --
-- Every function is revoked that qkva's queries do not call, above all set_config, pg_sleep and those that run a query
-- from a text. Kept are the functions behind operators, casts and indexes, those that the views and policies of this
-- database call, and those by which qkva reads the structure.
do $do$
declare
    called record;
    used text := (
        select coalesce(string_agg(definition, ' '), '') from (
            select pg_get_viewdef(c.oid) as definition from pg_class c
            where c.relkind in ('v', 'm') and has_table_privilege({role_text}, c.oid, 'select')
                and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
            union all
            select coalesce(pg_get_expr(polqual, polrelid), '') from pg_policy
        ) as definitions
    );
begin
    for called in
        select p.oid::regprocedure as signature
        from pg_proc p
        where p.proname <> all ({allowed}::text[])
            and exists (
                select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as held
                where held.grantee in (0, {role_text}::regrole) and held.privilege_type = 'EXECUTE'
            )
            and 'internal'::regtype <> all (p.proargtypes)
            and 'cstring'::regtype <> all (p.proargtypes)
            and p.prorettype not in ('internal'::regtype, 'trigger'::regtype, 'cstring'::regtype)
            and not exists (select from pg_operator where oprcode = p.oid)
            and not exists (select from pg_cast where castfunc = p.oid)
            and not exists (select from pg_amproc where amproc = p.oid)
            and used !~ ('\m' || p.proname || '\M')
    loop
        if has_function_privilege('public', called.signature, 'execute') then
            execute format('grant execute on routine %s to {others}', called.signature);
        end if;
        execute format('revoke execute on routine %s from public, {role}', called.signature);
    end loop;
end $do$;

commit;
