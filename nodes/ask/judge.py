"""Ask a model whether the cached plan that nearly passed means the question.

Reads: grey, doors, candidates.
Writes: grey (with the judge's probability), doors, warnings; if it is accepted also cache and what a hit hands on.
"""

import json
from typing import Any

from qkva.contracts.cache import Door
from qkva.contracts.errors import ModelError, StoreUnavailable
from qkva.contracts.state import AskState
from qkva.nodes.ask.look_up import policy_of
from qkva.nodes.forms import JudgeForm
from qkva.nodes.prompts import fingerprint, prompt
from qkva.nodes.runtime import AskRuntime
from qkva.planning.decision.judged import judge_accepts

YES_OR_NO = "Answer with one word, yes or no."
STORED_QUESTIONS = 3
"""That are shown: the nearest ones."""
HANDED_ON = ("source", "strategy", "plan", "plan_keys", "masked_question", "slots")


async def judge(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """One cheap call. Its answer counts as its labels have earned it; until then the planner plans all the same.

    A judge that fails makes a miss.
    """
    assert state.grey is not None
    try:
        probability, judged_by = await ask_judge(judge_sees(state.grey), runtime)
    except ModelError as error:
        door = Door(name="judge", verdict="skipped", why="the judge did not answer")
        return {
            **shown(door, state),
            "warnings": [f"The judge was not heard, so the question is planned: {error.message}"],
        }
    grey = {**state.grey, "judge": probability, "judged_by": judged_by}
    try:
        accepted, why = await is_accepted(grey, runtime)
    except StoreUnavailable as error:
        warning = f"The judge's record could not be read, so the question is planned: {error.message}"
        return {"grey": grey, "warnings": [warning]}
    door = Door(name="judge", verdict="open" if accepted else "shut", why=why)
    if not accepted:
        return {"grey": grey, **shown(door, state)}
    return {
        "grey": grey,
        **shown(door, state),
        "candidates": [as_served(candidate, grey, why) for candidate in state.candidates],
        "cache": "hit",
        **{name: grey[name] for name in HANDED_ON},
    }


def judge_sees(grey: dict[str, Any]) -> str:
    """One JSON object, so that no text in it can end early and speak as the prompt does. Masked: it holds no value."""
    return json.dumps(
        {
            "new_question": grey["masked_question"],
            "stored_questions": [key["masked"] for key in grey["plan_keys"][:STORED_QUESTIONS]],
            "intent": grey["plan"]["key_text"],
            "query": grey["plan"]["query"],
        },
        ensure_ascii=False,
        indent=1,
    )


async def ask_judge(user: str, runtime: AskRuntime) -> tuple[float, str]:
    """The probability, and who gave it in which way. Raises ModelError.

    By log-probabilities where the gateway gives them; that it does not shows once, and costs one call more.
    """
    assert runtime.services.chat is not None
    model = runtime.services.chat.judge
    system, who = prompt("judge"), f"{model.name}/{fingerprint('judge')}"
    if model.gives_log_probabilities:
        runtime.meter.spend("judge")
        found = await model.probability_of_yes(system=f"{system}\n\n{YES_OR_NO}", user=user, purpose="judge")
        if found is not None:
            return round(found, 4), f"{who}/logprobs"
    runtime.meter.spend("judge")
    form = await model.fill_form(JudgeForm, system=system, user=user, purpose="judge")
    return form.percent / 100, f"{who}/graded"


async def is_accepted(grey: dict[str, Any], runtime: AskRuntime) -> tuple[bool, str]:
    """By what this judge was right and wrong about in this tenant and source. Raises StoreUnavailable."""
    plans, source = runtime.services.plans, grey["source"]
    labels = await plans.label_scores(runtime.tenant_id, source, scorer_of(runtime))
    hits = await plans.hit_counts(runtime.tenant_id, source=source)
    own = [label for label in labels if label.judged_by == grey["judged_by"]]
    return judge_accepts(grey["judge"], own, policy_of(runtime).max_wrong_hits, hits)


def scorer_of(runtime: AskRuntime) -> str:
    """Under which fingerprint labels are kept."""
    return runtime.services.confidences.scorer(runtime.services.embedder.fingerprint)


def shown(door: Door, state: AskState) -> dict[str, Any]:
    """The doors, the judge's last."""
    return {"doors": [*state.doors, door.model_dump(mode="json")]}


def as_served(candidate: dict[str, Any], grey: dict[str, Any], why: str) -> dict[str, Any]:
    """A candidate as Studio shows it, now that one of them is served."""
    if candidate["plan_id"] != grey["plan"]["id"]:
        return candidate
    return {**candidate, "verdict": "served", "why": f"judge: {why}"}
