"""`qkva bench`: measure the plan cache on files of questions."""

from pathlib import Path
from typing import Annotated

import typer

from qkva.cli.options import AsJson

app = typer.Typer(help="Measure the plan cache on your own questions.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure the plan cache on your own questions."""


@app.command()
def plans(
    data: Annotated[Path, typer.Option("--data", help="A JSON file of templates with their questions.")],
    db: Annotated[Path | None, typer.Option("--db", help="A SQLite database that the queries run on.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Decides the order of the questions.")] = 0,
    policy: Annotated[str, typer.Option("--policy", help="literal, raw, masked or product.")] = "product",
    split: Annotated[
        float | None, typer.Option("--split", help="Train on this fraction of the templates, and play the others.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="An OpenAI-compatible endpoint whose model judges what the cache cannot tell."),
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option("--judge-model", help="Its model there; default: JUDGE_MODEL.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Play only so many questions.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Draw hit rate over wrong-hit rate as a PNG.")] = None,
    as_json: AsJson = False,
    wrong_hits: Annotated[Path | None, typer.Option("--wrong-hits", help="List every wrong hit in this file.")] = None,
) -> int:
    """Play questions as a stream against the cache; only a miss asks the planner, an oracle."""
    from qkva.cli import bench_commands
    from qkva.evals.run import BenchOptions

    options = BenchOptions(
        data=data,
        db=db,
        seed=seed,
        policy=policy,
        split=split,
        limit=limit,
        judge=bench_commands.judge_at(judge, judge_model),
    )
    return bench_commands.play_plans(options, report=report, wrong_hits_to=wrong_hits, as_json=as_json)


@app.command()
def train(
    data: Annotated[
        list[Path], typer.Option("--data", help="A file of questions, JSON or a YAML domain; give several.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Where the verifier is written.")],
) -> int:
    """Train the verifier of the hit decision on several sets of questions, each tried by what the others taught."""
    from qkva.cli import bench_commands

    return bench_commands.train_verifier(data, out)
