"""Whether parameters may change places without changing what a plan means: "courses that need A and B"."""

from functools import lru_cache

from qkva.contracts.plan import PLACEHOLDER, Plan
from qkva.planning.drafting.canonical import canonical_text


def treats_alike(plan: Plan, renaming: tuple[tuple[str, str], ...]) -> bool:
    """Whether the plan with these parameters renamed at once means the same; cached by query."""
    return _alike(plan.query, plan.dialect, renaming)


@lru_cache(maxsize=5_000)
def _alike(query: str, dialect: str, renaming: tuple[tuple[str, str], ...]) -> bool:
    new = dict(renaming)

    def renamed(found: str) -> str:
        return PLACEHOLDER.sub(lambda hole: f"{{{new.get(hole[1], hole[1])}{'.' + hole[2] if hole[2] else ''}}}", found)

    return canonical_text(renamed(query), dialect) == canonical_text(query, dialect)
