create table authors (
    id integer primary key,
    name text not null unique,
    country text not null
);
comment on table authors is 'People who wrote the books';

create table books (
    id integer primary key,
    title text not null,
    author_id integer not null references authors,
    genre text not null,
    price numeric(8, 2) not null
);

create table loans (
    id integer primary key,
    book_id integer not null references books,
    member text not null,
    lent_at timestamptz not null,
    returned_at timestamptz
);

insert into authors values
    (1, 'Ursula Le Guin', 'United States'),
    (2, 'Stanislaw Lem', 'Poland'),
    (3, 'Selma Lagerlöf', 'Sweden');

insert into books values
    (11, 'The Dispossessed', 1, 'science fiction', 12.50),
    (12, 'The Lathe of Heaven', 1, 'science fiction', 10.00),
    (13, 'A Wizard of Earthsea', 1, 'fantasy', 9.00),
    (21, 'Solaris', 2, 'science fiction', 11.00),
    (31, 'Nils Holgersson', 3, 'children', 14.00);

insert into loans values
    (101, 11, 'Mira Okafor', '2026-05-04 09:00+00', '2026-05-20 10:00+00'),
    (102, 21, 'Mira Okafor', '2026-05-28 09:00+00', null),
    (103, 12, 'Jonas Weber', '2026-06-02 09:00+00', null),
    (104, 13, 'Jonas Weber', '2026-06-10 09:00+00', '2026-06-12 09:00+00');
