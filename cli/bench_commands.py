"""The work of `qkva bench`."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.progress import Progress

from qkva.cli.console import line, note, notes, nothing_else_on_stdout, print_json
from qkva.contracts.errors import ConfigError
from qkva.evals.curve import draw_curve, require_matplotlib
from qkva.evals.judge import JudgeAt
from qkva.evals.report import figures, sentences, wrong_hits
from qkva.evals.run import BenchOptions, BenchRun, run_bench
from qkva.evals.training import train
from qkva.settings import load_settings

WIDTH = 24


def play_plans(options: BenchOptions, *, report: Path | None, wrong_hits_to: Path | None, as_json: bool) -> int:
    """`qkva bench plans`"""
    if report is not None:
        require_matplotlib()
    run = run_with_progress(options)
    about = list(sentences(options))
    if report is not None:
        draw_curve(run.turns, about[0], report)
        note(f"The curve is in {report}.")
    if wrong_hits_to is not None:
        write(wrong_hits_to, "\n".join(wrong_hits(run)))
        note(f"The wrong hits are in {wrong_hits_to}.")
    if as_json:
        print_json(asdict(run.tally))
        return 0
    for sentence in about:
        line(sentence)
    for name, figure in figures(run.tally):
        line(f"{name:{WIDTH}}{figure}")
    return 0


def judge_at(url: str | None, model: str | None) -> JudgeAt | None:
    """The judge of a run, with the key and the patience of the settings. Raises ConfigError."""
    if url is None:
        if model is not None:
            raise ConfigError("--judge-model names the model of a judge: give its endpoint with --judge.")
        return None
    settings = load_settings()
    return JudgeAt(
        url=url,
        model=model or settings.judge_model or settings.router_model or settings.llm_model,
        api_key=settings.llm_api_key,
        timeout=settings.llm_timeout_sec,
        max_retries=settings.llm_max_retries,
    )


def run_with_progress(options: BenchOptions) -> BenchRun:
    """The run, with a count of the questions on a terminal."""
    settings = load_settings()
    with (
        nothing_else_on_stdout(),
        Progress(console=notes, disable=not notes.is_terminal, transient=True) as progress,
    ):
        task = progress.add_task("questions", total=options.limit)
        return asyncio.run(
            run_bench(options, settings.cache_dir / "postgres", lambda number: progress.update(task, completed=number))
        )


def write(path: Path, text: str) -> None:
    """Write a report's file. Raises ConfigError."""
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from None


def train_verifier(data: Sequence[Path], out: Path) -> int:
    """`qkva bench train`"""
    with nothing_else_on_stdout():
        trained = train(data, progress=note)
    write(out, json.dumps(trained.verifier.dump(), indent=1) + "\n")
    line("Of each set, by least probability, what a verifier that has not seen it would serve, and what of it wrong:")
    for name, found in trained.held_out.items():
        line(f"  {name:{WIDTH}}" + "   ".join(held_out_figures(found)))
    line(f"The verifier {trained.verifier.version} is in {out}.")
    return 0


def held_out_figures(found: Sequence[tuple[float, bool]]) -> Iterator[str]:
    """Share served and share wrong at some probabilities."""
    for least in (0.5, 0.7, 0.9):
        served = [same for p, same in found if p >= least]
        wrong = served.count(False) / len(served) if served else 0.0
        yield f"{least}: {len(served) / max(1, len(found)):.0%} / {wrong:.1%}"
