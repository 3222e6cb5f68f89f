-- read_columns --
-- One row per readable column of every table and view in the given schemas, in order.
select
    c.oid::bigint as table_oid,
    a.attnum as number,
    n.nspname as table_schema,
    c.relname as table_name,
    coalesce(obj_description(c.oid, 'pg_class'), '') as table_comment,
    c.reltuples::bigint as row_estimate,
    a.attname as name,
    format_type(a.atttypid, a.atttypmod) as type,
    base.typname as base_type,
    base.typcategory::text as category,
    not a.attnotnull as nullable,
    coalesce(col_description(c.oid, a.attnum), '') as comment,
    coalesce(a.attnum = any(pk.conkey), false) as primary_key,
    fk.target as references,
    case when base.typtype = 'e' then array(
        select e.enumlabel::text from pg_enum e where e.enumtypid = base.oid order by e.enumsortorder
    ) end as labels
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_type t on t.oid = a.atttypid
join pg_type base on base.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
left join pg_constraint pk on pk.conrelid = c.oid and pk.contype = 'p'
left join lateral (
    select format('%s.%s', case when tn.nspname = $2 then tc.relname else tn.nspname || '.' || tc.relname end, ta.attname) as target
    from pg_constraint f
    cross join unnest(f.conkey, f.confkey) as pair(here, there)
    join pg_class tc on tc.oid = f.confrelid
    join pg_namespace tn on tn.oid = tc.relnamespace
    join pg_attribute ta on ta.attrelid = f.confrelid and ta.attnum = pair.there
    where f.conrelid = c.oid and f.contype = 'f' and pair.here = a.attnum
    order by f.conname
    limit 1
) fk on true
where n.nspname = any($1::text[])
    and c.relkind in ('r', 'p', 'v', 'm', 'f')
    and not c.relispartition
    and has_schema_privilege(n.oid, 'usage')
    and has_column_privilege(c.oid, a.attnum, 'select')
order by array_position($1::text[], n.nspname::text), c.relname, a.attnum

-- read_views --
-- What each view reads, a row per column, and one without a column per table; of a whole row, every column.
select distinct
    vn.nspname as view_schema, v.relname as view_name, tn.nspname as read_schema, t.relname as read_table,
    a.attname as read_column
from pg_class v
join pg_namespace vn on vn.oid = v.relnamespace and vn.nspname not in ('pg_catalog', 'information_schema')
join pg_rewrite r on r.ev_class = v.oid
join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    and d.refclassid = 'pg_class'::regclass and d.refobjid <> v.oid
join pg_class t on t.oid = d.refobjid
join pg_namespace tn on tn.oid = t.relnamespace
left join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    and (a.attnum = d.refobjsubid or (d.refobjsubid = 0 and pg_get_viewdef(v.oid) like '%.*%'))
where v.relkind in ('v', 'm')

-- read_heirs --
-- Tables that inherit from others and are read by their own names; a partition is not.
select pn.nspname as parent_schema, p.relname as parent_name, cn.nspname as child_schema, c.relname as child_name
from pg_inherits i
join pg_class p on p.oid = i.inhparent
join pg_namespace pn on pn.oid = p.relnamespace
join pg_class c on c.oid = i.inhrelid and not c.relispartition
join pg_namespace cn on cn.oid = c.relnamespace
where c.relkind in ('r', 'f')

-- read_functions --
-- Functions that somebody has made where a query would find them, other than an extension's.
select distinct p.proname as name
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where n.nspname = any($1::text[])
    and not exists (
        select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
    )

-- read_values --
-- What a table's columns hold, as one row of arrays; {columns} is built per column from the blocks below.
select (select count(*) from (select 1 from {table} limit {count_cap}) counted) as rows, {columns}

-- text_column --
-- Samples and, unless its texts are long, the distinct values of a column of text.
array(
    select distinct left({column}::text, 80)
    from (select {column} from {table} where {column} is not null limit 100) picked order by 1 limit 3
),
case when (
    select coalesce(avg(length({column}::text)), 0)
    from (select {column} from {table} where {column} is not null limit 1000) picked
) <= {long_text} then array(
    select distinct {column}::text
    from (select {column} from {table} where {column} is not null limit {scan_cap}) picked
    order by 1
    limit {value_cap}
) end

-- other_column --
-- Samples of a column that holds no text; the second array is kept empty so that all columns look alike.
array(
    select distinct left({column}::text, 80)
    from (select {column} from {table} where {column} is not null limit 100) picked order by 1 limit 3
),
null::text[]
