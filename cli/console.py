"""Where output goes: results to standard output, everything else to standard error."""

import contextlib
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

out = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
LOGIN_LOG = "qkva.login"
"""Where graphs.services warns of a login that may do more than read."""
notes = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def note(message: str, style: str = "") -> None:
    """A line on standard error."""
    notes.print(Text(printable(message), style=style))


def line(message: str = "", style: str = "") -> None:
    """A line of the result."""
    out.print(Text(printable(message), style=style))


def printable(text: str) -> str:
    """The text without control characters: a value from a database must not steer the terminal."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text)


def print_json(value: Any) -> None:
    """One object on one line, and nothing that a terminal width could break."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


class _Noted(logging.Handler):
    """Shows a log line on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """What must not go unseen: a source whose login could write."""
        note(record.getMessage(), style="yellow")


@contextlib.contextmanager
def nothing_else_on_stdout() -> Iterator[None]:
    """What a library prints goes to standard error, and logs go nowhere: what matters is in the result."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger(LOGIN_LOG).handlers = [_Noted()]
    with contextlib.redirect_stdout(sys.stderr):
        yield
