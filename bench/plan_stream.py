"""Play a file of questions as a stream against the hit decision, and count hits and wrong hits.

    python bench/plan_stream.py ../shared/data/advising.json --seed 0 [--policy exact|canonical|full] [--wrong OUT]

A miss asks an oracle planner, which returns the right template, and writes it back; a hit that serves another one is
wrong. Values are masked by the file's own marks, the cache is a list in memory, and the embedder is the local one.
"""

import argparse
import json
import random
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkva.contracts.cache import Candidate, Decision, Key
from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.models.embeddings import load_wordllama, unit_vectors
from qkva.planning.decision.decide import HitPolicy, decide
from qkva.planning.drafting.canonical import canonical_form
from qkva.planning.reading.plan_form import read_plan_form

KEYS_PER_PLAN = 8
SOURCE = "stream"


@dataclass(frozen=True)
class Asked:
    """One question of the file with its right plan."""

    question: MaskedQuestion
    plan: Plan
    meaning: str
    """Hash of the plan's canonical form."""
    roles: tuple[str | None, ...]


@dataclass
class Memory:
    """The cache: keys with vectors, in memory."""

    keys: list[tuple[str, Key]] = field(default_factory=list)
    vectors: NDArray[Any] = field(default_factory=lambda: np.zeros((0, 256), np.float32))
    plans: dict[str, Plan] = field(default_factory=dict)
    by_mask: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, asked: Asked, vector: NDArray[Any]) -> None:
        """Store the plan, if it is new, and the exemplar."""
        self.plans.setdefault(asked.meaning, asked.plan.model_copy(update={"id": asked.meaning}))
        key = Key(
            id=str(len(self.keys)), kind="exemplar", masked=asked.question.masked, similarity=0, roles=asked.roles
        )
        self.by_mask[asked.question.masked].append(len(self.keys))
        if len(self.keys) == len(self.vectors):
            self.vectors = np.vstack([self.vectors, np.zeros((1000, len(vector)), np.float32)])
        self.vectors[len(self.keys)] = vector
        self.keys.append((asked.meaning, key))

    def nearest(self, asked: Asked, vector: NDArray[Any], top_k: int) -> list[Candidate]:
        """As the store does: equal masks shut out all others; a plan comes with its nearest keys."""
        if not self.keys:
            return []
        similarities = self.vectors[: len(self.keys)] @ vector
        found: dict[str, list[Key]] = defaultdict(list)
        exact = self.by_mask.get(asked.question.masked, [])
        allowed = {self.keys[at][0] for at in exact} or set(self.plans)
        for at in [*exact, *np.argsort(-similarities).tolist()]:
            plan_id, key = self.keys[at]
            if plan_id not in allowed or (plan_id not in found and len(found) == top_k):
                continue
            if any(known.id == key.id for known in found[plan_id]):
                continue
            if len(found[plan_id]) < KEYS_PER_PLAN:
                found[plan_id].append(
                    key.model_copy(update={"similarity": min(1.0, float(similarities[at])), "exact": at in exact})
                )
        return [Candidate(plan=self.plans[plan_id], keys=tuple(keys)) for plan_id, keys in found.items()]


def read_questions(path: Path) -> Iterator[Asked]:
    """Every question of the file, exact duplicates dropped."""
    seen: set[str] = set()
    for entry in json.loads(path.read_text()):
        types = {variable["name"]: variable["type"] for variable in entry["variables"]}
        plan = _plan(entry)
        meaning = canonical_form(plan)
        uses = read_plan_form(plan).uses
        for sentence in entry["sentences"]:
            values = {name: value for name, value in sentence["variables"].items() if value != ""}
            question = _mask(sentence["text"], values, types)
            if question.text in seen:
                continue
            seen.add(question.text)
            names = _names_in_order(sentence["text"], values)
            yield Asked(question, plan, meaning, tuple(name if name in uses else None for name in names))


def _plan(entry: dict[str, Any]) -> Plan:
    query = entry["sql"][0].replace(";", "").strip()
    names = sorted((variable["name"] for variable in entry["variables"]), key=len, reverse=True)
    for name in names:
        query = re.sub(rf"[\"'](%?){re.escape(name)}(%?)[\"']", rf"{{{name.lower()}}}", query)
        query = re.sub(rf"(?<![\w{{]){re.escape(name)}(?![\w}}])", rf"{{{name.lower()}}}", query)
    params = tuple(
        Parameter(
            name=variable["name"].lower(),
            type=ParamType.TEXT,
            required=variable["location"] != "sql-only",
            default=variable["example"] if variable["location"] == "sql-only" else None,
        )
        for variable in entry["variables"]
        if f"{{{variable['name'].lower()}}}" in query
    )
    return Plan(key_text="", query=query, params=params, source=SOURCE, source_type="sql", dialect="mysql")


def _names_in_order(text: str, values: dict[str, str]) -> list[str]:
    names = sorted(values, key=len, reverse=True)
    if not names:
        return []
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, names)) + r")(?!\w)")
    return [found[1].lower() for found in pattern.finditer(text)]


def _mask(text: str, values: dict[str, str], types: dict[str, str]) -> MaskedQuestion:
    spoken, masked, slots, at = "", "", [], 0
    names = sorted(values, key=len, reverse=True)
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, names)) + r")(?!\w)") if names else re.compile(r"(?!)")
    for found in pattern.finditer(text):
        name, label = found[1], types.get(found[1], re.sub(r"\d+$", "", found[1]))
        spoken += text[at : found.start()]
        masked += text[at : found.start()] + f"‹{label}›"
        slots.append(
            Slot(
                start=len(spoken),
                end=len(spoken) + len(values[name]),
                text=values[name],
                type=SlotType.VALUE,
                label=label,
                value=values[name],
            )
        )
        spoken += values[name]
        at = found.end()
    masked = " ".join((masked + text[at:]).lower().split())
    return MaskedQuestion(source=SOURCE, text=spoken + text[at:], masked=masked, slots=tuple(slots))


def served_by(decision: Decision, policy: str) -> Candidate | None:
    """The hit, as far as the policy of the run allows."""
    if decision.hit is None or policy != "exact":
        return decision.hit
    return decision.hit if decision.doors[0].why.startswith("the masked question is") else None


def play(questions: list[Asked], vectors: NDArray[Any], *, policy: str, floor: float, budget: float) -> dict[str, Any]:
    """One stream."""
    memory = Memory()
    hits: list[tuple[Asked, Candidate, Decision]] = []
    missed: list[tuple[Asked, list[Candidate], Decision]] = []
    times = []
    rules = HitPolicy(similarity_floor=floor, max_wrong_hits=0 if policy in ("exact", "canonical") else budget)
    for asked, vector in zip(questions, vectors, strict=True):
        candidates = memory.nearest(asked, vector, 5)
        started = time.perf_counter()
        decision = decide(asked.question, candidates, policy=rules)
        times.append((time.perf_counter() - started) * 1000)
        hit = served_by(decision, policy)
        if hit is not None:
            hits.append((asked, hit, decision))
        else:
            missed.append((asked, candidates, decision))
            memory.add(asked, vector)
    wrong = [(a, h, d) for a, h, d in hits if h.plan.id != a.meaning]
    return {
        "questions": len(questions),
        "plans": len(memory.plans),
        "hits": len(hits),
        "wrong": len(wrong),
        "hit_rate": round(100 * len(hits) / len(questions), 1),
        "wrong_rate": round(100 * len(wrong) / max(1, len(hits)), 2),
        "median_ms": round(median(times), 2),
        "p95_ms": round(sorted(times)[int(len(times) * 0.95)], 2),
        "wrong_hits": wrong,
        "missed": missed,
    }


def report_wrong(result: dict[str, Any]) -> Iterator[str]:
    """Each wrong hit: the question, the stored key that opened, and both queries."""
    for asked, hit, decision in result["wrong_hits"]:
        best = hit.keys[0]
        yield f"Q {asked.question.masked}\nX {best.masked}   [{decision.doors[0].why}]"
        yield f"  right  {asked.plan.query}\n  served {hit.plan.query}\n"


def report_misses(result: dict[str, Any]) -> Iterator[str]:
    """Each miss whose right plan was among the candidates, with the door that kept it shut."""
    for asked, candidates, decision in result["missed"]:
        right = next((c for c in candidates if c.plan.id == asked.meaning), None)
        if right is None:
            continue
        alone = decide(asked.question, [right], policy=HitPolicy(similarity_floor=0.6))
        shut = [f"{door.name}: {door.why}" for door in alone.doors if door.verdict == "shut"]
        yield f"Q {asked.question.masked}\nX {right.keys[0].masked}  {right.keys[0].similarity:.2f}  {shut}"
        if not shut:
            yield f"    in company: {[door.why for door in decision.doors if door.verdict == 'shut']}"


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--policy", choices=("exact", "canonical", "full"), nargs="*", default=["exact", "canonical", "full"]
    )
    parser.add_argument("--floor", type=float, default=0.88)
    parser.add_argument("--budget", type=float, default=0.01)
    parser.add_argument("--limit", type=int, help="play only so many questions")
    parser.add_argument("--wrong", type=Path)
    parser.add_argument("--misses", type=Path)
    arguments = parser.parse_args()
    if not arguments.data.exists():
        sys.exit(f"{arguments.data} is missing: give the path of a file of questions.")
    questions = list(read_questions(arguments.data))
    random.Random(arguments.seed).shuffle(questions)
    questions = questions[: arguments.limit]
    vectors = unit_vectors(np.asarray(load_wordllama().embed([asked.question.masked for asked in questions])))
    for policy in arguments.policy:
        result = play(questions, vectors, policy=policy, floor=arguments.floor, budget=arguments.budget)
        shown = {name: value for name, value in result.items() if name not in ("wrong_hits", "missed")}
        sys.stdout.write(f"{policy:10} {json.dumps(shown)}\n")
        if arguments.wrong and policy == arguments.policy[-1]:
            arguments.wrong.write_text("\n".join(report_wrong(result)))
        if arguments.misses and policy == arguments.policy[-1]:
            arguments.misses.write_text("\n".join(report_misses(result)))


if __name__ == "__main__":
    main()
