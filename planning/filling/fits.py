"""Whether one slot of a question can be the value of one parameter of a plan, and how well."""

from collections.abc import Sequence

from qkva.contracts.plan import Parameter, ParamType
from qkva.contracts.question import Slot, SlotType
from qkva.planning.reading.query_form import Use

NO, BY_TYPE, BY_COLUMN = 0, 1, 2

_TEXT_SLOTS = {SlotType.VALUE, SlotType.QUOTED, SlotType.ID, SlotType.EMAIL, SlotType.URL}
_NUMBER_SLOTS = {SlotType.NUMBER, SlotType.MONEY, SlotType.PERCENT}
_DIRECTION_OF_COMPARISON = {
    "over": "gt",
    "under": "lt",
    "at_least": "ge",
    "at_most": "le",
    "since": "since",
    "before": "before",
    "after": "after",
    "until": "until",
    "between": "between",
}
_DIRECTIONS_OF_OP = {
    ">": {"gt"},
    ">=": {"ge", "since", "after"},
    "<": {"lt", "before", "until"},
    "<=": {"le", "until"},
}
COMPARING = {"gt", "ge", "lt", "le"}


def direction_of(slot: Slot, said: str) -> str:
    """The direction of a slot: the masker's own word for it, else what the words in front of it say."""
    return _DIRECTION_OF_COMPARISON.get(slot.comparison or "", said)


def how_well(param: Parameter, slot: Slot, *, uses: Sequence[Use], direction: str) -> int:
    """NO, BY_TYPE or BY_COLUMN. Without `uses` only type and column are looked at."""
    if uses and (direction == "not") != any(use.op == "!=" for use in uses):
        return NO
    if param.type is ParamType.LIST:
        item = param.model_copy(update={"type": param.item_type})
        return how_well(
            item, slot, uses=[use for use in uses if use.op in ("in", "=", "!=", "like")], direction=direction
        )
    if param.type is ParamType.ENUM:
        return _fits_enum(param, slot)
    if param.type is ParamType.TEXT:
        return _fits_text(param, slot, uses)
    if param.type in (ParamType.INTEGER, ParamType.NUMBER):
        return _fits_number(param, slot, uses, direction)
    if param.type in (ParamType.DATE, ParamType.DATETIME, ParamType.TIME_RANGE):
        return BY_TYPE if slot.type is SlotType.TIME_RANGE else NO
    return NO


def same_column(one: str, other: str) -> bool:
    """Whether two names mean one column, with or without the schema or the table in front."""
    a, b = one.lower().split("."), other.lower().split(".")
    shared = min(len(a), len(b))
    return a[-shared:] == b[-shared:]


def _columns(param: Parameter, uses: Sequence[Use]) -> list[str]:
    if param.column:
        return [param.column]
    return [use.column for use in uses if use.column]


def _fits_enum(param: Parameter, slot: Slot) -> int:
    if slot.type not in (SlotType.VALUE, SlotType.QUOTED, SlotType.NUMBER):
        return NO
    said = str(slot.value).casefold()
    if not any(choice.casefold() == said for choice in param.choices):
        return NO
    if slot.columns and param.column:
        return BY_COLUMN if any(same_column(param.column, column) for column in slot.columns) else NO
    return BY_COLUMN


def _fits_text(param: Parameter, slot: Slot, uses: Sequence[Use]) -> int:
    columns = _columns(param, uses)
    if slot.type is SlotType.VALUE and slot.columns:
        if not columns:
            return BY_TYPE
        return BY_COLUMN if any(same_column(c, held) for c in columns for held in slot.columns) else NO
    if slot.type in _TEXT_SLOTS:
        kinds = {SlotType.EMAIL: "email", SlotType.URL: "url", SlotType.ID: "id"}
        wanted = kinds.get(slot.type)
        return BY_COLUMN if wanted and any(wanted in c.rpartition(".")[2].lower() for c in columns) else BY_TYPE
    if slot.type is SlotType.NUMBER and slot.comparison is None and slot.unit is None:
        return BY_TYPE if any(_is_code(column) for column in columns) else NO
    return NO


def _is_code(column: str) -> bool:
    name = column.rpartition(".")[2].lower()
    return any(part in name for part in ("id", "number", "code", "sku", "key", "ref", "zip", "phone", "year"))


def _fits_number(param: Parameter, slot: Slot, uses: Sequence[Use], direction: str) -> int:
    if slot.type is SlotType.ID and isinstance(slot.value, int | str) and str(slot.value).isdigit():
        return BY_TYPE if any(use.op in ("=", "in", "!=") for use in uses) else NO
    if slot.type is SlotType.ORDINAL:
        return BY_TYPE if any(use.op in ("=", "") for use in uses) else NO
    if slot.type not in _NUMBER_SLOTS:
        return NO
    if param.type is ParamType.INTEGER and slot.type is not SlotType.NUMBER:
        return NO
    ops = {use.op for use in uses}
    if "limit" in ops:
        return BY_COLUMN if direction not in COMPARING and slot.type is SlotType.NUMBER else NO
    wanted = {allowed for op in ops for allowed in _DIRECTIONS_OF_OP.get(op, ())}
    if wanted:
        return BY_COLUMN if direction in wanted else NO
    return BY_TYPE if direction not in COMPARING else NO
