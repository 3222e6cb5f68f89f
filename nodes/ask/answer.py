"""Answer from the records, and cite them.

Reads: standalone, strategy, results.  Writes: answer, citations, status, messages, warnings.
"""

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage

from qkva.contracts.errors import AnswerRejected, ModelError
from qkva.contracts.plan import Strategy
from qkva.contracts.result import Citation
from qkva.contracts.source import SourceResult
from qkva.contracts.state import AskState
from qkva.nodes.answer_prompt import Shown, answerer_sees
from qkva.nodes.prompts import prompt
from qkva.nodes.runtime import AskRuntime
from qkva.nodes.table_answer import table_answer
from qkva.planning.merging import shown_records

MARK = re.compile(r"\[(\d{1,4})\]")
SHOWN_RECORDS = 50
"""Records that the model sees, of all sources together: about 4,000 tokens of typical rows, which every gateway model
holds."""


async def answer(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """By the model where there is one, else as a table; every answer names the records it stands on."""
    if state.status is not None:
        return {}  # the live query ended the turn while passages were being sought
    if state.strategy == Strategy.NO_RETRIEVAL:
        return await small_talk(state, runtime)
    if state.results is None:
        return {"status": "refused", "error": "No query was run, and no source has an index that could be searched."}
    if runtime.services.chat is None:
        text, shown = table_answer(state.results)
        return finished(AIMessage(text), state.results, shown)
    shown = shown_records(state.results, SHOWN_RECORDS)
    try:
        message = await write_answer(state, state.results, shown, runtime)
    except ModelError as error:
        return {"status": "error", "error": f"The records were found, but no answer could be written: {error.message}"}
    except AnswerRejected as error:
        return {"status": "error", "error": error.message}
    return finished(message, state.results, shown)


async def small_talk(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """An answer that needs no data and so cites none."""
    if runtime.services.chat is None:
        return {"status": "refused", "error": "Without a model only questions about the sources' data can be answered."}
    runtime.meter.spend("answer")
    known = ", ".join(runtime.services.sources.connectors)
    try:
        message = await runtime.services.chat.answerer.write(
            system=prompt("small_talk"), user=f"Sources: {known}\nMessage: {state.standalone}", purpose="answer"
        )
    except ModelError as error:
        return {"status": "error", "error": f"No answer could be written: {error.message}"}
    return {"status": "answered", "answer": message.text, "citations": [], "messages": [message]}


async def write_answer(
    state: AskState, results: Sequence[SourceResult], shown: Sequence[Shown], runtime: AskRuntime
) -> AIMessage:
    """Ask for the answer; once more, with the rule repeated, if it cites nothing. Raises AnswerRejected."""
    assert runtime.services.chat is not None
    user = answerer_sees(state.standalone, results, shown)
    reminder = ""
    for _ in range(2):
        runtime.meter.spend("answer")
        message = await runtime.services.chat.answerer.write(
            system=prompt("answer"), user=user + reminder, purpose="answer"
        )
        text = only_real_marks(message.text, sum(map(len, shown)))
        if MARK.search(text):
            return AIMessage(text, id=message.id)
        reminder = "\n\nYour last answer cited no record. End every statement with the mark of its record, such as [1]."
    raise AnswerRejected


def only_real_marks(text: str, records: int) -> str:
    """The text without marks that point to no record."""
    return MARK.sub(lambda mark: mark[0] if 1 <= int(mark[1]) <= records else "", text).strip()


def finished(message: AIMessage, results: Sequence[SourceResult], shown: Sequence[Shown]) -> dict[str, Any]:
    """The answer with a citation for each record that it marks, in the order of their numbers."""
    numbered = [(part.source, record) for part, records in zip(results, shown, strict=True) for record in records]
    marked = {int(mark) for mark in MARK.findall(message.text)}
    citations = [
        Citation(
            index=number,
            label=record.label,
            source=source,
            record_id=record.id,
            url=record.url,
            snippet=record.snippet,
        ).model_dump(mode="json")
        for number, (source, record) in enumerate(numbered, 1)
        if number in marked
    ]
    told = {citation["source"] for citation in citations}
    silent = [part.source for part, records in zip(results, shown, strict=True) if records and part.source not in told]
    return {
        "status": "answered",
        "answer": message.text,
        "citations": citations,
        "messages": [message],
        "warnings": [f"The answer cites nothing of {source}, which was asked too." for source in silent],
    }
