"""What a question is made of once its values are masked."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict


class SlotType(StrEnum):
    """The type of a value that was found in a question."""

    VALUE = "value"  # found in the source's value index
    NUMBER = "number"
    MONEY = "money"
    PERCENT = "percent"
    ORDINAL = "ordinal"
    ID = "id"
    EMAIL = "email"
    URL = "url"
    QUOTED = "quoted"
    TIME_RANGE = "time_range"  # every date, day, month, "last week", "since yesterday"
    CLOCK_TIME = "clock_time"  # "9:30", "early morning" as a time of day


class TimeRange(BaseModel):
    """A half-open range of time, `start <= t < end`; an open side is None. Both sides are aware datetimes."""

    model_config = ConfigDict(frozen=True)

    start: datetime | None = None
    end: datetime | None = None


class Slot(BaseModel):
    """One concrete value in a question."""

    model_config = ConfigDict(frozen=True)

    start: int
    """First character in the question."""
    end: int
    """One past the last character."""
    text: str
    """As it was said."""
    type: SlotType
    label: str
    """What stands in its place in the masked text, between ‹ and ›: "customers.name", "number", "time" …"""
    value: Any
    """Normalised and JSON-ready: the stored spelling of an indexed value, an int or float, an ISO text, or
    `{"start": iso | None, "end": iso | None}` for a time range."""
    columns: tuple[str, ...] = ()
    """For indexed values, every column that holds it, as "table.column"; several mean that it is ambiguous
    until the plan decides."""
    unit: str | None = None
    """For numbers: what is counted or measured next to it ("USD", "days", "orders"), if said."""
    comparison: str | None = None
    """For time ranges and numbers, the direction said in words that belong to the slot: "since", "before", "after",
    "until", "between", "over", "under", "at_least", "at_most"; None for a plain one."""


class MaskedQuestion(BaseModel):
    """A question with its values replaced by their types, for one source."""

    model_config = ConfigDict(frozen=True)

    source: str
    text: str
    """The question as asked."""
    masked: str
    """Lower-cased, white space folded, each slot written as ‹label›. This is what is embedded and stored."""
    slots: tuple[Slot, ...] = ()
    """In the order of the text, not overlapping."""
