"""Hit rate, savings and prices, worked out by hand."""

from datetime import UTC, datetime

import pytest

from qkva.contracts.ask_log import LabelFigures, LogFigures, OutcomeFigures
from qkva.graphs.audit import token_counts
from qkva.graphs.stats import stats_from
from qkva.settings import ModelPrice

NOW = datetime(2026, 6, 15, tzinfo=UTC)
PRICES = {"m": ModelPrice(input=2.0, output=10.0, cached=0.5)}


def outcome(cache, questions, calls, source="shop", **tokens):
    counts = {f"m:{kind}": count for kind, count in tokens.items()}
    return OutcomeFigures(source=source, cache=cache, questions=questions, model_calls=calls, tokens=counts)


def figures(*outcomes, labels=(), **statuses):
    return LogFigures(since=NOW, statuses=statuses, outcomes=outcomes, sources=(), labels=labels)


def test_hit_rate_is_of_searched_questions():
    stats = stats_from(
        figures(
            outcome("hit", 6, 0),
            outcome("miss", 2, 0),
            outcome("coalesced", 1, 0),
            outcome("fallback", 1, 0),
            outcome("unavailable", 5, 0),
            outcome(None, 7, 0, source=None),
            answered=20,
            refused=2,
        ),
        {},
    )
    assert stats.hit_rate == pytest.approx(0.6)
    assert stats.questions == 22
    assert stats.cache == {"hit": 6, "miss": 2, "coalesced": 1, "fallback": 1, "unavailable": 5}


def test_savings_are_what_planning_would_have_cost():
    """Two misses cost 6 calls, 3 each; ten hits would have cost 30, and cost 10."""
    stats = stats_from(
        figures(
            outcome("miss", 2, 6, input=2_000, cached=1_000, output=400),
            outcome("hit", 10, 10, input=1_000, output=200),
        ),
        PRICES,
    )
    assert stats.saved.model_calls == 20
    assert stats.saved.tokens == 10 * (3_400 / 2) - 1_200
    # a miss: (2000 * 2 + 1000 * 0.5 + 400 * 10) / 2 = 4250 millionths; all hits: 1000 * 2 + 200 * 10 = 4000 millionths
    assert stats.saved.money == pytest.approx((10 * 4_250 - 4_000) / 1_000_000)
    (model,) = stats.models
    assert (model.model, model.input, model.cached, model.output) == ("m", 3_000, 1_000, 600)
    assert model.money == pytest.approx((3_000 * 2 + 1_000 * 0.5 + 600 * 10) / 1_000_000)


def test_savings_are_measured_source_by_source():
    stats = stats_from(
        figures(
            outcome("miss", 1, 8),
            outcome("hit", 1, 1),
            outcome("miss", 1, 2, source="mail"),
            outcome("hit", 3, 3, source="mail"),
            outcome("hit", 100, 100, source="never planned"),
        ),
        {},
    )
    assert stats.saved.model_calls == (8 - 1) + (3 * 2 - 3)


def test_what_cannot_be_known_is_not_guessed():
    assert stats_from(figures(outcome("hit", 5, 5)), PRICES).saved.model_calls is None
    assert stats_from(figures(), PRICES).hit_rate is None
    unpriced = stats_from(figures(outcome("miss", 1, 3, input=10), outcome("hit", 1, 1, input=1)), {})
    assert unpriced.saved.model_calls == 2 and unpriced.saved.money is None
    assert unpriced.models[0].money is None


def test_wrong_hits_are_what_audits_and_people_found():
    labels = tuple(
        LabelFigures(source="shop", origin=origin, verdict=verdict, labels=number)
        for origin, verdict, number in (
            ("audit", "different", 2),
            ("audit", "same", 30),
            ("person", "different", 1),
            ("miss", "different", 99),
            ("miss", "same", 7),
        )
    )
    stats = stats_from(figures(labels=labels), {})
    assert (stats.wrong_hits.wrong, stats.wrong_hits.right) == (3, 30)
    assert stats.labels == labels


def test_cached_tokens_are_counted_once():
    usage = {"m:7b": {"input_tokens": 100, "output_tokens": 20, "input_token_details": {"cache_read": 80}}}
    assert token_counts(usage) == {"m:7b:input": 20, "m:7b:cached": 80, "m:7b:output": 20}
    assert token_counts({"m": {"input_tokens": 5, "output_tokens": 0}}) == {"m:input": 5}
