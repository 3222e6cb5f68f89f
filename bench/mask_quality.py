"""How well questions are masked: on a file of questions whose values are marked.

    python bench/mask_quality.py ../shared/data/advising.json [--show 20]

Every value of the file goes into a value index, one column for each type of variable. A marked value is found if
exactly one slot covers it and the slot's columns name its type; a question is right if all its marked values are found.
Slots where no value is marked are counted apart: some are values that the file left unmarked.
"""

import argparse
import json
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from qkva.contracts.question import MaskedQuestion, SlotType
from qkva.contracts.source import ColumnValues, Field, SourceDescription, Table
from qkva.planning.masking.mask import mask_question
from qkva.planning.masking.value_index import ValueIndex

NOW = datetime(2026, 5, 13, 15, 30, tzinfo=ZoneInfo("America/New_York"))


@dataclass(frozen=True)
class Marked:
    """A question with the spans of its marked values: (start, end, column)."""

    text: str
    values: tuple[tuple[int, int, str], ...]
    tokens: str
    """The text with each value replaced by its column: what a perfect mask tells apart."""


def read_questions(path: Path, table: str) -> Iterator[Marked]:
    """The questions of the file, with their values filled in."""
    for template in json.loads(path.read_text()):
        types = {variable["name"]: variable["type"] for variable in template["variables"]}
        for sentence in template["sentences"]:
            yield fill(sentence["text"], sentence["variables"], types, table)


def fill(text: str, values: dict[str, str], types: dict[str, str], table: str) -> Marked:
    """Put the values in place of their names and keep where they are."""
    names = sorted((name for name, value in values.items() if value), key=len, reverse=True)
    column = {name: f"{table}.{types.get(name, name.rstrip('0123456789'))}" for name in names}
    if not names:
        return Marked(text, (), text)
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b")
    filled, spans, position = "", [], 0
    for found in pattern.finditer(text):
        filled += text[position : found.start()]
        spans.append((len(filled), len(filled) + len(values[found[0]]), column[found[0]]))
        filled += values[found[0]]
        position = found.end()
    return Marked(
        filled + text[position:], tuple(spans), pattern.sub(lambda found: f"<{column[found[0]]}>", text).lower()
    )


def describe(questions: list[Marked], table: str) -> SourceDescription:
    """A source whose columns hold the values of the questions."""
    values: dict[str, dict[str, None]] = defaultdict(dict)
    for question in questions:
        for start, end, column in question.values:
            values[column][question.text[start:end]] = None
    fields = tuple(Field(name=column.partition(".")[2], type="text", kind="text") for column in values)
    return SourceDescription(
        name="bench",
        source_type="sql",
        dialect="sqlite",
        tables=(Table(name=table, fields=fields),),
        values=tuple(ColumnValues(column=column, values=tuple(held)) for column, held in values.items()),
        fingerprint="bench",
    )


def wrong_values(question: Marked, masked: MaskedQuestion) -> list[tuple[str, str, Any]]:
    """The marked values that are not found: (text, column, the slots that touch it)."""
    wrong = []
    for start, end, column in question.values:
        touching = [slot for slot in masked.slots if slot.start < end and slot.end > start]
        one = len(touching) == 1 and touching[0].start <= start and touching[0].end >= end
        if not one or column not in touching[0].columns:
            wrong.append((question.text[start:end], column, [(slot.text, slot.label) for slot in touching]))
    return wrong


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--table", default="advising", help="what the one table of the index is called")
    parser.add_argument("--show", type=int, default=0, help="print this many examples of wrong masks")
    return parser.parse_args()


def main() -> None:
    """Print the counts, and examples of what is wrong."""
    options = read_options()
    questions = list(read_questions(options.file, options.table))
    index = ValueIndex.build(describe(questions, options.table))
    mask_question("warm up", source="bench", values=index, now=NOW)

    right = found = marked = extra = 0
    kinds: Counter[str] = Counter()
    masks: dict[str, set[str]] = defaultdict(set)
    seconds, examples = [], []
    for question in questions:
        began = time.process_time()
        masked = mask_question(question.text, source="bench", values=index, now=NOW)
        seconds.append(time.process_time() - began)
        wrong = wrong_values(question, masked)
        spans = [(start, end) for start, end, _ in question.values]
        others = [
            slot for slot in masked.slots if not any(slot.start < end and slot.end > start for start, end in spans)
        ]
        right += not wrong
        marked += len(spans)
        found += len(spans) - len(wrong)
        extra += bool([slot for slot in others if slot.type is SlotType.VALUE])
        kinds.update(column for _, column, _ in wrong)
        masks[question.tokens].add(masked.masked)
        if wrong or others:
            examples.append((question.text, masked.masked, wrong, [(slot.text, slot.label) for slot in others]))
    micros = sorted(second * 1e6 for second in seconds)
    split = sum(1 for found_masks in masks.values() if len(found_masks) > 1)
    print(f"questions {len(questions)}, indexed values {len(index)}")
    print(
        f"all marked values right {right} ({right / len(questions):.1%});"
        f" values {found} of {marked} ({found / marked:.1%})"
    )
    print(f"questions with an unmarked word taken for an indexed value {extra} ({extra / len(questions):.1%})")
    print(f"wordings {len(masks)}, of these with more than one mask {split}")
    print(
        f"CPU microseconds a question: median {statistics.median(micros):.0f},"
        f" p95 {micros[int(len(micros) * 0.95)]:.0f}"
    )
    print("missed by column:", dict(kinds.most_common()))
    for example in examples[:: max(1, len(examples) // options.show)] if options.show else ():
        print(*example, sep="\n    ")


if __name__ == "__main__":
    main()
