"""Answer from the records, and cite them.

Reads: standalone, strategy, result, plan, params.  Writes: answer, citations, status, messages.
"""

import re
from typing import Any

from langchain_core.messages import AIMessage

from qkva.contracts.errors import AnswerRejected, ModelError
from qkva.contracts.plan import Strategy
from qkva.contracts.result import Citation
from qkva.contracts.source import QueryResult, Record
from qkva.contracts.state import AskState
from qkva.nodes.ask.execute import spoken
from qkva.nodes.prompts import prompt
from qkva.nodes.runtime import AskRuntime
from qkva.nodes.table_answer import table_answer

MARK = re.compile(r"\[(\d{1,4})\]")
CLOSING = (
    "Answer the question from these records, and write the mark of the record, such as [1], behind each statement."
)
"""Last of all, because small models heed what they read last: without it a 1.5-billion-parameter model cited nothing in
any answer tried, with it in all six."""
SHOWN_RECORDS = 50
"""Records that the model sees: about 4,000 tokens of typical rows, which every gateway model holds."""


async def answer(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """By the model where there is one, else as a table; every answer names the records it stands on."""
    if state.status is not None:
        return {}  # the live query ended the turn while passages were being sought
    if state.strategy == Strategy.NO_RETRIEVAL:
        return await small_talk(state, runtime)
    if state.result is None:
        return {"status": "no_records", "answer": "No relevant records found."}
    source = str((state.plan or {})["source"])
    if runtime.services.chat is None:
        text, shown = table_answer(state.result, source=source, params=state.params, plan=state.plan or {})
        return finished(AIMessage(text), state.result.records[:shown], source)
    try:
        message = await write_answer(state, state.result, runtime)
    except ModelError as error:
        return {"status": "error", "error": f"The records were found, but no answer could be written: {error.message}"}
    except AnswerRejected as error:
        return {"status": "error", "error": error.message}
    return finished(message, state.result.records[:SHOWN_RECORDS], source)


async def small_talk(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """An answer that needs no data and so cites none."""
    if runtime.services.chat is None:
        return {"status": "no_records", "answer": "No relevant records found."}
    runtime.meter.spend("answer")
    known = ", ".join(runtime.services.sources.connectors)
    try:
        message = await runtime.services.chat.answerer.write(
            system=prompt("small_talk"), user=f"Sources: {known}\nMessage: {state.standalone}", purpose="answer"
        )
    except ModelError as error:
        return {"status": "error", "error": f"No answer could be written: {error.message}"}
    return {"status": "answered", "answer": message.text, "citations": [], "messages": [message]}


async def write_answer(state: AskState, result: QueryResult, runtime: AskRuntime) -> AIMessage:
    """Ask for the answer; once more, with the rule repeated, if it cites nothing. Raises AnswerRejected."""
    assert runtime.services.chat is not None
    user = model_sees(state, result)
    reminder = ""
    for _ in range(2):
        runtime.meter.spend("answer")
        message = await runtime.services.chat.answerer.write(
            system=prompt("answer"), user=user + reminder, purpose="answer"
        )
        text = only_real_marks(message.text, len(result.records[:SHOWN_RECORDS]))
        if MARK.search(text):
            return AIMessage(text, id=message.id)
        reminder = "\n\nYour last answer cited no record. End every statement with the mark of its record, such as [1]."
    raise AnswerRejected


def model_sees(state: AskState, result: QueryResult) -> str:
    """The question and the numbered records, fenced off as data."""
    shown = result.records[:SHOWN_RECORDS]
    lines = [f"[{number}] {record.label}: {fields(record)}" for number, record in enumerate(shown, 1)]
    more = len(result.records) - SHOWN_RECORDS
    if more > 0:
        lines.append(f"({more} more records are not shown)")
    if result.truncated:
        lines.append(f"(the result was cut at {len(result.records)} rows: say so)")
    looked_for = ", ".join(f"{name} = {spoken(value)}" for name, value in state.params.items() if value is not None)
    query = (state.plan or {})["key_text"]
    return (
        f"Question: {state.standalone}\nThe records are: {query}"
        + (f" ({looked_for})" if looked_for else "")
        + "\n<records>\n"
        + "\n".join(lines)
        + "\n</records>\n"
        + CLOSING
    )


def fields(record: Record) -> str:
    """One record on one line."""
    line = "; ".join(f"{name}: {value}" for name, value in record.fields.items())
    return " ".join(line.split()).replace("</records>", "")  # no value can end the fence or start a line


def only_real_marks(text: str, records: int) -> str:
    """The text without marks that point to no record."""
    return MARK.sub(lambda mark: mark[0] if 1 <= int(mark[1]) <= records else "", text).strip()


def finished(message: AIMessage, records: tuple[Record, ...], source: str) -> dict[str, Any]:
    """The answer with a citation for each record that it marks, in the order of their numbers."""
    cited = sorted({int(mark) for mark in MARK.findall(message.text)})
    citations = [
        Citation(
            index=number,
            label=records[number - 1].label,
            source=source,
            record_id=records[number - 1].id,
            url=records[number - 1].url,
            snippet=records[number - 1].snippet,
        ).model_dump(mode="json")
        for number in cited
    ]
    return {"status": "answered", "answer": message.text, "citations": citations, "messages": [message]}
