"""Rules of the house that no linter knows."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ["requirements.lock", "requirements-dev.lock"]
WORDS_OF_OTHERS = [
    r"/(work|farm)/(main|shared|\.library)",  # paths of one machine
    r"(pypi\.org|pythonhosted\.org|registry\.npmjs)",  # hosts: whoever installs chooses their own
    r"\b(claude|anthropic|copilot|chatgpt)\b",
    r"co-authored-by",
]


def tracked_files() -> list[Path]:
    """Every file that git knows, but for this one, which has to name what it looks for."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    return [ROOT / name for name in listed if name and (ROOT / name).is_file() and ROOT / name != Path(__file__)]


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_names_no_host(lock):
    text = (ROOT / lock).read_text("utf-8")

    assert not re.search(r"://|--(extra-)?index-url|--find-links|@ file:", text)


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_hashes_each_package(lock):
    text = (ROOT / lock).read_text("utf-8")
    entries = [block for block in re.split(r"\n(?=\S)", text) if block.strip()]

    assert len(entries) > 50
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_holds_what_is_declared(lock):
    """The build backend too: qkva is linked into an environment without asking an index for it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    declared = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    names = {re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-") for requirement in declared}

    assert names - set(re.findall(r"^([a-z0-9-]+)==", (ROOT / lock).read_text("utf-8"), re.MULTILINE)) == set()


def test_dev_lock_agrees_with_runtime_lock():
    def pins(lock: str) -> set[str]:
        return set(re.findall(r"^[a-z0-9].*?==[^\s;]+", (ROOT / lock).read_text("utf-8"), re.MULTILINE))

    assert pins("requirements.lock") <= pins("requirements-dev.lock")


@pytest.mark.parametrize("pattern", WORDS_OF_OTHERS)
def test_no_file_names_what_is_not_ours(pattern):
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked_files()
        for match in [re.search(pattern, path.read_text("utf-8", errors="ignore"), re.IGNORECASE)]
        if match
    ]

    assert found == []


def test_each_folder_is_linked_and_typed():
    links = {link.name: link for link in (ROOT / "src" / "qkva").iterdir() if link.is_symlink()}

    assert {"graphs", "nodes", "connectors", "stores", "migrations"} <= set(links)
    for name, link in links.items():
        assert link.readlink() == Path(f"../../{name}")
        assert (ROOT / name / "py.typed").is_file()


def test_langgraph_json_is_valid():
    tool = Path(sys.executable).with_name("langgraph")
    done = subprocess.run([str(tool), "validate", "-c", "langgraph.json"], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "is valid" in done.stdout
    assert "warning" not in done.stdout.lower()


def test_bare_make_lists_targets():
    shown = subprocess.check_output(["make"], cwd=ROOT, text=True)

    for target in ["demo", "test", "dev", "lint", "bench", "docs", "lock", "wheel", "clean"]:
        assert re.search(rf"^  {target} +\S", shown, re.MULTILINE)
