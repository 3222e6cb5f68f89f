"""Plans as a person would have written them: the way back from the cache to a file that `parse_plan_file` reads."""

import re
from typing import Any

import yaml

from qkva.contracts.plan import Parameter, StoredPlan, Strategy
from qkva.planning.filling.said_constants import is_constant_role
from qkva.planning.plan_files.plan_file import PlanDraft, PlanFile

SLOT = re.compile(r"‹([^‹›]*)›")


class FileDumper(yaml.SafeDumper):
    """Block style, with queries as literal blocks and parameters on one line each."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent list items below their key."""
        super().increase_indent(flow, False)


class Flow(dict[str, Any]):
    """A mapping on one line."""


class Block(str):
    """A text as a literal block."""


FileDumper.add_representer(
    Flow, lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True)
)
FileDumper.add_representer(
    Block, lambda dumper, data: dumper.represent_scalar("tag:yaml.org,2002:str", data, style="|")
)


def dump_plan_file(file: PlanFile) -> str:
    """YAML that parses to an equal PlanFile."""
    plans = [dump_plan(draft) for draft in file.drafts]
    return yaml.dump(
        {"source": file.source, "plans": plans}, Dumper=FileDumper, sort_keys=False, allow_unicode=True, width=118
    )


def dump_plan(draft: PlanDraft) -> dict[str, Any]:
    """One plan, defaults left out."""
    entry: dict[str, Any] = {"key": draft.key_text}
    if draft.questions:
        entry["questions"] = list(draft.questions)
    entry["query"] = Block(draft.query + "\n")
    if draft.params:
        entry["params"] = {param.name: Flow(dump_param(param)) for param in draft.params}
    if draft.strategy is not Strategy.SQL_ONLY:
        entry["strategy"] = str(draft.strategy)
    return entry


def dump_param(param: Parameter) -> dict[str, Any]:
    """The fields that differ from their defaults, type first."""
    return {"type": str(param.type), **param.model_dump(mode="json", exclude={"name", "type"}, exclude_defaults=True)}


def draft_of(stored: StoredPlan) -> PlanDraft:
    """A stored plan as it would have been written; its masked questions get `{param}` where a slot fills one."""
    return PlanDraft(
        key_text=stored.plan.key_text,
        query=stored.plan.query.strip(),
        params=stored.plan.params,
        questions=tuple(dict.fromkeys(unmask(exemplar.masked, exemplar.roles) for exemplar in stored.questions)),
        strategy=stored.plan.strategy,
    )


def unmask(masked: str, roles: tuple[str | None, ...]) -> str:
    """ "orders of ‹customers.name›" with the role `customer` → "orders of {customer}"; a constant keeps its print."""
    remaining = iter(roles)

    def name_slot(found: re.Match[str]) -> str:
        role = next(remaining, None)
        if role is None:
            return found[0]
        return f"‹{found[1]} {role}›" if is_constant_role(role) else f"{{{role}}}"

    return SLOT.sub(name_slot, masked)
