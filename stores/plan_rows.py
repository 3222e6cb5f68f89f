"""Plans as rows and rows as plans."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from pgvector.psycopg import HalfVector
from psycopg.types.json import Jsonb

from qkva.contracts.cache import Candidate, Key, LabelCounts, NewKey
from qkva.contracts.plan import Exemplar, Parameter, Plan, PlanStatus, StoredPlan, Strategy

Row = Mapping[str, Any]


def masked_hash(masked: str) -> bytes:
    """What equal masks are found by: a mask itself may be longer than an index takes."""
    return hashlib.sha256(masked.encode("utf-8", "surrogatepass")).digest()


def values_of_plan(stored: StoredPlan, ttl_hours: float | None) -> dict[str, object]:
    """A plan as the parameters of its statements; a verified one does not expire."""
    plan = stored.plan
    return {
        "source": plan.source,
        "source_type": plan.source_type,
        "dialect": plan.dialect,
        "strategy": plan.strategy.value,
        "key_text": plan.key_text,
        "query": plan.query,
        "params": Jsonb([param.model_dump(mode="json") for param in plan.params]),
        "status": plan.status.value,
        "canonical": stored.canonical,
        "schema_fingerprint": stored.schema_fingerprint,
        "dependency_ids": list(stored.dependency_ids),
        "model": stored.model,
        "prompt": stored.prompt,
        "ttl_hours": None if plan.status is PlanStatus.VERIFIED else ttl_hours,
    }


def values_of_key(key: NewKey) -> dict[str, object]:
    """A key as the parameters of its statement."""
    return {
        "kind": key.kind,
        "masked": key.masked,
        "masked_hash": masked_hash(key.masked),
        "roles": list(key.roles),
        "embedding": HalfVector(key.embedding),
        "from_file": key.from_file,
    }


def plan_from_row(row: Row) -> Plan:
    """The plan of an entry."""
    return Plan(
        id=str(row["id"]),
        key_text=row["key_text"],
        query=row["query"],
        params=tuple(Parameter.model_validate(param) for param in row["params"]),
        status=PlanStatus(row["status"]),
        strategy=Strategy(row["strategy"]),
        source=row["source"],
        source_type=row["source_type"],
        dialect=row["dialect"],
    )


def candidate_from_row(row: Row) -> Candidate:
    """An entry with its nearest keys."""
    keys = tuple(Key.model_validate(key) for key in row["keys"])
    return Candidate(plan=plan_from_row(row), keys=keys, exemplars=row["exemplars"])


def stored_from_row(row: Row) -> StoredPlan:
    """An entry with its exemplars, each mask once whatever the number of embedders."""
    questions = {question["masked"]: Exemplar.model_validate(question) for question in row["questions"]}
    return StoredPlan(
        plan=plan_from_row(row),
        canonical=row["canonical"],
        schema_fingerprint=row["schema_fingerprint"],
        dependency_ids=tuple(row["dependency_ids"]),
        model=row["model"],
        prompt=row["prompt"],
        questions=tuple(questions.values()),
        hits=row["hits"],
        created_at=row["created_at"],
        last_used_at=row["last_used_at"],
        expires_at=row["expires_at"],
    )


def label_counts_from_rows(rows: Iterable[Row]) -> LabelCounts:
    """Counts by origin and verdict; what is not among them is none."""
    counts: dict[str, dict[str, int]] = {"miss": {}, "audit": {}}
    for row in rows:
        counts[row["origin"]][row["verdict"]] = row["labels"]
    return LabelCounts.model_validate(counts)
