"""What a hit costs: the whole graph over the demo shop, without the time of the source's own query.

Prints milliseconds of one process on this machine, and the ratio of a hit's own work to the live query it leads to.
"""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qkva.agent import Agent, open_agent
from qkva.cli.demo.config import demo_settings
from qkva.cli.demo.run import demonstrate
from qkva.contracts.plan import Parameter
from qkva.contracts.source import Connector, Limits, QueryResult

QUESTIONS = (
    "Which orders did Ada Lovelace place last month?",
    "How many customers are there in France?",
    "Who are the top 3 customers this year?",
    "How many orders did Grace Hopper place?",
)
ROUNDS = 50


class Stopwatch:
    """A connector that adds up the time of its queries."""

    def __init__(self, connector: Connector) -> None:
        self._execute = connector.execute
        self.seconds = 0.0
        connector.execute = self.execute  # type: ignore[method-assign]

    async def execute(
        self, query: str, params: Sequence[Parameter], values: Mapping[str, Any], limits: Limits
    ) -> QueryResult:
        started = time.perf_counter()
        try:
            return await self._execute(query, params, values, limits)
        finally:
            self.seconds += time.perf_counter() - started


async def measure(agent: Agent) -> list[tuple[float, float]]:
    """Milliseconds of (own work, query) for each question of each round, the first round left out."""
    watch = Stopwatch(agent.services.sources.connectors["shop"])
    measured = []
    for number in range(ROUNDS + 1):
        for question in QUESTIONS:
            watch.seconds, started = 0.0, time.perf_counter()
            result = await agent.ask(question, source="shop")
            whole = time.perf_counter() - started
            if result.cache != "hit":
                sys.exit(f"{question!r} was no hit: {result.text}")
            if number:
                measured.append(((whole - watch.seconds) * 1000, watch.seconds * 1000))
    return measured


async def run() -> None:
    """Set up, measure and print."""
    settings = demo_settings()
    await demonstrate(settings, setup_only=True)
    async with open_agent(settings) as agent:
        measured = await measure(agent)
        result = await agent.ask(QUESTIONS[0], source="shop")
    own, query = [one for one, _ in measured], [one for _, one in measured]
    quantiles = statistics.quantiles(own, n=20)
    print(f"hits measured                    {len(own)}")
    print(f"own work, median                 {statistics.median(own):.1f} ms   (p95 {quantiles[18]:.1f} ms)")
    print(f"the source's query, median       {statistics.median(query):.1f} ms")
    print(f"own work / query, median         {statistics.median(own) / statistics.median(query):.1f}")
    for node, milliseconds in result.timings_ms.items():
        print(f"  {node:14} {milliseconds:8.2f} ms")


def main() -> None:
    """In a folder of its own, so that no plan of the user's cache is met."""
    with TemporaryDirectory() as folder:
        os.environ["CACHE_DIR"] = str(Path(folder))
        os.environ.pop("LITELLM_PROVIDER_BASE_URL", None)
        asyncio.run(run())


if __name__ == "__main__":
    main()
