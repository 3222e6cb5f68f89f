"""Find a cached plan that means the question.

Reads: masks, embeddings, excluded_plans.
Writes: candidates, doors, cache; on a hit also source, strategy, plan, plan_keys, masked_question, slots, and in `also`
what further sources hit; or grey, when only a judge can tell and there is one.
"""

from typing import Any

from qkva.contracts.cache import Candidate, Decision, Door
from qkva.contracts.errors import StoreUnavailable
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.state import AskState
from qkva.nodes.runtime import AskRuntime
from qkva.planning.decision.decide import HitPolicy, decide


async def look_up(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """Ask the cache of each source; each source's plan that passed all of its own doors is served, the best first."""
    if state.embeddings is None:
        return {"cache": "unavailable"}
    seen: list[tuple[Candidate, Decision]] = []
    decided: list[tuple[MaskedQuestion, Decision]] = []
    for name, dump in state.masks.items():
        question = MaskedQuestion.model_validate(dump)
        try:
            candidates = await find(question, state.embeddings[name], runtime)
            decision = await decided_on(question, candidates, runtime)
        except StoreUnavailable as error:
            return {"cache": "unavailable", "warnings": [f"The plan cache was not searched: {error.message}"]}
        seen += [(candidate, decision) for candidate in candidates]
        decided.append((question, decision))
    found = {"candidates": [describe(candidate, decision) for candidate, decision in seen]}
    if not decided:
        return {**found, "cache": "miss"}
    (question, decision), *others = sorted(decided, key=lambda pair: rank(pair[1]), reverse=True)
    doors = [door.model_dump(mode="json") for door in decision.doors]
    if decision.hit is None:
        return {**found, "doors": doors, "cache": "miss", "grey": grey(question, decision, runtime)}
    if wants_audit(state, decision, runtime):
        door = Door(name="audit", verdict="shut", why="to be checked: it is planned all the same")
        checked = [*doors, door.model_dump(mode="json")]
        return {**found, "doors": checked, "cache": "miss", "audited": audited(decision)}
    also = [further(other) for _, other in others if other.hit is not None]
    return {**found, "doors": doors, "cache": "hit", **served(question, decision.hit), "also": also}


async def find(question: MaskedQuestion, embedding: list[float], runtime: AskRuntime) -> list[Candidate]:
    """The nearest live plans of the question's source."""
    services = runtime.services
    ready = await services.sources.ready(question.source)
    return await services.plans.find_candidates(
        runtime.tenant_id,
        source=question.source,
        masked=question.masked,
        embedding=embedding,
        embedder=services.embedder.fingerprint,
        schema_fingerprint=ready.description.fingerprint,
        top_k=runtime.context.top_k or services.settings.top_k,
    )


async def decided_on(question: MaskedQuestion, candidates: list[Candidate], runtime: AskRuntime) -> Decision:
    """The hit decision, as the source's own labels have it. Raises StoreUnavailable."""
    services = runtime.services
    description = (await services.sources.ready(question.source)).description
    confidence = await services.confidences.of(
        runtime.tenant_id, question.source, plans=services.plans, embedder=services.embedder.fingerprint
    )
    return decide(question, candidates, policy=policy_of(runtime), description=description, confidence=confidence)


def wants_audit(state: AskState, decision: Decision, runtime: AskRuntime) -> bool:
    """Whether this hit is planned all the same. A plan that did not fit has been replaced once: that is enough."""
    assert decision.hit is not None
    services = runtime.services
    share = services.settings.audit_share
    return not state.excluded_plans and services.confidences.wants_audit(
        runtime.tenant_id, decision.hit.plan.source, share
    )


def audited(decision: Decision) -> dict[str, Any]:
    """What would have been served, as write_back needs it to label it."""
    assert decision.hit is not None
    return {
        "plan_id": decision.hit.plan.id,
        "source": decision.hit.plan.source,
        "key": decision.hit.keys[0].masked,
        "status": decision.hit.plan.status.value,
    }


def policy_of(runtime: AskRuntime) -> HitPolicy:
    """The configured policy; the caller's budget may only tighten it."""
    settings = runtime.services.settings
    asked = runtime.context.max_wrong_hits
    budget = settings.max_wrong_hits if asked is None else min(asked, settings.max_wrong_hits)
    return HitPolicy(similarity_floor=settings.similarity_threshold, max_wrong_hits=budget)


def rank(decision: Decision) -> tuple[bool, bool, float]:
    """Hits before what a judge may open, and this before misses; then by score."""
    return decision.hit is not None, decision.grey is not None, decision.score


def describe(candidate: Candidate, decision: Decision) -> dict[str, Any]:
    """A candidate as Studio shows it."""
    served_here = decision.hit is not None and decision.hit.plan.id == candidate.plan.id
    shut = next((door for door in decision.doors if door.verdict == "shut"), None)
    why = "passed every door" if served_here else (f"{shut.name}: {shut.why}" if shut else "another plan was nearer")
    return {
        "plan_id": candidate.plan.id,
        "source": candidate.plan.source,
        "key_text": candidate.plan.key_text,
        "status": candidate.plan.status.value,
        "nearest_key": candidate.keys[0].masked,
        "similarity": round(candidate.keys[0].similarity, 4),
        "score": round(decision.scores.get(str(candidate.plan.id), 0.0), 4),
        "decisive": str(candidate.plan.id) == decision.decisive,
        "verdict": "served" if served_here else "not served",
        "why": why,
    }


def grey(question: MaskedQuestion, decision: Decision, runtime: AskRuntime) -> dict[str, Any] | None:
    """What a judge is to be asked about. A caller who allows no wrong hit would not take its word."""
    services = runtime.services
    if decision.grey is None or services.chat is None or not services.settings.judge:
        return None
    if policy_of(runtime).max_wrong_hits <= 0:
        return None
    return {**served(question, decision.grey), "score": decision.score}


def served(question: MaskedQuestion, hit: Candidate) -> dict[str, Any]:
    """What a hit hands on."""
    return {
        "source": question.source,
        "strategy": hit.plan.strategy.value,
        "plan": hit.plan.model_dump(mode="json"),
        "plan_keys": [key.model_dump(mode="json") for key in hit.keys],
        "masked_question": question.masked,
        "slots": [slot.model_dump(mode="json") for slot in question.slots],
    }


def further(decision: Decision) -> dict[str, Any]:
    """A hit of another source, as `also` has it."""
    assert decision.hit is not None
    return {
        "source": decision.hit.plan.source,
        "plan": decision.hit.plan.model_dump(mode="json"),
        "plan_keys": [key.model_dump(mode="json") for key in decision.hit.keys],
        "doors": [door.model_dump(mode="json") for door in decision.doors],
    }
