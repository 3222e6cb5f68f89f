"""Question streams without a database: what the verifier learns from.

The store is a matrix in memory; what it finds, and what is made of it, is what the product's own look-up and evidence
make. Some questions are not stored, and some look for a plan that is hidden from them: then its neighbours must be
refused.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from qkva.contracts.cache import Candidate, Key
from qkva.contracts.question import MaskedQuestion
from qkva.contracts.source import SourceDescription
from qkva.evals.bench_services import CLOCK
from qkva.evals.domains import read_domain
from qkva.evals.questions import (
    SOURCE,
    Asked,
    all_questions,
    meanings,
    read_entries,
    read_templates,
    without_duplicates,
)
from qkva.evals.source_values import describe_file
from qkva.models.embeddings import LocalEmbedder
from qkva.nodes.runtime import AskSettings
from qkva.planning.decision.evidence import Evidence, gather
from qkva.planning.drafting.parameterise import exemplar_roles
from qkva.planning.masking.mask import mask_question
from qkva.planning.masking.value_index import ValueIndex
from qkva.stores.plan_search import KEYS_PER_PLAN

TOP_K = AskSettings().top_k


@dataclass
class Practice:
    """A set of questions, masked and embedded once."""

    name: str
    questions: list[Asked]
    masked: list[MaskedQuestion]
    vectors: "np.ndarray[tuple[int, int], np.dtype[np.float32]]"
    meaning: list[int]
    """By question; equal plans have one."""
    keys: list[Key]
    """Each question as an exemplar."""
    description: SourceDescription
    plans: dict[int, Candidate] = field(default_factory=dict)
    """By meaning, a candidate without keys."""


def read_practice(path: Path, seed: int = 0, dialect: str = "mysql") -> Practice:
    """A file of questions or, by its ending, a domain. Raises ConfigError."""
    if path.suffix in (".yaml", ".yml"):
        read = read_entries(read_domain(path, seed), path, "sqlite")
    else:
        read = read_templates(path, dialect)
    everything = list(all_questions(read))
    forms = [form for template, _ in read for form in template.forms]
    description = describe_file(forms, everything, random.Random(seed))
    values = ValueIndex.build(description)
    meaning_of = meanings([template for template, _ in read])
    questions = without_duplicates(everything)
    masked = [mask_question(asked.text, source=SOURCE, values=values, now=CLOCK) for asked in questions]
    vectors = np.array(asyncio.run(LocalEmbedder().embed([m.masked for m in masked])), np.float32)
    practice = Practice(
        path.stem,
        questions,
        masked,
        vectors,
        [meaning_of[a.template.forms[0].canonical] for a in questions],
        [],
        description,
    )
    for at, (asked, question) in enumerate(zip(questions, masked, strict=True)):
        plan = asked.template.forms[0].plan
        kept = practice.plans.setdefault(practice.meaning[at], Candidate(plan=plan, keys=()))
        values_said = asked.values
        if kept.plan is not plan:
            values_said = asked.values_for(kept.plan, asked.template.forms[0].canonical) or {}
        roles = exemplar_roles(kept.plan, question, dict(values_said))
        practice.keys.append(Key(id=str(at), kind="exemplar", masked=question.masked, similarity=0.0, roles=roles))
    return practice


class Memory:
    """What a cache would hold after the questions so far."""

    def __init__(self, practice: Practice) -> None:
        self._practice = practice
        self._stored: list[int] = []
        self._masks: set[tuple[str, int]] = set()
        self.meanings: set[int] = set()

    def add(self, at: int) -> None:
        """Store a question as an exemplar of its plan, each mask once."""
        meaning = self._practice.meaning[at]
        mask = (self._practice.masked[at].masked, meaning)
        if mask not in self._masks:
            self._masks.add(mask)
            self._stored.append(at)
            self.meanings.add(meaning)

    def find(self, at: int, hidden: int | None = None) -> list[tuple[int, Candidate]]:
        """The nearest plans with their meanings, as the store finds them."""
        practice = self._practice
        places = [place for place in self._stored if practice.meaning[place] != hidden]
        if not places:
            return []
        masked = practice.masked[at].masked
        equal = {practice.meaning[place] for place in places if practice.masked[place].masked == masked}
        if equal:
            places = [place for place in places if practice.meaning[place] in equal]
        similarity = practice.vectors[places] @ practice.vectors[at]
        found: dict[int, list[Key]] = defaultdict(list)
        for place in np.argsort(-similarity, kind="stable"):
            meaning = practice.meaning[places[place]]
            if meaning not in found and len(found) == TOP_K:
                continue
            if len(found[meaning]) < KEYS_PER_PLAN:
                key = practice.keys[places[place]]
                exact = key.masked == masked
                found[meaning].append(
                    key.model_copy(update={"similarity": 1.0 if exact else float(similarity[place]), "exact": exact})
                )
        ordered = sorted(found.items(), key=lambda item: -max(key.similarity for key in item[1]))
        return [
            (
                meaning,
                practice.plans[meaning].model_copy(update={"keys": tuple(sorted(keys, key=lambda k: not k.exact))}),
            )
            for meaning, keys in ordered
        ]


@dataclass(frozen=True)
class Pair:
    """One candidate of one question, and whether it is right."""

    evidence: Evidence
    same: bool
    question: tuple[int, int]
    """Stream and place: the candidates of one question share it."""
    hidden: bool


def practise(
    practice: Practice,
    *,
    streams: Sequence[tuple[float, float]],
    keep: frozenset[int] | None = None,
    limit: int | None = None,
    seed: int = 101,
) -> list[Pair]:
    """Pairs of all streams; of each, the share of questions that is stored and the share whose plan is hidden."""
    pairs: list[Pair] = []
    for number, (stored, hidden) in enumerate(streams):
        rng = random.Random(seed + number)
        order = [at for at, meaning in enumerate(practice.meaning) if keep is None or meaning in keep]
        rng.shuffle(order)
        memory = Memory(practice)
        for at in order[:limit]:
            hide = practice.meaning[at] if rng.random() < hidden else None
            found = memory.find(at, hide)
            evidences = gather(practice.masked[at], [candidate for _, candidate in found], practice.description)
            pairs += [
                Pair(evidence, meaning == practice.meaning[at], (number, at), hide is not None)
                for (meaning, _), evidence in zip(found, evidences, strict=True)
            ]
            if rng.random() < stored or practice.meaning[at] not in memory.meanings:
                memory.add(at)
    return pairs


def by_question(pairs: Sequence[Pair]) -> Mapping[tuple[int, int], list[Pair]]:
    """The pairs of each question."""
    found: dict[tuple[int, int], list[Pair]] = defaultdict(list)
    for pair in pairs:
        found[pair.question].append(pair)
    return found
