"""One run of the bench, from a file of questions to its figures."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from qkva.contracts.errors import ConfigError
from qkva.contracts.source import SourceDescription
from qkva.evals.bench_services import open_runtime
from qkva.evals.execution import execute
from qkva.evals.judge import JudgeAt, open_judge
from qkva.evals.players import POLICIES
from qkva.evals.practice import read_practice
from qkva.evals.questions import Asked, Template, all_questions, meanings, read_templates, without_duplicates
from qkva.evals.source_values import describe_database, describe_file
from qkva.evals.stream import Turn, play, shuffled
from qkva.evals.tally import Tally, tally
from qkva.evals.training import train_on_part
from qkva.planning.decision.verifier import Verifier


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """What to play, and how."""

    data: Path
    db: Path | None = None
    """A SQLite database that the queries run on."""
    seed: int = 0
    policy: str = "product"
    split: float | None = None
    """The fraction of the templates that is set aside for training; only the others are played."""
    limit: int | None = None
    """Play only so many questions of the shuffled order."""
    judge: JudgeAt | None = None
    """The model that is asked where the cache alone cannot tell."""


@dataclass(frozen=True)
class BenchRun:
    """What came of it."""

    tally: Tally
    turns: Sequence[Turn]


@dataclass(frozen=True)
class Stream:
    """The questions in their order, and what is needed to judge the answers."""

    questions: Sequence[Asked]
    meaning_of: dict[str, int]
    description: SourceDescription


async def run_bench(options: BenchOptions, folder: Path, progress: Callable[[int], None] = lambda _: None) -> BenchRun:
    """Play the stream on the embedded PostgreSQL in `folder`. Raises ConfigError or StoreUnavailable."""
    stream = await asyncio.to_thread(read_stream, options)
    verifier = await asyncio.to_thread(trained_for, options, stream)
    async with (
        open_judge(options.judge) as chat,
        open_runtime(folder, stream.description, chat, verifier=verifier, seed=options.seed) as runtime,
    ):
        player = POLICIES[options.policy](runtime)
        turns = await play(stream.questions, player, stream.meaning_of, progress)
    executed = await asyncio.to_thread(execute, turns, options.db) if options.db else None
    indexed = frozenset(value.casefold() for column in stream.description.values for value in column.values)
    return BenchRun(tally(turns, stream.meaning_of, indexed, executed), turns)


def read_stream(options: BenchOptions) -> Stream:
    """The questions to be played; the source holds the values of all of the file's. Raises ConfigError."""
    if options.policy not in POLICIES:
        raise ConfigError(f"There is no policy {options.policy!r}; the policies are {', '.join(POLICIES)}.")
    if options.judge is not None and options.policy != "product":
        raise ConfigError(f"The policy {options.policy} has no judge; --judge goes with the policy product.")
    if options.split is not None and not 0 <= options.split < 1:
        raise ConfigError(f"--split is {options.split:g}, but must be at least 0 and less than 1.")
    if options.db is not None and not options.db.is_file():
        raise ConfigError(f"The database {options.db} does not exist.")
    read = read_templates(options.data, "sqlite" if options.db else "mysql")
    forms = [form for template, _ in read for form in template.forms]
    everything = list(all_questions(read))
    if options.db:
        description = describe_database(options.db)
    else:
        description = describe_file(forms, everything, random.Random(options.seed))
    kept = set_aside([template for template, _ in read], options)
    played = [asked for asked in everything if asked.template.number in kept]
    questions = shuffled(without_duplicates(played), options.seed)[: options.limit]
    if not questions:
        raise ConfigError(f"{options.data} has no question to play.")
    return Stream(questions, meanings([template for template, _ in read]), description)


def trained_for(options: BenchOptions, stream: Stream) -> Verifier | None:
    """The verifier of a run: trained on the templates that are set aside, or by default the shipped one."""
    if not options.split or options.policy != "product":
        return None
    practice = read_practice(options.data, options.seed, "sqlite" if options.db else "mysql")
    played = {stream.meaning_of[asked.template.forms[0].canonical] for asked in stream.questions}
    return train_on_part(practice, frozenset(practice.meaning) - played).verifier


def set_aside(templates: Sequence[Template], options: BenchOptions) -> set[int]:
    """The numbers of the templates that are played; equal templates stay together."""
    meaning_of = meanings(templates)
    groups = sorted({meaning_of[template.forms[0].canonical] for template in templates})
    random.Random(options.seed).shuffle(groups)
    kept = set(groups[round((options.split or 0) * len(groups)) :])
    return {template.number for template in templates if meaning_of[template.forms[0].canonical] in kept}
