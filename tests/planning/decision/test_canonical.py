import pytest

from qkva.contracts.plan import PLACEHOLDER, Parameter, Plan
from qkva.planning.drafting.canonical import canonical_form

ORDERS = (
    "SELECT o.id, o.total AS amount FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.name = {customer} "
    "AND o.status IN ('paid', 'shipped') AND o.placed_at >= {p.start} AND o.placed_at < {p.end} "
    "ORDER BY amount DESC LIMIT 5"
)


def form(query, dialect="postgres", **defaults):
    names = dict.fromkeys(found[1] for found in PLACEHOLDER.finditer(query))
    params = tuple(Parameter(name=name, type="text", default=defaults.get(name)) for name in names)
    return canonical_form(
        Plan(key_text="x", query=query, params=params, source="shop", source_type="sql", dialect=dialect)
    )


@pytest.mark.parametrize(
    "same",
    [
        ORDERS.replace("o.", "ord.").replace("orders o ", "orders ord "),
        ORDERS.replace("{customer}", "{name}").replace("{p.", "{period."),
        ORDERS.replace("'paid', 'shipped'", "'shipped','paid'"),
        ORDERS.replace("ORDER BY amount", "ORDER BY o.total").replace(" AS amount", ""),
        ORDERS.replace("ORDER BY amount", "ORDER BY 2"),
        ORDERS.lower().replace("  ", " ") + " ;",
        ORDERS.replace("JOIN", "INNER JOIN").replace(" AND ", "\n  AND "),
        ORDERS.replace("c.id = o.customer_id", "o.customer_id = c.id").replace(
            "o.placed_at >= {p.start}", "{p.start} <= o.placed_at"
        ),
        "SELECT o.id, o.total FROM customers c, orders o WHERE o.placed_at < {b.end} AND o.placed_at >= {b.start} "
        "AND c.id = o.customer_id "
        "AND o.status IN ('shipped', 'paid') AND c.name = {a} ORDER BY o.total DESC LIMIT 5",
    ],
)
def test_same_meaning_gives_one_hash(same):
    assert form(same) == form(ORDERS)


@pytest.mark.parametrize(
    "other",
    [
        ORDERS.replace("o.total AS", "o.tax AS"),
        ORDERS.replace("DESC", "ASC"),
        ORDERS.replace("LIMIT 5", "LIMIT 6"),
        ORDERS.replace("LIMIT 5", ""),
        ORDERS.replace("'paid'", "'cancelled'"),
        ORDERS.replace("SELECT", "SELECT DISTINCT"),
        ORDERS.replace("< {p.end}", "<= {p.end}"),
        ORDERS.replace("{p.start}", "{p.end}"),
        ORDERS.replace("c.name =", "c.name <>"),
        ORDERS.replace("o.status IN", "o.status NOT IN"),
        ORDERS.replace("JOIN", "LEFT JOIN"),
        ORDERS.replace("SELECT o.id, o.total AS amount", "SELECT count(*)").replace("ORDER BY amount DESC LIMIT 5", ""),
        ORDERS.replace("customers c", "suppliers c"),
        ORDERS.replace("AND o.status", "OR o.status"),
    ],
)
def test_other_meaning_gives_another_hash(other):
    assert form(other) != form(ORDERS)


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ("SELECT a FROM t WHERE b != 1", "select x.a from t as x where not x.b = 1"),
        ("SELECT a FROM t WHERE b BETWEEN 1 AND 2", "SELECT a FROM t WHERE b <= 2 AND b >= 1"),
        ("SELECT count(*) FROM t", "SELECT COUNT(1) AS n FROM t"),
        ("SELECT a FROM t WHERE b IN ('x')", "SELECT a FROM t WHERE b = 'x'"),
        ("SELECT a, count(*) FROM t GROUP BY a", "SELECT t.a, count(*) FROM t GROUP BY 1"),
        ("SELECT a FROM t WHERE (b = 1 OR c = 2)", "SELECT a FROM t WHERE c = 2 OR b = 1"),
        ("SELECT a FROM t WHERE b = {x} AND c = {y}", "SELECT a FROM t WHERE c = {x} AND b = {y}"),
    ],
)
def test_small_spellings_are_one(one, same):
    assert form(one) == form(same)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT sum(a) FROM t", "SELECT avg(a) FROM t"),
        ("SELECT a FROM t WHERE b > 1", "SELECT a FROM t WHERE b < 1"),
        ("SELECT a FROM t WHERE b > c", "SELECT a FROM t WHERE c > b"),
        ("SELECT count(DISTINCT a) FROM t", "SELECT count(a) FROM t"),
        ("SELECT a FROM t WHERE b = 'X'", "SELECT a FROM t WHERE b = 'x'"),
        ("SELECT a FROM t WHERE b = {x} AND c = {x}", "SELECT a FROM t WHERE b = {x} AND c = {y}"),
        ("SELECT a - b FROM t", "SELECT b - a FROM t"),
        ('SELECT "A" FROM t', "SELECT a FROM t"),
        ("SELECT x.a FROM t x JOIN t y ON x.b = y.c", "SELECT y.a FROM t x JOIN t y ON x.b = y.c"),
    ],
)
def test_small_differences_are_kept(one, other):
    assert form(one) != form(other)


def test_default_is_part_of_the_meaning():
    query = "SELECT a FROM t WHERE b = {x}"
    assert form(query, x="1") != form(query, x="2") != form(query)


def test_jql_ignores_order_case_and_quotes():
    one = form("project = SHOP AND status in (Open, 'In Progress') ORDER BY created ASC", "jql")
    assert one == form('Status IN ("in progress", "open") and PROJECT = "shop" order by Created', "jql")
    assert one != form("project = SHOP AND status in (Open, 'In Progress') ORDER BY created DESC", "jql")
    assert one != form("project = SHOP AND status not in (Open, 'In Progress') ORDER BY created", "jql")
    assert form("a = 1 OR b = 2 AND c = 3", "jql") != form("a = 1 AND c = 3 OR b = 2 AND c = 3", "jql")


@pytest.mark.parametrize(
    "query", ["", ";;", "SELECT", "((", "SELECT 1; SELECT 2", "{x}", "\x00", "SELECT '", "(" * 2000]
)
@pytest.mark.parametrize("dialect", ["postgres", "jql", "gmail"])
def test_odd_text_still_has_a_hash(query, dialect):
    assert len(form(query, dialect)) == 64
    assert form(query, dialect) == form(f"  {query} ", dialect)
