"""What the cache has saved, from the audit log: for `qkva stats` and the server.

A saving is measured, not assumed: what a question costs when it is planned, by the questions that were, less what the
hits have cost. Without a planned question in the time there is nothing to measure it by, and it is said to be unknown.
"""

from collections.abc import Iterable
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from qkva.contracts.ask_log import LabelFigures, LogFigures, OutcomeFigures, SourceFigures, TokenCounts
from qkva.contracts.errors import ConfigError
from qkva.contracts.result import CacheOutcome
from qkva.nodes.runtime import AskServices
from qkva.settings import ModelPrice, Settings

ASKED = (CacheOutcome.HIT, CacheOutcome.MISS, CacheOutcome.COALESCED, CacheOutcome.FALLBACK, CacheOutcome.ANSWER_HIT)
"""Outcomes of questions for which the cache was searched."""
SAVING = (CacheOutcome.HIT, CacheOutcome.ANSWER_HIT, CacheOutcome.COALESCED)
"""Those that took somebody else's plan."""
MILLION = 1_000_000


class Savings(BaseModel):
    """What hits and coalesced questions did not cost; None is unknown."""

    model_config = ConfigDict(frozen=True)

    model_calls: float | None = None
    tokens: float | None = None
    money: float | None = None
    """In the currency of the prices in qkva.toml."""


class Spending(BaseModel):
    """What one model was used for."""

    model_config = ConfigDict(frozen=True)

    model: str
    input: int = 0
    cached: int = 0
    output: int = 0
    money: float | None = None
    """None without a price."""


class WrongHits(BaseModel):
    """What labels say of plans that were, or would have been, served."""

    model_config = ConfigDict(frozen=True)

    wrong: int = 0
    """Would-be hits that an audit or a person found to mean something else."""
    right: int = 0
    """Those that were confirmed."""


class Stats(BaseModel):
    """Figures of one tenant and a stretch of time."""

    model_config = ConfigDict(frozen=True)

    since: datetime
    questions: int
    statuses: dict[str, int]
    cache: dict[str, int]
    """Questions by what the cache had to do with them."""
    hit_rate: float | None
    """Of the questions for which the cache was searched; None without any."""
    saved: Savings
    wrong_hits: WrongHits
    labels: tuple[LabelFigures, ...]
    models: tuple[Spending, ...]
    sources: tuple[SourceFigures, ...]
    """Slowest first."""


async def stats_of(services: AskServices, settings: Settings, tenant_id: str, days: float, source: str | None) -> Stats:
    """The tenant's figures of the last `days`. Raises ConfigError without a log, StoreUnavailable."""
    if services.ask_log is None:
        raise ConfigError("AUDIT_LOG is off, so nothing is kept that could be counted.")
    await services.ask_log.flush()
    return stats_from(await services.ask_log.figures(tenant_id, days=days, source=source), settings.prices)


def stats_from(figures: LogFigures, prices: dict[str, ModelPrice]) -> Stats:
    """Count and price what the log says."""
    cache: dict[str, int] = {}
    for outcome in figures.outcomes:
        if outcome.cache is not None:
            cache[outcome.cache] = cache.get(outcome.cache, 0) + outcome.questions
    searched = sum(cache.get(name, 0) for name in ASKED)
    judged = [label for label in figures.labels if label.origin in ("audit", "person")]
    return Stats(
        since=figures.since,
        questions=sum(figures.statuses.values()),
        statuses=figures.statuses,
        cache=cache,
        hit_rate=cache.get(CacheOutcome.HIT, 0) / searched if searched else None,
        saved=savings(figures.outcomes, prices),
        wrong_hits=WrongHits(
            wrong=sum(label.labels for label in judged if label.verdict == "different"),
            right=sum(label.labels for label in judged if label.verdict == "same"),
        ),
        labels=figures.labels,
        models=spending(figures.outcomes, prices),
        sources=figures.sources,
    )


def savings(outcomes: Iterable[OutcomeFigures], prices: dict[str, ModelPrice]) -> Savings:
    """Source by source, since plans of one may cost more than those of another."""
    by_source: dict[str | None, list[OutcomeFigures]] = {}
    for outcome in outcomes:
        by_source.setdefault(outcome.source, []).append(outcome)
    calls = tokens = money = 0.0
    known = priced = False
    for found in by_source.values():
        planned = [outcome for outcome in found if outcome.cache == CacheOutcome.MISS]
        served = [outcome for outcome in found if outcome.cache in SAVING]
        times = sum(outcome.questions for outcome in planned)
        if not times or not served:
            continue
        known = True
        count = sum(outcome.questions for outcome in served)
        share = count / times
        calls += share * sum(o.model_calls for o in planned) - sum(o.model_calls for o in served)
        tokens += share * sum(sum(o.tokens.values()) for o in planned) - sum(sum(o.tokens.values()) for o in served)
        costs = [cost(outcome.tokens, prices) for outcome in (*planned, *served)]
        if any(outcome.tokens for outcome in planned) and None not in costs:
            priced = True
            paid = [each or 0.0 for each in costs]
            money += share * sum(paid[: len(planned)]) - sum(paid[len(planned) :])
    return Savings(
        model_calls=round(calls, 1) if known else None,
        tokens=round(tokens) if known else None,
        money=round(money, 6) if priced else None,
    )


def spending(outcomes: Iterable[OutcomeFigures], prices: dict[str, ModelPrice]) -> tuple[Spending, ...]:
    """By model, the one with most tokens first."""
    used: dict[str, dict[str, int]] = {}
    for outcome in outcomes:
        for name, count in outcome.tokens.items():
            model, _, kind = name.rpartition(":")
            kinds = used.setdefault(model, {})
            kinds[kind] = kinds.get(kind, 0) + count
    spent = [
        Spending(
            model=model,
            money=cost({f"{model}:{kind}": count for kind, count in kinds.items()}, prices),
            **{kind: kinds.get(kind, 0) for kind in ("input", "cached", "output")},
        )
        for model, kinds in used.items()
    ]
    return tuple(sorted(spent, key=lambda each: -(each.input + each.cached + each.output)))


def cost(tokens: TokenCounts, prices: dict[str, ModelPrice]) -> float | None:
    """What tokens cost; None if a model has no price. What a provider had cached is counted once, at its own price."""
    total = 0.0
    for name, count in tokens.items():
        model, _, kind = name.rpartition(":")
        price = prices.get(model)
        if price is None:
            return None
        each = {"input": price.input, "output": price.output, "cached": price.cached}.get(kind)
        total += count * (price.input if each is None else each) / MILLION
    return total
