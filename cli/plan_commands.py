"""The work of `qkva plans`."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from qkva.cli.console import line, note, nothing_else_on_stdout, print_json
from qkva.cli.show import columns
from qkva.contracts.errors import ConfigError, PlanRejected, QkvaError
from qkva.contracts.plan import PlanStatus, StoredPlan
from qkva.graphs.plan_library import export_plans, import_plans
from qkva.graphs.services import open_services
from qkva.nodes.runtime import AskServices
from qkva.settings import load_settings

Result = TypeVar("Result")
SHORT_ID = 8
LISTED = (PlanStatus.LEARNED, PlanStatus.VERIFIED, PlanStatus.RETIRED)


def with_services(work: Callable[[AskServices], Awaitable[Result]]) -> Result:
    """Run `work` over open services."""

    async def run() -> Result:
        async with open_services(await asyncio.to_thread(load_settings)) as services:
            return await work(services)

    with nothing_else_on_stdout():
        return asyncio.run(run())


def list_plans(source: str | None, status: str | None, *, as_json: bool) -> int:
    """`qkva plans list`"""
    wanted = read_status(status) if status else None

    async def find(services: AskServices) -> list[StoredPlan]:
        check_source(services, source)
        return await services.plans.list_plans(services.tenant_id, source=source, status=wanted)

    found = with_services(find)
    if as_json:
        print_json({"plans": [stored.model_dump(mode="json") for stored in found]})
        return 0
    if not found:
        line("No plans are stored. `qkva plans import FILE` loads verified ones; `qkva demo` brings its own.")
        return 0
    rows = [["id", "source", "status", "plan", "params", "hits"]]
    for stored in found:
        plan = stored.plan
        params = ", ".join(param.name for param in plan.params)
        rows.append([str(plan.id)[:SHORT_ID], plan.source, str(plan.status), plan.key_text, params, str(stored.hits)])
    for row in columns(rows):
        line(row)
    return 0


def show_plan(plan_id: str, *, as_json: bool) -> int:
    """`qkva plans show`"""
    stored = with_services(lambda services: one_plan(services, plan_id))
    if as_json:
        print_json(stored.model_dump(mode="json"))
        return 0
    plan = stored.plan
    line(f"{plan.key_text}  ({plan.status}, {plan.source}, {plan.dialect}, {stored.hits} hits)")
    line(f"id        {plan.id}")
    if stored.model:
        line(f"made by   {stored.model}")
    if stored.expires_at:
        line(f"expires   {stored.expires_at:%Y-%m-%d %H:%M %Z}")
    line()
    line(plan.query.strip())
    for param in plan.params:
        facts = [str(param.type), param.column and f"of {param.column}", param.description]
        if param.default is not None:
            facts.append(f"default {param.default}")
        line(f"  {{{param.name}}}  {', '.join(fact for fact in facts if fact)}")
    line()
    for question in stored.questions:
        line(f"  {question.masked}")
    return 0


def set_status(plan_id: str, status: str) -> int:
    """`qkva plans verify` and `qkva plans retire`"""
    wanted = PlanStatus(status)

    async def change(services: AskServices) -> StoredPlan:
        stored = await one_plan(services, plan_id)
        await services.plans.set_status(services.tenant_id, str(stored.plan.id), wanted)
        return stored

    plan = with_services(change).plan
    line(f"{plan.key_text} ({str(plan.id)[:SHORT_ID]}) is {wanted} now; it was {plan.status}.")
    return 0


def import_file(file: Path) -> int:
    """`qkva plans import`"""
    text = read_file(file)
    try:
        report = with_services(lambda services: import_plans(services, services.tenant_id, text))
    except PlanRejected as error:
        raise PlanRejected(f"{file}: {error.message} Nothing was imported.") from None
    for warning in report.warnings:
        note(f"{file}: {warning}", style="yellow")
    line(report.sentence())
    return 0


def export_file(source: str, output: Path | None, status: str) -> int:
    """`qkva plans export`"""
    wanted = None if status == "all" else read_status(status)

    async def export(services: AskServices) -> str:
        check_source(services, source)
        return await export_plans(services, services.tenant_id, source, status=wanted)

    text = with_services(export)
    if not text:
        raise QkvaError(f"There are no {'' if status == 'all' else status + ' '}plans of {source!r} to export.")
    if output is None:
        sys.stdout.write(text)
        return 0
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"{output} cannot be written: {error.strerror}.") from None
    note(f"Written to {output}.")
    return 0


def read_file(file: Path) -> str:
    """The text of a plan file. Raises ConfigError when it cannot be read."""
    try:
        return sys.stdin.buffer.read().decode() if str(file) == "-" else file.read_text("utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is no text in UTF-8; a plan file is YAML.") from None


def read_status(text: str) -> PlanStatus:
    """A status from the command line."""
    if text not in list(LISTED):
        raise ConfigError(f"There is no status {text!r}; plans are {', '.join(LISTED)}.")
    return PlanStatus(text)


def check_source(services: AskServices, source: str | None) -> None:
    """Refuse a source that is not configured, naming those that are."""
    known = sorted(services.sources.connectors)
    if source is not None and source not in known:
        raise ConfigError(f"There is no source {source!r}; the configured ones are {', '.join(known) or 'none'}.")


async def one_plan(services: AskServices, plan_id: str) -> StoredPlan:
    """The plan with that id, or that beginning of one."""
    stored = await services.plans.get_plan(services.tenant_id, plan_id)
    if stored is None:
        raise ConfigError(f"There is no plan {plan_id!r}, or several begin so; `qkva plans list` shows them all.")
    return stored
