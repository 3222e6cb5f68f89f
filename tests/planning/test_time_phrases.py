"""Time phrases, each with the range that a calendar gives; the clock is Wednesday 2026-05-13 15:30 in New York."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from qkva.contracts.errors import ParameterError
from qkva.planning.masking.time_phrases import find_time_phrases, resolve_time_phrase

NEW_YORK = ZoneInfo("America/New_York")
NOW = datetime(2026, 5, 13, 15, 30, tzinfo=NEW_YORK)

# phrase in its sentence | the phrase | start | end | comparison; local times, "-" for none
TABLE = """
orders of today                        | today                       | 2026-05-13       | 2026-05-14       | -
orders since yesterday                 | yesterday                   | 2026-05-12       | -                | since
due tomorrow                           | tomorrow                    | 2026-05-14       | 2026-05-15       | -
the day before yesterday               | the day before yesterday    | 2026-05-11       | 2026-05-12       | -
orders of this week                    | this week                   | 2026-05-11       | 2026-05-18       | -
orders from last week                  | last week                   | 2026-05-04       | 2026-05-11       | -
what is due next week                  | next week                   | 2026-05-18       | 2026-05-25       | -
the week before last                   | the week before last        | 2026-04-27       | 2026-05-04       | -
orders of last month                   | last month                  | 2026-04-01       | 2026-05-01       | -
orders of the previous month           | the previous month          | 2026-04-01       | 2026-05-01       | -
orders of last quarter                 | last quarter                | 2026-01-01       | 2026-04-01       | -
orders of this quarter                 | this quarter                | 2026-04-01       | 2026-07-01       | -
orders of last year                    | last year                   | 2025-01-01       | 2026-01-01       | -
what happened last weekend             | last weekend                | 2026-05-09       | 2026-05-11       | -
plans for this weekend                 | this weekend                | 2026-05-16       | 2026-05-18       | -
over the past week                     | the past week               | 2026-05-06T15:30 | 2026-05-13T15:30 | -
in the last hour                       | the last hour               | 2026-05-13T14:30 | 2026-05-13T15:30 | -
in the last 7 days                     | the last 7 days             | 2026-05-06T15:30 | 2026-05-13T15:30 | -
in the past three months               | the past three months       | 2026-02-13T15:30 | 2026-05-13T15:30 | -
last 24 hours                          | last 24 hours               | 2026-05-12T15:30 | 2026-05-13T15:30 | -
the last 3 full months                 | the last 3 full months      | 2026-02-01       | 2026-05-01       | -
in the next two weeks                  | the next two weeks          | 2026-05-13T15:30 | 2026-05-27T15:30 | -
3 days ago                             | 3 days ago                  | 2026-05-10       | 2026-05-11       | -
a week ago                             | a week ago                  | 2026-05-06       | 2026-05-07       | -
since 3 hours ago                      | 3 hours ago                 | 2026-05-13T12:30 | -                | since
orders older than 30 days              | 30 days                     | -                | 2026-04-13T15:30 | before
opened more than two weeks ago         | two weeks ago               | -                | 2026-04-29T15:30 | before
opened less than 3 hours ago           | 3 hours ago                 | 2026-05-13T12:30 | -                | since
revenue year to date                   | year to date                | 2026-01-01       | 2026-05-13T15:30 | -
revenue MTD                            | MTD                         | 2026-05-01       | 2026-05-13T15:30 | -
so far this year                       | so far this year            | 2026-01-01       | 2026-05-13T15:30 | -
this week so far                       | this week so far            | 2026-05-11       | 2026-05-13T15:30 | -
this morning                           | this morning                | 2026-05-13T06:00 | 2026-05-13T12:00 | -
yesterday evening                      | yesterday evening           | 2026-05-12T18:00 | 2026-05-13       | -
last night                             | last night                  | 2026-05-12T18:00 | 2026-05-13T06:00 | -
on Monday                              | Monday                      | 2026-05-11       | 2026-05-12       | -
on Wednesday                           | Wednesday                   | 2026-05-13       | 2026-05-14       | -
on Thursday                            | Thursday                    | 2026-05-07       | 2026-05-08       | -
last Wednesday                         | last Wednesday              | 2026-05-06       | 2026-05-07       | -
last Friday                            | last Friday                 | 2026-05-08       | 2026-05-09       | -
next Monday                            | next Monday                 | 2026-05-18       | 2026-05-19       | -
next Wednesday                         | next Wednesday              | 2026-05-20       | 2026-05-21       | -
this Friday                            | this Friday                 | 2026-05-15       | 2026-05-16       | -
Monday's orders                        | Monday                      | 2026-05-11       | 2026-05-12       | -
between Monday and Friday              | Monday and Friday           | 2026-05-04       | 2026-05-09       | between
on 2026-03-08                          | 2026-03-08                  | 2026-03-08       | 2026-03-09       | -
on 03/04/2026                          | 03/04/2026                  | 2026-03-04       | 2026-03-05       | -
on 13/04/2026                          | 13/04/2026                  | 2026-04-13       | 2026-04-14       | -
on 3.4.2026                            | 3.4.2026                    | 2026-04-03       | 2026-04-04       | -
on March 3rd, 2026                     | March 3rd, 2026             | 2026-03-03       | 2026-03-04       | -
on 3 March                             | 3 March                     | 2026-03-03       | 2026-03-04       | -
on the 3rd of March 2025               | the 3rd of March 2025       | 2025-03-03       | 2025-03-04       | -
on December 24                         | December 24                 | 2025-12-24       | 2025-12-25       | -
on the 5th                             | the 5th                     | 2026-05-05       | 2026-05-06       | -
on the 20th                            | the 20th                    | 2026-04-20       | 2026-04-21       | -
the 1st of last month                  | the 1st of last month       | 2026-04-01       | 2026-04-02       | -
March 3-5                              | March 3-5                   | 2026-03-03       | 2026-03-06       | between
in March                               | March                       | 2026-03-01       | 2026-04-01       | -
in May                                 | May                         | 2026-05-01       | 2026-06-01       | -
in November                            | November                    | 2025-11-01       | 2025-12-01       | -
in March 2025                          | March 2025                  | 2025-03-01       | 2025-04-01       | -
in March of last year                  | March of last year          | 2025-03-01       | 2025-04-01       | -
last May                               | last May                    | 2025-05-01       | 2025-06-01       | -
next March                             | next March                  | 2027-03-01       | 2027-04-01       | -
in early March                         | early March                 | 2026-03-01       | 2026-03-11       | -
in mid-2025                            | mid-2025                    | 2025-05-01       | 2025-09-01       | -
January orders                         | January                     | 2026-01-01       | 2026-02-01       | -
in Q1                                  | Q1                          | 2026-01-01       | 2026-04-01       | -
in Q4                                  | Q4                          | 2025-10-01       | 2026-01-01       | -
in Q1 2025                             | Q1 2025                     | 2025-01-01       | 2025-04-01       | -
the first quarter of last year         | the first quarter of last year | 2025-01-01    | 2025-04-01       | -
first half of 2025                     | first half of 2025          | 2025-01-01       | 2025-07-01       | -
in 2025                                | 2025                        | 2025-01-01       | 2026-01-01       | -
the 1990s                              | the 1990s                   | 1990-01-01       | 2000-01-01       | -
since March                            | March                       | 2026-03-01       | -                | since
from March onwards                     | March                       | 2026-03-01       | -                | since
no earlier than March 3                | March 3                     | 2026-03-03       | -                | since
after March                            | March                       | 2026-04-01       | -                | after
before March                           | March                       | -                | 2026-03-01       | before
until March                            | March                       | -                | 2026-04-01       | until
no later than Friday                   | Friday                      | -                | 2026-05-09       | until
by the end of the month                | the end of the month        | -                | 2026-06-01       | until
since the beginning of the year        | the beginning of the year   | 2026-01-01       | -                | since
between March and May                  | March and May               | 2026-03-01       | 2026-06-01       | between
between November and March             | November and March          | 2025-11-01       | 2026-04-01       | between
between March and May 2024             | March and May 2024          | 2024-03-01       | 2024-06-01       | between
from 2020 to 2022                      | 2020 to 2022                | 2020-01-01       | 2023-01-01       | between
from 2026-03-01 to 2026-03-31          | 2026-03-01 to 2026-03-31    | 2026-03-01       | 2026-04-01       | between
from yesterday until today             | yesterday until today       | 2026-05-12       | 2026-05-14       | between
the week of March 3rd                  | the week of March 3rd       | 2026-03-02       | 2026-03-09       | -
since yesterday at 5 pm                | yesterday at 5 pm           | 2026-05-12T17:00 | -                | since
on 2026-03-08 10:30                    | 2026-03-08 10:30            | 2026-03-08T10:30 | 2026-03-08T10:31 | -
since 2026-03-09T10:30:00Z             | 2026-03-09T10:30:00Z        | 2026-03-09T06:30 | -                | since
"""


def local(text: str) -> datetime | None:
    return None if text == "-" else datetime.fromisoformat(text).replace(tzinfo=NEW_YORK)


@pytest.mark.parametrize("row", TABLE.strip().splitlines())
def test_phrase_gives_calendar_range(row):
    sentence, phrase, start, end, comparison = (part.strip() for part in row.split("|"))
    found = find_time_phrases(sentence, NOW)
    assert [(sentence[a:b], said.start, said.end, compared) for a, b, said, compared in found] == [
        (phrase, local(start), local(end), None if comparison == "-" else comparison)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "may I see the orders",
        "march to the shop",
        "the second order",
        "who sat in the sun",
        "orders for 2000 customers",
        "more than 2025 orders",
        "in 2020 dollars",
        "take 550 in the lab",
        "orders of May Smith",
        "Jan has orders",
        "every Monday",
        "on Mondays",
        "last minute orders",
        "February 30, 2026",
        "2026-13-45",
        "last 99999999 years",
        "999999 years ago",
        "the 2nd floor",
        "one day of rest in 3 days",
    ],
)
def test_no_date_is_guessed(text):
    assert find_time_phrases(text, NOW) == []


def test_two_times_stay_two_phrases():
    text = "orders in 2024 and 2025"
    found = find_time_phrases(text, NOW)
    assert [(text[a:b], said.start.year) for a, b, said, _ in found] == [("2024", 2024), ("2025", 2025)]


def moments(phrase, clock, zone):
    now = datetime.fromisoformat(clock).astimezone(ZoneInfo(zone))
    (found,) = find_time_phrases(phrase, now)
    return found[2].start.isoformat(), found[2].end.isoformat()


def test_yesterday_in_american_evening():
    assert moments("yesterday", "2026-03-09T02:30+00:00", "America/New_York") == (
        "2026-03-07T00:00:00-05:00",
        "2026-03-08T00:00:00-05:00",
    )


def test_next_monday_far_east():
    assert moments("next Monday", "2026-01-10T12:30+00:00", "Pacific/Tongatapu") == (
        "2026-01-12T00:00:00+13:00",
        "2026-01-13T00:00:00+13:00",
    )


def test_last_week_is_monday_to_monday():
    assert moments("last week", "2026-05-13T12:00+00:00", "Europe/Berlin") == (
        "2026-05-04T00:00:00+02:00",
        "2026-05-11T00:00:00+02:00",
    )


def test_day_of_spring_change_has_23_hours():
    (found,) = find_time_phrases("on 2026-03-08", NOW)
    start, end = found[2].start, found[2].end
    assert (start.isoformat(), end.isoformat()) == ("2026-03-08T00:00:00-05:00", "2026-03-09T00:00:00-04:00")
    assert end.astimezone(UTC) - start.astimezone(UTC) == timedelta(hours=23)


def test_hours_are_exact_over_change():
    now = datetime(2026, 3, 8, 12, 0, tzinfo=NEW_YORK)
    (found,) = find_time_phrases("last 24 hours", now)
    assert found[2].start.isoformat() == "2026-03-07T11:00:00-05:00"


def test_days_keep_wall_clock_over_change():
    now = datetime(2026, 3, 8, 12, 0, tzinfo=NEW_YORK)
    (found,) = find_time_phrases("last 2 days", now)
    assert found[2].start.isoformat() == "2026-03-06T12:00:00-05:00"


@pytest.mark.parametrize(
    ("phrase", "start", "end"),
    [
        ("last month", "2026-04-01", "2026-05-01"),
        ("since yesterday", "2026-05-12", "-"),
        ("March 2026", "2026-03-01", "2026-04-01"),
        ("2025", "2025-01-01", "2026-01-01"),
        ("between March and April", "2026-03-01", "2026-05-01"),
        ("  Last 7 days ", "2026-05-06T15:30", "2026-05-13T15:30"),
    ],
)
def test_default_phrase_resolves(phrase, start, end):
    said = resolve_time_phrase(phrase, NOW)
    assert (said.start, said.end) == (local(start), local(end))


@pytest.mark.parametrize("phrase", ["", "soon", "last month and a half of it", "orders since yesterday", "2026-02-30"])
def test_other_defaults_are_refused(phrase):
    with pytest.raises(ParameterError, match="not a time"):
        resolve_time_phrase(phrase, NOW)
