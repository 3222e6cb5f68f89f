"""The generated parts: each function returns one, as Markdown."""

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from qkva.contracts.result import RESULT_VERSION
from qkva.graphs.ask import NODES, graph
from qkva.settings import Settings

BIN = Path(sys.executable).parent
SHOWN = ("1. ", "3. ", "9. ")
"""Questions of the demo that the README shows whole: a plain one, one in other words, a refused one."""


def graph_picture() -> str:
    """The ask graph, drawn by LangGraph itself."""
    return f"```mermaid\n{graph.get_graph().draw_mermaid().strip()}\n```"


def node_list() -> str:
    """One line per node in the order of a question's life: its file, and what it says of itself."""
    return "\n".join(f"1. [`{node.__name__}`](../nodes/ask/{node.__name__}.py) — {first_line(node)}" for node in NODES)


def first_line(node: object) -> str:
    """The first line of the docstring of the node's module."""
    module = importlib.import_module(node.__module__)
    return (module.__doc__ or "").strip().splitlines()[0]


def settings_table() -> str:
    """Every environment variable with its default."""
    rows = [f"| `{name.upper()}` | {shown(field)} | {field.description} |" for name, field in variables()]
    return "\n".join(["| variable | default | what it does |", "|---|---|---|", *rows])


def variables() -> list[tuple[str, FieldInfo]]:
    """The settings that the environment may set."""
    return [(name, field) for name, field in Settings.model_fields.items() if not field.exclude]


def shown(field: FieldInfo) -> str:
    """A default as a reader would write it."""
    text = plain(field)
    return f"`{text}`" if text else "unset"


def plain(field: FieldInfo) -> str:
    """A default as it would stand in the environment; empty for none."""
    value = field.default
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def env_example() -> str:
    """The same list as a file to copy."""
    lines = ["# Copy this file to .env and take the # off what you want to set; nothing here is required.", ""]
    for name, field in variables():
        lines += [f"# {field.description}", f"# {name.upper()}={plain(field)}", ""]
    return "\n".join(lines)


def demo_output() -> str:
    """What `make demo` prints once it is set up: some of its questions, and the table of all."""
    blocks = re.split(r"\n\n(?=\d+\. |   question |Try next)", demo_run()[0])
    kept = [block if not block[0].isdigit() or block.startswith(SHOWN) else "…" for block in blocks]
    shown = "\n\n".join(block for block, before in zip(kept, ["", *kept], strict=False) if not block == before == "…")
    return f"```text\n{shown}\n```"


def result_example() -> str:
    """One real result object, as `--json` prints it, with a line for each field."""
    result = json.loads(demo_run()[1])
    result["timings_ms"] = dict.fromkeys(result["timings_ms"], "…")
    fields = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in result.items()
    )
    return f"```json\n{{\n{fields}\n}}\n```"


@cache
def demo_run() -> tuple[str, str]:
    """What the demo prints in an empty folder, and one question's JSON there."""
    with tempfile.TemporaryDirectory(prefix="qkva-docs-") as folder:
        run("demo", folder=folder)  # the second run shows what a reader sees from then on
        printed = run("demo", folder=folder)
        asked = run("ask", "How many customers are there in Germany?", "--json", folder=folder)
    return steady(printed), steady(asked)


def run(*arguments: str, folder: str) -> str:
    """Run qkva with nothing in its environment but what a shell needs."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return subprocess.run(
        [str(BIN / "qkva"), *arguments],
        cwd=folder,
        env={**kept, "COLUMNS": "110", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def steady(text: str) -> str:
    """The text without what changes from run to run."""
    text = re.sub(r"\b\d+(?:\.\d+)?(?= ?ms\b)", "…", text)
    text = re.sub(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "…", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def result_version() -> str:
    """The version of the result's shape."""
    return f"This is version **{RESULT_VERSION}**."


def commands() -> str:
    """Each command with its one line of help, from the command line itself."""
    with tempfile.TemporaryDirectory(prefix="qkva-docs-") as folder:
        shown = run("--help", folder=folder)
    rows = re.findall(r"^[│ ]*([a-z]+) {2,}(\S.*?)[│ ]*$", shown, re.MULTILINE)
    return "\n".join(
        ["| command | what it does |", "|---|---|", *(f"| `qkva {name}` | {line} |" for name, line in rows)]
    )
