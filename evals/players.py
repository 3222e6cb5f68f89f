"""How a question is looked up and how the cache learns: the product's own way, and three simpler ones beside it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from qkva.contracts.cache import Candidate, Door, NewKey
from qkva.contracts.errors import StoreUnavailable
from qkva.contracts.plan import Plan, StoredPlan
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.source import QueryResult, SourceResult
from qkva.contracts.state import AskState
from qkva.evals.questions import SOURCE
from qkva.nodes.ask.build_plan import made, without_values
from qkva.nodes.ask.embed import embed
from qkva.nodes.ask.fill_params import fill_params
from qkva.nodes.ask.judge import judge
from qkva.nodes.ask.look_up import look_up
from qkva.nodes.ask.write_back import write_back
from qkva.nodes.runtime import AskRuntime, CallMeter
from qkva.planning.drafting.canonical import canonical_form
from qkva.planning.drafting.parameterise import exemplar_roles
from qkva.planning.filling.fill import fill_from_question
from qkva.planning.masking.mask import mask_question


@dataclass(frozen=True)
class Looked:
    """What the cache said to a question."""

    plan: Plan | None
    """The plan that is served; None for a miss."""
    values: Mapping[str, Any]
    """What it was filled with, without a model."""
    score: float
    masked: str
    nearest: str = ""
    """The key that led to the plan."""
    doors: tuple[Door, ...] = ()
    state: Any = None
    """What the player needs to learn from the planner's answer."""
    audited: bool = False
    """Whether it would have been a hit, and is planned all the same."""
    judge_calls: int = 0
    """Model calls of the judge; nothing else is asked of a model."""


class Player(Protocol):
    """A plan cache with its way of deciding."""

    async def look_up(self, question: str) -> Looked:
        """Mask, embed, find, decide and fill: the part that is timed."""
        ...

    async def count(self, looked: Looked) -> None:
        """Note that a plan was served."""
        ...

    async def learn(self, looked: Looked, plan: Plan, values: Mapping[str, Any]) -> None:
        """Store what the planner answered to a question that missed."""
        ...


class Product:
    """The nodes of the ask graph, in its order."""

    def __init__(self, runtime: AskRuntime) -> None:
        self._judged = runtime
        # Parameters are filled without a model, even where one judges.
        self._runtime = replace(runtime, services=replace(runtime.services, chat=None))

    async def look_up(self, question: str) -> Looked:
        """embed → look_up → judge → fill_params; a plan that turns out not to fit is a miss."""
        state = AskState(question=question, standalone=question)
        state = replace(state, **await embed(state, self._runtime))
        state = replace(state, **await look_up(state, self._judged))
        require_cache(state)
        meter = CallMeter(budget=self._judged.services.settings.max_model_calls)
        if state.grey is not None:
            state = replace(state, **await judge(state, replace(self._judged, meter=meter)))
        score = max((candidate["score"] for candidate in state.candidates), default=0.0)
        if state.cache == "hit":
            nearest = state.plan_keys[0]["masked"]
            state = replace(state, **await fill_params(state, self._runtime))
            return self._looked(state, score, nearest, meter)
        return self._looked(state, score, "", meter)

    async def count(self, looked: Looked) -> None:
        """write_back, as after an answer."""
        await write_back(looked.state, self._runtime)

    def _looked(self, state: AskState, score: float, nearest: str, meter: CallMeter) -> Looked:
        return Looked(
            plan=Plan.model_validate(state.plan) if state.plan is not None else None,
            values=state.params,
            score=score,
            masked=state.masks[SOURCE]["masked"],
            nearest=nearest,
            doors=tuple(Door.model_validate(door) for door in state.doors),
            judge_calls=sum(meter.spent.values()),
            state=state,
            audited=state.audited is not None,
        )

    async def learn(self, looked: Looked, plan: Plan, values: Mapping[str, Any]) -> None:
        """What follows build_plan: the plan or its stored equal, fill_params, a run that answered, write_back."""
        state = replace(looked.state, source=SOURCE, strategy=plan.strategy.value, cache="miss")
        state = replace(state, **await made(plan, dict(values), self._runtime))
        state = replace(state, **await fill_params(state, self._runtime))
        state = replace(state, status="answered", results=[NOTHING_FOUND], warnings=[])
        require_cache(replace(state, **await write_back(state, self._runtime)))


NOTHING_FOUND = SourceResult(source=SOURCE, about="", result=QueryResult(records=()))
"""A run as write_back needs it: not cut, and without records, which it does not read."""


def require_cache(state: AskState) -> None:
    """Raise StoreUnavailable where a node went on without its cache: the figures would be those of something else."""
    if state.cache == "unavailable" or (state.plan_is_new and state.warnings):
        raise StoreUnavailable(f"The bench needs its cache. {' '.join(state.warnings)}")


@dataclass(frozen=True)
class BySimilarity:
    """One cosine threshold over one kind of key: what plan caches usually do."""

    runtime: AskRuntime
    floor: float
    asked_by: Callable[[MaskedQuestion], str]
    """The text of a question that is embedded."""
    stored_by: Callable[[MaskedQuestion], str]
    """The text that a plan is found by."""
    fills_by_roles: bool = False
    one_key: bool = False
    """Whether a plan keeps the text that it was first found by, and learns no other."""

    async def look_up(self, question: str) -> Looked:
        """The nearest plan, if it is near enough."""
        services = self.runtime.services
        values = (await services.sources.ready(SOURCE)).values
        masked = mask_question(question, source=SOURCE, values=values, now=self.runtime.now)
        text = self.asked_by(masked)
        candidates = await services.plans.find_candidates(
            self.runtime.tenant_id,
            source=SOURCE,
            masked=text,
            embedding=(await services.embedder.embed([text]))[0],
            embedder=services.embedder.fingerprint,
            schema_fingerprint=SOURCE,
            top_k=services.settings.top_k,
        )
        return self._decide(masked, candidates)

    def _decide(self, masked: MaskedQuestion, candidates: list[Candidate]) -> Looked:
        score = candidates[0].keys[0].similarity if candidates else 0.0
        if score < self.floor:
            return Looked(plan=None, values={}, score=score, masked=masked.masked, state=masked)
        plan, keys = candidates[0].plan, candidates[0].keys
        filling = fill_from_question(plan, masked, keys=keys if self.fills_by_roles else (), now=self.runtime.now)
        door = Door(name="mask", verdict="open", why=f"similarity {score:.2f} reaches {self.floor:.2f}")
        return Looked(plan, filling.values, score, masked.masked, keys[0].masked, (door,), masked)

    async def count(self, looked: Looked) -> None:
        """One more use of the plan."""
        if looked.plan is not None and looked.plan.id is not None:
            await self.runtime.services.plans.record_hit(self.runtime.tenant_id, looked.plan.id)

    async def learn(self, looked: Looked, plan: Plan, values: Mapping[str, Any]) -> None:
        """Store the plan or its equal with one key."""
        masked: MaskedQuestion = looked.state
        new = await made(plan, dict(values), self.runtime)
        plan = Plan.model_validate(new["plan"])
        if self.one_key and plan.id is not None:
            return
        text = self.stored_by(masked)
        services = self.runtime.services
        roles = exemplar_roles(plan, masked, new["planned_values"]) if self.fills_by_roles else ()
        await services.plans.save_plan(
            self.runtime.tenant_id,
            StoredPlan(plan=plan, canonical=canonical_form(plan), schema_fingerprint=SOURCE),
            [
                NewKey(
                    kind="exemplar",
                    masked=text,
                    roles=roles,
                    embedding=tuple((await services.embedder.embed([text]))[0]),
                )
            ],
            embedder=services.embedder.fingerprint,
            ttl_hours=24,
        )


LITERAL_FLOOR = 0.88
"""Of a raw question to an intent phrase: the plan's first question with its values replaced by what they are."""
RAW_FLOOR = 0.95
"""Of a raw question to a raw question."""
MASKED_FLOOR = 0.92
"""Of a masked question to a masked question."""

POLICIES: dict[str, Callable[[AskRuntime], Player]] = {
    "literal": lambda runtime: BySimilarity(
        runtime, LITERAL_FLOOR, lambda asked: asked.text, lambda asked: without_values(asked.text, asked), one_key=True
    ),
    "raw": lambda runtime: BySimilarity(runtime, RAW_FLOOR, lambda asked: asked.text, lambda asked: asked.text),
    "masked": lambda runtime: BySimilarity(
        runtime, MASKED_FLOOR, lambda asked: asked.masked, lambda asked: asked.masked, fills_by_roles=True
    ),
    "product": Product,
}
