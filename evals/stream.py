"""Play questions one after the other: a miss asks the oracle, a hit is compared with the right plan."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qkva.contracts.plan import Plan
from qkva.evals.players import Looked, Player
from qkva.evals.questions import Asked, is_number
from qkva.planning.drafting.canonical import canonical_form


@dataclass(frozen=True)
class Turn:
    """One question, played."""

    asked: Asked
    looked: Looked
    milliseconds: float
    right: bool
    """Whether the plan that was served, or planned on a miss, is the right one."""
    gold: Mapping[str, str] | None
    """The right values by the served plan's parameters; None for a wrong plan, or where nothing pairs the names."""

    @property
    def hit(self) -> bool:
        """Whether a cached plan was served."""
        return self.looked.plan is not None

    @property
    def exact(self) -> Mapping[str, bool]:
        """Of a right hit, by parameter whether it was filled with the right value."""
        if not self.hit or not self.right or self.looked.plan is None:
            return {}
        gold = self.gold or {}
        return {
            param.name: param.name in gold and same_value(self.looked.values.get(param.name), gold[param.name])
            for param in self.looked.plan.params
        }

    @property
    def left_for_model(self) -> bool:
        """Whether the right plan was served and a required parameter stayed empty."""
        plan = self.looked.plan
        if plan is None or not self.right:
            return False
        return any(param.required and self.looked.values.get(param.name) is None for param in plan.params)

    @property
    def correct(self) -> bool:
        """The right plan with every value right; the planner's own values are."""
        return self.right and all(self.exact.values())


def same_value(filled: Any, right: str) -> bool:
    """Whether a filled value is the file's: numbers as numbers, texts but for case and white space."""
    if isinstance(filled, int | float):
        return is_number(right) and float(right) == filled
    return filled is not None and " ".join(str(filled).split()).casefold() == " ".join(right.split()).casefold()


def shuffled(questions: Sequence[Asked], seed: int) -> list[Asked]:
    """In an order that the seed alone decides."""
    order = list(questions)
    random.Random(seed).shuffle(order)
    return order


async def play(
    questions: Sequence[Asked],
    player: Player,
    meaning_of: Mapping[str, int],
    progress: Callable[[int], None] = lambda _: None,
) -> list[Turn]:
    """One stream over an empty cache; the oracle is asked on each miss and on nothing else."""
    turns = []
    for number, asked in enumerate(questions, 1):
        started = time.perf_counter()
        looked = await player.look_up(asked.text)
        milliseconds = (time.perf_counter() - started) * 1000
        turns.append(judged(asked, looked, milliseconds, meaning_of))
        if looked.plan is None:
            plan, values = oracle(asked)
            await player.learn(looked, plan, values)
        else:
            await player.count(looked)
        progress(number)
    return turns


def oracle(asked: Asked) -> tuple[Plan, dict[str, str]]:
    """The perfect planner: the right template with the right values."""
    return asked.template.forms[0].plan, dict(asked.values)


def judged(asked: Asked, looked: Looked, milliseconds: float, meaning_of: Mapping[str, int]) -> Turn:
    """Whether the served plan means what was asked."""
    if looked.plan is None:
        return Turn(asked, looked, milliseconds, right=True, gold=asked.values)
    canonical = canonical_form(looked.plan)
    right = meaning_of[canonical] == meaning_of[asked.template.forms[0].canonical]
    gold = asked.values_for(looked.plan, canonical) if right else None
    return Turn(asked, looked, milliseconds, right, gold)
