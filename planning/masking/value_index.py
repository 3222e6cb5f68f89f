"""The values that a source's text columns hold, and where a question says one of them.

Longest match first; case, accents, plural and joining signs do not matter, and a rare word that is spelled almost like
a value counts as it. What is an everyday word has to stand beside its column or table (planning.value_evidence).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from qkva.contracts.question import Slot, SlotType
from qkva.contracts.source import SourceDescription
from qkva.planning.masking.near_spelling import Spellings
from qkva.planning.masking.value_columns import ColumnNames, labels_of, name_columns, person_columns
from qkva.planning.masking.value_evidence import Said, is_evident, joins_words
from qkva.planning.text import Token, fold, stems, tokenise

MAX_WORDS = 12
"""A value of more words is a text, not a name."""
Key = tuple[str, ...]
Holders = tuple[tuple[str, str], ...]
"""(stored spelling, column) of each column that holds a value."""


@dataclass(frozen=True, kw_only=True)
class ValueIndex:
    """Look-up of values by the words they consist of."""

    holders: dict[Key, Holders]
    lengths: dict[str, tuple[int, ...]]
    """By first word, how many words the values have that start with it, longest first."""
    partial: dict[str, Holders]
    """First or last names that belong to one person only."""
    columns: dict[str, ColumnNames]
    labels: dict[str, frozenset[str]]
    """By column, the columns whose values are labelled alike, because they share many."""
    spellings: Spellings
    schema_words: frozenset[str] = field(default=frozenset())

    @classmethod
    def build(cls, description: SourceDescription) -> "ValueIndex":
        """Index every value of the description; values of more than MAX_WORDS words are left out."""
        found: dict[Key, dict[tuple[str, str], None]] = defaultdict(dict)
        for column in description.values:
            for value in column.values:
                for key in keys_of(value):
                    found[key][(value, column.column)] = None
        holders = {key: tuple(held) for key, held in found.items()}
        columns = name_columns(description)
        lengths: dict[str, set[int]] = defaultdict(set)
        for key in holders:
            lengths[key[0]].add(len(key))
        return cls(
            holders=holders,
            lengths={word: tuple(sorted(found, reverse=True)) for word, found in lengths.items()},
            partial=partial_names(description, holders),
            columns=columns,
            labels=labels_of(holders),
            spellings=Spellings.of({word for key in holders for word in key}),
            schema_words=frozenset(word for names in columns.values() for word in (*names.column, *names.table))
            | frozenset(word for table in description.tables for field in table.fields for word in stems(field.name))
            | frozenset(word for table in description.tables for word in stems(table.name)),
        )

    def __len__(self) -> int:
        """How many different values are indexed."""
        return len(self.holders)

    def columns_of(self, text: str) -> tuple[str, ...]:
        """Every column that holds exactly this value, up to case, accents, plural and joining signs."""
        return tuple(sorted({column for _, column in self.holders.get(stems(text), ())}))

    def canonical(self, column: str, text: str) -> str | None:
        """How `column` spells the value that is said as `text`, or None if it does not hold it."""
        spellings = [spelling for spelling, held in self.holders.get(stems(text), ()) if held == column]
        return closest(text, spellings) if spellings else None

    def find(self, text: str, covered: Sequence[tuple[int, int]] = ()) -> list[Slot]:
        """The values that a text says, in order, not overlapping. `covered` are spans already known to be typed
        values."""
        said = Said(text, tokenise(text), self.schema_words, covered)
        matches = list(self.matches(said))
        for start, end, _ in matches:
            said.candidates.update(range(start, end))
        slots: list[Slot] = []
        index = 0
        for start, end, holders in matches:
            if start < index:
                continue
            evident = self.evident(said, start, end, holders)
            if evident:
                slots.append(self.slot(said, start, end, evident))
                index = end
        return slots

    def evident(self, said: Said, start: int, end: int, holders: Holders) -> Holders:
        """Those holders that the words mean; a first or last name was judged when it was found."""
        if end == start + 1 and holders is self.partial.get(said.tokens[start].stem):
            return holders
        return tuple(held for held in holders if is_evident(said, start, end, held[0], self.columns[held[1]]))

    def matches(self, said: Said) -> Iterator[tuple[int, int, Holders]]:
        """Runs of words that are a value, from left to right and from long to short, as (first word, end, holders)."""
        options = [self.words_like(token, said) for token in said.tokens]
        for start in range(len(options)):
            for word in options[start]:
                for length in self.lengths.get(word, ()):
                    if start + length > len(options) or not joins_words(said, start, start + length):
                        continue
                    for key in runs(word, options[start + 1 : start + length]):
                        if key in self.holders:
                            yield start, start + length, self.holders[key]
            holders = self.partial.get(said.tokens[start].stem)
            if holders and said.stands_alone(start, holders[0][0]):
                yield start, start + 1, holders

    def words_like(self, token: Token, said: Said) -> tuple[str, ...]:
        """The indexed words that a word of the question may mean: itself, or else near spellings of it."""
        if token.stem in self.spellings or token.stem in self.schema_words:
            return (token.stem,)
        return self.spellings.near(token.stem, ordinary=token.folded, forbidden=self.schema_words)

    def slot(self, said: Said, start: int, end: int, holders: Holders) -> Slot:
        """The slot over the words `start` to `end`."""
        first, after = said.tokens[start].start, said.tokens[end - 1].end
        text = said.text[first:after]
        columns = tuple(sorted({column for _, column in holders}))
        return Slot(
            start=first, end=after, text=text, type=SlotType.VALUE, label=self.label(columns), columns=columns,
            value=closest(text, [spelling for spelling, _ in holders]),
        )  # fmt: skip

    def label(self, columns: Sequence[str]) -> str:
        """The column, or for several their common name, or up to three names joined by "/"; "id" for columns of ids."""
        if all(self.columns[column].ids for column in columns):
            return "id"
        alike = {other for column in columns for other in self.labels.get(column, frozenset((column,)))}
        if len(alike) == 1:
            return alike.pop()
        names = sorted({column.rpartition(".")[2] for column in alike})
        return "/".join(names[:3])


def keys_of(value: str) -> Iterator[Key]:
    """The word sequences that a value is found by."""
    key = stems(value)
    if 0 < len(key) <= MAX_WORDS:
        yield key
        if "&" in value:
            yield stems(value.replace("&", " and "))


def runs(first: str, rest: Sequence[Sequence[str]]) -> Iterator[Key]:
    """Every sequence that takes one word of each position."""
    keys: list[Key] = [(first,)]
    for options in rest:
        keys = [(*key, word) for key in keys for word in options]
    yield from keys


def closest(text: str, spellings: Sequence[str]) -> str:
    """Of several stored spellings the one that is most like what was said."""
    return min(
        spellings, key=lambda spelling: (spelling != text, fold(spelling) != fold(text), spellings.index(spelling))
    )


def partial_names(description: SourceDescription, holders: dict[Key, Holders]) -> dict[str, Holders]:
    """First and last names that exactly one person has, in columns whose list of people is complete."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    people = person_columns(description)
    for column in people:
        for value in column.values:
            for word in named_words(value):
                found[word].add((value, column.column))
    return {
        word: tuple(held)
        for word, held in found.items()
        if (word,) not in holders and len({stems(value) for value, _ in held}) == 1
    }


def named_words(value: str) -> tuple[str, ...]:
    """The first and the last word of a person's name."""
    words = [token.stem for token in tokenise(value) if len(token.text) > 2 and token.text[0].isupper()]
    return (words[0], words[-1]) if len(words) > 1 else ()
