"""`qkva ask`: one question, its answer, and how it came about."""

import asyncio
import sys
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import typer

from qkva.agent import Agent, ReviewNeeded, open_agent
from qkva.cli.console import note, nothing_else_on_stdout, print_json
from qkva.cli.options import strictness
from qkva.cli.show import show_doors, show_failure, show_result, step_line
from qkva.contracts.errors import ConfigError, QkvaError, UnknownSource
from qkva.contracts.result import AskResult, Status
from qkva.settings import Settings, load_settings

FAILED = (Status.REFUSED, Status.SOURCE_UNAVAILABLE, Status.ERROR)
THREAD = "command-line"


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """The options of `qkva ask`, as given."""

    source: str | None = None
    now: str | None = None
    timezone: str | None = None
    as_json: bool = False
    trace: bool = False
    explain: bool = False
    strict: bool = False


def ask_once(question: str, options: AskOptions) -> int:
    """Ask, print, and return the exit code. With --json every failure is a result object too."""
    text = read_question(question)
    code = None
    with nothing_else_on_stdout():
        try:
            result = asyncio.run(answered(text, options))
        except QkvaError as error:
            if not options.as_json:
                raise
            result = AskResult(question=text, status=Status.ERROR, error=error.message)
            code = 2 if isinstance(error, ConfigError) else 1
    if options.as_json:
        print_json(result.model_dump(mode="json"))
    else:
        show_failure(result) if result.status in FAILED else show_result(result)
        if options.explain:
            show_doors(result)
    return code if code is not None else exit_code(result)


def exit_code(result: AskResult) -> int:
    """0 for an answer and for what a person has to say next, 1 for what failed."""
    return 1 if result.status in FAILED else 0


def read_question(argument: str) -> str:
    """The question as text; what is not UTF-8 becomes the replacement character, which the graph refuses."""
    raw = sys.stdin.buffer.read() if argument == "-" else argument.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "replace").strip()


async def answered(question: str, options: AskOptions) -> AskResult:
    """The result of one question, with a new plan reviewed by whoever sits at the terminal."""
    settings = await asyncio.to_thread(load_settings, **strictness(options.strict))
    context = context_of(options, settings)
    async with open_agent(settings) as agent:
        try:
            return await followed(agent, question, context, trace=options.trace)
        except ReviewNeeded as review:
            return await reviewed(agent, review, question, context, asks=not options.as_json)


def context_of(options: AskOptions, settings: Settings) -> dict[str, Any]:
    """The context of the run. Raises ConfigError for a source, a zone or a clock that there is not."""
    if options.source is not None and options.source not in settings.sources:
        known = ", ".join(sorted(settings.sources)) or "none"
        raise UnknownSource(f"There is no source {options.source!r}; the configured ones are {known}.")
    if options.timezone is not None and options.timezone not in available_timezones():
        raise ConfigError(f"{options.timezone!r} is no IANA time zone; write one such as Europe/Berlin.")
    zone = options.timezone or settings.timezone
    given = {"source": options.source, "timezone": options.timezone, "now": read_clock(options.now, zone)}
    return {name: value for name, value in given.items() if value is not None}


def read_clock(text: str | None, zone: str) -> datetime | None:
    """`--now`; without an offset it is read in the caller's zone."""
    if text is None:
        return None
    try:
        clock = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"--now is {text!r}; write a time such as 2026-06-15T12:00:00+02:00.") from None
    return clock if clock.tzinfo else clock.replace(tzinfo=ZoneInfo(zone))


async def followed(agent: Agent, question: str, context: dict[str, Any], *, trace: bool) -> AskResult:
    """The result; each step is shown as it finishes if wanted."""
    result: AskResult | None = None
    async for part in agent.stream(question, thread_id=THREAD, **context):
        if isinstance(part, AskResult):
            result = part
        elif trace and part.get("event") == "finished":
            note(step_line(part), style="dim")
    assert result is not None, "the last part of a stream is the result"
    return result


async def reviewed(
    agent: Agent, review: ReviewNeeded, question: str, context: dict[str, Any], *, asks: bool
) -> AskResult:
    """Let a person decide on a new plan; where nobody sits there, the question waits for a better place."""
    if not asks or not sys.stdin.isatty():
        sentence = "A new plan is held for review (REVIEW_NEW_PLANS): ask this in a terminal, or through the server."
        return AskResult(question=question, status=Status.ERROR, error=sentence)
    while True:
        plan = review.request["plan"]
        note(f"A new plan waits for your review: {plan['key_text']}\n\n{plan['query']}\n")
        note(f"Values: {review.request.get('values', {})}")
        if review.request.get("problem"):
            note(review.request["problem"], style="yellow")
        decision = await asyncio.to_thread(typer.prompt, "approve or reject", "reject", err=True)
        try:
            return await agent.review(review.thread_id, decision, **context)
        except ReviewNeeded as again:
            review = again
