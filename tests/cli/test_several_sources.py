"""One question that both sources of the demo answer, on the command line."""

import json
import re

import pytest

from qkva.contracts.result import AskResult

pytestmark = pytest.mark.db

QUESTION = "What is still missing for Grace Hopper?"
SHOP = """
source: shop
plans:
  - key: orders of a customer
    questions: ["What is still missing for {customer}?"]
    query: |
      SELECT o.id, o.status FROM orders o JOIN customers c ON c.id = o.customer_id
      WHERE c.name = {customer} ORDER BY o.id
    params:
      customer: {type: text, column: customers.name}
"""
ISSUES = """
source: issues
plans:
  - key: open issues assigned to a person
    questions: ["What is still missing for {person}?"]
    query: assignee = {person} AND status != Done ORDER BY key
    params:
      person: {type: text, column: issues.assignee}
"""


@pytest.fixture
def ask(qkva, tmp_path):
    """Ask as a tenant of its own, so that the demo's plans stay as they are."""
    for name, text in (("shop", SHOP), ("issues", ISSUES)):
        path = tmp_path / f"{name}.yaml"
        path.write_text(text)
        done = qkva("plans", "import", str(path), TENANT_ID="several")
        assert done.returncode == 0, done.stderr
    return lambda *options: qkva("ask", QUESTION, *options, TENANT_ID="several")


def test_both_plans_are_in_the_object(ask):
    result = AskResult.model_validate(json.loads(ask("--json").stdout))
    (also,) = result.also
    assert {result.source, also.source} == {"shop", "issues"}
    assert {**result.params, **also.params} == {"customer": "Grace Hopper", "person": "Grace Hopper"}
    assert {citation.source for citation in result.citations} == {"shop", "issues"}
    assert [citation.index for citation in result.citations] == list(range(1, len(result.citations) + 1))


def test_each_table_is_aligned_and_each_source_cited(ask):
    printed = ask().stdout
    for head in ("shop: orders of a customer", "issues: open issues assigned to a person"):
        assert f"{head} (" in printed and f"{head} (verified) · " in printed
    assert "|" not in printed
    heads = re.findall(r"^ +(?:id|key) .*$", printed, re.MULTILINE)
    assert len(heads) == 2
    cited = re.findall(r"^  \[\d+\] .* · (shop|issues)", printed, re.MULTILINE)
    assert 2 <= len(cited) <= 10 and set(cited) == {"shop", "issues"}
