"""Verified plans in and out: from a file through every check into the cache, and back into a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from qkva.contracts.cache import NewKey
from qkva.contracts.errors import ParameterError, PlanRejected
from qkva.contracts.plan import Exemplar, Plan, PlanStatus, StoredPlan
from qkva.contracts.source import KnowsDependencies
from qkva.nodes.runtime import AskServices, ReadySource
from qkva.planning.drafting.canonical import canonical_form
from qkva.planning.drafting.keys import check_key_length
from qkva.planning.filling.coerce import coerce
from qkva.planning.plan_files.example_questions import read_written
from qkva.planning.plan_files.plan_dump import draft_of, dump_plan_file
from qkva.planning.plan_files.plan_file import PlanDraft, PlanFile, parse_plan_file


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """What an import did."""

    source: str
    plans: tuple[StoredPlan, ...]
    questions: int
    replaced: int
    """Verified plans of the same keys that meant something else, and were retired."""
    warnings: tuple[str, ...] = ()
    """Questions that were stored and may never be met."""

    def sentence(self) -> str:
        """For a person."""
        replaced = f"; older ones that were retired: {self.replaced}" if self.replaced else ""
        return f"Verified plans for {self.source}: {len(self.plans)}, with {self.questions} questions{replaced}."


@dataclass(frozen=True, kw_only=True)
class CheckedPlan:
    """A plan of a file that passed every check."""

    plan: Plan
    canonical: str
    exemplars: tuple[Exemplar, ...]
    warnings: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        """What is embedded: the intent phrase, then the masked questions."""
        return [self.plan.key_text, *(exemplar.masked for exemplar in self.exemplars)]


async def import_plans(services: AskServices, tenant_id: str, text: str) -> ImportReport:
    """Check every plan of a file against the live source, then store all as verified; a wrong one stops the whole file.

    A plan whose key is already that of a verified plan replaces it, and questions that the file no longer has go; what
    the cache learned stays. Importing the same file again changes nothing.
    Raises PlanRejected (line, plan, what is wrong), UnknownSource, SourceUnavailable, StoreUnavailable or ModelError.
    """
    file = parse_plan_file(text)
    source = await services.sources.ready(file.source)
    now = services.fixed_now or datetime.now(UTC)
    checked = [await check_draft(draft, source, now) for draft in file.drafts]
    refuse_doubles(checked)
    vectors = await services.embedder.embed([text for plan in checked for text in plan.texts])
    stored, start = [], 0
    for plan in checked:
        stored.append(await save(services, tenant_id, source, plan, vectors[start : start + len(plan.texts)]))
        start += len(plan.texts)
    return ImportReport(
        source=file.source,
        plans=tuple(stored),
        questions=sum(len(plan.exemplars) for plan in checked),
        replaced=await retire_replaced(services, tenant_id, file.source, checked),
        warnings=tuple(warning for plan in checked for warning in plan.warnings),
    )


async def check_draft(draft: PlanDraft, source: ReadySource, now: datetime) -> CheckedPlan:
    """The plan with its questions masked, or PlanRejected with its line."""
    plan = draft.plan_for(source.description).model_copy(update={"status": PlanStatus.VERIFIED})
    try:
        check_key_length(plan.key_text)
        check_columns(plan, source)
        for param in plan.params:
            if param.default is not None:
                coerce(param, param.default, now=now)
        await source.connector.check(plan)
        read = [
            read_written(question, plan, description=source.description, values=source.values, now=now)
            for question in draft.questions
        ]
    except (PlanRejected, ParameterError) as error:
        raise PlanRejected(f"Line {draft.line}: plan {draft.key_text!r}: {error.message}") from None
    by_text = {question.exemplar.masked: question.exemplar for question in read}
    return CheckedPlan(
        plan=plan,
        canonical=canonical_form(plan),
        exemplars=tuple(by_text.values()),
        warnings=tuple(
            f"Line {draft.line}: no value of {{{name}}} is recognised in the question {text!r}, so it may never hit: "
            "say in words what the value is, as in “the status {status}”."
            for text, question in zip(draft.questions, read, strict=True)
            for name in question.unrecognised
        ),
    )


def check_columns(plan: Plan, source: ReadySource) -> None:
    """The columns that parameters name must exist. Raises PlanRejected."""
    for param in plan.params:
        if param.column is not None and source.description.field(param.column) is None:
            tables = ", ".join(table.name for table in source.description.tables)
            raise PlanRejected(
                f"the parameter {param.name!r} names the column {param.column!r}, which {source.name} does not have; "
                f"write table.column with a table of {tables}."
            )


def refuse_doubles(checked: Sequence[CheckedPlan]) -> None:
    """One question may not lead to two plans, and two plans may not mean the same. Raises PlanRejected."""
    asked: dict[str, str] = {}
    meanings: dict[str, str] = {}
    for plan in checked:
        key = plan.plan.key_text
        other = meanings.setdefault(plan.canonical, key)
        if other != key:
            raise PlanRejected(
                f"The plans {other!r} and {key!r} mean the same: make them one, with the questions of both."
            )
        for exemplar in plan.exemplars:
            other = asked.setdefault(exemplar.masked, key)
            if other != key:
                raise PlanRejected(
                    f"The question “{exemplar.masked}” stands with {other!r} and with {key!r}: leave it with one plan."
                )


async def save(
    services: AskServices, tenant_id: str, source: ReadySource, checked: CheckedPlan, vectors: Sequence[Sequence[float]]
) -> StoredPlan:
    """Store one plan with its keys; questions that an older reading of the file brought go when it has them no more."""
    keys = [NewKey(kind="intent", masked=checked.plan.key_text, embedding=tuple(vectors[0]), from_file=True)]
    keys += [
        NewKey(kind="exemplar", masked=exemplar.masked, roles=exemplar.roles, embedding=tuple(vector), from_file=True)
        for exemplar, vector in zip(checked.exemplars, vectors[1:], strict=True)
    ]
    stored = StoredPlan(
        plan=checked.plan,
        canonical=checked.canonical,
        schema_fingerprint=source.description.fingerprint,
        dependency_ids=await dependencies_of(source, checked.plan),
        questions=checked.exemplars,
    )
    return await services.plans.save_plan(
        tenant_id, stored, keys, embedder=services.embedder.fingerprint, ttl_hours=None
    )


async def dependencies_of(source: ReadySource, plan: Plan) -> tuple[str, ...]:
    """What the plan reads, if the source knows it without running it."""
    connector = source.connector
    return await connector.dependencies(plan) if isinstance(connector, KnowsDependencies) else ()


async def retire_replaced(services: AskServices, tenant_id: str, source: str, checked: Sequence[CheckedPlan]) -> int:
    """Retire verified plans that have the key of an imported one and another meaning; returns how many."""
    kept = {plan.plan.key_text.lower(): plan.canonical for plan in checked}
    retired = 0
    for stored in await services.plans.list_plans(tenant_id, source=source, status=PlanStatus.VERIFIED):
        canonical = kept.get(stored.plan.key_text.lower())
        if canonical is not None and canonical != stored.canonical:
            retired += await services.plans.set_status(tenant_id, str(stored.plan.id), PlanStatus.RETIRED)
    return retired


async def export_plans(
    services: AskServices, tenant_id: str, source: str, *, status: PlanStatus | None = PlanStatus.VERIFIED
) -> str:
    """The plans of a source as a file that import_plans reads, oldest first; empty if there are none.

    `status=None` exports learned plans beside the verified ones; retired ones only when asked for.
    """
    found = await services.plans.list_plans(tenant_id, source=source, status=status)
    drafts = [draft_of(stored) for stored in reversed(found) if status or stored.plan.status is not PlanStatus.RETIRED]
    return dump_plan_file(PlanFile(source=source, drafts=tuple(drafts))) if drafts else ""
