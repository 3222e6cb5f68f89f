"""A yes or no with its probability, read from the log-probabilities of the answer's first word."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

FIRST_WORDS: dict[str, Any] = {"logprobs": True, "top_logprobs": 5, "max_tokens": 4}
"""How to ask. No gateway refuses five alternatives, and they hold every likely spelling; some models begin with a line
break, so one token would not do."""

MARKS = " \t\r\n\u2581\u0120\u010a.,:;!\"'*`"
"""Around a word, those included with which tokenizers write a space and a line break."""
ENOUGH = 0.5
"""Of the first word has to be yes or no, else the model was about to say something else."""


def probability_of_yes(logprobs: Any) -> float | None:
    """Yes against no in the `logprobs` of one choice; None where they tell nothing. Spellings are summed."""
    mass = {"yes": 0.0, "no": 0.0}
    for token, probability in first_word(logprobs):
        word = token.strip(MARKS).casefold()
        if word in mass:
            mass[word] += probability
    total = sum(mass.values())
    return mass["yes"] / total if total >= ENOUGH else None


def first_word(logprobs: Any) -> Iterable[tuple[str, float]]:
    """The alternatives for the first token that is more than white space; a gateway may send anything."""
    tokens = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    for token in tokens if isinstance(tokens, list) else []:
        if isinstance(token, Mapping) and str(token.get("token", "")).strip(MARKS):
            yield from alternatives(token)
            return


def alternatives(token: Mapping[str, Any]) -> Iterable[tuple[str, float]]:
    """Each spelling once, the chosen one included, with its probability."""
    listed = token.get("top_logprobs")
    found: dict[str, float] = {}
    for each in [token, *(listed if isinstance(listed, list) else [])]:
        logprob = each.get("logprob") if isinstance(each, Mapping) else None
        if isinstance(logprob, int | float) and not math.isnan(logprob):
            found[str(each.get("token", ""))] = math.exp(min(0.0, logprob))
    return found.items()
