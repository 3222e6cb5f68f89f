-- Ways to the denied column email of customers, one per line: each has to be refused.
select now() at time zone email from customers
select trim(both email from name) from customers
select trim(name from email) from customers
select position(email in name) from customers
select substring(name from email) from customers
select substring(name from 1 for length(email)) from customers
select overlay(name placing email from 1) from customers
select make_interval(days => length(email)) from customers
select make_interval(days => email::int) from customers
select (array['a'])[length(email)] from customers
select (array['a'])[email::int:2] from customers
select name like 'x' escape email from customers
select '{}'::jsonb -> email from customers
select '{}'::jsonb ->> email from customers
select '{}'::jsonb #> array[email] from customers
select json_object('a': email) from customers
select json_array(email) from customers
select json_objectagg(email: 1) from customers
select jsonb_build_object(email, 1) from customers
select extract(year from email::date) from customers
select case email when 'a' then 1 end from customers
select count(distinct email) from customers
select string_agg(name, email) from customers
select string_agg(name, ',' order by email) from customers
select percentile_cont(0.5) within group (order by email) from customers
select lag(name, 1, email) over (order by id) from customers
select sum(id) over (order by id rows between length(email) preceding and current row) from customers
select sum(id) over w from customers window w as (order by email)
select name collate "C", email collate "C" from customers
select normalize(email, nfc) from customers
select email is normalized from customers
select email is null from customers
select email isnull from customers
select email notnull from customers
select email is distinct from name from customers
select email is json from customers
select (email, 1) = ('a', 1) from customers
select (email, id) overlaps (name, id) from customers
select email similar to 'a' from customers
select email between 'a' and 'b' from customers
select 1 where exists (select from customers where email = 'a')
select id from customers order by email using >
select distinct on (email) id from customers
select id from customers group by grouping sets ((email), ())
select id from customers group by rollup (email)
select array(select email from customers)
select id from customers limit (select length(email) from customers limit 1)
select id from customers offset (select length(email) from customers limit 1)
select * from orders o, lateral (select email from customers) x
select * from unnest(array(select email from customers)) u
select * from generate_series(1, (select length(email) from customers limit 1)) g
select * from (values ((select email from customers limit 1))) v
select * from customers tablesample system (100)
with x as (table customers) select * from x
with x as (select * from customers limit 1) select x from x
with recursive x as (select * from customers union all select * from x where false) select 1 from x
with customers as (select email from customers) select email from customers
with x as (select email from customers), customers as (select 1 as email) select * from x
(with customers as (select 'a' as email) select email from customers) union select email from customers
with "Customers" as (select 1 as email) select email from Customers
with customers as (select 1 as email) select email from public.customers
select email from customers c, (with customers as (select 1 as email) select 1) x
select public.customers from public.customers
select c from customers "c"
select "c" from customers c
select C from customers c
select x.y from (select c as y from customers c) x
select (x.y).email from (select c as y from customers c) x
select j.email from (customers join orders using (id)) as j
select j.email from customers join orders using (id) as j
select j from customers join orders using (id) as j
select id from customers join lateral (select customers) y on true
select id from customers c where c = c
select id from customers c where c in (select d from customers d)
select max(c::text) from customers c
select format('%s', c) from customers c
select concat(customers, '') from customers
select num_nulls(c) from customers c
select jsonb_agg(c) from customers c
select count(distinct c) from customers c
select coalesce(c) from customers c
select id from customers c group by c.*
select row(c.*) from customers c
select c.*::text from customers c
select (c.*) is null from customers c
select array_agg(c.*) from customers c
select to_jsonb(c.*) from customers c
select json_agg(customers.*) from customers
select count(*) filter (where c is not null) from customers c
select id from customers c order by c
select sum(1) over (partition by c) from customers c
select id from customers where customers::text like '%a%'
select id from customers natural full join orders
select id from orders natural join customers
select o.id from orders o natural join (select email from customers) x
select id from customers a join customers b using (email)
select e'\x65mail' from customers where U&"\0065mail" is null
select "e\006dail" from customers
select email(customers) from customers
select customers.upper from customers
select (customers).email from customers
select id from (select * from customers) c(id, b, c, d)
select b from (table customers) c(a, b)
select id as email from customers group by email
select xmlelement(name a, email) from customers
select xmlforest(email) from customers
select * from xmltable('/a' passing (select email::xml from customers) columns b text)
select * from json_table((select to_json(email) from customers), '$' columns (a text path '$'))
select id from customers where id = any(array(select length(email) from customers))
select 1 from customers where (select email) is not null
select (select email) from customers
select (select max(email)) from customers
select (select max(email) from (select 1) x) from customers
select (with q as (select email) select email from q) from customers
select case when true then (select email limit 1) end from customers
select id from customers c join orders o on email like 'a%'
select id from customers c left join orders o on (select c.email) is null
select l.* from customers c cross join lateral (select email) l
select l.* from customers c cross join lateral (values (email)) l
select l.* from customers c cross join lateral unnest(array[email]) l
select l.* from customers c, unnest(array[c.email]) l
select l.* from customers c, regexp_split_to_table(email, '@') l
select l.* from customers c join regexp_split_to_table(c.email, '@') l on true
select l from customers c, lateral regexp_split_to_table(email, '@') as l
select l.* from customers c left join lateral (select 1 where email > 'a') l on true
select email from (select id from customers) x, customers
select x.id from (select id, name as email from customers) x where exists (select 1 from customers y where y.email = x.email)
select c.ctid, c.xmin, c.email from customers c
select pg_typeof(email) from customers
select quote_literal(email), quote_ident(email), md5(email), sha256(email::bytea), length(email) from customers
select hashtext(email) from customers
