"""The rows of the demo shop, drawn from one seed: the same on every machine and in every Python.

All times lie in the 18 months before DEMO_NOW, the day that the demo's clock shows.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple

from qkva.cli.demo.people import COUNTRIES, FAMOUS, PRODUCTS, REFUND_REASONS

DEMO_NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
SEED = 7942  # of the first ten thousand, one where the questions of the README have rows
SPAN_DAYS = 548  # 18 months
FIRST_ORDER_ID = 1001
CUSTOMERS, ORDERS, REFUNDS = 100, 500, 35
WITHOUT_ORDERS = 7
HOURS_AGO = (2, 3, 20, 25, 31, 34)
"""Orders of this morning and of yesterday, so that both always have some."""

Row = tuple[Any, ...]


class Shop(NamedTuple):
    """The rows of each table, in the order of its columns in shop.sql."""

    customers: list[Row]
    products: list[Row]
    orders: list[Row]
    order_items: list[Row]
    refunds: list[Row]

    def fingerprint(self) -> str:
        """Hash of all rows: changes when any value does."""
        return hashlib.sha256(json.dumps(self, default=str).encode()).hexdigest()[:16]


def build_shop() -> Shop:
    """All rows of the shop."""
    random = Random(SEED)
    customers = list(draw_customers(random))
    products = list(draw_products(random))
    orders, items = draw_orders(random, customers, products)
    return Shop(customers, products, orders, items, draw_refunds(random, orders, items))


def draw_customers(random: Random) -> Iterator[Row]:
    """The famous ones first, then names by country, none twice."""
    people = list(FAMOUS)
    taken = {name for name, _, _ in people}
    while len(people) < CUSTOMERS:
        land = random.choices(list(COUNTRIES), [country.weight for country in COUNTRIES.values()])[0]
        country = COUNTRIES[land]
        name = f"{random.choice(country.first_names)} {random.choice(country.last_names)}"
        if name not in taken:
            taken.add(name)
            people.append((name, land, random.choice(country.cities)))
    for number, (name, land, city) in enumerate(people, start=1):
        # The famous have been there from the start; the others came at any time until a week ago.
        days_ago = random.randrange(560, 900) if number <= len(FAMOUS) else random.randrange(7, 900)
        yield number, name, email_of(name), land, city, (DEMO_NOW - timedelta(days=days_ago)).date()


def email_of(name: str) -> str:
    """ "Jürgen de Vries" → jurgen.devries@example.com, the domain that is reserved for examples."""
    plain = unicodedata.normalize("NFKD", name.replace("Ł", "L").replace("ł", "l")).encode("ascii", "ignore").decode()
    first, _, last = plain.lower().partition(" ")
    return f"{first}.{last.replace(' ', '')}@example.com"


def draw_products(random: Random) -> Iterator[Row]:
    """Every product with its stock; one in five is nearly sold out."""
    number = 0
    for category, products in PRODUCTS.items():
        for name, price in products:
            number += 1
            in_stock = random.randrange(0, 10) if random.random() < 0.2 else random.randrange(12, 180)
            yield number, name, category, Decimal(price), in_stock


def draw_orders(random: Random, customers: Sequence[Row], products: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Orders in the order of time, with their items; each total is the sum of its items."""
    orders: list[Row] = []
    items: list[Row] = []
    buyers = customers[: CUSTOMERS - WITHOUT_ORDERS]
    for number, placed_at in enumerate(draw_times(random), start=FIRST_ORDER_ID):
        customer = draw_buyer(random, buyers, placed_at.date())
        total = Decimal(0)
        for product in random.sample(products, random.choices((1, 2, 3, 4, 5), (19, 31, 26, 14, 10))[0]):
            quantity = random.choices((1, 2, 3, 4), (62, 24, 9, 5))[0]
            items.append((len(items) + 1, number, product[0], quantity, product[3]))
            total += quantity * product[3]
        orders.append((number, customer[0], draw_status(random, placed_at), placed_at, total))
    return orders, items


def draw_times(random: Random) -> list[datetime]:
    """When orders were placed, ascending, denser towards the end (a shop that grows), by day and not by night."""
    times = [DEMO_NOW - timedelta(hours=hours, minutes=random.randrange(60)) for hours in HOURS_AGO]
    while len(times) < ORDERS:
        day = DEMO_NOW.date() - timedelta(days=1 + int(SPAN_DAYS * (1 - random.random() ** 0.66)))
        hour = random.choices(range(6, 24), (1, 2, 4, 5, 6, 6, 6, 5, 5, 5, 5, 6, 7, 8, 8, 6, 4, 2))[0]
        times.append(
            datetime(day.year, day.month, day.day, hour, random.randrange(60), random.randrange(60), tzinfo=UTC)
        )
    return sorted(times)


def draw_buyer(random: Random, buyers: Sequence[Row], day: date) -> Row:
    """Anyone who had an account by that day; the famous three times as often."""
    known = [buyer for buyer in buyers if buyer[5] <= day]
    return random.choices(known, [3 if buyer[0] <= len(FAMOUS) else 1 for buyer in known])[0]


def draw_status(random: Random, placed_at: datetime) -> str:
    """By age: the newest wait or are paid, the older are under way, the old are delivered; some were cancelled."""
    age = (DEMO_NOW - placed_at).days
    if age < 3:
        return random.choices(("pending", "paid"), (2, 1))[0]
    if age < 12:
        return random.choices(("pending", "paid", "shipped", "cancelled"), (1, 3, 5, 1))[0]
    return random.choices(("delivered", "cancelled"), (92, 8))[0]


def draw_refunds(random: Random, orders: Sequence[Row], items: Sequence[Row]) -> list[Row]:
    """Money back for delivered orders, in whole or for one line, two days to a month after the order."""
    delivered = [order for order in orders if order[2] == "delivered" and order[3] < DEMO_NOW - timedelta(days=31)]
    drawn = []
    for order in random.sample(delivered, REFUNDS):
        line = random.choice([item for item in items if item[1] == order[0]])
        amount = order[4] if random.random() < 0.4 else line[3] * line[4]
        reason = random.choices([reason for reason, _ in REFUND_REASONS], [weight for _, weight in REFUND_REASONS])[0]
        drawn.append((order[3] + timedelta(hours=random.randrange(48, 720)), order[0], amount, reason))
    return [
        (number, order_id, amount, reason, refunded_at)
        for number, (refunded_at, order_id, amount, reason) in enumerate(sorted(drawn), start=1)
    ]
