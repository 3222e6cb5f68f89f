-- The demo shop. Comments are in plain words because they are what a planner reads.

create table customers (
    id integer primary key,
    name text not null,
    email text not null unique,
    country text not null,
    city text not null,
    signed_up_on date not null
);
comment on table customers is 'People who have an account at the shop';
comment on column customers.id is 'Customer number';
comment on column customers.name is 'Full name';
comment on column customers.email is 'E-mail address';
comment on column customers.country is 'Country the customer lives in';
comment on column customers.city is 'City the customer lives in';
comment on column customers.signed_up_on is 'Day the account was opened';

create table products (
    id integer primary key,
    name text not null unique,
    category text not null,
    price numeric(10, 2) not null check (price > 0),
    in_stock integer not null check (in_stock >= 0)
);
comment on table products is 'What the shop sells';
comment on column products.id is 'Product number';
comment on column products.name is 'Product name';
comment on column products.category is 'Category the product belongs to';
comment on column products.price is 'Price of one unit today, in euros';
comment on column products.in_stock is 'Units in stock now';

create table orders (
    id integer primary key,
    customer_id integer not null references customers (id),
    status text not null check (status in ('pending', 'paid', 'shipped', 'delivered', 'cancelled')),
    placed_at timestamptz not null,
    total numeric(10, 2) not null check (total > 0)
);
comment on table orders is 'Orders placed by customers';
comment on column orders.id is 'Order number';
comment on column orders.customer_id is 'Customer who placed the order';
comment on column orders.status is 'pending, paid, shipped, delivered or cancelled';
comment on column orders.placed_at is 'When the order was placed';
comment on column orders.total is 'Sum of the order''s items, in euros';
create index orders_customer_id on orders (customer_id);
create index orders_placed_at on orders (placed_at);

create table order_items (
    id integer primary key,
    order_id integer not null references orders (id),
    product_id integer not null references products (id),
    quantity integer not null check (quantity > 0),
    unit_price numeric(10, 2) not null check (unit_price > 0)
);
comment on table order_items is 'Lines of an order: one product each';
comment on column order_items.id is 'Line number';
comment on column order_items.order_id is 'Order the line belongs to';
comment on column order_items.product_id is 'Product that was ordered';
comment on column order_items.quantity is 'How many units were ordered';
comment on column order_items.unit_price is 'Price of one unit when it was ordered, in euros';
create index order_items_order_id on order_items (order_id);
create index order_items_product_id on order_items (product_id);

create table refunds (
    id integer primary key,
    order_id integer not null references orders (id),
    amount numeric(10, 2) not null check (amount > 0),
    reason text not null,
    refunded_at timestamptz not null
);
comment on table refunds is 'Money given back for orders';
comment on column refunds.id is 'Refund number';
comment on column refunds.order_id is 'Order the money was given back for';
comment on column refunds.amount is 'Amount given back, in euros';
comment on column refunds.reason is 'Why: damaged, wrong item, late delivery, changed mind or defective';
comment on column refunds.refunded_at is 'When the money was given back';
create index refunds_order_id on refunds (order_id);
