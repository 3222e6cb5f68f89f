"""The made-up tracker: what its queries find, checked against the fixture file itself."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from qkva.connectors.registry import open_connector
from qkva.contracts.errors import MissingParameter, ParameterError, PlanRejected
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.contracts.source import Limits

Raw = dict[str, Any]
ISSUES: list[Raw] = yaml.safe_load(
    (Path(__file__).parents[3] / "connectors" / "stub" / "issues.yaml").read_text(encoding="utf-8")
)
TODAY = date(2026, 6, 15)


@pytest.fixture
def tracker():
    return open_connector("tracker", "stub", {})


def keys(found: Callable[[Raw], object]) -> set[str]:
    return {raw["key"] for raw in ISSUES if found(raw)}


def param(name: str, type_: str = "text", **fields: Any) -> Parameter:
    return Parameter(name=name, type=ParamType(type_), **fields)


async def ask(tracker: Any, query: str, *params: Parameter, limits: Limits | None = None, **values: Any) -> list[str]:
    result = await tracker.execute(query, params, values, limits or Limits())
    return [record.id for record in result.records]


def test_fixtures_are_realistic():
    assert len(ISSUES) == 40
    assert {raw["key"].split("-")[0] for raw in ISSUES} == {"SHOP", "OPS"}
    assert len({raw["key"] for raw in ISSUES}) == 40
    assert all(raw["created"] <= raw["updated"] <= 0 for raw in ISSUES)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status = Done", lambda raw: raw["status"] == "Done"),
        ("status = done", lambda raw: raw["status"] == "Done"),
        ("project = OPS and status != Done", lambda raw: raw["key"].startswith("OPS") and raw["status"] != "Done"),
        ("assignee is empty", lambda raw: raw["assignee"] is None),
        ('assignee != "Grace Hopper"', lambda raw: raw["assignee"] not in (None, "Grace Hopper")),
        ("labels in (refunds, mail)", lambda raw: {"refunds", "mail"} & set(raw["labels"])),
        ("labels not in (refunds)", lambda raw: "refunds" not in raw["labels"]),
        ("component = Database", lambda raw: "Database" in raw["components"]),
        ("components = Database", lambda raw: "Database" in raw["components"]),
        ("priority >= High", lambda raw: raw["priority"] in ("High", "Highest")),
        ("due is not empty and due < now()", lambda raw: raw["due"] is not None and raw["due"] <= 0),
        ("duedate >= 2026-06-20", lambda raw: raw["due"] is not None and raw["due"] >= 5),
        ("created >= -30d", lambda raw: raw["created"] > -30),
        ("created < 2026/05/01", lambda raw: TODAY + timedelta(raw["created"]) < date(2026, 5, 1)),
        ("type = Bug or type = Incident", lambda raw: raw["type"] in ("Bug", "Incident")),
        ("not (type = Bug or type = Incident)", lambda raw: raw["type"] not in ("Bug", "Incident")),
        (
            "type = Bug or type = Story and status = Done",
            lambda raw: raw["type"] == "Bug" or (raw["type"], raw["status"]) == ("Story", "Done"),
        ),
        ("summary ~ refund", lambda raw: "refund" in raw["summary"].lower()),
        ('summary ~ "slow queries"', lambda raw: raw["key"] == "OPS-7"),
        ("key in (SHOP-1, OPS-2)", lambda raw: raw["key"] in ("SHOP-1", "OPS-2")),
        ("", lambda raw: True),
    ],
)  # fmt: skip
async def test_query_finds_what_the_file_says(tracker, query: str, found: Callable[[Raw], object]):
    expected = keys(found)
    assert expected
    assert set(await ask(tracker, query)) == expected


async def test_order_is_kept(tracker):
    by_key = await ask(tracker, "project = SHOP order by key")
    assert by_key == [f"SHOP-{number}" for number in range(1, 25)]
    newest = await ask(tracker, "")
    created = {raw["key"]: raw["created"] for raw in ISSUES}
    assert [created[key] for key in newest] == sorted(created.values(), reverse=True)
    first = (await ask(tracker, "order by priority desc, key"))[0]
    assert first == "OPS-1"


async def test_time_range_binds(tracker):
    period = param("p", "time_range")
    query = "created >= {p.start} and created < {p.end}"
    may = {"start": "2026-05-01T00:00:00+00:00", "end": "2026-06-01T00:00:00+00:00"}
    in_may = keys(lambda raw: (TODAY + timedelta(raw["created"])).month == 5)
    assert set(await ask(tracker, query, period, p=may)) == in_may
    open_end = {"start": "2026-05-01T00:00:00+00:00", "end": None}
    since = keys(lambda raw: TODAY + timedelta(raw["created"]) >= date(2026, 5, 1))
    assert set(await ask(tracker, query, period, p=open_end)) == since


async def test_unsaid_optional_value_filters_nothing(tracker):
    query = "project = {project} and status = {status}"
    params = (param("project"), param("status", required=False))
    assert len(await ask(tracker, query, *params, project="SHOP", status=None)) == 24
    with pytest.raises(MissingParameter, match='"project"'):
        await ask(tracker, query, *params, status="Done")


async def test_list_and_enum_are_checked(tracker):
    labels = param("labels", "list")
    assert set(await ask(tracker, "labels in ({labels})", labels, labels=["mail", "none"])) == keys(
        lambda raw: "mail" in raw["labels"]
    )
    assert await ask(tracker, "labels in ({labels})", labels, labels=[]) == []
    status = param("status", "enum", choices=("Done",))
    with pytest.raises(ParameterError, match="one of Done"):
        await ask(tracker, "status = {status}", status, status="Lost")


async def test_hostile_value_finds_nothing(tracker):
    for value in ('Done" OR project = "OPS', "Done' or '1'='1", "{status}", "now()", "EMPTY"):
        assert await ask(tracker, "status = {q}", param("q"), q=value) == []


async def test_rows_are_capped_and_said_so(tracker):
    result = await tracker.execute("", (), {}, Limits(rows=40))
    assert (len(result.records), result.truncated) == (40, False)
    result = await tracker.execute("", (), {}, Limits(rows=39))
    assert (len(result.records), result.truncated) == (39, True)


async def test_record_is_a_linked_issue(tracker):
    record = (await tracker.execute("key = SHOP-17", (), {}, Limits(timezone="Asia/Tokyo"))).records[0]
    assert (record.id, record.label, record.url) == ("SHOP-17", "SHOP-17", "https://issues.example/browse/SHOP-17")
    assert record.fields["summary"] == "Refund mail names the wrong amount"
    assert record.fields["created"].endswith("T18:00:00+09:00")
    assert record.snippet == "Refund mail names the wrong amount (In Progress, High, Grace Hopper)"


async def test_today_moves_the_dates():
    moved = open_connector("tracker", "stub", {"today": "2027-01-01"})
    record = (await moved.execute("key = SHOP-24", (), {}, Limits())).records[0]
    assert record.fields["created"] == "2026-12-31T09:00:00+00:00"


@pytest.mark.parametrize(
    ("query", "params", "what"),
    [
        ("stats = Done", [], 'no field "stats"; did you mean "status"?'),
        ("status ~ Done", [], '"status" takes =, !=, in, not in, is, is not, not ~'),
        ("summary = x", [], '"summary" takes ~'),
        ("created > soon", [], '"soon" is no date'),
        ("status = Done order by rank", [], 'no field "rank"'),
        ("status = {q}", [], '"q", which is not declared'),
        ("status = Done", [param("q")], '"q" is declared'),
        ("status = {q}", [param("q", column="issues.stats")], 'did you mean "issues.status"?'),
        ("created > {q}", [param("q")], 'does not fit "created"'),
        ("status = {q}", [param("q", "date")], 'does not fit "status"'),
        ("created > {q}", [param("q", "time_range")], "{name.start}"),
        ("status = {q}", [param("q", "list")], "only stand in IN"),
    ],
)
async def test_unsound_plan_is_refused(tracker, query: str, params: list[Parameter], what: str):
    plan = Plan(key_text="x", query=query, params=tuple(params), source="t", source_type="stub", dialect="jql")
    with pytest.raises(PlanRejected) as refused:
        await tracker.check(plan)
    assert what in refused.value.message


def slot(text: str, start: int, **fields: Any) -> Slot:
    return Slot(start=start, end=start + len(text), text=text, **fields)


async def test_broad_query_filters_by_values(tracker):
    who = slot(
        "Grace Hopper", 22, type=SlotType.VALUE, label="assignee", value="Grace Hopper", columns=("issues.assignee",)
    )
    question = MaskedQuestion(
        source="t", text="Anything strange from Grace Hopper?", masked="anything strange from ‹assignee›?", slots=(who,)
    )
    broad = await tracker.broaden(question)
    assert broad is not None
    assert broad.about == "the newest issues for Grace Hopper"
    found = await ask(tracker, broad.query, *broad.params, **broad.values)
    assert set(found) == keys(lambda raw: raw["assignee"] == "Grace Hopper")


async def test_broad_query_needs_something_of_its_own(tracker):
    def asked(text: str) -> MaskedQuestion:
        return MaskedQuestion(source="t", text=text, masked=text)

    assert await tracker.broaden(asked("how is the weather?")) is None
    tickets = await tracker.broaden(asked("any odd tickets?"))
    assert tickets is not None
    assert tickets.query == "ORDER BY created DESC"
