from qkva.contracts.cache import Key
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.planning.filling.fill import fill_from_question


def plan_of(query, *params):
    return Plan(key_text="x", query=query, params=params, source="shop", source_type="sql", dialect="postgres")


CITIES = [Parameter(name=name, type=ParamType.TEXT, column="cities.name") for name in ("origin", "target")]
FLIGHTS = plan_of("SELECT id FROM flights WHERE origin = {origin} AND target = {target}", *CITIES)


def exemplar(masked, *roles):
    return Key(id="1", kind="exemplar", masked=masked, similarity=0.9, roles=roles)


def test_column_and_type_tell_the_slots_apart(shop, marked, now):
    filling = fill_from_question(
        shop[0].plan, marked("how many orders in [March|time] by [Grace Hopper|customers.name]"), now=now
    )
    assert filling.values["customer"] == "Grace Hopper"
    assert filling.values["period"] == {"start": "2026-03-01T00:00:00+00:00", "end": "2026-04-01T00:00:00+00:00"}
    assert filling.missing == () and filling.misfit is None


def test_from_and_to_tell_two_cities_apart(marked, now):
    filling = fill_from_question(FLIGHTS, marked("flights to [Rome|cities.name] from [Oslo|cities.name]"), now=now)
    assert filling.values == {"origin": "Oslo", "target": "Rome"}


def test_two_equal_roles_are_not_guessed(marked, now):
    filling = fill_from_question(FLIGHTS, marked("flights [Rome|cities.name] [Oslo|cities.name]"), now=now)
    assert filling.values == {} and {p.name for p in filling.missing} == {"origin", "target"} and filling.misfit


def test_exemplar_hands_its_roles_on(marked, now):
    key = exemplar("flights ‹cities.name› ‹cities.name›", "target", "origin")
    filling = fill_from_question(FLIGHTS, marked("flights [Rome|cities.name] [Oslo|cities.name]"), keys=[key], now=now)
    assert filling.values == {"origin": "Oslo", "target": "Rome"}


def test_exemplar_in_another_order_goes_by_direction(marked, now):
    key = exemplar("flights from ‹cities.name› to ‹cities.name›", "origin", "target")
    filling = fill_from_question(
        FLIGHTS, marked("flights to [Rome|cities.name] from [Oslo|cities.name]"), keys=[key], now=now
    )
    assert filling.values == {"origin": "Oslo", "target": "Rome"}


def test_value_without_a_place_is_a_misfit(shop, marked, now):
    filling = fill_from_question(shop[10].plan, marked("who bought [Teapot|products.name] in [March|time]"), now=now)
    assert filling.misfit == "“March” has no place in the plan."


def test_constant_of_the_plan_is_no_misfit(shop, marked, now):
    plan = shop[13].plan
    assert (
        fill_from_question(plan, marked("refunds for [damaged|refunds.reason] goods in [March|time]"), now=now).misfit
        is None
    )
    assert (
        fill_from_question(plan, marked("refunds for [late|refunds.reason] goods in [March|time]"), now=now).misfit
        is not None
    )


def test_list_takes_every_value(marked, now):
    plan = plan_of(
        "SELECT id FROM orders WHERE status IN ({status})",
        Parameter(name="status", type=ParamType.LIST, column="orders.status"),
    )
    filling = fill_from_question(plan, marked("[paid|orders.status] or [shipped|orders.status] orders"), now=now)
    assert filling.values == {"status": ["paid", "shipped"]}


def test_limit_and_amount_go_by_comparison(marked, now):
    plan = plan_of(
        "SELECT id FROM orders WHERE total > {floor} ORDER BY total DESC LIMIT {n}",
        Parameter(name="n", type=ParamType.INTEGER),
        Parameter(name="floor", type=ParamType.NUMBER, column="orders.total"),
    )
    filling = fill_from_question(plan, marked("[3|number] largest orders over [50|number]"), now=now)
    assert filling.values == {"n": 3, "floor": 50}
    below = fill_from_question(plan, marked("[3|number] largest orders under [50|number]"), now=now)
    assert below.misfit is not None and "floor" in {p.name for p in below.missing}


def test_minimum_and_maximum_go_by_their_words(marked, now):
    plan = plan_of(
        "SELECT id FROM orders WHERE total > {low} AND total < {high}",
        Parameter(name="low", type=ParamType.NUMBER),
        Parameter(name="high", type=ParamType.NUMBER),
    )
    assert fill_from_question(plan, marked("orders under [90|number] and over [50|number]"), now=now).values == {
        "low": 50,
        "high": 90,
    }


def test_defaults_are_resolved_by_the_clock(marked, now):
    plan = plan_of(
        "SELECT id FROM orders WHERE placed_at >= {p.start} AND placed_at < {p.end} LIMIT {n}",
        Parameter(name="p", type=ParamType.TIME_RANGE, required=False, default="last month"),
        Parameter(name="n", type=ParamType.INTEGER, required=False, default=5),
        Parameter(name="note", type=ParamType.TEXT, required=False),
    )
    filling = fill_from_question(plan, marked("orders"), now=now)
    assert filling.values == {
        "p": {"start": "2026-03-01T00:00:00+00:00", "end": "2026-04-01T00:00:00+00:00"},
        "n": 5,
        "note": None,
    }
    assert "p is last month by default" in filling.notes


def test_open_side_stays_open(shop, marked, now):
    filling = fill_from_question(shop[4].plan, marked("total revenue since [March|time]"), now=now)
    assert filling.values["period"] == {"start": "2026-03-01T00:00:00+00:00", "end": None}


def test_date_parameter_takes_the_side_it_compares(marked, now):
    day = Parameter(name="day", type=ParamType.DATE)
    question = marked("orders before [March|time]")
    assert fill_from_question(
        plan_of("SELECT id FROM orders WHERE placed_on < {day}", day), question, now=now
    ).values == {"day": "2026-03-01"}
    after = fill_from_question(plan_of("SELECT id FROM orders WHERE placed_on >= {day}", day), question, now=now)
    assert after.values == {} and after.misfit is not None
