"""The figures of a run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from qkva.evals.execution import Executed
from qkva.evals.stream import Turn
from qkva.planning.proportions import clopper_pearson


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Counts, unless the name says rate (a share of 1) or ms. The field names are those of `--json`."""

    questions: int
    plans: int
    """Different ones that the questions mean."""
    ceiling: float
    """1 − plans / questions: each plan has to be made once."""
    hits: int
    wrong_hits: int
    hit_rate: float
    wrong_rate: float
    """Of the hits."""
    wrong_rate_low: float
    wrong_rate_high: float
    """95 %, Clopper-Pearson."""
    planner_calls: int
    audits: int
    """Would-be hits that were planned all the same; they count as misses, and their calls as planner calls."""
    judge_calls: int
    """Calls that the judge would cost, those included that the bench answers from memory; 0 without a judge."""
    judged_hits: int
    """Hits that the judge let through."""
    judged_wrong_hits: int
    filled: int
    """Right hits, whose parameters are looked at."""
    filled_exact: int
    """Of these, with every parameter right."""
    filled_exact_rate: float
    params: int
    """Parameters of the right hits."""
    params_exact: int
    params_exact_rate: float
    known: int
    """Right hits whose every value stands in the question, and every text among them in the index."""
    known_exact: int
    known_exact_rate: float
    filled_by_model: int
    """No model is asked here."""
    left_for_model: int
    """Right hits with a required parameter still empty."""
    end_to_end_correct: int
    """The right plan with every value right, served or planned."""
    end_to_end_rate: float
    executed: int | None
    """Questions whose right query ran; None without a database."""
    executed_correct: int | None
    """Of these, with the same rows from the served one."""
    executed_rate: float | None
    median_ms: float
    p95_ms: float
    """Of the decision: mask, embed, find, decide, fill."""


def tally(turns: Sequence[Turn], meaning_of: Mapping[str, int], indexed: frozenset[str], run: Executed | None) -> Tally:
    """Count a run of at least one question. `indexed` holds the values of the index, casefolded."""
    questions = len(turns)
    plans = len({meaning_of[turn.asked.template.forms[0].canonical] for turn in turns})
    hits = [turn for turn in turns if turn.hit]
    right = [turn for turn in hits if turn.right]
    known = [turn for turn in right if all_known(turn, indexed)]
    marks = [mark for turn in right for mark in turn.exact.values()]
    exact = sum(all(turn.exact.values()) for turn in right)
    known_exact = sum(all(turn.exact.values()) for turn in known)
    correct = sum(turn.correct for turn in turns)
    wrong = len(hits) - len(right)
    low, high = clopper_pearson(wrong, len(hits))
    times = sorted(turn.milliseconds for turn in turns)
    return Tally(
        questions=questions,
        plans=plans,
        ceiling=share(questions - plans, questions),
        hits=len(hits),
        wrong_hits=wrong,
        hit_rate=share(len(hits), questions),
        wrong_rate=share(wrong, len(hits)),
        wrong_rate_low=round(low, 5),
        wrong_rate_high=round(high, 5),
        planner_calls=questions - len(hits),
        audits=sum(turn.looked.audited for turn in turns),
        judge_calls=sum(turn.looked.judge_calls for turn in turns),
        judged_hits=sum(map(by_judge, hits)),
        judged_wrong_hits=sum(by_judge(turn) and not turn.right for turn in hits),
        filled=len(right),
        filled_exact=exact,
        filled_exact_rate=share(exact, len(right)),
        params=len(marks),
        params_exact=sum(marks),
        params_exact_rate=share(sum(marks), len(marks)),
        known=len(known),
        known_exact=known_exact,
        known_exact_rate=share(known_exact, len(known)),
        filled_by_model=0,
        left_for_model=sum(turn.left_for_model for turn in right),
        end_to_end_correct=correct,
        end_to_end_rate=share(correct, questions),
        executed=run.ran if run else None,
        executed_correct=run.correct if run else None,
        executed_rate=share(run.correct, run.ran) if run else None,
        median_ms=round(median(times), 2),
        p95_ms=round(times[math.ceil(len(times) * 0.95) - 1], 2),
    )


def by_judge(turn: Turn) -> bool:
    """Whether the judge opened the last door."""
    return any(door.name == "judge" and door.verdict == "open" for door in turn.looked.doors)


def all_known(turn: Turn, indexed: frozenset[str]) -> bool:
    """Whether the question says each required value, and the index holds those that are no numbers."""
    for param in turn.asked.template.forms[0].plan.params:
        value = turn.asked.values[param.name]
        if param.required and param.name not in turn.asked.said:
            return False
        if param.name in turn.asked.said and not value.isdecimal() and value.casefold() not in indexed:
            return False
    return True


def share(part: int, whole: int) -> float:
    """A share of 1, to five places; 0 of nothing."""
    return round(part / whole, 5) if whole else 0.0
