"""A wrong configuration is one sentence that names what is wrong, and exit code 2."""

import json

import pytest

pytestmark = pytest.mark.db

CONFIGS = {
    "no TOML": ("[[[", "qkva.toml cannot be read as TOML"),
    "unknown key": ("[sourcs.shop]\n", "unknown key 'sourcs'"),
    "no type": ("[sources.mine]\nurl = 'x'\n", "source 'mine' has no type"),
    "unknown type": ("[sources.mine]\ntype = 'sqll'\n", 'unknown type "sqll"; known types: sql, stub'),
    "missing secret": ("[sources.mine]\ntype = 'sql'\nurl = 'env:MY_URL'\n", "needs the environment variable MY_URL"),
    "unknown option": ("[sources.mine]\ntype = 'sql'\nurll = 'x'\n", "allowed options"),
    "odd embedded url": ("[sources.mine]\ntype = 'sql'\nurl = 'embedded://shop'\n", "write embedded://LOGIN@/DATABASE"),
    "naive clock": ("[clock]\nnow = 2026-06-15T12:00:00\n", "offset"),
    "unknown zone": ("[clock]\ntimezone = 'Mars/Olympus'\n", "is no IANA time zone"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_wrong_config_is_one_sentence(qkva, tmp_path, demo_folder, name):
    text, expected = CONFIGS[name]
    (tmp_path / "qkva.toml").write_text(text)
    env = {"CACHE_DIR": str(demo_folder / ".qkva")}
    done = qkva("ask", "How many orders are there?", folder=tmp_path, **env)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr and done.stderr.count("\n") == 1
    as_json = qkva("ask", "How many orders are there?", "--json", folder=tmp_path, **env)
    assert as_json.returncode == 2 and expected in json.loads(as_json.stdout)["error"]


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("SQL_ROW_LIMIT", "many", "SQL_ROW_LIMIT"),
        ("PLAN_CACHE_MAX_WRONG_HITS", "2", "PLAN_CACHE_MAX_WRONG_HITS"),
        ("TIMEZONE", "CEST", "TIMEZONE"),
        ("QKVA_CONFIG", "/not/there.toml", "/not/there.toml does not exist"),
    ],
)
def test_wrong_setting_is_one_sentence(qkva, variable, value, expected):
    done = qkva("plans", "list", **{variable: value})
    assert done.returncode == 2
    assert expected in done.stderr and done.stderr.count("\n") == 1


def test_unreachable_source_is_told(qkva, tmp_path, demo_folder):
    (tmp_path / "qkva.toml").write_text("[sources.mine]\ntype = 'sql'\nurl = 'postgresql://me@127.0.0.1:1/mine'\n")
    env = {"CACHE_DIR": str(demo_folder / ".qkva")}
    done = qkva("ask", "How many orders are there?", folder=tmp_path, **env)
    assert done.returncode == 1 and 'The data source "mine" is unavailable' in done.stderr
    doctor = qkva("doctor", folder=tmp_path, **env)
    assert doctor.returncode == 1
    assert "BROKEN source mine" in doctor.stdout and "its url in qkva.toml" in doctor.stdout


def test_no_source_points_to_the_demo(qkva, tmp_path, demo_folder):
    (tmp_path / "qkva.toml").write_text("")
    done = qkva("ask", "How many orders are there?", folder=tmp_path, CACHE_DIR=str(demo_folder / ".qkva"))
    assert done.returncode == 2 or done.returncode == 1
    assert "qkva demo" in done.stderr
