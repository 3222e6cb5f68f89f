"""What a question and one stored question of a plan have in common and not: numbers that name no domain.

Both are compared with the plan's own query too ("two-sided"): what the query counts, orders, negates and returns has to
be borne out by the new question as it was by the stored one. The features follow no paper; that masked questions, the
query's parse tree and the store have to be looked at together was measured (see `verifier.json` and its training).
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz.distance import LCSseq, Levenshtein

from qkva.contracts.plan import Plan
from qkva.planning.decision.guards import first_conflict, kinds_agree
from qkva.planning.decision.words import likeness, nearest, rarity
from qkva.planning.reading.plan_form import read_plan_form
from qkva.planning.reading.query_form import QueryForm
from qkva.planning.reading.question_form import QuestionForm, read_question_form
from qkva.planning.reading.question_tokens import read_tokens

MARK_GROUPS = {
    "extreme": ("max", "min", "latest", "earliest"),
    "comparison": ("gt", "lt", "ge", "le"),
    "time_order": ("after", "before", "since", "until", "between"),
    "negation": ("not", "twice not"),
    "count": ("count",),
    "aggregate": ("sum", "average", "percent"),
    "each": ("each",),
    "choice": ("both", "either", "only", "good"),
    "difficulty": ("hard", "easy"),
}
PLANNED = 0.15
"""What an extra word still weighs that the plan's own query says."""
UNLIKE = 0.1
"""Unlikeness from which on a word counts as one that the other side does not say."""
_GROUPED = {mark for marks in MARK_GROUPS.values() for mark in marks}
_FILLERS = frozenset(
    "available possible existing current same also too already exactly own just still yet any all".split()
)
_EXTREMES = {"max": "max", "latest": "max", "min": "min", "earliest": "min"}

FOR, AGAINST, FREE = 1, -1, 0
PAIR_FEATURES: dict[str, int] = {}
"""Name to direction: whether more of it speaks for or against the same meaning, or either way. Filled below."""


def _declare(direction: int, names: str) -> None:
    PAIR_FEATURES.update(dict.fromkeys(names.split(), direction))


_declare(
    FOR, "words_shared order_shared text_alike tokens_shared neighbours_shared asked_alike head_alike asked_in_plan"
)
_declare(FOR, "masks_equal keys_equal sequences_equal")
_declare(
    AGAINST,
    "extra_words extra_rarity extra_rarest extra_unlike extra_most_unlike extra_beyond_plan extra_schema_words "
    "lost_words lost_rarity lost_rarest lost_unlike lost_most_unlike lost_schema_words repetition "
    "kinds_differ kinds_disagree yes_no_differs asked_differs_in_schema scope_differs future_differs past_differs "
    "moment_differs asker_differs person_differs stranded_differs relations_differ directions_differ cues_differ "
    "prepositions_differ labels_differ fillers_differ verb_forms_differ length_differs order_is_risky guarded "
    "plan_unexplained plan_unsaid plan_said_more plan_asked_less plan_count plan_extreme plan_negation plan_average "
    "plan_sum plan_each plan_comparison plan_or marks_other",
)
_declare(AGAINST, " ".join(f"marks_{group}" for group in MARK_GROUPS))
_declare(AGAINST, "stored_count stored_extreme stored_negation")
_declare(FREE, "either_yes_no words_in_question says_by says_to says_from says_with names_differ")


@lru_cache(maxsize=100_000)
def pair_features(masked: str, stored: str, plan: "PlanKey", schema: frozenset[str]) -> dict[str, float]:
    """All of PAIR_FEATURES for a masked question beside a stored one; about 0.1 ms, then cached."""
    asked, kept, query = read_question_form(masked), read_question_form(stored), plan.form
    return (
        _words(asked, kept, query, schema)
        | _marks(asked, kept)
        | _asked(asked, kept, query, schema)
        | _small_words(masked, stored, asked, kept)
        | _shape(masked, stored, asked, kept, query)
        | _beside_plan(masked, stored, plan)
    )


class PlanKey:
    """A plan as a key of caches: equal for equal queries."""

    __slots__ = ("form", "name")

    def __init__(self, plan: Plan) -> None:
        self.name, self.form = (plan.query, plan.dialect), read_plan_form(plan)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlanKey) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def _words(a: QuestionForm, b: QuestionForm, query: QueryForm, schema: frozenset[str]) -> dict[str, float]:
    extra, lost = _rest(a.content, b.content), _rest(b.content, a.content)
    extra_unlike = _unlikeness(extra, lost, b.content)
    lost_unlike = _unlikeness(lost, extra, a.content)
    shared = Counter(a.content) & Counter(b.content)
    total = sum(map(rarity, a.content)) + sum(map(rarity, b.content))
    return {
        "extra_words": float(len(extra)),
        "extra_rarity": sum(map(rarity, extra)),
        "extra_rarest": max(map(rarity, extra), default=0.0),
        "extra_unlike": sum(extra_unlike),
        "extra_most_unlike": max(extra_unlike, default=0.0),
        "extra_beyond_plan": sum(
            u * (PLANNED if w in query.words else 1) for w, u in zip(extra, extra_unlike, strict=True)
        ),
        "extra_schema_words": sum(
            rarity(w) for w, u in zip(extra, extra_unlike, strict=True) if w in schema and u > UNLIKE
        ),
        "lost_words": float(len(lost)),
        "lost_rarity": sum(map(rarity, lost)),
        "lost_rarest": max(map(rarity, lost), default=0.0),
        "lost_unlike": sum(lost_unlike),
        "lost_most_unlike": max(lost_unlike, default=0.0),
        "lost_schema_words": sum(
            rarity(w) for w, u in zip(lost, lost_unlike, strict=True) if w in schema and u > UNLIKE
        ),
        "words_shared": 2 * sum(rarity(w) * n for w, n in shared.items()) / total if total else 1.0,
        "repetition": float(
            sum(abs(a.content.count(w) - b.content.count(w)) for w in set(a.content) & set(b.content))
        ),
        "words_in_question": float(len(a.content)),
    }  # fmt: skip


def _rest(mine: Sequence[str], other: Sequence[str]) -> list[str]:
    return list((Counter(mine) - Counter(other)).elements())


def _unlikeness(words: Sequence[str], rest: Sequence[str], other: Sequence[str]) -> list[float]:
    """Of each word its rarity, less where a word that is left on the other side may stand for it."""
    said = set(other)
    return [rarity(w) * (1 - max(nearest(w, tuple(rest)), 0.5 if w in said else 0.0)) for w in words]


def _marks(a: QuestionForm, b: QuestionForm) -> dict[str, float]:
    differing = a.marks ^ b.marks
    found = {f"marks_{group}": float(len(differing & set(marks))) for group, marks in MARK_GROUPS.items()}
    return found | {"marks_other": float(len(differing - _GROUPED))}


def _asked(a: QuestionForm, b: QuestionForm, query: QueryForm, schema: frozenset[str]) -> dict[str, float]:
    ours, theirs = a.ask.asked, b.ask.asked
    both = bool(ours and theirs)
    alike = 0.5
    if both:
        alike = (
            sum(nearest(w, theirs) for w in ours) / len(ours) + sum(nearest(w, ours) for w in theirs) / len(theirs)
        ) / 2
    elif not ours and not theirs:
        alike = 1.0
    named, other = [w for w in ours if w in schema], [w for w in theirs if w in schema]
    apart = bool(named and other) and max(likeness(x, y) for x in named for y in other) < 0.6
    yes_no = (a.ask.kind == "yes_no", b.ask.kind == "yes_no")
    return {
        "asked_alike": alike,
        "head_alike": likeness(ours[-1], theirs[-1]) if both else 0.5,
        "asked_differs_in_schema": float(apart),
        "kinds_differ": float(a.ask.kind != b.ask.kind),
        "kinds_disagree": float(not kinds_agree(a, b, query)),
        "yes_no_differs": float(yes_no[0] != yes_no[1]),
        "either_yes_no": float(any(yes_no)),
        "scope_differs": float(a.personal != b.personal),
        "future_differs": float(("future" in a.tenses) != ("future" in b.tenses)),
        "past_differs": float(("past" in a.tenses) != ("past" in b.tenses)),
        "moment_differs": float(a.moment != b.moment),
        "asker_differs": float(a.asker != b.asker),
        "person_differs": float(a.person != b.person),
        "stranded_differs": float(a.stranded != b.stranded),
        "guarded": float(first_conflict(a, b, query, by_intent=False) is not None),
    }


def _small_words(masked: str, stored: str, a: QuestionForm, b: QuestionForm) -> dict[str, float]:
    ours, theirs = (Counter(token.word for token in read_tokens(text)) for text in (masked, stored))
    names = [any(said[word] for word in ("name", "names", "title")) for said in (ours, theirs)]
    verbs = _verb_forms(masked), _verb_forms(stored)

    def apart(part: "list[Counter[tuple[str, str]]]") -> float:
        return float(sum((part[0] - part[1]).values()))

    sides = (a.slots, b.slots)
    return {
        **{f"says_{word}": float(abs(ours[word] - theirs[word])) for word in ("by", "to", "from", "with")},
        "fillers_differ": float(sum(bool(ours[word]) != bool(theirs[word]) for word in _FILLERS)),
        "names_differ": float(names[0] != names[1]),
        "verb_forms_differ": float(sum(verbs[1].get(lemma, form) != form for lemma, form in verbs[0].items())),
        "relations_differ": apart([Counter((s.label, s.relation) for s in side) for side in sides]),
        "prepositions_differ": apart(
            [Counter((s.label, s.direction or s.preposition) for s in side) for side in sides]
        ),
        "cues_differ": apart([Counter((s.label, s.cue) for s in side) for side in sides]),
        "directions_differ": apart(
            [Counter((s.label, s.direction) for s in side if s.label != "time") for side in sides]
        ),
        "labels_differ": sum(
            ((one := Counter(s.label for s in a.slots)) - (other := Counter(s.label for s in b.slots))).values(), 0.0
        )
        + sum((other - one).values()),
    }


@lru_cache(maxsize=20_000)
def _verb_forms(masked: str) -> dict[str, str]:
    """Lemma to the ending of its form: who pays, is paid, is paying."""
    forms: dict[str, str] = {}
    for token in read_tokens(masked):
        if token.label is not None or len(token.word) <= 3 or not token.word.isalpha():
            continue
        word = token.word
        if word == token.lemma:
            forms.setdefault(token.lemma, "")
        else:
            forms[token.lemma] = "ing" if word.endswith("ing") else "ed" if word.endswith(("ed", "en", "t")) else "s"
    return forms


def _shape(masked: str, stored: str, a: QuestionForm, b: QuestionForm, query: QueryForm) -> dict[str, float]:
    ours, theirs = masked.split(), stored.split()
    pairs = [Counter(zip(form.sequence, form.sequence[1:], strict=False)) for form in (a, b)]
    count = sum(pairs[0].values()) + sum(pairs[1].values())
    same = a.sequence == b.sequence
    risky = query.superlative is not None or query.has_subquery or query.negated
    return {
        "order_shared": 1.0 if same else LCSseq.normalized_similarity(a.sequence, b.sequence),
        "text_alike": Levenshtein.normalized_similarity(ours, theirs),
        "tokens_shared": len({*ours} & {*theirs}) / max(1, len({*ours, *theirs})),
        "neighbours_shared": 2 * sum((pairs[0] & pairs[1]).values()) / count if count else 1.0,
        "length_differs": abs(math.log(max(1, len(ours)) / max(1, len(theirs)))),
        "order_is_risky": float(not same and risky),
        "masks_equal": float(masked == stored),
        "keys_equal": float(a.key == b.key),
        "sequences_equal": float(a.key == b.key and same),
    }


def _beside_plan(masked: str, stored: str, plan: PlanKey) -> dict[str, float]:
    """How much less the new question agrees with the query than the stored one did, and where even that one did not."""
    ours, theirs = question_beside_plan(masked, plan), question_beside_plan(stored, plan)
    lost = {
        f"plan_{name}": max(0.0, ours[name] - theirs[name])
        for name in ("count", "extreme", "negation", "average", "sum", "each", "comparison", "or")
    }
    return lost | {
        "plan_unexplained": max(0.0, ours["unexplained"] - theirs["unexplained"]),
        "plan_unsaid": max(0.0, ours["unsaid"] - theirs["unsaid"]),
        "plan_said_more": max(0.0, theirs["unsaid"] - ours["unsaid"]),
        "asked_in_plan": ours["asked"],
        "plan_asked_less": max(0.0, theirs["asked"] - ours["asked"]),
        "stored_count": theirs["count"],
        "stored_extreme": theirs["extreme"],
        "stored_negation": theirs["negation"],
    }


@lru_cache(maxsize=50_000)
def question_beside_plan(masked: str, plan: PlanKey) -> dict[str, float]:
    """In what a question and a query disagree; 0 is agreement, "asked" is a likeness."""
    form, query = read_question_form(masked), plan.form
    aggregates = {*query.aggregates, *query.inner_aggregates}
    extremes = {_EXTREMES[mark] for mark in form.marks if mark in _EXTREMES}
    picked = {query.superlative} if query.superlative else set()
    ops = {use.op for uses in query.uses.values() for use in uses} | {constant.op for constant in query.constants}
    above = bool(form.marks & {"gt", "ge", "after", "since", "between"})
    below = bool(form.marks & {"lt", "le", "before", "until", "between"})
    words = tuple(dict.fromkeys(form.content))
    planned = tuple(sorted(query.words))
    return {
        "count": float((form.ask.kind == "count" or "count" in form.marks) != ("count" in query.aggregates)),
        "extreme": float(len(extremes ^ picked)),
        "negation": float(("not" in form.marks) != query.negated),
        "average": float(("average" in form.marks) != ("avg" in aggregates)),
        "sum": float(("sum" in form.marks or form.ask.kind == "much") != ("sum" in aggregates)),
        "each": float("each" in form.marks and not query.grouped),
        "comparison": float(above != bool(ops & {">", ">="})) + float(below != bool(ops & {"<", "<="})),
        "or": float(("either" in form.marks) != query.has_or),
        "unexplained": sum(rarity(w) for w in words if nearest(w, planned) < 0.7),
        "unsaid": sum(rarity(w) for w in planned if nearest(w, words) < 0.7),
        "asked": max(
            (nearest(w, query.output) for w in form.ask.asked), default=0.0 if form.ask.asked and query.output else 0.5
        ),
    }  # fmt: skip
