"""`qkva plans`: list, show, verify, retire, import, export."""

import json

import pytest

from qkva.planning.plan_files.plan_file import parse_plan_file

pytestmark = pytest.mark.db

MINE = """\
source: shop
plans:
  - key: {key}
    questions: ["{question}"]
    query: SELECT count(*) AS products FROM products
"""


@pytest.fixture
def own_tenant(request):
    """A tenant of this test's own, so that it shares no plan with another."""
    return {"TENANT_ID": request.node.name}


def test_demo_plans_are_listed(qkva):
    done = qkva("plans", "list", "--source", "shop")
    assert done.returncode == 0
    assert "revenue by country in a time range" in done.stdout and "verified" in done.stdout
    plans = json.loads(qkva("plans", "list", "--json").stdout)["plans"]
    assert {entry["plan"]["source"] for entry in plans} == {"shop", "issues"}


def test_plan_goes_in_changes_and_goes_out(qkva, tmp_path, own_tenant):
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.format(key="number of products", question="How many products are there?"))
    imported = qkva("plans", "import", str(file), **own_tenant)
    assert imported.returncode == 0 and "Verified plans for shop: 1, with 1 questions" in imported.stdout
    (entry,) = json.loads(qkva("plans", "list", "--json", **own_tenant).stdout)["plans"]
    begin = entry["plan"]["id"][:8]
    shown = qkva("plans", "show", begin, **own_tenant)
    assert "SELECT count(*) AS products FROM products" in shown.stdout and "how many products are there" in shown.stdout
    exported = qkva("plans", "export", "shop", **own_tenant)
    assert [draft.key_text for draft in parse_plan_file(exported.stdout).drafts] == ["number of products"]
    assert qkva("plans", "retire", begin, **own_tenant).returncode == 0
    gone = qkva("plans", "export", "shop", **own_tenant)
    assert gone.returncode == 1 and "There are no verified plans of 'shop'" in gone.stderr
    assert qkva("plans", "verify", begin, **own_tenant).returncode == 0
    assert "number of products" in qkva("plans", "export", "shop", **own_tenant).stdout


def test_imported_plan_answers(qkva, tmp_path, own_tenant):
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.format(key="number of products", question="How big is our assortment?"))
    qkva("plans", "import", str(file), **own_tenant)
    result = json.loads(qkva("ask", "How big is our assortment?", "--json", **own_tenant).stdout)
    assert (result["cache"], result["records"]["rows"]) == ("hit", [{"products": 50}])
    assert json.loads(qkva("ask", "How big is our assortment?", "--json").stdout)["cache"] != "hit"


def test_wrong_plan_is_named_with_its_line(qkva, tmp_path, own_tenant):
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.format(key="number of products", question="x").replace("FROM products", "FROM product"))
    done = qkva("plans", "import", str(file), **own_tenant)
    assert done.returncode == 1 and done.stdout == ""
    assert f"{file}: Line 3: plan 'number of products'" in done.stderr and "Nothing was imported." in done.stderr
    assert done.stderr.count("\n") == 1
    assert json.loads(qkva("plans", "list", "--json", **own_tenant).stdout) == {"plans": []}


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "expected"),
    [
        (["import", "missing.yaml"], b"", 2, "missing.yaml cannot be read"),
        (["import", "-"], b"\xff\xfe\x00", 2, "no text in UTF-8"),
        (["import", "-"], b"", 1, "The file is empty"),
        (["import", "-"], b"source: stop\nplans:\n  - {key: a, query: select 1}\n", 2, "There is no source 'stop'"),
        (["show", "zzz"], b"", 2, "There is no plan 'zzz'"),
        (["retire", ""], b"", 2, "There is no plan ''"),
        (["export", "stop"], b"", 2, "There is no source 'stop'; the configured ones are issues, shop."),
        (["export", "shop", "--status", "good"], b"", 2, "There is no status 'good'"),
        (["export", "shop", "-o", "/not/there.yaml"], b"", 2, "/not/there.yaml cannot be written"),
        (["list", "--status", "good"], b"", 2, "There is no status 'good'"),
    ],
)
def test_wrong_use_is_one_sentence(qkva, arguments, stdin, code, expected):
    done = qkva("plans", *arguments, stdin=stdin)
    assert done.returncode == code
    assert expected in done.stderr and "Traceback" not in done.stderr and done.stderr.count("\n") == 1
