"""Reading files of questions, with all that is wrong in them."""

import json
import random

import pytest

from qkva.contracts.errors import ConfigError
from qkva.contracts.plan import ParamType
from qkva.evals.questions import all_questions, meanings, read_templates, without_duplicates
from qkva.evals.source_values import describe_file
from qkva.evals.sql_template import template_of

COURSE = {
    "sql": ['SELECT C.NAME FROM COURSE AS C WHERE C.DEPARTMENT = "dept0" AND C.NUMBER = number0 ;'],
    "variables": [
        {"name": "dept0", "type": "dept", "example": "EECS", "location": "sql-only"},
        {"name": "number0", "type": "number", "example": "595", "location": "both"},
    ],
    "sentences": [{"text": "What is number0 called ?", "variables": {"dept0": "", "number0": "550"}}],
}


@pytest.fixture
def read(tmp_path):
    def read_entries(*entries, dialect="mysql"):
        path = tmp_path / "questions.json"
        path.write_text(json.dumps(entries))
        return read_templates(path, dialect)

    return read_entries


@pytest.mark.parametrize(
    ("query", "dialect", "template"),
    [
        ('A = "x0" ;', "mysql", "A = {x0}"),
        ('A LIKE "%x0%"', "mysql", "A LIKE CONCAT('%', {x0}, '%')"),
        ('A LIKE "%x0%"', "sqlite", "A LIKE '%' || {x0} || '%'"),
        ("A = 'x0-x1'", "sqlite", "A = {x0} || '-' || {x1}"),
        ("A > x0 AND B = x01 AND C = ax0", "mysql", "A > {x0} AND B = x01 AND C = ax0"),
        ('A = "it\'s x0 "', "sqlite", "A = 'it''s ' || {x0} || ' '"),
        ('SELECT "x0" FROM "x1"."t" WHERE a = "b"', "sqlite", 'SELECT "x0" FROM "x1"."t" WHERE a = \'b\''),
        ("A = 'O''Hara'", "mysql", "A = 'O''Hara'"),
    ],
)
def test_variables_become_placeholders(query, dialect, template):
    assert template_of(query, ["x0", "x1"], dialect) == template


def test_question_and_values_are_filled(read):
    [(template, [asked])] = read(COURSE)

    assert asked.text == "What is 550 called ?"
    assert asked.values == {"dept0": "EECS", "number0": "550"}
    assert asked.said == {"number0"}
    number, dept = (template.forms[0].plan.param(name) for name in ("number0", "dept0"))
    assert (number.type, number.required, number.column) == (ParamType.INTEGER, True, "course.number")
    assert (dept.type, dept.required, dept.default) == (ParamType.TEXT, False, "EECS")


def test_long_names_are_replaced_first(read):
    sentence = {"text": "from city1 to city10", "variables": {"city1": "Ulm", "city10": "Bonn"}}
    [(_, [asked])] = read({**COURSE, "sentences": [sentence]})

    assert asked.text == "from Ulm to Bonn"


def test_unlisted_and_missing_variables_are_borne(read):
    sentences = [
        {"text": "Who teaches number0 in year7 ?", "variables": {"number0": "550", "year7": "2016"}},
        {"text": "Is it hard ?"},
        {"text": "Is ‹it› null0 ?", "variables": {"null0": None}},
    ]
    [(_, asked)] = read({**COURSE, "sentences": sentences})

    assert [question.text for question in asked] == ["Who teaches 550 in 2016 ?", "Is it hard ?", "Is ‹it› null0 ?"]
    assert asked[1].values == {"dept0": "EECS", "number0": "595"}
    assert asked[1].said == frozenset()


def test_names_that_no_parameter_has_are_changed(read):
    entry = {
        "sql": "SELECT a FROM t WHERE b = 1st-Year",
        "variables": [{"name": "1st-Year"}],
        "sentences": [{"text": "a of 1st-Year", "variables": {"1st-Year": "12"}}],
    }
    [(template, [asked])] = read(entry)

    assert template.forms[0].plan.query == "SELECT a FROM t WHERE b = {p_1st_year}"
    assert (asked.text, asked.values) == ("a of 12", {"p_1st_year": "12"})


@pytest.mark.parametrize("text", ["{", "[1]", '[{"sql": []}]', '[{"sql": ["SELECT 1"]}]', '{"a": 1}'])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)

    with pytest.raises(ConfigError, match=r"other\.json is no"):
        read_templates(path, "mysql")


def test_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.json cannot be read: No such file"):
        read_templates(tmp_path / "nowhere.json", "mysql")


def test_first_of_equal_questions_stays(read):
    again = {**COURSE, "sql": ["SELECT 1"], "sentences": [*COURSE["sentences"], {"text": " ?! "}]}
    read_all = read(COURSE, again)

    [kept] = without_duplicates(list(all_questions(read_all)))
    assert kept.template is read_all[0][0]


def test_equal_templates_mean_the_same(read):
    renamed = json.loads(json.dumps(COURSE).replace("number0", "n5").replace("dept0", "d5").replace("C.", "X."))
    renamed["sql"] = [renamed["sql"][0].replace("AS C", "AS X")]
    other = {**COURSE, "sql": [COURSE["sql"][0].replace("C.NAME", "C.CREDITS")]}
    in_its_names = renamed["sql"][0].replace("n5", "number0").replace("d5", "dept0")
    bridge = {**COURSE, "sql": [COURSE["sql"][0].replace("C.NAME", "C.TITLE"), in_its_names]}
    templates = [template for template, _ in read(COURSE, renamed, other, bridge)]

    meaning_of = meanings(templates)
    first, same, different, alternative = (meaning_of[template.forms[0].canonical] for template in templates)
    assert first == same == alternative != different


def test_values_follow_other_parameter_names(read):
    renamed = json.loads(json.dumps(COURSE).replace("number0", "zz").replace("dept0", "aa"))
    (_, [asked]), (other, _) = read(COURSE, renamed)
    form = other.forms[0]

    assert asked.values_for(form.plan, form.canonical) == {"aa": "EECS", "zz": "550"}
    assert asked.values_for(form.plan, "another form") is None


def test_index_lacks_a_few_values(read):
    entry = {
        "sql": ['SELECT A.TITLE FROM ALBUM AS A WHERE A.ARTIST = "artist0" AND A.KIND = "live"'],
        "variables": [{"name": "artist0", "example": "Artist Zero"}],
        "sentences": [{"text": "by artist0", "variables": {"artist0": f"Artist {n}"}} for n in range(99)],
    }
    read_all = read(entry)
    forms = [form for template, _ in read_all for form in template.forms]
    description = describe_file(forms, all_questions(read_all), random.Random(0))
    held = {column.column: set(column.values) for column in description.values}
    asked = {f"Artist {n}" for n in range(99)}

    assert held["album.kind"] == {"live"}
    assert len(asked - held["album.artist"]) == 3
    assert [field.name for field in description.tables[0].fields] == ["artist", "kind", "title"]
