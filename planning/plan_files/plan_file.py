"""Verified plans as a person writes them: YAML to drafts and back, strictly, with one sentence per mistake.

source: shop
plans:
  - key: orders of a customer in a time range
    questions:
      - Which orders did {customer} place {period}?
    query: |
      SELECT … WHERE c.name = {customer} AND o.placed_at >= {period.start} AND o.placed_at < {period.end}
    params:
      customer: {type: text, column: customers.name}
      period: {type: time_range}
"""

import re
from dataclasses import dataclass, field

import yaml
from pydantic import ValidationError

from qkva.contracts.errors import PlanRejected
from qkva.contracts.plan import PLACEHOLDER, Parameter, ParamType, Plan, Strategy
from qkva.contracts.source import SourceDescription
from qkva.planning.plan_files.strict_yaml import did_you_mean, plain, read_mapping, read_text, reject

FILE_KEYS = ("source", "plans")
PLAN_KEYS = ("key", "questions", "query", "params", "strategy")
PARAM_KEYS = tuple(name for name in Parameter.model_fields if name != "name")
BRACES = re.compile(r"\{([^{}]*)\}")
NEARLY_PLACEHOLDER = re.compile(r"\{[ ]*[A-Za-z_][\w .-]*\}")
"""What was meant as a placeholder in a query, as opposed to a brace inside a literal such as '{1,2}'."""


@dataclass(frozen=True, kw_only=True)
class PlanDraft:
    """One plan of a file, before anything was checked against a source."""

    key_text: str
    query: str
    params: tuple[Parameter, ...] = ()
    questions: tuple[str, ...] = ()
    """As written, with `{param}` or a concrete value; a `‹label›` stands for a value that the plan does not bind."""
    strategy: Strategy = Strategy.SQL_ONLY
    line: int = field(default=0, compare=False)
    """Where it starts in the file, from 1."""

    def plan_for(self, description: SourceDescription) -> Plan:
        """The plan, as one of the described source."""
        return Plan(
            key_text=self.key_text,
            query=self.query,
            params=self.params,
            strategy=self.strategy,
            source=description.name,
            source_type=description.source_type,
            dialect=description.dialect,
        )


@dataclass(frozen=True, kw_only=True)
class PlanFile:
    """The plans of one source."""

    source: str
    drafts: tuple[PlanDraft, ...]


def parse_plan_file(text: str) -> PlanFile:
    """Read a file. Raises PlanRejected: the line, the plan, what is wrong and what was expected."""
    try:
        loader = yaml.SafeLoader(text.removeprefix("\ufeff"))
        return read_file(loader, loader.get_single_node())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"Line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "it holds characters that YAML does not allow"
        raise PlanRejected(
            f"{where}the file is no valid YAML: {problem}; quote a text that starts with {{ or holds a colon."
        ) from None
    except RecursionError:
        raise PlanRejected("The file is nested too deeply; a plan file has three levels.") from None


def read_file(loader: yaml.SafeLoader, root: yaml.Node | None) -> PlanFile:
    """The top level."""
    if root is None:
        raise PlanRejected("The file is empty; it needs `source: NAME` and a list `plans:`.")
    top = read_mapping(root, "the file", FILE_KEYS, required=FILE_KEYS)
    plans = top["plans"]
    if not isinstance(plans, yaml.SequenceNode) or not plans.value:
        reject(plans, "`plans` must be a list of at least one plan.")
    drafts = [read_plan(loader, node) for node in plans.value]
    seen: dict[str, int] = {}
    for draft in drafts:
        if draft.key_text.lower() in seen:
            raise PlanRejected(
                f"Line {draft.line}: the key {draft.key_text!r} is already that of the plan in line "
                f"{seen[draft.key_text.lower()]}; give each plan its own."
            )
        seen[draft.key_text.lower()] = draft.line
    return PlanFile(source=read_text(loader, top["source"], "`source`"), drafts=tuple(drafts))


def read_plan(loader: yaml.SafeLoader, node: yaml.Node) -> PlanDraft:
    """One plan with all rules that need no source."""
    fields = read_mapping(node, named(node), PLAN_KEYS, required=("key",))
    key = " ".join(read_text(loader, fields["key"], "`key`").split())
    name = f"plan {key!r}"
    if "query" not in fields:
        reject(node, f"{name} has no `query`.")
    params = read_params(loader, fields["params"], name) if "params" in fields else ()
    query = read_text(loader, fields["query"], f"`query` of {name}")
    check_query(fields["query"], name, query, params)
    questions = read_questions(loader, fields["questions"], name, params) if "questions" in fields else ()
    return PlanDraft(
        key_text=key,
        query=query,
        params=params,
        questions=questions,
        strategy=read_strategy(loader, fields.get("strategy"), name),
        line=node.start_mark.line + 1,
    )


def named(node: yaml.Node) -> str:
    """The plan by its key, as far as that can be read."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == "key" and isinstance(value, yaml.ScalarNode):
                return f"plan {value.value!r}"
    return "a plan"


def read_strategy(loader: yaml.SafeLoader, node: yaml.Node | None, plan: str) -> Strategy:
    """`strategy`, one that runs a query."""
    if node is None:
        return Strategy.SQL_ONLY
    value = read_text(loader, node, f"`strategy` of {plan}")
    if value not in (Strategy.SQL_ONLY, Strategy.HYBRID):
        reject(
            node, f"{plan} has the strategy {value!r}; a plan with a query is {Strategy.SQL_ONLY} or {Strategy.HYBRID}."
        )
    return Strategy(value)


def read_params(loader: yaml.SafeLoader, node: yaml.Node, plan: str) -> tuple[Parameter, ...]:
    """`params`: one mapping per name."""
    params = []
    for name, options in read_mapping(node, f"`params` of {plan}", None).items():
        where = f"parameter {name!r} of {plan}"
        fields = read_mapping(options, where, PARAM_KEYS, required=("type",))
        values = {key: plain(loader.construct_object(value, deep=True)) for key, value in fields.items()}
        if values["type"] not in list(ParamType):
            reject(options, f"{where} has the type {values['type']!r}; types are {', '.join(ParamType)}.")
        try:
            param = Parameter(name=name, **values)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            reject(options, f"{where}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}.")
        check_param(options, where, param)
        params.append(param)
    return tuple(params)


def check_param(node: yaml.Node, where: str, param: Parameter) -> None:
    """Rules between the fields of one parameter."""
    if param.type is ParamType.ENUM and not param.choices:
        reject(node, f"{where} is an enum without `choices`; list the allowed values.")
    if param.choices and param.type not in (ParamType.ENUM, ParamType.LIST):
        reject(node, f"{where} has `choices`, which belong to an enum, but is of type {param.type}.")
    if param.default is not None and not fits(param):
        allowed = f", one of {', '.join(param.choices)}" if param.choices else ""
        reject(node, f"{where} has the default {param.default!r}, which is no {param.type}{allowed}.")


def fits(param: Parameter) -> bool:
    """Whether the default is of the parameter's type; what text means is for the clock and the source to say."""
    value, wanted = param.default, param.type
    if wanted is ParamType.ENUM:
        return value in param.choices
    if wanted is ParamType.BOOLEAN:
        return isinstance(value, bool)
    if wanted is ParamType.INTEGER:
        return isinstance(value, int) and not isinstance(value, bool)
    if wanted is ParamType.NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if wanted is ParamType.LIST:
        return isinstance(value, list)
    return isinstance(value, str)


def check_query(node: yaml.Node, plan: str, query: str, params: tuple[Parameter, ...]) -> None:
    """Placeholders and parameters must be the same names, each used as its type allows."""
    declared = {param.name: param for param in params}
    for found in NEARLY_PLACEHOLDER.finditer(query):
        if not PLACEHOLDER.fullmatch(found[0]):
            reject(node, f"{plan} has {found[0]} in its query; write {{name}}, or {{name.start}} and {{name.end}}.")
    used = set()
    for found in PLACEHOLDER.finditer(query):
        name, side = found[1], found[2]
        if name not in declared:
            reject(
                node,
                f"{plan} uses {found[0]} in its query but declares no parameter {name!r}"
                f"{did_you_mean(name, declared)}.",
            )
        is_range = declared[name].type is ParamType.TIME_RANGE
        if is_range and side is None:
            reject(node, f"{plan} uses {found[0]}, a time range; write {{{name}.start}} and {{{name}.end}}.")
        if side is not None and not is_range:
            reject(node, f"{plan} uses {found[0]}, but {name!r} is of type {declared[name].type}, not time_range.")
        used.add(name)
    for name in declared:
        if name not in used:
            reject(node, f"{plan} declares the parameter {name!r} but its query does not use it.")


def read_questions(
    loader: yaml.SafeLoader, node: yaml.Node, plan: str, params: tuple[Parameter, ...]
) -> tuple[str, ...]:
    """`questions`: a list of texts whose placeholders are parameters."""
    if not isinstance(node, yaml.SequenceNode):
        reject(node, f"`questions` of {plan} must be a list.")
    declared = [param.name for param in params]
    questions = []
    for item in node.value:
        question = " ".join(read_text(loader, item, f"a question of {plan}").split())
        for found in BRACES.finditer(question):
            if found[1] not in declared:
                reject(
                    item,
                    f"a question of {plan} has {found[0]}, which is none of its parameters"
                    f"{did_you_mean(found[1], declared)}.",
                )
        if question in questions:
            reject(item, f"{plan} has the question {question!r} twice.")
        questions.append(question)
    return tuple(questions)
