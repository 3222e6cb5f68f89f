import hashlib

import pytest

from qkva.contracts.errors import PlanRejected
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.planning.drafting.parameterise import exemplar_roles, parameterise
from qkva.planning.filling.fill import fill_from_question

FULL = "top [5|number] orders of [Ada Lovelace|customers.name] [last month|time] over [100|money]"
JOIN = "SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id WHERE "
PERIOD = "o.placed_at >= {period.start} AND o.placed_at < {period.end}"
MARCH = {"start": "2026-03-01T00:00:00+00:00", "end": "2026-04-01T00:00:00+00:00"}


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("c.name = 'Ada Lovelace'", "c.name = {customer}"),
        ("c.name = 'ada lovelace'", "c.name = {customer}"),
        ("LOWER(c.name) = 'ada lovelace'", "LOWER(c.name) = LOWER({customer})"),
        ("c.name ILIKE '%Ada Lovelace%'", "c.name ILIKE '%' || {customer} || '%'"),
        ("c.name LIKE 'Ada Lovelace%'", "c.name LIKE {customer} || '%'"),
        ("o.placed_at >= '2026-03-01' AND o.placed_at < '2026-04-01'", PERIOD),
        ("o.placed_at >= DATE '2026-03-01' AND o.placed_at < DATE '2026-04-01'", PERIOD),
        ("o.placed_at >= '2026-03-01' AND o.placed_at <= '2026-03-31'", PERIOD),
        ("o.placed_at >= '2026-03-01' AND o.placed_at <= TIMESTAMP '2026-03-31 23:59:59'", PERIOD),
        ("o.placed_at BETWEEN '2026-03-01' AND '2026-03-31'", PERIOD),
        ("o.total > 100", "o.total > {min_total}"),
        ("o.total > 100 ORDER BY o.total DESC LIMIT 5", "o.total > {min_total} ORDER BY o.total DESC LIMIT {top_n}"),
        ("o.status = 'paid'", "o.status = 'paid'"),
        ("o.placed_at >= '2025-03-01'", "o.placed_at >= '2025-03-01'"),
        ("o.id = o.id ORDER BY 5", "o.id = o.id ORDER BY 5"),
    ],
)
def test_values_become_placeholders(written, wanted, marked):
    query, params, _ = parameterise(JOIN + written, "postgres", marked(FULL), [])
    assert query.replace("AS o", "o").replace("AS c", "c") == JOIN + wanted
    assert {p.name for p in params} == {
        n for n, _ in Plan(key_text="", query=query, source="s", source_type="sql", dialect="p").placeholders()
    }


def test_types_columns_and_values_come_from_the_slots(marked):
    query = (
        JOIN + "c.name = 'Ada Lovelace' AND o.placed_at BETWEEN '2026-03-01' AND '2026-03-31' AND o.total > 100 LIMIT 5"
    )
    _, params, values = parameterise(
        query, "postgres", marked(FULL), [Parameter(name="unused", type=ParamType.INTEGER, column="a.b")]
    )
    assert {(p.name, p.type.value, p.column) for p in params} == {
        ("customer", "text", "customers.name"),
        ("period", "time_range", None),
        ("min_total", "number", "orders.total"),
        ("top_n", "integer", None),
    }
    assert values == {"customer": "Ada Lovelace", "period": MARCH, "min_total": 100, "top_n": 5}


def test_quotes_around_placeholders_are_repaired(marked):
    declared = [
        Parameter(name="customer", type=ParamType.TEXT, column="customers.name"),
        Parameter(name="period", type=ParamType.TIME_RANGE),
    ]
    query, _, values = parameterise(
        JOIN + "c.name ILIKE '%{customer}%' AND o.placed_at >= '{period.start}' AND o.placed_at < DATE '{period.end}'",
        "postgres",
        marked(FULL),
        declared,
    )
    assert query == JOIN + f"c.name ILIKE '%' || {{customer}} || '%' AND {PERIOD}"
    assert values == {"customer": "Ada Lovelace", "period": MARCH}


def test_declared_parameter_takes_its_literal(marked):
    declared = [Parameter(name="who", type=ParamType.TEXT, column="customers.name", description="a customer")]
    query, params, values = parameterise(JOIN + "c.name = 'Ada Lovelace'", "postgres", marked(FULL), declared)
    assert (
        query == JOIN + "c.name = {who}" and params[0].description == "a customer" and values["who"] == "Ada Lovelace"
    )


def test_list_of_values_becomes_a_list(marked):
    question = marked("[paid|orders.status] or [shipped|orders.status] orders")
    query, params, values = parameterise(
        "SELECT id FROM orders WHERE status IN ('shipped', 'paid')", "postgres", question, []
    )
    assert query == "SELECT id FROM orders WHERE status IN ({status_list})"
    assert params[0].type is ParamType.LIST and values == {"status_list": ["shipped", "paid"]}


def test_one_value_in_two_places_is_one_parameter(marked):
    question = marked("orders of [Ada Lovelace|customers.name]")
    query, params, _ = parameterise(
        "SELECT c.id FROM customers c WHERE c.name = 'Ada Lovelace' OR c.name LIKE '%Ada Lovelace%'",
        "postgres",
        question,
        [],
    )
    assert query.count("{customer}") == 2 and len(params) == 1


def test_undeclared_placeholder_is_typed_or_rejected(marked):
    question = marked("orders of [Ada Lovelace|customers.name] in [March|time]")
    _, params, _ = parameterise(
        JOIN + "c.name = {who} AND o.placed_at >= {w.start} AND o.placed_at < {w.end} LIMIT {k}",
        "postgres",
        question,
        [],
    )
    assert [(p.name, p.type.value, p.column) for p in params] == [
        ("who", "text", "customers.name"),
        ("w", "time_range", None),
        ("k", "integer", None),
    ]
    with pytest.raises(PlanRejected, match="which is not declared"):
        parameterise(JOIN + "o.note = {mystery}", "postgres", question, [])


def test_bare_time_range_is_rejected(marked):
    with pytest.raises(PlanRejected, match=r"write \{p.start\} and \{p.end\}"):
        parameterise(
            JOIN + "o.placed_at = {p}",
            "postgres",
            marked("orders in [March|time]"),
            [Parameter(name="p", type=ParamType.TIME_RANGE)],
        )


def test_jql_values_become_placeholders(marked):
    question = marked("[Open|status] bugs of [Ada|assignee]")
    query, _, values = parameterise(
        'type = Bug AND status = "Open" AND assignee = Ada ORDER BY created DESC', "jql", question, []
    )
    assert query == "type = Bug AND status = {status} AND assignee = {assignee} ORDER BY created DESC"
    assert values == {"status": "Open", "assignee": "Ada"}


def test_filling_gives_the_values_back(marked, now):
    query, params, values = parameterise(
        JOIN
        + "c.name = 'Ada Lovelace' AND o.placed_at BETWEEN '2026-03-01' AND '2026-03-31' AND o.total > 100 LIMIT 5",
        "postgres",
        marked(FULL),
        [],
    )
    plan = Plan(key_text="x", query=query, params=params, source="shop", source_type="sql", dialect="postgres")
    filling = fill_from_question(plan, marked(FULL), now=now)
    assert filling.values == values and filling.misfit is None and filling.missing == ()
    assert exemplar_roles(plan, marked(FULL), values) == ("top_n", "customer", "period", "min_total")


def test_role_of_a_constant_is_its_fingerprint(shop, marked):
    plan, exemplar = shop[13].plan, marked(shop[13].exemplar)
    said = hashlib.sha256(b"damage").hexdigest()[:12]  # the lemma of "damaged"
    assert exemplar.slots[0].value == "damaged"
    assert exemplar_roles(plan, exemplar, {"period": MARCH}) == (f"={said}", "period")


def test_roles_of_two_places_follow_the_values(marked):
    plan = Plan(
        key_text="flights",
        query="SELECT id FROM flights WHERE origin = {a} AND target = {b}",
        source="s",
        source_type="sql",
        dialect="postgres",
        params=(
            Parameter(name="a", type=ParamType.TEXT, column="cities.name"),
            Parameter(name="b", type=ParamType.TEXT, column="cities.name"),
        ),
    )
    question = marked("flights to [Rome|cities.name] from [Oslo|cities.name]")
    assert exemplar_roles(plan, question, {"a": "Oslo", "b": "Rome"}) == ("b", "a")


@pytest.mark.parametrize("ending", ["o.placed_at < {last}", "o.placed_at <= {last}"])
def test_two_dates_become_one_range(ending, marked):
    dates = [Parameter(name=name, type=ParamType.DATE) for name in ("first", "last")]
    question = marked("orders in [March|time]")
    query, params, values = parameterise(JOIN + "o.placed_at >= {first} AND " + ending, "postgres", question, dates)
    assert query == JOIN + PERIOD
    assert [(p.name, p.type.value) for p in params] == [("period", "time_range")] and values == {"period": MARCH}


def test_between_two_dates_becomes_one_range(marked):
    dates = [Parameter(name=name, type=ParamType.DATE) for name in ("first", "last")]
    query, _, _ = parameterise(
        JOIN + "o.placed_at BETWEEN {first} AND {last}", "postgres", marked("orders in [March|time]"), dates
    )
    assert query == JOIN + PERIOD


def test_one_date_stays_a_date(marked):
    date = [Parameter(name="first", type=ParamType.DATE)]
    query, params, _ = parameterise(
        JOIN + "o.placed_at >= {first}", "postgres", marked("orders since [March|time]"), date
    )
    assert query == JOIN + "o.placed_at >= {first}" and params[0].type is ParamType.DATE
