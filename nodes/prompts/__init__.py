"""The prompts: one Markdown file per node, named after it; `$name` in it is filled by `prompt`."""

import hashlib
from pathlib import Path
from string import Template

# Read at import: a node runs on the event loop, where files are not to be opened.
_TEXTS = {path.stem: path.read_text("utf-8").strip() for path in sorted(Path(__file__).parent.glob("*.md"))}


def prompt(name: str, **values: str) -> str:
    """The prompt of that name with its `$name` places filled. KeyError if there is no such prompt or value."""
    return Template(_TEXTS[name]).substitute(values)


def fingerprint(name: str) -> str:
    """Twelve hex digits that change when the prompt does."""
    return hashlib.sha256(_TEXTS[name].encode()).hexdigest()[:12]
