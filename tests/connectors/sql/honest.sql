-- Questions that people ask of a shop. One query per line; each has to pass the guard, run, and give what PostgreSQL gives for the same text.
select count(*) from orders
select count(*) as orders, sum(total) as revenue, avg(total) as average, min(total), max(total) from orders
select id, total from orders order by total desc limit 5
select * from customers order by id
select c.*, o.total from customers c join orders o on o.customer_id = c.id order by o.id limit 7
select name, email from customers where country = 'Germany' order by name
select country, count(*) from customers group by country having count(*) > 1 order by country
select c.name, sum(o.total) as revenue from customers c join orders o on o.customer_id = c.id group by c.id, c.name order by revenue desc
select c.name, count(o.id) from customers as c left outer join orders as o on o.customer_id = c.id and o.status = 'cancelled' group by c.name order by 2 desc, 1
select status, count(*) from orders group by status order by status
select status::text, round(avg(total), 2) from orders group by 1 order by 1
select * from orders where status = 'paid'::order_status order by id
select date_trunc('month', placed_at) as month, sum(total) from orders group by 1 order by 1
select date_trunc('week', placed_at)::date as week, count(*) from orders group by week order by week
select extract(year from placed_at) as y, extract(month from placed_at) as m, count(*) from orders group by y, m order by y, m
select to_char(placed_at, 'YYYY-MM') as month, count(*) from orders group by 1 order by 1
select date_part('dow', placed_at) as weekday, count(*) from orders group by 1 order by 1
select id, age(timestamptz '2026-06-15 12:00+00', placed_at) from orders order by id limit 3
select count(*) from orders where placed_at >= date '2026-06-01' and placed_at < date '2026-06-01' + interval '1 month'
select count(*) from orders where placed_at between '2026-05-01' and '2026-05-31'
select count(*) from orders where placed_at > timestamptz '2026-06-15 00:00+00' - interval '7 days'
select id from orders where placed_at at time zone 'Europe/Berlin' < timestamp '2026-05-01 00:00' order by id
select count(*) filter (where status = 'paid') as paid, count(*) filter (where status <> 'paid') as other from orders
select 100.0 * count(*) filter (where status = 'cancelled') / nullif(count(*), 0) as share from orders
select percentile_cont(0.5) within group (order by total) as median, percentile_disc(0.9) within group (order by total) from orders
select mode() within group (order by country) from customers
select stddev(total), variance(total), corr(total, customer_id) from orders
select string_agg(name, ', ' order by name) from customers
select string_agg(distinct country, E'\n') from customers
select array_agg(id order by id) from orders where customer_id = 1
select json_agg(name order by id), jsonb_object_agg(id, country) from customers
select id, total, rank() over (order by total desc) as place from orders order by place limit 3
select id, customer_id, row_number() over (partition by customer_id order by placed_at desc) as nth from orders order by id limit 5
select id, total, total - lag(total) over (order by id) as change from orders order by id limit 5
select id, sum(total) over (order by id rows between 2 preceding and current row) as moving from orders order by id limit 5
select id, avg(total) over w, ntile(4) over w from orders window w as (partition by status order by id) order by id limit 5
select * from (select *, dense_rank() over (partition by customer_id order by total desc) as r from orders) ranked where r = 1 order by id
with totals as (select customer_id, sum(total) as revenue from orders group by customer_id) select c.name, t.revenue from totals t join customers c on c.id = t.customer_id order by 2 desc
with a as (select id from orders order by id) select count(*) from a
with recursive days(day) as (select date '2026-06-01' union all select day + 1 from days where day < date '2026-06-05') select day from days order by day
with paid as (select * from orders where status = 'paid'), big as (select * from paid where total > 100) select count(*) from big
select d::date as day, count(o.id) from generate_series(timestamp '2026-06-01', timestamp '2026-06-05', interval '1 day') as d left join orders o on o.placed_at::date = d::date group by 1 order by 1
select day, n from (values (1, 'Monday'), (2, 'Tuesday')) as v(n, day) order by n
select name from customers where id in (select customer_id from orders where total > 500) order by name
select name from customers c where exists (select 1 from orders o where o.customer_id = c.id and o.status = 'paid') order by name
select name from customers c where not exists (select 1 from refunds r join orders o on o.id = r.order_id where o.customer_id = c.id) order by name
select name from products where id not in (select product_id from order_items where quantity > 5) order by name
select c.name, last.placed_at from customers c left join lateral (select placed_at from orders o where o.customer_id = c.id order by placed_at desc limit 1) last on true order by c.name
select distinct country from customers order by country
select distinct on (customer_id) customer_id, id, placed_at from orders order by customer_id, placed_at desc
select name from customers where name ilike '%ada%'
select name from customers where name not like 'A%' order by name
select name from customers where lower(email) like '%@example.org' and length(name) > 10 order by name
select name from customers where name ~* '^(ada|carl)' order by name
select name from customers where name similar to '%(Lovelace|Gau)%' order by name
select upper(country), initcap(lower(name)), left(name, 3), split_part(name, ' ', 2), substring(name from 1 for 2), position('a' in name) from customers order by id
select concat(name, ' <', email, '>'), name || ' (' || country || ')', trim(both ' ' from name), replace(name, ' ', '_'), lpad(id::text, 5, '0') from customers order by id
select regexp_replace(email, '@.*$', ''), regexp_match(email, '^[^@]+'), md5(name), reverse(name), strpos(email, '@') from customers order by id
select coalesce(category, 'none') as category, count(*) from products group by 1 order by 1
select case when total >= 300 then 'large' when total >= 100 then 'medium' else 'small' end as size, count(*) from orders group by 1 order by 1
select case status when 'paid' then 1 else 0 end, greatest(total, 100), least(total, 100) from orders order by id limit 3
select id from orders where (status, customer_id) in (('paid', 2), ('shipped', 3)) order by id
select id from orders where updated_at is null and shipped_at is not null and not (total < 500) order by id
select id from orders where status is distinct from 'paid' and total is not null order by id limit 5
select (select count(*) from refunds) as refunds, (select count(*) from orders) as orders
select (select max(total) from orders o where o.customer_id = c.id) from customers c order by c.id
(select id from orders where total < 20) union all (select id from refunds where amount > 5) order by 1
select country from customers union select reason from refunds order by 1
select customer_id from orders where status = 'paid' intersect select customer_id from orders where status = 'shipped' order by 1
select id from customers except select customer_id from orders where status = 'cancelled' order by 1
select profile ->> 'city' as city, profile -> 'city', profile #>> array['city'] from customers where profile ? 'city' order by 1
select name from customers where profile @> '{"city": "London"}'::jsonb
select key, value from customers, jsonb_each_text(profile) order by key, value
select name, tag from customers cross join unnest(tags) as tag order by name, tag
select name from customers where 'math' = any(tags) and cardinality(tags) > 0 order by name
select name, array_length(tags, 1), tags[1] from customers where tags && array['math'] order by name
select country, status, count(*) from orders join customers on customers.id = orders.customer_id group by rollup (country, status) order by 1 nulls last, 2 nulls last
select country, status, grouping(country), sum(total) from orders join customers c on c.id = customer_id group by grouping sets ((country), (status)) order by 1 nulls last, 2 nulls last
select width_bucket(total, 0, 700, 7) as bucket, count(*) from orders group by bucket order by bucket
select round(total), ceil(total), floor(total), trunc(total, 1), abs(-total), mod(id, 7), id % 7, power(id, 2), sqrt(id), sign(total), ln(id) from orders order by id limit 3
select sum(quantity * unit_price) as revenue, p.name from order_items i join products p on p.id = i.product_id group by p.name order by revenue desc
select o.id, sum(r.amount) as refunded, o.total - coalesce(sum(r.amount), 0) as kept from orders o left join refunds r using (id) group by o.id order by o.id limit 4
select avg(r.refunded_at - o.placed_at) as waited, extract(epoch from avg(r.refunded_at - o.placed_at)) / 3600 as hours from refunds r join orders o on o.id = r.order_id
select make_date(2026, 6, 15) - joined_on as days, joined_on + 30, joined_on::text, to_date('2026-06-15', 'YYYY-MM-DD') from customers order by id
select count(distinct customer_id) as buyers, count(distinct (customer_id, status)) from orders
select updated_at, id from orders where id = 1
select deleted from archive.orders_2020 where deleted = false
select "order", "Mixed Case" from "Odd Names" where "order" = 'first'
select id from public.orders where public.orders.id < 3 order by orders.id
select id from paid_orders order by id
select id, total from orders order by total desc nulls last offset 2 rows fetch first 3 rows only
select id from orders where id = 3 -- all rows
select id /* the key */ from orders where id = 3;
select 'drop table orders; delete from customers' as harmless, id from orders where id = 1
select cast(total as integer), total::numeric(10, 1), id::bigint, placed_at::date, '5'::int + id from orders order by id limit 2
select bool_and(total > 0), bool_or(vip), every(vip) from customers c join orders o on o.customer_id = c.id
select first_value(name) over (order by id), last_value(name) over (order by id rows between unbounded preceding and unbounded following), nth_value(name, 2) over (order by id) from customers order by id
select a.name, b.name from customers a join customers b on a.country = b.country and a.id < b.id order by 1
select count(*) from orders, customers where orders.customer_id = customers.id and customers.vip
select to_tsvector('english', name) @@ plainto_tsquery('english', 'lamp') as found, name from products order by name
select row_to_json(p) from products p where id = 1
select date_bin('7 days', placed_at, timestamptz '2026-01-05 00:00+00') as bin, count(*) from orders group by bin order by bin
select justify_interval(interval '40 days'), make_interval(days => 3) from orders where id = 1
-- frames, named windows, filtered windows
select id, sum(total) over (order by placed_at range between interval '3 days' preceding and current row) as s from orders order by id limit 5
select id, count(*) over (order by customer_id groups between 1 preceding and current row) as n from orders order by id limit 5
select id, sum(total) over (order by id rows between 2 preceding and 2 following exclude current row) as around from orders order by id limit 5
select id, count(*) filter (where status = 'paid') over (partition by customer_id) as paid from orders order by id limit 5
select id, lead(total, 2, 0) over (order by id) as later from orders order by id desc limit 4
select id, percent_rank() over w, cume_dist() over w from orders window w as (order by total) order by id limit 4
select id, max(total) over v, min(total) over v from orders window w as (partition by status), v as (w order by id) order by id limit 4
select status, sum(count(*)) over (order by status) as running from orders group by status order by status
select customer_id, total, total / sum(total) over (partition by customer_id) as share from orders order by id limit 5
select id, total - avg(total) over () as above from orders order by id limit 5
select customer_id, count(*) as n, rank() over (order by count(*) desc, customer_id) as place from orders group by customer_id order by place
select * from (select id, row_number() over (order by total desc) as n from orders) t where n between 2 and 4 order by n
select id, array_agg(id) over (order by id rows 2 preceding) as ids from orders order by id limit 4
select date_trunc('month', placed_at)::date as month, sum(sum(total)) over (order by date_trunc('month', placed_at)) as running from orders group by 1, date_trunc('month', placed_at) order by 1
select distinct first_value(id) over (partition by customer_id order by total desc) as best from orders order by 1
-- common table expressions
with a as (select 1 as x), b as (select x + 1 as y from a), c as (select a.x, b.y from a, b) select * from c
with a as materialized (select id, total from orders where total > 100) select count(*), sum(a.total) from a
with a as not materialized (select id from orders) select count(*) from a where a.id < 10
with recursive r(n, s) as (select 1, 1 union all select n + 1, s * (n + 1) from r where n < 6) select n, s from r order by n
with recursive r as (select 1 as n union select n % 3 + 1 from r) select n from r order by n
with x(a, b) as (select id, total from orders) select x.a, x.b from x order by x.a limit 2
with x as (select id as key, total as value from orders) select x.key, x.value from x order by 1 limit 2
with o as (select o.id, o.total from orders o) select o.id from o order by o.id limit 1
with orders as (select id, name from customers) select orders.name from orders order by orders.id limit 2
with x as (with y as (select id from orders) select y.id from y) select x.id from x order by 1 limit 2
with t as (select customer_id, sum(total) as total from orders group by customer_id) select t.customer_id, t.total from t where t.total > (select avg(t.total) from t) order by 1
with t as (select o.customer_id as c, o.* from orders o) select t.c, t.status from t order by t.id limit 2
with t as (values (1, 'a'), (2, 'b')) select t.column1, t.column2 from t order by 1
with t(n, label) as (values (1, 'a'), (2, 'b')) select t.label from t order by t.n
with monthly as (select date_trunc('month', placed_at) as m, count(*) as n from orders group by 1) select m.m, m.n, m.n - lag(m.n) over (order by m.m) as change from monthly m order by m.m
with a as (select id from orders where status = 'paid' union all select id from orders where status = 'shipped') select count(*) from a
with top as (select id, total from orders order by total desc limit 3) select sum(top.total), max(top.id) from top
-- lateral joins and functions in FROM
select c.name, o.id from customers c cross join lateral (select o.id from orders o where o.customer_id = c.id order by o.total desc limit 1) o order by c.name
select c.name, o.n from customers c, lateral (select count(*) as n from orders where orders.customer_id = c.id) o order by c.name
select c.id, t.tag, t.place from customers c cross join lateral unnest(c.tags) with ordinality as t(tag, place) order by 1, 3
select c.id, e.key, e.value from customers c, jsonb_each(c.profile) e order by 1, 2
select c.id, e.k, e.v from customers c, jsonb_each_text(c.profile) as e(k, v) order by 1, 2
select g from generate_series(1, 3) as g
select g.n from generate_series(1, 3) as g(n) order by g.n desc
select g.g from generate_series(1, 3) g order by 1
select generate_series.generate_series from generate_series(1, 2) order by 1
select d.day::date from generate_series('2026-06-01'::timestamp, '2026-06-03'::timestamp, '1 day') as d(day)
select m::date as month, (select count(*) from orders o where o.placed_at >= m and o.placed_at < m + interval '1 month') as n from generate_series(timestamptz '2026-04-01', timestamptz '2026-06-01', interval '1 month') m order by 1
select u.a, u.b from unnest(array[1, 2], array['x', 'y']) as u(a, b)
select x.v from jsonb_array_elements('[1, 2, 3]'::jsonb) as x(v)
select x.value from jsonb_array_elements_text('["a", "b"]') x
select r.a, r.b from jsonb_to_recordset('[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]') as r(a int, b text) order by r.a
select r.a from json_to_record('{"a": 5}') as r(a int)
select word from regexp_split_to_table('one two three', ' ') as word order by 1
select s.part, s.n from string_to_table('a,b,c', ',') with ordinality as s(part, n)
select (jsonb_each_text(profile)).key, (jsonb_each_text(profile)).value from customers where id = 1
select (jsonb_each_text(profile)).* from customers where id = 1
select k from customers, jsonb_object_keys(profile) as k where id = 1
select i, tags[i] from customers, generate_subscripts(tags, 1) as i where id = 1 order by i
-- joins
select c.name, o.id from customers c full outer join orders o on o.customer_id = c.id order by c.name, o.id limit 3
select c.name, count(*) from customers c right join orders o on o.customer_id = c.id group by c.name order by 1
select o.id, c.name, p.name from orders o join customers c on c.id = o.customer_id join order_items i on i.order_id = o.id join products p on p.id = i.product_id order by o.id, i.line limit 4
select o.id from orders o join (customers c join refunds r on r.id = c.id) on o.id = r.order_id order by 1
select a.id, b.id from orders a cross join orders b where a.id < b.id order by a.id, b.id limit 3
select o.id from orders o natural join (select 1 as id union select 3) x order by 1
select id, r.amount from orders o join refunds r using (id) order by id limit 2
select o.id, r.reason from orders o left join refunds r on r.order_id = o.id and r.reason like 'dam%' order by o.id limit 4
select count(*) from orders o1 join orders o2 on o1.customer_id = o2.customer_id and o2.placed_at < o1.placed_at
select o.id from orders o where not exists (select from refunds r where r.order_id = o.id) order by o.id limit 3
select o.id from orders o where o.total > all (select r.amount * 10 from refunds r) order by 1 limit 3
select o.id from orders o where o.customer_id = any (select c.id from customers c where c.vip) order by 1 limit 3
select o.id from orders o where exists (select * from order_items i where i.order_id = o.id and i.quantity >= 2) order by o.id limit 3
select c.name, (select o.id from orders o where o.customer_id = c.id order by o.placed_at desc limit 1) as newest from customers c order by c.name
select c.name from customers c where (select count(*) from orders o where o.customer_id = c.id) > 5 order by c.name
select c.country, count(distinct o.id) filter (where o.total > 100), count(distinct c.id) from customers c left join orders o on o.customer_id = c.id group by c.country order by c.country
-- subqueries that use the same names again
select c.id from (select c.id, c.country from customers c where c.vip) c order by c.id
select o.total from orders o where o.id in (select o.order_id from refunds o where o.amount > 1) order by o.id limit 3
select x.a from (select id as a from orders) x union all select x.b from (select id as b from refunds) x order by 1 limit 3
select t.n from (select count(*) as n from orders) t
select t.count from (select count(*) from orders) t
select t.max, t.min from (select max(total), min(total) from orders) t
select t.coalesce from (select coalesce(category, 'none') from products order by id limit 1) t
select t."case" from (select case when true then 1 end) t
select t.date_trunc from (select date_trunc('day', placed_at) from orders order by id limit 1) t
select t.int4, t.text from (select 5::int4, 'a'::text) t
select t.status from (select o.status::text from orders o order by o.id limit 1) t
select t.total from (select case when o.id > 1 then 0 else o.total end from orders o order by o.id limit 1) t
select t.lower from (select lower(name) from customers order by id limit 1) t
select t.array_agg from (select array_agg(id order by id) from customers) t
select t.row_number from (select row_number() over (order by id) from orders) t order by 1 limit 2
select outer_orders.id from orders outer_orders where outer_orders.total > (select avg(inner_orders.total) from orders inner_orders where inner_orders.customer_id = outer_orders.customer_id) order by 1 limit 3
select a.n + b.n as both from (select count(*) as n from orders) a, (select count(*) as n from refunds) b
select s.customer_id, s.sum from (select customer_id, sum(total) from orders group by customer_id) s order by 1
select q.* from (select o.id, c.name from orders o join customers c on c.id = o.customer_id) q order by q.id limit 2
select q.id, q.n from (select *, count(*) over () as n from orders) q order by q.id limit 2
-- time
select extract(isodow from placed_at) as weekday, extract(week from placed_at) as week, extract(quarter from placed_at) from orders order by id limit 3
select date_part('hour', placed_at at time zone 'America/New_York') as hour from orders order by id limit 3
select placed_at at time zone 'UTC' at time zone 'Asia/Tokyo' from orders order by id limit 2
select count(*) from orders where placed_at >= timestamptz '2026-06-01 00:00:00+02' and placed_at < timestamptz '2026-06-01 00:00:00+02' + interval '2 weeks'
select count(*) from orders where placed_at::date between date '2026-05-01' and date '2026-05-31'
select count(*) from orders where extract(year from placed_at) = 2026 and extract(month from placed_at) in (5, 6)
select count(*) from orders where date_trunc('month', placed_at) = '2026-05-01'
select count(*) from orders where placed_at > '2026-06-15'::timestamptz - interval '1 month 3 days 04:05:06'
select count(*) from orders where placed_at > '2026-06-15'::date - 30
select interval '1 year 2 months', interval '90 minutes', interval '1' day, interval '2 hours' * 3, interval '1 day' / 2
select (date '2026-06-15', date '2026-07-01') overlaps (date '2026-06-20', date '2026-06-25') as overlap
select to_char(placed_at, 'Day DD Month YYYY, HH24:MI:SS') from orders order by id limit 2
select to_char(total, 'FM999,990.00') from orders order by id limit 2
select age(date '2026-06-15', date '2024-01-05'), justify_days(interval '70 days')
select make_timestamp(2026, 6, 15, 12, 30, 0), make_time(8, 15, 23.5), make_timestamptz(2026, 6, 15, 12, 0, 0, 'UTC')
select to_timestamp(1750000000), to_timestamp('2026-06-15', 'YYYY-MM-DD')
select extract(epoch from interval '1 day'), extract(epoch from placed_at)::bigint from orders order by id limit 1
select date '2026-03-31' + interval '1 month', date '2026-06-15' - date '2026-01-01' as days
select date_trunc('quarter', placed_at, 'Europe/Berlin') from orders order by id limit 1
select tstzrange(placed_at, placed_at + interval '1 day') @> placed_at as inside from orders order by id limit 1
select daterange('2026-06-01', '2026-06-30') && daterange('2026-06-15', '2026-07-15') as overlap, lower(daterange('2026-06-01', '2026-06-30'))
select id from orders where placed_at = (select max(placed_at) from orders)
select max(placed_at) - min(placed_at) as span, extract(day from max(placed_at) - min(placed_at)) as days from orders
select isfinite(placed_at), placed_at < 'infinity' from orders order by id limit 1
select date(placed_at), timezone('UTC', placed_at) from orders order by id limit 1
select current_date - current_date as none, now() - now() as nothing, localtimestamp - localtimestamp as zero
-- text
select name from customers where name ilike any (array['ada%', 'carl%']) order by name
select name from customers where name like 'A\_a%' or name like '%!%%' escape '!' order by name
select name from customers where position('o' in lower(name)) > 0 order by name
select overlay(name placing 'XX' from 2 for 3), substring(name, 2, 3), substring(name from '[A-Z][a-z]+') from customers order by id limit 2
select name collate "C" from customers order by name collate "C"
select 'it''s', E'tab\there', 'back\slash', $$dollar 'quoted'$$, $tag$with $$ inside$tag$
select format('%s has %s', name, country), concat_ws(', ', name, null, country) from customers order by id limit 2
select regexp_replace(name, '(\w+) (\w+)', '\2 \1'), regexp_count(name, 'a'), regexp_substr(name, '[aeiou]+'), regexp_instr(name, 'o') from customers order by id limit 2
select name ~ '^A', name !~ '^A', name ~* '^a', name !~* '^a', name ~~ 'A%', name !~~ 'A%' from customers order by id limit 1
select regexp_matches(name, '[A-Z]', 'g') from customers where id = 1
select string_agg(distinct status::text, '/' order by status::text) from orders
select starts_with(name, 'Ada'), ascii(name), chr(65), to_hex(255), md5('x'), encode('abc'::text::bytea, 'hex') is null as e from customers where false
select translate(name, 'aeiou', '*****'), ltrim('  x'), rtrim('x  '), btrim('xxaxx', 'x'), right(name, 3), repeat is null as r from (select name, null as repeat from customers where id = 1) q
select char_length(name), octet_length(name), bit_length(name) from customers where id = 2
select initcap('hello world'), casefold('ABC'), normalize('Á'), quote_literal('a'), quote_ident('Mixed Case')
select string_to_array('a,b,,c', ','), array_to_string(array['a', null, 'c'], '-', '?')
select name, name < 'D' as early, name between 'A' and 'C' as between_them from customers order by id
select count(*) from customers where name <> '' and name is not null and trim(name) = name
select unaccented from (select lower(name) as unaccented from customers) t where unaccented like 'é%'
-- words that look like commands
select updated_at, 'update' as "update", 'delete from x' as "delete", 'insert' as insert_count from orders order by id limit 1
select count(*) as "drop", sum(total) as "select", max(id) as "table" from orders
select "order" as "group", "Mixed Case" as "where" from "Odd Names"
select o."id" from "orders" as o where o."status" = 'paid' order by o."id" limit 1
select "50%_off\" from "Odd Names"
select 'a;b', ';', '--not a comment', '/* nor this */', 'select pg_sleep(1)' from orders where id = 1
select id from refunds where id = 1 -- pg_sleep(1); drop table orders
select id /* delete from orders; */ from orders where id = 2
select name as truncate, country as grant from customers order by id limit 1
select count(*) as lock, count(*) as copy, count(*) as call, count(*) as execute from orders
select id as user_id, status as commit_status from orders order by id limit 1
select replace(name, 'a', 'b') as replace, left(name, 1) as left from customers order by id limit 1
select 1 as set, 2 as reset, 3 as begin_date, 4 as end_date, 5 as comment
select reason as "analyze", amount as "explain" from refunds order by id limit 1
select orders.status = 'paid' as is_paid, not (orders.status = 'paid') as unpaid from orders order by id limit 1
select 'DROP DATABASE shop' = 'x' or 'GRANT ALL' = 'y' as never
select description like '%into%' as has_into, description like '%for update%' from products order by id
-- numbers and logic
select 7 / 2, 7 / 2.0, 7 % 3, 2 ^ 10, |/ 25.0, ||/ 27.0, 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 4, 256 >> 2
select round(2.567, 1), round(-2.5), trunc(2.9), ceiling(2.1), sign(-3), abs(-3), pi(), degrees(pi()), log(100), ln(1), exp(0), sqrt(16), cbrt(27), factorial(5), gcd(12, 18), lcm(4, 6)
select sum(total)::float8 / count(*), avg(total)::numeric(10, 2), sum(total)::bigint from orders
select 1e3, 0.5e-2, .5, 5.
select count(*) filter (where total > 100 and status in ('paid', 'shipped')) * 100.0 / count(*) as percent from orders
select greatest(1, null, 3), least(null, 2), nullif(1, 1), coalesce(null, null, 4), num_nulls(1, null), num_nonnulls(1, null)
select true and not false or null, 1 = 1 is true, null is not distinct from null, 1 is distinct from null
select total between symmetric 300 and 100 as inside from orders order by id limit 2
select id from orders where (customer_id, status) = (2, 'paid') or row(customer_id, id) = row(3, 2) order by id limit 3
select id from orders where id in (1, 2, 3) and id not in (2) and id = any(array[1, 3]) and id <> all(array[5, 6]) order by id
select case when id = 1 then 'one' when id = 2 then 'two' end as word, case customer_id when 2 then 'B' else 'other' end from orders order by id limit 3
select variance(total), var_pop(total), stddev_pop(total), covar_pop(total, id), regr_slope(total, id), regr_r2(total, id), corr(total, id) from orders
select percentile_cont(array[0.25, 0.5, 0.75]) within group (order by total) from orders
select mode() within group (order by status), percentile_disc(0.5) within group (order by placed_at) from orders
select bit_and(id), bit_or(id), bit_xor(id), any_value(customer_id) > 0 from orders
select random() between 0 and 1 as fair, count(*) from orders tablesample bernoulli (100) group by 1
select trim_scale(1.500), scale(1.50), min_scale(1.50), width_bucket(5.0, 0, 10, 5), div(7, 2), mod(7, 2)
-- grouping
select country, vip, count(*) from customers group by cube (country, vip) order by 1 nulls last, 2 nulls last, 3
select country, count(*) from customers group by grouping sets ((country), ()) having count(*) > 0 order by 1 nulls last
select date_trunc('month', placed_at) as month, status, sum(total) from orders group by 1, 2 having sum(total) > 500 order by 1, 2
select customer_id, array_agg(distinct status order by status) from orders group by customer_id order by 1
select customer_id, jsonb_object_agg(id, total) from orders where id < 4 group by customer_id order by 1
select status, count(*), count(*) * 1.0 / sum(count(*)) over () as share from orders group by status order by status
select c.id, c.name, sum(o.total) from customers c join orders o on o.customer_id = c.id group by c.id order by sum(o.total) desc limit 2
select (total > 300) as large, count(*) from orders group by (total > 300) order by 1
select count(*), count(category), count(distinct category), sum(price) filter (where category is null) from products
select id, total from orders order by total desc fetch first 3 rows with ties
select status from orders group by status order by count(*) desc, status limit 1 offset 1
select customer_id from orders group by customer_id having bool_or(status = 'cancelled') and not bool_and(total > 50) order by 1
select grouping(country, vip) as level, country, vip, count(*) from customers group by rollup (country, vip) order by 1, 2, 3
-- set operations
select id from orders where id < 3 union select id from refunds where id < 5 order by id
(select id from orders order by total desc limit 2) union all (select id from orders order by total limit 2) order by 1
select id from orders intersect all select id from refunds order by 1 limit 3
select id from orders except all select id from refunds order by 1 limit 3
select * from (select 'orders' as what, count(*) as n from orders union all select 'refunds', count(*) from refunds) t order by t.what
(select 1 as a union select 2) except select 2
select 'high' as band, count(*) from orders where total > 300 union all select 'low', count(*) from orders where total <= 300 order by band
-- arrays and json
select array[1, 2, 3] || 4, array[[1, 2], [3, 4]], (array['a', 'b', 'c'])[2], (array[1, 2, 3, 4])[2:3], array(select id from orders where id < 4 order by id)
select array_append(tags, 'x'), array_remove(tags, 'math'), array_position(tags, 'math'), array_length(tags, 1), cardinality(tags), array_to_string(tags, ',') from customers order by id limit 2
select tags @> array['math'], tags <@ array['math', 'early'], tags && array['x'], 'math' = any(tags), array_ndims(tags) from customers order by id limit 2
select profile ->> 'city', profile #>> '{city}', profile -> 'missing' is null, jsonb_typeof(profile), profile ? 'city', profile ?| array['a', 'city'], profile ?& array['city'] from customers order by id limit 2
select jsonb_build_object('id', id, 'tags', tags), json_build_array(id, name), to_jsonb(tags), jsonb_set(profile, '{x}', '1') from customers order by id limit 1
select jsonb_path_query_first(profile, '$.city'), jsonb_path_exists(profile, '$.city ? (@ == "London")'), profile @? '$.city', profile @@ '$.city == "Paris"' from customers order by id limit 2
select jsonb_agg(jsonb_build_object('n', name) order by id) from customers
select json_agg(o order by id) from (select id, total from orders where id < 3) o
select row_to_json(t) from (select id, status from orders where id = 1) t
select profile || '{"x": 1}'::jsonb, profile - 'city', '{"a": {"b": 2}}'::jsonb #> '{a,b}', '[1,2,3]'::jsonb -> 1 from customers where id = 1
select jsonb_array_length('[1, 2]'), jsonb_strip_nulls('{"a": null}'), jsonb_extract_path_text(profile, 'city') from customers where id = 1
select json_value(profile, '$.city'), json_exists(profile, '$.city'), json_query(profile, '$.city') from customers where id = 1
select array_agg(x order by x desc) from unnest(array[3, 1, 2]) as x
select unnest(tags) as tag, count(*) from customers group by 1 order by 1
select array_agg(t.tag) from (select unnest(tags) as tag from customers order by 1) t
-- shapes that people write without thinking
SELECT COUNT(*) AS "Total Orders", SUM(Total) AS Revenue FROM Orders WHERE Status = 'paid'
SELECT T1.name, COUNT(*) FROM customers AS T1 JOIN orders AS T2 ON T1.id = T2.customer_id GROUP BY T1.name ORDER BY COUNT(*) DESC, T1.name LIMIT 1
SELECT T1.name FROM customers AS T1 WHERE T1.id NOT IN (SELECT T2.customer_id FROM orders AS T2 WHERE T2.status = 'cancelled') ORDER BY 1
SELECT DISTINCT T2.country FROM orders AS T1 INNER JOIN customers AS T2 ON T1.customer_id = T2.id WHERE T1.total > 100 ORDER BY T2.country ASC
SELECT CAST(SUM(CASE WHEN T1.status = 'paid' THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(T1.id) FROM orders AS T1
SELECT MAX(total) - MIN(total) FROM orders WHERE customer_id = (SELECT id FROM customers WHERE name = 'Ada Lovelace')
SELECT name FROM customers WHERE id = (SELECT customer_id FROM orders GROUP BY customer_id ORDER BY SUM(total) DESC, customer_id LIMIT 1)
SELECT AVG(n) FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS per_customer
SELECT p.name, SUM(i.quantity) AS sold FROM products p, order_items i WHERE p.id = i.product_id GROUP BY p.name HAVING SUM(i.quantity) > 10 ORDER BY sold DESC, p.name
SELECT EXTRACT(YEAR FROM o.placed_at) AS year, TO_CHAR(o.placed_at, 'Mon') AS month, ROUND(SUM(o.total), 2) AS revenue FROM orders o GROUP BY 1, 2, DATE_TRUNC('month', o.placed_at) ORDER BY DATE_TRUNC('month', o.placed_at)
SELECT * FROM orders WHERE placed_at >= CURRENT_DATE - INTERVAL '100 years' ORDER BY id LIMIT 2
SELECT c.country, COALESCE(SUM(o.total), 0) AS revenue FROM customers c LEFT JOIN orders o ON c.id = o.customer_id AND o.status IN ('paid', 'shipped') GROUP BY c.country ORDER BY revenue DESC NULLS LAST
SELECT COUNT(*) FROM orders o WHERE o.total > (SELECT AVG(total) FROM orders) AND o.status != 'cancelled'
SELECT r.reason, COUNT(*) n, SUM(r.amount) FROM refunds r GROUP BY r.reason ORDER BY n DESC, r.reason
SELECT first.id FROM (SELECT id FROM orders ORDER BY placed_at ASC, id LIMIT 1) first
select orders.*, customers.name from orders inner join customers on (orders.customer_id = customers.id) where customers.vip is true order by orders.id limit 2
select o.* from orders o where o.id = 1
select count(*) from paid_orders p join customers on customers.id = p.customer_id
select note from archive.orders_2020 a where a.deleted is not true
select p.id from only products p order by p.id
select * from orders as o (order_number, buyer) where o.order_number = 1 and o.buyer > 0
select exists (select 1 from orders where total > 1000) as any_large
select not exists (select * from orders where total < 0) as none_negative
select id, total > lag(total) over (order by id) as grew from orders order by id limit 3
select name, sum(total) from customers join orders on customers.id = customer_id group by customers.id, name order by 2 desc limit 3
