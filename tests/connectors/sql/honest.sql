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
