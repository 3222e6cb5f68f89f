"""Take the question from the input, and resolve what it refers to.

Reads: question, messages, and of the turn before: asked, standalone, source.
Writes: question, standalone, messages, and every field of a turn, emptied.
"""

import unicodedata
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from qkva.contracts.errors import InvalidQuestion, ModelError, RequestRefused, SourceError
from qkva.contracts.result import RESULT_VERSION
from qkva.contracts.state import AskState
from qkva.nodes.forms import StandaloneForm
from qkva.nodes.prompts import prompt
from qkva.nodes.runtime import AskRuntime
from qkva.planning.conversation.follow_up import resolve_follow_up
from qkva.planning.conversation.references import refers_back
from qkva.planning.conversation.request_kind import asks_for_change
from qkva.planning.masking.mask import mask_question

NEW_TURN: dict[str, Any] = {
    "version": RESULT_VERSION,
    "masks": {},
    "masked_question": "",
    "slots": [],
    "candidates": [],
    "doors": [],
    "excluded_plans": [],
    "cache": None,
    "grey": None,
    "strategy": None,
    "source": None,
    "plan": None,
    "plan_keys": [],
    "plan_is_new": False,
    "review": False,
    "for_this_turn": False,
    "planned_values": {},
    "params": {},
    "also": [],
    "records": {},
    "answer": None,
    "citations": [],
    "status": None,
    "error": None,
    "flight": None,
    "embeddings": None,
    "results": None,
}


async def read_question(state: AskState, runtime: AskRuntime) -> dict[str, Any]:
    """Start a turn; warnings, calls and timings are emptied where the node is bound."""
    question, history = question_and_history(state)
    question = visible(question)
    update = {**NEW_TURN, "question": question, "asked": question, "standalone": question}
    if not history or history[-1].content != question or not isinstance(history[-1], HumanMessage):
        update["messages"] = [HumanMessage(question)]
    try:
        check_question(question, runtime.services.settings.max_question_chars)
    except InvalidQuestion as error:
        return {**update, "status": "refused", "error": error.message}
    if asks_for_change(question):
        return {**update, "status": "refused", "error": RequestRefused().message}
    previous = state.standalone or previous_question(state.messages, question)
    if previous and previous != question:
        update["standalone"] = await resolve(question, previous, state, runtime)
    return update


def question_and_history(state: AskState) -> tuple[str, list[AnyMessage]]:
    """The new question: `question` if it is not the one that the thread still holds, else the last human message."""
    history = state.messages
    last = history[-1] if history else None
    if state.question and (state.question != state.asked or not isinstance(last, HumanMessage)):
        return state.question.strip(), history
    return (last.text.strip() if isinstance(last, HumanMessage) else state.question.strip()), history


def check_question(question: str, max_chars: int) -> None:
    """Refuse what cannot be a question. Raises InvalidQuestion."""
    if not question:
        raise InvalidQuestion("The question is empty: ask one question in plain words.")
    if len(question) > max_chars:
        raise InvalidQuestion(
            f"The question has {len(question):,} characters, and {max_chars:,} are allowed: ask it more shortly."
        )
    kinds = {unicodedata.category(character) for character in question if character not in "\n\r\t"}
    if kinds & {"Cc", "Cn", "Co", "Cs"} or "\ufffd" in question:
        raise InvalidQuestion("The question holds binary data: ask one question in plain words.")
    if not any(character.isalpha() for character in question):
        raise InvalidQuestion("The question has no words: ask one question in plain words.")


def visible(question: str) -> str:
    """The question without what nobody sees, which can spell hidden words: a planner would read them, a mask would not.

    Then a question that looks and masks like everybody's could have a plan made that is not everybody's.
    """
    return "".join(letter for letter in question if not is_hidden(letter)).strip()


def is_hidden(letter: str) -> bool:
    """Format characters, but for the two joiners that scripts need, and selectors of variants."""
    if letter in "\u200c\u200d":
        return False
    code = ord(letter)
    return unicodedata.category(letter) == "Cf" or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF


def previous_question(messages: list[AnyMessage], question: str) -> str:
    """The human message before the last one, for callers that send a whole chat instead of using a thread."""
    asked = [message.text.strip() for message in messages if isinstance(message, HumanMessage)]
    if asked and asked[-1] == question:
        asked.pop()
    return asked[-1] if asked else ""


async def resolve(question: str, previous: str, state: AskState, runtime: AskRuntime) -> str:
    """The question in full: by rule where that is clear, else by one model call if it refers back."""
    source = state.source or next(iter(runtime.services.sources.connectors), "")
    try:
        values = (await runtime.services.sources.ready(source)).values
    except SourceError:
        return question  # the source is down; the next node says so
    by_rule = resolve_follow_up(
        question, previous, mask=lambda text: mask_question(text, source=source, values=values, now=runtime.now)
    )
    if by_rule or runtime.services.chat is None or not refers_back(question):
        return by_rule or question
    runtime.meter.spend("read_question")
    try:
        form = await runtime.services.chat.router.fill_form(
            StandaloneForm,
            system=prompt("read_question"),
            user=f"Question before: {previous}\nNew question: {question}",
            purpose="read_question",
        )
    except ModelError:
        return question
    return form.question.strip() or question
