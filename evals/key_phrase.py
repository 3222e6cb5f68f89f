"""The oracle's intent phrase: what a plan is about, from its own query and no question ("name of course by number")."""

from sqlglot import exp

from qkva.contracts.plan import MAX_KEY_TOKENS, Plan
from qkva.planning.drafting.keys import count_tokens
from qkva.planning.reading.plan_form import read_plan_form
from qkva.planning.reading.sql_form import parse_template


def key_phrase(plan: Plan) -> str:
    """Aggregates, returned columns, tables and parameters, cut to the length of a key."""
    form = read_plan_form(plan)
    tree = parse_template(plan.query, plan.dialect)
    tables = dict.fromkeys(table.name.lower() for table in tree.find_all(exp.Table)) if tree is not None else {}
    shown = [*form.aggregates, *form.output]
    columns = {use.column.rpartition(".")[2] for uses in form.uses.values() for use in uses if use.column}
    parts = [" ".join(shown) or "answer", f"of {' '.join(tables)}" if tables else ""]
    parts += [f"by {' and '.join(sorted(columns))}" if columns else ""]
    words = " ".join(part for part in parts if part).replace("_", " ").split()
    while len(words) > 1 and count_tokens(" ".join(words)) > MAX_KEY_TOKENS:
        words.pop()
    return " ".join(words)
