"""Two date parameters that are the sides of one time range, as a planner likes to write them, made one `time_range`."""

import re
from collections.abc import Sequence

from qkva.contracts.plan import Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, SlotType
from qkva.planning.reading.plan_form import read_plan_form
from qkva.planning.reading.query_form import Use

_DATES = (ParamType.DATE, ParamType.DATETIME)
_LOWER, _UPPER = {">="}, {"<", "<="}


def merge_date_pairs(
    query: str, dialect: str, params: Sequence[Parameter], question: MaskedQuestion
) -> tuple[str, tuple[Parameter, ...]]:
    """`placed_at >= {first} AND placed_at <= {last}` → `placed_at >= {period.start} AND placed_at < {period.end}`.

    Only where the question says one time: its range is half-open, so `<=` becomes `<`.
    """
    pair = _pair(query, dialect, params)
    if pair is None or sum(slot.type is SlotType.TIME_RANGE for slot in question.slots) != 1:
        return query, tuple(params)
    first, last = pair
    name = "period" if all(param.name != "period" for param in params) else "time_range"
    query = re.sub(
        rf"(\S+)\s+BETWEEN\s+\{{{first}\}}\s+AND\s+\{{{last}\}}",
        rf"\1 >= {{{first}}} AND \1 < {{{last}}}",
        query,
        flags=re.IGNORECASE,
    )
    query = re.sub(rf"<=(\s*)\{{{last}\}}", rf"<\1{{{last}}}", query)
    query = query.replace(f"{{{first}}}", f"{{{name}.start}}").replace(f"{{{last}}}", f"{{{name}.end}}")
    kept = [param for param in params if param.name not in pair]
    return query, (*kept, Parameter(name=name, type=ParamType.TIME_RANGE))


def _pair(query: str, dialect: str, params: Sequence[Parameter]) -> tuple[str, str] | None:
    """The names of the only two date parameters, if they bound one column from below and above, once each."""
    plan = Plan(key_text="", query=query, source="", source_type="", dialect=dialect)
    uses = read_plan_form(plan).uses
    dates = [param.name for param in params if param.type in _DATES and len(uses.get(param.name, ())) == 1]
    lower = [name for name in dates if _only_use(uses[name]).op in _LOWER]
    upper = [name for name in dates if _only_use(uses[name]).op in _UPPER]
    if len(dates) != 2 or len(lower) != 1 or len(upper) != 1:
        return None
    if _only_use(uses[lower[0]]).column != _only_use(uses[upper[0]]).column:
        return None
    return lower[0], upper[0]


def _only_use(uses: Sequence[Use]) -> Use:
    return uses[0]
