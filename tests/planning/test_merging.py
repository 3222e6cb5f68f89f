"""Records of several sources as one answer."""

import pytest

from qkva.contracts.source import QueryResult, Record, SourceResult
from qkva.planning.merging import emptied, merged, shares, shown_records


def book(key, title="Solaris", **more):
    return Record(id=key, label=f"books {key}", fields={"id": key, "title": title}, **more)


def from_source(name, *records):
    return SourceResult(source=name, about="books", result=QueryResult(records=records))


def kept(parts):
    return [(part.source, [record.id for record in part.result.records], part.repeated) for part in parts]


def test_equal_records_with_a_key_are_one():
    parts = merged([from_source("east", book("1"), book("2")), from_source("west", book("2"), book("3"))])
    assert kept(parts) == [("east", ["1", "2"], 0), ("west", ["3"], 1)]


def test_equal_key_of_something_else_is_another_record():
    parts = merged([from_source("east", book("1")), from_source("west", book("1", "Eden"))])
    assert kept(parts) == [("east", ["1"], 0), ("west", ["1"], 0)]


def test_one_link_is_one_record_whatever_was_read_of_it():
    link = "https://issues.example/browse/SHOP-1"
    parts = merged([from_source("east", book("1", url=link)), from_source("west", book("1", "Eden", url=link))])
    assert kept(parts) == [("east", ["1"], 0), ("west", [], 1)]


def test_rows_without_a_key_stay_with_their_sources():
    parts = merged([from_source("east", book("row-1")), from_source("west", book("row-1"))])
    assert kept(parts) == [("east", ["row-1"], 0), ("west", ["row-1"], 0)]


def test_source_keeps_what_it_says_twice_itself():
    assert kept(merged([from_source("east", book("1"), book("1"))])) == [("east", ["1", "1"], 0)]


def test_sum_over_nothing_is_nothing():
    nothing = Record(id="row-1", label="row 1", fields={"total": None})
    assert emptied(QueryResult(records=(nothing,))).records == ()
    assert len(emptied(QueryResult(records=(nothing, nothing))).records) == 2
    zero = nothing.model_copy(update={"fields": {"total": 0}})
    assert len(emptied(QueryResult(records=(zero,))).records) == 1


@pytest.mark.parametrize(
    ("counts", "room", "expected"),
    [
        ([30], 20, [20]),
        ([30, 30], 20, [10, 10]),
        ([30, 3], 20, [17, 3]),
        ([3, 0, 30], 20, [3, 0, 17]),
        ([30, 30, 30], 20, [7, 7, 6]),
        ([1, 1, 1], 2, [1, 1, 0]),
        ([], 20, []),
        ([0, 0], 20, [0, 0]),
    ],
)
def test_room_is_shared(counts, room, expected):
    assert shares(counts, room) == expected


def test_each_source_shows_its_first_records():
    many = from_source("east", *(book(str(number)) for number in range(9)))
    few = from_source("west", book("20"))
    assert [[record.id for record in part] for part in shown_records([many, few], 4)] == [["0", "1", "2"], ["20"]]
