"""What the plan cache finds, and the doors a candidate has to pass."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from qkva.contracts.plan import Plan


class Door(BaseModel):
    """One check of the hit decision, with its verdict and its reason in a few words for a person."""

    model_config = ConfigDict(frozen=True)

    name: str
    verdict: Literal["open", "shut", "skipped"]
    why: str


class Key(BaseModel):
    """One key of a plan, as it is stored: masked, so it holds no value of any question."""

    model_config = ConfigDict(frozen=True)

    id: str
    kind: Literal["intent", "exemplar"]
    masked: str
    """The masked question, or for an intent the phrase itself."""
    similarity: float
    """Cosine to the question, -1 to 1; 1.0 for an exact mask."""
    exact: bool = False
    """Whether the masked texts are equal."""
    votes: int = 1
    """How often a planner has answered this mask with this plan."""
    roles: tuple[str | None, ...] = ()
    """For an exemplar, by ‹slot› of `masked`, in order: the parameter that it fills; or, for a slot that the plan does
    not bind because the value is part of its meaning, `=` and a fingerprint of that value, which has to be said again;
    None where it is only known that there is such a value."""


class Candidate(BaseModel):
    """A stored plan with those of its keys that lie nearest to the question, best first (at least one)."""

    model_config = ConfigDict(frozen=True)

    plan: Plan
    keys: tuple[Key, ...]
    exemplars: int = 0
    """How many exemplars the plan has in all, those that are not among `keys` included."""


class Decision(BaseModel):
    """What the hit decision says of the candidates."""

    model_config = ConfigDict(frozen=True)

    hit: Candidate | None
    grey: Candidate | None = None
    """The best candidate where nothing but its probability speaks against it: a judge may decide."""
    score: float
    """Of the best candidate, 0 to 1; 0 without one."""
    scores: dict[str, float] = {}
    """By id of a plan, the same of every candidate."""
    decisive: str | None = None
    """The id of the best candidate, where it was the probability that decided: what a label of it says of the
    verifier."""
    doors: tuple[Door, ...]
    """Of the candidate that was served, or else of the one that came closest."""


LabelVerdict = Literal["same", "different"]
"""Whether a plan means a question."""
LabelOrigin = Literal["miss", "audit"]
"""What showed it: the plan that was made on a miss, or one that was made to check a would-be hit."""


class VerdictCounts(BaseModel):
    """Labels by verdict."""

    model_config = ConfigDict(frozen=True)

    same: int = 0
    different: int = 0


class LabelCounts(BaseModel):
    """The labels of one tenant and source by what showed them."""

    model_config = ConfigDict(frozen=True)

    miss: VerdictCounts = VerdictCounts()
    audit: VerdictCounts = VerdictCounts()


class LabelledScore(BaseModel):
    """What the hit decision and the judge had thought of a plan, and whether it did mean the question."""

    model_config = ConfigDict(frozen=True)

    score: float
    judge: float | None = None
    """The judge's probability, 0 to 1; None if it was not asked."""
    same: bool
    origin: str
    """A LabelOrigin, or a word of an older version."""
    judged_by: str = ""
    """Which judge: probabilities of two models, or of two ways of asking, do not compare."""


class HitCounts(BaseModel):
    """Hits of the live plans of one tenant and source."""

    model_config = ConfigDict(frozen=True)

    judged: int = 0
    """Served because the judge said so."""
    other: int = 0


class NewKey(BaseModel):
    """A key to be stored with its vector."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["intent", "exemplar"]
    masked: str
    roles: tuple[str | None, ...] = ()
    """As in Key."""
    embedding: tuple[float, ...]
    from_file: bool = False
    """Whether a person wrote it in a plan file: it is never crowded out, and goes when the file lets it go."""
