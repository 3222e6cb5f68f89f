"""Words that mean the same in any source, unless the source itself keeps them apart."""

from functools import lru_cache

from qkva.contracts.source import SourceDescription
from qkva.planning.reading.lexicon import SYNONYM_GROUPS
from qkva.planning.reading.question_tokens import words_of


def same_word(one: str, other: str, *, kept_apart: frozenset[str] = frozenset()) -> bool:
    """Whether two lemmas are equal or synonyms; two words that are both in `kept_apart` are never merged."""
    if one == other:
        return True
    if one in kept_apart and other in kept_apart:
        return False
    return bool(SYNONYM_GROUPS.get(one, frozenset()) & SYNONYM_GROUPS.get(other, frozenset()))


def schema_words(description: SourceDescription | None) -> frozenset[str]:
    """The words that name tables and columns of a source."""
    if description is None:
        return frozenset()
    names = tuple(sorted({t.name for t in description.tables} | {f.name for t in description.tables for f in t.fields}))
    return _words(names)


@lru_cache(maxsize=200)
def _words(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for name in names for word in words_of(name))
