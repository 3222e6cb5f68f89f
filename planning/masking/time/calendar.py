"""Calendar arithmetic in the caller's zone: days start at local midnight, so one of them can last 23 or 25 hours."""

from datetime import UTC, date, datetime, timedelta

from dateutil.relativedelta import relativedelta

from qkva.contracts.question import TimeRange

CALENDAR_UNITS = ("day", "week", "month", "quarter", "year", "decade", "century")
EXACT_UNITS = ("second", "minute", "hour")


def at_wall_clock(wall: datetime, now: datetime) -> datetime:
    """The moment when the clock on the caller's wall shows `wall`; one that the clocks skip moves forward."""
    return wall.replace(tzinfo=now.tzinfo).astimezone(UTC).astimezone(now.tzinfo)


def midnight(day: date, now: datetime) -> datetime:
    """Where the day starts in the caller's zone."""
    return at_wall_clock(datetime(day.year, day.month, day.day), now)


def days(first: date, after: date, now: datetime) -> TimeRange:
    """From the start of `first` to the start of `after`."""
    return TimeRange(start=midnight(first, now), end=midnight(after, now))


def one_day(day: date, now: datetime) -> TimeRange:
    """That day, from midnight to midnight."""
    return days(day, day + timedelta(days=1), now)


def step(unit: str, count: int = 1) -> relativedelta:
    """A calendar unit as a distance between dates."""
    if unit in ("quarter", "decade", "century"):
        size = {
            "quarter": relativedelta(months=3),
            "decade": relativedelta(years=10),
            "century": relativedelta(years=100),
        }
        return size[unit] * count
    return relativedelta(**{f"{unit}s": count})  # type: ignore[arg-type]


def first_day(unit: str, day: date) -> date:
    """The first day of the calendar unit that holds `day`; weeks start on Monday."""
    match unit:
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "quarter":
            return date(day.year, day.month - (day.month - 1) % 3, 1)
        case "year":
            return date(day.year, 1, 1)
        case "decade":
            return date(day.year - day.year % 10, 1, 1)
        case "century":
            return date(day.year - (day.year - 1) % 100, 1, 1)
    return day


def calendar_unit(unit: str, offset: int, now: datetime) -> TimeRange:
    """The whole day, week, month … that lies `offset` away from the one of now; a clock unit likewise ("this hour")."""
    if unit == "weekend":
        monday = first_day("week", now.date()) + timedelta(weeks=offset)
        return days(monday + timedelta(days=5), monday + timedelta(days=7), now)
    if unit in EXACT_UNITS:
        start = now.replace(microsecond=0, second=now.second if unit == "second" else 0)
        start = start.replace(minute=0) if unit == "hour" else start
        return TimeRange(start=moved(start, unit, offset), end=moved(start, unit, offset + 1))
    first = first_day(unit, now.date()) + step(unit, offset)
    return days(first, first + step(unit), now)


def moved(moment: datetime, unit: str, count: int) -> datetime:
    """The moment `count` units away: hours are exact, days and longer keep the time on the wall clock."""
    if unit in EXACT_UNITS:
        return (moment.astimezone(UTC) + timedelta(**{f"{unit}s": count})).astimezone(moment.tzinfo)
    return at_wall_clock(moment.replace(tzinfo=None) + step(unit, count), moment)


def sliding(unit: str, count: int, now: datetime) -> TimeRange:
    """The window of `count` units that ends now, or for a negative count the one that starts now."""
    other = moved(now, unit, -count)
    return TimeRange(start=now, end=other) if count < 0 else TimeRange(start=other, end=now)
