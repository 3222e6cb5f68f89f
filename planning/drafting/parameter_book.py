"""The parameters of a plan in the making: declared ones are kept or reused, new ones get a name and a type."""

import re
from collections.abc import Sequence
from typing import Any

from qkva.contracts.errors import PlanRejected
from qkva.contracts.plan import PLACEHOLDER, Parameter, ParamType, Plan
from qkva.contracts.question import MaskedQuestion, Slot, SlotType
from qkva.planning.drafting.slot_match import Match
from qkva.planning.filling.fits import same_column
from qkva.planning.reading.plan_form import read_plan_form
from qkva.planning.reading.query_form import Use
from qkva.planning.text import singular

_NAMING_COLUMNS = frozenset("name title id key number code label".split())
_NUMBERS = {SlotType.NUMBER, SlotType.MONEY, SlotType.PERCENT, SlotType.ORDINAL}


class ParameterBook:
    """Declared and new parameters, and the values that the question gave them."""

    def __init__(self, declared: Sequence[Parameter], query: str) -> None:
        self._declared = {param.name: param for param in declared}
        self._used = {found[1] for found in PLACEHOLDER.finditer(query)}
        self._made: dict[str, Parameter] = {}
        self._of_slot: dict[tuple[int, str], Parameter] = {}
        self.values: dict[str, Any] = {}

    def parameter_for(self, match: Match, question: MaskedQuestion) -> Parameter:
        """The parameter that takes a literal's place; one per slot and column."""
        slot = match.slot or match.slots[0]
        kind = _kind_of(match, slot)
        place = (question.slots.index(slot), kind.value)
        if place in self._of_slot:
            return self._of_slot[place]
        param = self._reusable(match, kind) or self._new(match, slot, kind)
        if param.column is None and kind in (ParamType.TEXT, ParamType.LIST) and match.literal.column is not None:
            param = param.model_copy(update={"column": _held(match.literal.column, slot)})
            self._declared.pop(param.name, None)
            self._made[param.name] = param
        self._of_slot[place] = param
        self._used.add(param.name)
        self.values[param.name] = [s.value for s in match.slots] if match.slots else slot.value
        return param

    def settle(self, query: str, dialect: str, question: MaskedQuestion) -> tuple[Parameter, ...]:
        """All parameters that the query uses, in the order of their first use. Raises PlanRejected."""
        known = {**self._declared, **self._made}
        plan = Plan(key_text="", query=query, source="", source_type="", dialect=dialect)
        uses = read_plan_form(plan).uses
        settled: dict[str, Parameter] = {}
        for found in PLACEHOLDER.finditer(query):
            name, side = found[1], found[2]
            param = known.get(name) or _guess(name, uses.get(name, ()), question)
            if side is not None and param.type is not ParamType.TIME_RANGE:
                param = param.model_copy(update={"type": ParamType.TIME_RANGE})
            if side is None and param.type is ParamType.TIME_RANGE:
                raise PlanRejected(
                    f"{{{name}}} is a time range: write {{{name}.start}} and {{{name}.end}} where the query compares."
                )
            settled.setdefault(name, param)
        return tuple(settled.values())

    def _reusable(self, match: Match, kind: ParamType) -> Parameter | None:
        """A parameter that was declared for this and then not used."""
        idle = [param for param in self._declared.values() if param.name not in self._used]
        column = match.literal.column
        at_home = [p for p in idle if p.column and column and same_column(p.column, column)]
        alike = [p for p in idle if p.type is kind and not p.column]
        for found in (at_home, alike):
            if len(found) == 1 and (
                found[0].type is kind or kind is ParamType.TEXT and found[0].type is ParamType.ENUM
            ):
                return found[0]
        return None

    def _new(self, match: Match, slot: Slot, kind: ParamType) -> Parameter:
        column = match.literal.column if kind not in (ParamType.TIME_RANGE, ParamType.DATE) else None
        column = _held(column, slot) if column is not None else None
        item = ParamType.INTEGER if slot.type is SlotType.NUMBER else ParamType.TEXT
        wanted = _name_for(match, kind, column)
        name, number = wanted, 2
        while name in self._declared or name in self._made:
            name, number = f"{wanted}_{number}", number + 1
        param = Parameter(name=name, type=kind, column=column, item_type=item)
        self._made[name] = param
        return param


def _held(column: str, slot: Slot) -> str:
    """The column as the source's description names it, where the slot knows it."""
    return next((held for held in slot.columns if same_column(held, column)), column)


def _kind_of(match: Match, slot: Slot) -> ParamType:
    if match.items:
        return ParamType.LIST
    if slot.type is SlotType.TIME_RANGE:
        return ParamType.TIME_RANGE if match.side else ParamType.DATE
    if not match.literal.is_string:
        whole = match.literal.value.isdigit() and slot.type not in (SlotType.MONEY, SlotType.PERCENT)
        # "over 100" may be "over 99.50" next time; a LIMIT or an id is never a fraction.
        return ParamType.INTEGER if whole and match.literal.op in ("=", "!=", "in", "limit") else ParamType.NUMBER
    return ParamType.TEXT


def _name_for(match: Match, kind: ParamType, column: str | None) -> str:
    if kind is ParamType.TIME_RANGE:
        return "period"
    if kind is ParamType.DATE:
        return "day"
    if match.literal.op == "limit":
        return "top_n"
    if column is None:
        return "value"
    parts = [re.sub(r"[^a-z0-9]+", "_", part.lower()).strip("_") for part in column.split(".")]
    table, name = (singular(parts[-2]) if len(parts) > 1 else ""), parts[-1]
    if name in _NAMING_COLUMNS:
        name = table if name in ("name", "title") and table else f"{table}_{name}".strip("_")
    if kind is ParamType.LIST:
        name = f"{name}_list"
    side = {">": "min_", ">=": "min_", "<": "max_", "<=": "max_"}.get(match.literal.op, "")
    name = side + name
    return name if re.match(r"^[a-z_]", name) else f"p_{name}"


def _guess(name: str, uses: Sequence[Use], question: MaskedQuestion) -> Parameter:
    """Type an undeclared placeholder by where it stands, or by a slot that belongs there. Raises PlanRejected."""
    if any(use.side is not None for use in uses):
        return Parameter(name=name, type=ParamType.TIME_RANGE)
    ops = {use.op for use in uses}
    if "limit" in ops:
        return Parameter(name=name, type=ParamType.INTEGER)
    columns = [use.column for use in uses if use.column]
    for slot in question.slots:
        held = next((h for h in slot.columns if any(same_column(h, c) for c in columns)), None)
        if held is not None:
            kind = ParamType.LIST if "in" in ops else ParamType.TEXT
            return Parameter(name=name, type=kind, column=held)
    if ops & {">", ">=", "<", "<="} and sum(slot.type in _NUMBERS for slot in question.slots) == 1:
        return Parameter(name=name, type=ParamType.NUMBER, column=columns[0] if columns else None)
    loose = [slot for slot in question.slots if slot.type in (SlotType.ID, SlotType.EMAIL, SlotType.QUOTED)]
    if len(loose) == 1 and ops & {"=", "like"}:
        is_number = isinstance(loose[0].value, int)
        return Parameter(name=name, type=ParamType.INTEGER if is_number else ParamType.TEXT)
    raise PlanRejected(f"The query uses {{{name}}}, which is not declared: declare it with its type, or drop it.")
