-- Known ways around a read-only guard, one per line: each has to be refused before it reaches the database.
-- writing
delete from orders
insert into orders select * from orders
update orders set total = 0
merge into orders o using customers c on c.id = o.id when matched then delete
truncate orders
drop table orders
create table x as select * from orders
alter table orders add x int
grant all on orders to public
with d as (delete from orders returning *) select * from d
with d as (update orders set total = 1 returning *) select * from d
with d as (insert into orders (id) values (1) returning *) select * from d
select * from (delete from orders returning *) d
select * into x from orders
create temp table x (a int)
select * from orders for update
select * from orders for no key update
select * from orders for share
select * from (select * from orders for update) q
-- several statements
commit; delete from orders; select 1
select 1; select 2
select 1; drop table orders
rollback; delete from orders
begin
-- other statements
explain analyze delete from orders
explain select * from orders
set transaction read write
set statement_timeout = 0
reset all
show all
listen x
notify x
vacuum
analyze orders
copy (select 1) to program 'touch /tmp/x'
copy orders to stdout
do $$ begin delete from orders; end $$
call something()
execute plan_1
prepare p as select 1
values (1)
lock table orders
-- files, large objects, other servers
select pg_read_file('/etc/passwd')
select * from pg_read_file('/etc/passwd') as f(line)
select pg_read_binary_file('/etc/passwd')
select * from pg_ls_dir('.')
select lo_import('/etc/hostname')
select lo_create(0)
select lo_export(1, '/tmp/x')
select dblink_exec('dbname=app', 'delete from orders')
select * from dblink('dbname=app', 'select 1') as t(a int)
-- settings and session
select set_config('statement_timeout', '0', false)
select set_config('transaction_read_only', 'off', true)
select set_config('app.tenant_id', 'x', true) from orders
select current_setting('data_directory')
select current_user
select session_user
select user
select current_role
select current_database()
select version()
select inet_server_addr()
-- waiting, locks, signals, sequences
select pg_sleep(600)
select id from orders order by pg_sleep(1)
select id from orders where pg_sleep(1) is null
select id from orders group by id having pg_sleep(1) is null
select id from orders limit (select 1 from (select pg_sleep(1)) x)
select case when pg_sleep(1) is null then 1 end
select coalesce(1, pg_sleep(1)::text::int)
select count(*) filter (where pg_sleep(1) is null) from orders
select sum(total) over (order by pg_sleep(1)) from orders
select * from orders, lateral pg_sleep(1)
select * from orders join customers on pg_sleep(1) is null
select id from orders where total > all (select pg_sleep(1)::text::int)
select pg_advisory_lock(1)
select pg_try_advisory_xact_lock(1)
select pg_notify('x', 'y')
select pg_logical_emit_message(true, 'a', 'b')
select setseed(0.5)
select pg_terminate_backend(1)
select pg_cancel_backend(1)
select pg_switch_wal()
select pg_reload_conf()
select nextval('s')
select setval('s', 1)
select currval('s')
select lastval()
select txid_current()
-- SQL inside a text
select query_to_xml('select * from oauth_tokens', true, true, '')
select table_to_xml('secrets', true, true, '')
select database_to_xml(true, true, '')
select cursor_to_xml('c', 1, true, true, '')
select * from xmltable('/a' passing '<a/>' columns b text)
select ts_stat('select token from secrets')
select ts_rewrite('a'::tsquery, 'select token, token from secrets')
-- names in disguise
select U&"pg\005fsleep"(0.1)
select u&"pg\005fsleep"(0.1)
select "pg_sleep"(1)
select PG_SLEEP(1)
select pg_catalog.pg_sleep(1)
select public.pg_sleep(1)
select "pg_catalog"."pg_sleep"(1)
select * from pg_catalog.pg_sleep(1)
select pg_sleep /* */ (1)
select 1 operator(pg_catalog.+) 2
-- catalogs and tables that were not described
select * from pg_stat_activity
select * from pg_roles
select * from pg_shadow
select * from pg_user
select * from pg_catalog.pg_class
select * from information_schema.tables
select relname from pg_class
select * from oauth_tokens
select * from secrets
select * from app.public.orders
select id from orders where id in (select oid from pg_authid)
select id from orders union select oid from pg_authid
with pg_authid as (select * from pg_authid) select * from pg_authid
select * from pg_authid, (with pg_authid as (select 1) select * from pg_authid) x
with a as (select * from b), b as (select 1) select * from a
with c as (select 1) select * from public.c
table pg_authid
with t as (table pg_authid) select * from t
-- types that look things up
select 'pg_authid'::regclass
select regclass 'pg_authid'
select cast('pg_sleep' as regproc)
select cast('pg_authid' as pg_catalog.regclass)
select 16384::regclass::text from orders
select case when true then 'pg_authid'::regclass end
select 1 where true and 'pg_authid'::regclass is not null
select * from json_to_recordset('[]') as x(a regclass)
select 'postgres'::regrole
select to_regclass('pg_authid')
select pg_typeof(1)
select pg_relation_size('orders')
select has_table_privilege('orders', 'select')
select obj_description(1)
-- no SQL at all
The given tables do not answer this question.
select 1 /* unclosed
select 'unclosed
select from where
)
;
-- work without end
select repeat('x', 1000000000)
-- functions called like columns
select f.pg_read_file from unnest(array['/etc/hostname']) f
select pg_read_file.pg_read_file from unnest(array['/etc/hostname']) as pg_read_file(x)
select f.pg_sleep from (select 1) y, unnest(array[0.1::float8]) f
select ('/etc/hostname'::text).pg_read_file
select (x.a).pg_read_file from (select '/etc/hostname'::text as a) x
select (unnest(array['data_directory'])).current_setting
select x.canary from (select 1) x
select x.canary from (select 1 as canary) x(a)
select (x).canary from (select 1) x
select x.canary from (values (1)) x
with x as (select 1) select x.canary from x
with x(a) as (select 1 as canary) select x.canary from x
select o.canary from orders o, (select 1 as canary) o2
select (select f.pg_sleep from (select 1) z) from unnest(array[1.0::float8]) f
select (select 1 from (select f.pg_sleep from (select 1) z) y, (select 1 as pg_sleep) f) from unnest(array[1.0::float8]) f
select (orders.*).canary from orders
select orders.row_to_json from orders
select public.orders.canary from orders
select o.id from orders o join customers c on f.pg_sleep is null
select x.canary from rows from (generate_series(1, 2)) as x
select u.lexeme.canary from unnest(to_tsvector('a')) u
select id from (orders join customers on true) as j
-- numbers that are none
select 1_000
select 10 as a, 2b
-- more of each kind
select f.pg_sleep from lateral (values (1.0::float8)) f
select f.pg_sleep from (values (1.0::float8)) f(x)
select x.pg_sleep from (select 1.0::float8) x
select g.pg_sleep from generate_series(1,2) g(a)
select g.pg_sleep from generate_series(1,2) as g, (select 1 as pg_sleep) h
select g.pg_sleep from orders o, lateral generate_series(1,2) g
select (select g.pg_sleep) from generate_series(1.0::float8, 2.0) g
select (select g.pg_sleep from (select 1 as pg_sleep) g2) from unnest(array[1.0::float8]) g
select (select max(g.pg_sleep) from (select 1 as pg_sleep) x, lateral (select 1) g) from unnest(array[1.0::float8]) g
select x.a from (select g.pg_sleep as a from unnest(array[1.0::float8]) g) x
select o.id from orders o, unnest(array[1.0::float8]) g where g.pg_sleep is null
select o.id from orders o join unnest(array[1.0::float8]) g on g.pg_sleep is null
select g.* from unnest(array[1.0::float8]) g order by g.pg_sleep
select lower(g.pg_read_file) from unnest(array['/etc/passwd']) g
select (array['/etc/passwd'])[1].pg_read_file
select ((array['/etc/passwd'])[1]).pg_read_file
select (lower('/ETC/PASSWD')).pg_read_file
select (select 'a'::text).pg_read_file
select ((select '/etc/passwd')).pg_read_file
select (case when true then '/etc/passwd' end).pg_read_file
select (g).pg_sleep from unnest(array[1.0::float8]) g
select (g.g).pg_sleep from unnest(array[1.0::float8]) g
select ("g").pg_sleep from unnest(array[1.0::float8]) "g"
select (o.id).pg_sleep from orders o
select (orders).pg_typeof from orders
select ((orders).id).pg_sleep from orders
select (row(1)).pg_typeof
select (1).pg_sleep, 2
select '1'::float8.pg_sleep
select 1 from orders where (total).pg_sleep is null
select (placed_at).version from orders
select o.total.pg_sleep from orders o
select public.orders.total.pg_sleep from orders
select shop.public.orders.total from orders
select 'a'::regtype, 'b'::regnamespace
select 'x'::oid, 'a'::xml, 'b'::pg_lsn, 'c'::txid_snapshot
select cast('secrets' as "regclass")
select x::regclass from (select 'secrets' as x) y
select '{secrets}'::regclass[]
select array['secrets']::regclass[]
select (null::secrets).token
select null::pg_authid
select json_populate_record(null::orders, '{}')
select * from jsonb_to_record('{}') as x(a secrets)
select * from orders for share of orders skip locked
select pg_catalog.count(*) from orders
select "pg_catalog".now()
select count(*) over (), nextval('x') from orders
select xmlparse(document '<a/>')
select xmlserialize(content '<a/>' as text)
select * from orders where current of c
select grouping(pg_sleep(1))
select any(select pg_sleep(1))
select all(array[pg_sleep(1)])
select interval (pg_sleep(1))
select timestamp at time zone pg_sleep(1)
select extract(epoch from pg_sleep(1))
select position(pg_sleep(1) in 'a')
select trim(pg_sleep(1) from 'a')
select overlay('a' placing pg_sleep(1) from 1)
select substring('a' from pg_sleep(1))
select 'a' like 'b' escape pg_sleep(1)
select 'a' similar to pg_sleep(1)::text
select (1, pg_sleep(1)) = (1, 2)
select array[pg_sleep(1)], array[[pg_sleep(1)]]
select x[pg_sleep(1)] from (select array[1] as x) y
select '{}'::jsonb -> pg_sleep(1)::text
select json_object('a': pg_sleep(1))
select json_array(pg_sleep(1))
select json_value('{}', '$' default pg_sleep(1) on empty)
select json_exists('{}', '$' passing pg_sleep(1) as x)
select * from json_table('{}', '$' passing pg_sleep(1) as x columns (a int path '$'))
select count(*) filter (where pg_sleep(1) is null) over () from orders
select first_value(pg_sleep(1)) over () from orders
select sum(1) over (rows between pg_sleep(1)::int preceding and current row) from orders
select sum(1) over w from orders window w as (order by pg_sleep(1))
select percentile_cont(0.5) within group (order by pg_sleep(1)) from orders
select string_agg('a', 'b' order by pg_sleep(1)) from orders
select id from orders tablesample bernoulli (pg_sleep(1))
select id from orders tablesample system (1) repeatable (pg_sleep(1))
select id from orders limit pg_sleep(1)::int
select id from orders offset pg_sleep(1)::int
select id from orders fetch first (pg_sleep(1)::int) rows only
select id from orders group by cube (pg_sleep(1), id)
with x as (select 1) select * from x where pg_sleep(1) is null
select * from rows from (pg_sleep(1)) x
select * from rows from (generate_series(1,2), pg_sleep(1)) x
select * from pg_sleep(1) with ordinality
select * from lateral pg_sleep(1) x
select * from orders, pg_sleep(1)
select * from orders natural join pg_sleep(1)
select make_interval(days => pg_sleep(1)::int)
select pg_sleep(seconds => 1)
select pg_sleep (variadic array[1])
select PG_SLEEP/**/(1)
select ƒ(1)
select pg＿sleep(1)
select operator(pg_catalog.pg_sleep)
select 1 = any(select pg_sleep(1)::text::int)
select not pg_sleep(1) is null
select exists(select pg_sleep(1))
select (table pg_authid)
select * from (table pg_authid) x
select id from orders where id = (table pg_class)
select * from orders o where o in (select pg_authid from pg_authid)
select * from "pg_catalog"."pg_authid"
select * from pg_authid a, orders
select * from orders left join lateral (select * from pg_authid) x on true
select 1 where 1 = 1; drop table orders; --
select * from orders; commit; begin; delete from orders
\! id
\copy orders to 'x'
select pg_sleep(1) \gexec
prepare x as select 1; execute x
select dblink_connect('x')
select loread(1, 1)
select pg_stat_file('x'), pg_read_binary_file('x')
select pg_logical_slot_get_changes('a', null, null)
select has_schema_privilege('a', 'b')
select inet_client_addr(), pg_backend_pid(), pg_postmaster_start_time(), pg_conf_load_time()
select currval('a'), pg_sequence_last_value('a'::regclass)
select pg_get_viewdef('v'), pg_get_functiondef(1), pg_get_expr(null, 0)
select txid_current(), pg_current_xact_id(), pg_export_snapshot()
select crypt('a','b'), gen_salt('bf', 31)
select query_to_json('select 1'), schema_to_xml('public', true, true, '')
