"""Of many callers that plan the same question at once, one plans and the others wait for its plan.

Within a process they meet at a future. Between processes they meet at a lock in the database, which only the caller
that leads its own process asks for, so that nobody else polls. Nobody waits without an end: see `SingleFlight.join`.
"""

import asyncio
import time
import uuid
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from qkva.contracts.cache import Candidate
from qkva.contracts.errors import QkvaError, StoreUnavailable
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.stores import Lead, LeadStore

PATIENCE_SEC = 60.0
FIRST_PAUSE_SEC, LONGEST_PAUSE_SEC = 0.05, 0.5
"""Between two looks at another process's lead: each look is two statements of about a millisecond."""


@dataclass(frozen=True, kw_only=True)
class FlightKey:
    """What is planned once at a time."""

    tenant_id: str
    source: str
    masked: str


@dataclass(frozen=True, kw_only=True)
class Handover:
    """What a leader leaves to those who waited for it."""

    candidate: Candidate | None
    """The plan, found by the masked question that led to it; None when no plan could be had."""
    question: MaskedQuestion | None = None
    """The leader's own question; None when the plan came from the store."""
    values: dict[str, Any] = field(default_factory=dict)
    """The planner's values for that question."""
    warnings: tuple[str, ...] = ()
    error: QkvaError | None = None
    """What ended the leader's turn."""


Look = Callable[[], Awaitable[Handover | None]]
"""Looks for the plan in the store. May raise StoreUnavailable."""


@dataclass(eq=False, kw_only=True)
class Flight:
    """One planning that is under way, or whose plan is not stored yet."""

    key: FlightKey
    outcome: asyncio.Future[Handover | None]
    """None when its leader was lost."""
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    lead: Lead | None = None
    """The lead among processes, where the database gave one."""
    timer: asyncio.TimerHandle | None = None


class Seat:
    """One caller's place: it got a hand-over, or it leads a flight, or it plans alone because its patience ended."""

    def __init__(self, flights: "SingleFlight", *, handover: Handover | None = None, flight: Flight | None = None):
        self._flights = flights
        self._flight = flight
        self.handover = handover

    def hand_over(self, handover: Handover) -> str | None:
        """Give the others the plan. Returns what to call `SingleFlight.land` with once the plan is stored or dropped.

        None when there is nothing to land: this caller does not lead, or no plan could be had.
        """
        flight, self._flight = self._flight, None
        if flight is None:
            return None
        return self._flights.hand_over(flight, handover)

    def leave(self) -> None:
        """End a flight that was not handed over."""
        if self._flight is not None:
            self._flights.end(self._flight)


class SingleFlight:
    """The flights of this process, by event loop; without `leads` it knows no other processes."""

    def __init__(self, leads: LeadStore | None = None, *, patience_sec: float = PATIENCE_SEC) -> None:
        self._leads = leads
        self._patience_sec = patience_sec
        self._flights: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[FlightKey, Flight]]
        self._flights = weakref.WeakKeyDictionary()
        self._releases: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def join(self, key: FlightKey, look: Look) -> AsyncIterator[Seat]:
        """Wait for the plan of whoever plans this key, or lead.

        A leader that is lost frees the waiters at once, and one of them leads. So does the first that fails, since that
        may pass; the second failure is everybody's. After `patience_sec` a waiter plans alone.
        """
        seat = await self._seat(key, look, time.monotonic() + self._patience_sec)
        try:
            yield seat
        except QkvaError as error:
            seat.hand_over(Handover(candidate=None, error=error))
            raise
        finally:
            seat.leave()

    def land(self, flight_id: str) -> None:
        """End the flight: its plan is stored, or will not be."""
        for flight in list(self._here().values()):
            if flight.id == flight_id:
                self.end(flight)

    async def close(self) -> None:
        """End all flights of this event loop and give the database its connection back."""
        for flight in list(self._here().values()):
            self.end(flight)
        await asyncio.gather(*self._releases)
        if self._leads is not None:
            await self._leads.close()

    def hand_over(self, flight: Flight, handover: Handover) -> str | None:
        """See `Seat.hand_over`. A plan stays at hand until it lands, or for the time that a caller would wait."""
        if not flight.outcome.done():
            flight.outcome.set_result(handover)
        if handover.candidate is None:
            self.end(flight)
            return None
        flight.timer = asyncio.get_running_loop().call_later(self._patience_sec, self.end, flight)
        return flight.id

    def end(self, flight: Flight) -> None:
        """Make room for the next flight of this key, here and in other processes."""
        flights = self._here()
        if flights.get(flight.key) is flight:
            del flights[flight.key]
        if not flight.outcome.done():
            flight.outcome.set_result(None)
        if flight.timer is not None:
            flight.timer.cancel()
        if flight.lead is not None:
            release = asyncio.get_running_loop().create_task(flight.lead.release())
            flight.lead = None
            self._releases.add(release)
            release.add_done_callback(self._releases.discard)

    def _here(self) -> dict[FlightKey, Flight]:
        return self._flights.setdefault(asyncio.get_running_loop(), {})

    async def _seat(self, key: FlightKey, look: Look, deadline: float) -> Seat:
        failures = 0
        while (under_way := self._here().get(key)) is not None:
            await asyncio.wait([under_way.outcome], timeout=max(0.0, deadline - time.monotonic()))
            if not under_way.outcome.done():
                return Seat(self)
            handover = under_way.outcome.result()
            if handover is None or (handover.candidate is None and failures == 0):
                failures += handover is not None
                continue
            return Seat(self, handover=handover)
        flight = self._here()[key] = Flight(key=key, outcome=asyncio.get_running_loop().create_future())
        try:
            found = await self._lead(flight, look, deadline)
        except BaseException:
            self.end(flight)
            raise
        if found is None:
            return Seat(self, flight=flight)
        flight.outcome.set_result(found)
        self.end(flight)
        return Seat(self, handover=found)

    async def _lead(self, flight: Flight, look: Look, deadline: float) -> Handover | None:
        """Lead among all processes, or wait for what another one stores; a database that is down keeps nobody."""
        pause = FIRST_PAUSE_SEC
        try:
            while True:
                # In this order: a leader stores before it lets go, so who leads after it sees what it stored.
                key = flight.key
                if self._leads is not None:
                    flight.lead = await self._leads.try_lead(key.tenant_id, source=key.source, masked=key.masked)
                found = await look()
                if found or flight.lead or self._leads is None or time.monotonic() >= deadline:
                    return found
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, LONGEST_PAUSE_SEC)
        except StoreUnavailable:
            return None
