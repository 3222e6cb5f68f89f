"""`qkva demo`: set up, ask the scripted questions, and say what to try next."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

from qkva.agent import Agent, open_agent
from qkva.cli.console import line, note, nothing_else_on_stdout
from qkva.cli.demo.config import ISSUES, SHOP, demo_settings, is_default_config
from qkva.cli.demo.script import SCRIPT, Scripted
from qkva.cli.demo.setup import only_one, set_up_plans, set_up_shop
from qkva.cli.show import aligned, doors_line, models_called, served_in, show_citations, show_query, total_ms
from qkva.contracts.result import AskResult, Status
from qkva.settings import Settings, load_settings
from qkva.stores.embedded import start_embedded

INDENT = "   "
FAILED = (Status.ERROR, Status.SOURCE_UNAVAILABLE)


@dataclass(frozen=True)
class Asked:
    """A scripted question with its result."""

    scripted: Scripted
    result: AskResult


def run_demo(*, setup_only: bool) -> int:
    """Set up and, unless `setup_only`, ask; 0 unless a question failed."""
    settings = demo_settings()
    asked = asyncio.run(demonstrate(settings, setup_only=setup_only))
    if setup_only:
        return 0
    show_table(asked)
    show_next(settings)
    return 1 if any(one.result.status in FAILED for one in asked) else 0


async def demonstrate(settings: Settings, *, setup_only: bool) -> list[Asked]:
    """The set-up under its lock; then the questions, which need none."""
    folder = settings.cache_dir
    server = await asyncio.to_thread(start_embedded, folder / "postgres")
    try:
        async with only_one(folder):
            if await set_up_shop(server):
                note(f"The demo shop has been written into the embedded PostgreSQL in {folder}.")
        async with open_agent(settings) as agent:
            async with only_one(folder):
                counts = await set_up_plans(agent.services, folder)
            show_setup(settings, agent, counts)
            return [] if setup_only else [await ask(agent, number, one) for number, one in enumerate(SCRIPT, 1)]
    finally:
        await asyncio.to_thread(server.close)


def show_setup(settings: Settings, agent: Agent, counts: dict[str, int]) -> None:
    """What is there now."""
    where = (
        "the database of DATABASE_URL" if settings.database_url else f"the embedded PostgreSQL in {settings.cache_dir}"
    )
    mode = "planned and answered by the models of the gateway" if agent.services.chat else "no model is configured"
    line(
        f"The demo shop is ready: 100 customers, 50 products and 500 orders, on the PostgreSQL in {settings.cache_dir}."
    )
    line(f"Verified plans: {counts[SHOP]} for {SHOP}, {counts[ISSUES]} for {ISSUES}, kept in {where}.")
    line(f"Its clock stands at {settings.fixed_now:%Y-%m-%d %H:%M} {settings.timezone}; {mode}.")


async def ask(agent: Agent, number: int, scripted: Scripted) -> Asked:
    """Ask one question and print all that there is to say of it."""
    with nothing_else_on_stdout():
        result = await agent.ask(scripted.question, thread_id=scripted.thread)
    line()
    line(f"{number}. {scripted.question}", style="bold")
    line(f"{INDENT}({scripted.shows})", style="dim")
    for text in aligned(result.text).splitlines():
        line(INDENT + text)
    show_citations(result)
    for warning in result.warnings:
        line(f"{INDENT}Note: {warning}", style="yellow")
    show_decision(result)
    return Asked(scripted, result)


def show_decision(result: AskResult) -> None:
    """The cache's part, the plan with its parameters, the models' part, the time."""
    outcome = result.cache or str(result.status)
    line(f"{INDENT}{outcome}: {doors_line(result) or 'the plan cache was not asked'}", style="dim")
    for served in served_in(result):
        line(f"{INDENT}plan: {served.plan.key_text} ({served.plan.status}, {served.source})", style="dim")
        show_query(served, indent=INDENT * 2)
    line(f"{INDENT}{models_called(result)} · {total_ms(result)} ms", style="dim")


def show_table(asked: list[Asked]) -> None:
    """All questions, a line each."""
    width = max(len(one.scripted.question) for one in asked)
    line()
    line(f"   {'question':<{width}}  {'status':<19}  {'cache':<9}  records  models  time", style="bold")
    for number, one in enumerate(asked, 1):
        result = one.result
        calls = sum(result.model_calls.values())
        line(
            f"{number}. {one.scripted.question:<{width}}  {result.status:<19}  {result.cache or '-':<9}  "
            f"{result.records.count:<7}  {calls:<6}  {total_ms(result)} ms"
        )


def show_next(settings: Settings) -> None:
    """Commands that work from here."""
    command = qkva_command()
    if not is_default_config(settings):
        command = f"QKVA_CONFIG={settings.config_file} {command}"
    line()
    line("Try next:", style="bold")
    line(f'  {command} ask "Which products have fewer than 5 units in stock?" --explain')
    line(f'  {command} ask "What did Emmy Noether order in 2025?" --json')
    line(f"  {command} plans list")
    line(f"  {command} doctor")
    if Path("Makefile").exists():
        line("  make dev        the same graph in LangGraph Studio, by SDK, MCP and A2A")


def qkva_command() -> str:
    """How this program can be called from the working folder."""
    here = Path(sys.argv[0])
    try:
        return str(here.absolute().relative_to(Path.cwd())) if here.name == "qkva" else "qkva"
    except ValueError:
        return "qkva"


def stop_server() -> int:
    """`qkva demo --stop`: stop a server that a killed process left running; one in use goes on."""
    folder = load_settings().cache_dir / "postgres"
    if (folder / "data" / "postmaster.pid").exists():
        start_embedded(folder).close()
    line("The embedded PostgreSQL is stopped, unless another process uses it.")
    return 0
