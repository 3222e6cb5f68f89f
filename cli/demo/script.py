"""The questions that the demo asks, and why each is among them."""

from typing import NamedTuple


class Scripted(NamedTuple):
    """One question of the demo."""

    question: str
    shows: str
    thread: str | None = None


SCRIPT = (
    Scripted("Which orders did Ada Lovelace place last month?", "a live query by a verified plan"),
    Scripted("Which orders did Grace Hopper place in May 2026?", "the same kind with other values: the same plan"),
    Scripted("Could you list the purchases that Alan Turing made in April?", "the same kind in other words"),
    Scripted("Who are the top 3 customers this year?", "a top list"),
    Scripted("How many customers are there in France?", "a count", thread="countries"),
    Scripted("and in Germany?", "a follow-up on the same thread", thread="countries"),
    Scripted("Which open issues are assigned to Grace Hopper?", "another source: issues, asked in JQL"),
    Scripted("Which orders of Ada Lovelace took longest to arrive?", "no plan for this: a broad query, and it says so"),
    Scripted("Cancel all pending orders of Ada Lovelace", "a change, which is refused"),
)
