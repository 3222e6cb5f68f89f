"""How an answer's Markdown becomes columns on a terminal."""

from qkva.cli.show import aligned


def test_each_table_gets_its_own_columns():
    shop = "shop:\n\n| | id |\n|---|---|\n| [1] | 7 |"
    issues = "issues:\n\n| | key | status |\n|---|---|---|\n| [2] | OPS-10 | Done |"
    assert aligned(f"{shop}\n\n{issues}").splitlines() == [
        "shop:",
        "",
        "     id",
        "---  --",
        "[1]  7",
        "",
        "issues:",
        "",
        "     key     status",
        "---  ------  ------",
        "[2]  OPS-10  Done",
    ]


def test_bar_inside_a_value_is_no_border():
    assert aligned("| | name |\n|---|---|\n| [1] | a\\|b |").splitlines()[-1] == "[1]  a|b"


def test_row_without_a_closing_bar_keeps_its_last_cell():
    assert aligned("| | name |\n|---|---|\n| [1] | Ada").splitlines()[-1] == "[1]  Ada"
