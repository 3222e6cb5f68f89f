"""Who leads, who waits, and for how long: the rules of a single flight, without a graph."""

import asyncio
import time

import pytest

from qkva.contracts.cache import Candidate
from qkva.contracts.errors import SourceUnavailable, StoreUnavailable
from qkva.contracts.plan import Plan
from qkva.nodes.single_flight import FlightKey, Handover, SingleFlight

KEY = FlightKey(tenant_id="a", source="shop", masked="orders of ‹customers.name›")
PLAN = Plan(key_text="orders", query="select 1", source="shop", source_type="sql", dialect="postgres")
MADE = Handover(candidate=Candidate(plan=PLAN, keys=()))
FAILED = Handover(candidate=None, warnings=("the planner is down",))


async def nothing():
    return None


async def lead(flights, *, seconds=0.05, handover=MADE):
    """Take part; the one that leads takes its time. Returns whether it led, and what it was handed."""
    async with flights.join(KEY, nothing) as seat:
        if seat.handover is None:
            await asyncio.sleep(seconds)
            return seat.hand_over(handover), None
        return None, seat.handover


async def test_plan_is_at_hand_until_it_lands():
    flights = SingleFlight()
    flight_id, _ = await lead(flights)

    assert await lead(flights) == (None, MADE)
    flights.land(flight_id)
    assert (await lead(flights))[0] not in (None, flight_id)


async def test_lost_leader_cannot_keep_the_key():
    flights = SingleFlight(patience_sec=0.1)
    first, _ = await lead(flights)

    assert (await lead(flights))[1] is MADE
    await asyncio.sleep(0.15)
    second, _ = await lead(flights)
    flights.land(first)  # late, and no longer its own
    assert second is not None
    assert (await lead(flights))[1] is MADE


async def test_leader_without_handover_is_followed():
    flights = SingleFlight()

    async def lost():
        async with flights.join(KEY, nothing):
            await asyncio.sleep(0.05)

    lost_one = asyncio.create_task(lost())
    await asyncio.sleep(0)
    others = await asyncio.gather(*(lead(flights) for _ in range(5)))
    await lost_one
    assert [handed for _, handed in others].count(MADE) == 4


async def test_second_failure_is_everybodys():
    flights = SingleFlight()
    ended = await asyncio.gather(*(lead(flights, handover=FAILED) for _ in range(6)))

    assert [handed for _, handed in ended].count(FAILED) == 4  # two led and failed themselves
    assert (await lead(flights))[0] is not None


async def test_error_of_two_leaders_reaches_the_waiters():
    flights = SingleFlight()
    tried = 0

    async def take_part():
        nonlocal tried
        async with flights.join(KEY, nothing) as seat:
            if seat.handover is not None:
                return seat.handover.error.message
            tried += 1
            await asyncio.sleep(0.02)
            raise SourceUnavailable("the shop is closed")

    ended = await asyncio.gather(*(take_part() for _ in range(5)), return_exceptions=True)
    assert tried == 2
    assert [str(end) for end in ended] == ["the shop is closed"] * 5


async def test_patience_ends():
    flights = SingleFlight(patience_sec=0.1)
    leader = asyncio.create_task(lead(flights, seconds=0.5))
    await asyncio.sleep(0)
    started = time.monotonic()
    async with flights.join(KEY, nothing) as seat:
        assert time.monotonic() - started < 0.4
        assert seat.handover is None
        assert seat.hand_over(MADE) is None  # it plans alone, so that nobody waits for it
    assert (await leader)[0] is not None


async def test_stored_plan_is_handed_to_all():
    flights = SingleFlight()
    looks = 0

    async def look():
        nonlocal looks
        looks += 1
        await asyncio.sleep(0.02)
        return MADE

    async def take_part():
        async with flights.join(KEY, look) as seat:
            return seat.handover

    assert await asyncio.gather(*(take_part() for _ in range(5))) == [MADE] * 5
    assert looks == 1


async def test_store_that_is_down_lets_one_lead():
    async def look():
        raise StoreUnavailable

    async with SingleFlight().join(KEY, look) as seat:
        assert seat.handover is None
        assert seat.hand_over(MADE) is not None


@pytest.mark.parametrize("other", [{"tenant_id": "b"}, {"source": "mail"}, {"masked": "orders"}])
async def test_other_keys_fly_apart(other):
    flights = SingleFlight()
    async with flights.join(KEY, nothing) as one:
        async with flights.join(FlightKey(**{**vars_of(KEY), **other}), nothing) as another:
            assert one.handover is None and another.handover is None
            assert one.hand_over(MADE) and another.hand_over(MADE)


def vars_of(key):
    return {"tenant_id": key.tenant_id, "source": key.source, "masked": key.masked}
