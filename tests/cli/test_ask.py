"""`qkva ask`: what it prints where, and how it ends."""

import json

import pytest

from qkva.contracts.result import AskResult

pytestmark = pytest.mark.db

COUNT = "How many customers are there in France?"


def result_of(done) -> AskResult:
    """The one object on standard output."""
    assert done.stdout.count("\n") == 1 and done.stdout.endswith("\n")
    return AskResult.model_validate(json.loads(done.stdout))


def test_answer_goes_to_standard_output(qkva_process):
    done = qkva_process("ask", COUNT)
    assert done.returncode == 0 and done.stderr == ""
    assert "customers = 13 [1]" in done.stdout and "hit · number of customers in a country (verified)" in done.stdout


def test_json_is_one_object(qkva_process):
    done = qkva_process("ask", COUNT, "--json")
    result = result_of(done)
    assert done.returncode == 0 and done.stderr == ""
    assert (result.status, result.cache, result.params) == ("answered", "hit", {"country": "France"})
    assert result.plan is not None and result.plan.status == "verified"
    assert result.records.rows == ({"customers": 13},)
    assert result.citations and not result.model_calls
    assert set(json.loads(done.stdout)) == set(AskResult.model_fields)


def test_trace_keeps_standard_output_pure(qkva):
    done = qkva("ask", COUNT, "--json", "--trace")
    assert result_of(done).status == "answered"
    steps = [line.split()[2] for line in done.stderr.splitlines()]
    assert steps[:2] == ["read_question", "embed"] and "execute" in steps
    assert all(line.split()[1] == "ms" for line in done.stderr.splitlines())


def test_explain_shows_each_door(qkva):
    done = qkva("ask", COUNT, "--explain")
    doors = result_of(qkva("ask", COUNT, "--json")).doors
    assert len(doors) >= 3
    for door in doors:
        assert f"{door.name:<14} {door.verdict}" in done.stdout
    assert "WHERE c.country = {country}" in done.stdout


def test_clock_and_zone_are_the_callers(qkva):
    question = "How many orders were placed yesterday?"
    plain = result_of(qkva("ask", question, "--json"))
    assert plain.params["period"]["start"].startswith("2026-06-14T00:00")
    moved = result_of(qkva("ask", question, "--json", "--now", "2026-03-02T01:00", "--timezone", "Europe/Berlin"))
    assert moved.params["period"] == {"start": "2026-03-01T00:00:00+01:00", "end": "2026-03-02T00:00:00+01:00"}


def test_question_comes_from_standard_input(qkva_process):
    done = qkva_process("ask", "-", "--json", stdin=f"  {COUNT}\n".encode())
    assert result_of(done).question == COUNT and done.returncode == 0


def test_source_can_be_chosen(qkva):
    result = result_of(qkva("ask", "Which open issues are assigned to Grace Hopper?", "--source", "issues", "--json"))
    assert result.source == "issues" and result.citations[0].url


def test_unknown_kind_falls_back_and_says_so(qkva):
    result = result_of(qkva("ask", "Which orders of Ada Lovelace took longest to arrive?", "--json"))
    assert (result.status, result.cache) == ("answered", "fallback")
    assert any("all orders of a customer" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("", "The question is empty"),
        ("   ", "The question is empty"),
        ("!?!", "The question has no words"),
        ("сколько заказов было в мае?", "English"),
        ("Delete all orders of Ada Lovelace", "qkva only reads"),
    ],
)
def test_refused_question_is_one_sentence(qkva, question, expected):
    done = qkva("ask", question)
    assert done.returncode == 1 and done.stdout == ""
    assert expected in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr
    refused = result_of(qkva("ask", question, "--json"))
    assert refused.status == "refused" and expected in str(refused.error)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"x" * 100_000, "100,000 characters"),
        (bytes(range(256)), "binary"),
        (b"\xff\xfe\x00a", "binary"),
        (b"", "empty"),
    ],
)
def test_bad_input_from_a_pipe_is_refused(qkva, data, expected):
    done = qkva("ask", "-", "--json", stdin=data)
    result = result_of(done)
    assert done.returncode == 1 and done.stderr == ""
    assert result.status == "refused" and expected in str(result.error)


def test_binary_argument_is_refused(qkva_process):
    done = qkva_process("ask", "how many \udcff\udcfe orders", "--json")
    assert done.returncode == 1 and "binary" in str(result_of(done).error)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["ask"], "Missing argument"),
        (["ask", COUNT, "--sorce", "shop"], "No such option"),
        (["ask", COUNT, "--source", "stop"], "There is no source 'stop'; the configured ones are issues, shop."),
        (["ask", COUNT, "--now", "noon"], "--now is 'noon'"),
        (["ask", COUNT, "--timezone", "Mars/Olympus"], "'Mars/Olympus' is no IANA time zone"),
    ],
)
def test_wrong_usage_ends_with_two(qkva, arguments, expected):
    done = qkva(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert expected in done.stderr and done.stderr.count("\n") == 1
    as_json = qkva(*arguments, "--json")
    assert as_json.returncode == 2 and as_json.stderr == ""
    result = result_of(as_json)
    assert result.status == "error" and expected in str(result.error)
