"""Words that are spelled almost like an indexed one."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from qkva.planning.text import is_ordinary

MIN_LENGTH = 5
"""Of four letters or fewer, one edit makes another name: Anna, Anne, Anja."""
LONG = 8
"""From this length on two edits are near; below, one."""


@dataclass(frozen=True)
class Spellings:
    """Indexed words, grouped so that only a few have to be compared."""

    words: frozenset[str]
    groups: dict[tuple[str, int], list[str]]
    """By first letter and length."""

    @classmethod
    def of(cls, words: Collection[str]) -> "Spellings":
        """Group the words."""
        groups: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in words:
            if len(word) >= MIN_LENGTH and word.isalpha():
                groups[word[0], len(word)].append(word)
        return cls(frozenset(words), dict(groups))

    def __contains__(self, word: str) -> bool:
        return word in self.words

    def near(self, word: str, *, ordinary: str, forbidden: Collection[str]) -> tuple[str, ...]:
        """The nearest indexed words, if `word` can be a slip of them.

        A dictionary word is none (`ordinary` is the word as said), nor is a slip of a table's or column's name
        (`forbidden`), nor a word with digits: a code that differs is another code. The first letter is trusted.
        """
        if len(word) < MIN_LENGTH or not word.isalpha() or is_ordinary(ordinary) or is_ordinary(word):
            return ()
        edits = 2 if len(word) >= LONG else 1
        if process.extractOne(word, forbidden, scorer=OSA.distance, score_cutoff=edits):
            return ()
        found: list[tuple[int, str]] = []
        for length in range(len(word) - edits, len(word) + edits + 1):
            group = self.groups.get((word[0], length), ())
            hits = process.extract(word, group, scorer=OSA.distance, score_cutoff=edits, limit=3)
            found += [(int(distance), hit) for hit, distance, _ in hits]
        best = min((distance for distance, _ in found), default=0)
        return tuple(sorted(hit for distance, hit in found if distance == best)[:3])
