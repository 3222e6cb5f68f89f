"""What a run says: its figures for a person, and every wrong hit with the doors that let it through."""

from collections.abc import Iterator

from qkva.evals.run import BenchOptions, BenchRun
from qkva.evals.stream import Turn
from qkva.evals.tally import Tally


def sentences(options: BenchOptions) -> Iterator[str]:
    """What was played, and what has to be known about it."""
    judged = f", judged by {options.judge.model}" if options.judge else ""
    yield f"{options.data.name}, policy {options.policy}, seed {options.seed}{judged}"
    if options.split is not None:
        yield (
            f"The verifier was trained on {options.split:.0%} of the templates of this file alone; "
            "the others were played."
        )


def figures(tally: Tally) -> Iterator[tuple[str, str]]:
    """Names and figures, in reading order."""
    yield "questions", str(tally.questions)
    yield "plans", str(tally.plans)
    yield "ceiling", f"{tally.ceiling:.1%}"
    yield "hits", f"{tally.hits}  ({tally.hit_rate:.1%} of the questions)"
    interval = f"95 %: {tally.wrong_rate_low:.2%} to {tally.wrong_rate_high:.2%}"
    yield "wrong hits", f"{tally.wrong_hits}  ({tally.wrong_rate:.2%} of the hits, {interval})"
    yield "planner calls", f"{tally.planner_calls}  (saved: {tally.questions - tally.planner_calls})"
    yield "audits", f"{tally.audits}  (would-be hits that were planned all the same)"
    if tally.judge_calls:
        yield (
            "judge calls",
            f"{tally.judge_calls}  (let {tally.judged_hits} hits through, {tally.judged_wrong_hits} wrong)",
        )
    yield (
        "filled without a model",
        (
            f"{tally.filled_exact} of {tally.filled} right hits all exact ({tally.filled_exact_rate:.1%}), "
            f"{tally.params_exact} of {tally.params} parameters ({tally.params_exact_rate:.1%})"
        ),
    )
    yield "  all said and indexed", f"{tally.known_exact} of {tally.known} all exact ({tally.known_exact_rate:.1%})"
    yield "left for a model", f"{tally.left_for_model} right hits"
    yield "end to end correct", f"{tally.end_to_end_correct}  ({tally.end_to_end_rate:.1%})"
    if tally.executed is not None:
        yield "executed correct", f"{tally.executed_correct} of {tally.executed} ({tally.executed_rate or 0:.1%})"
    yield "decision", f"median {tally.median_ms:.1f} ms, p95 {tally.p95_ms:.1f} ms"


def wrong_hits(run: BenchRun) -> Iterator[str]:
    """A paragraph for each wrong hit."""
    for turn in run.turns:
        if turn.hit and not turn.right:
            yield "\n".join(wrong_hit(turn)) + "\n"


def wrong_hit(turn: Turn) -> Iterator[str]:
    """Question, key, both templates and the doors."""
    looked = turn.looked
    yield f"question  {turn.asked.text}"
    yield f"masked    {looked.masked}"
    yield f"key       {looked.nearest}"
    yield f"right     {turn.asked.template.forms[0].plan.query}"
    yield f"served    {looked.plan.query if looked.plan else ''}"
    yield f"score     {looked.score:.4f}"
    for door in looked.doors:
        yield f"  {door.name:10} {door.verdict:7} {door.why}"
