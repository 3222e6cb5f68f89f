"""Chat models behind the gateway: forms by JSON schema, and streamed text."""

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any

import openai
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_function
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr, ValidationError

from qkva.contracts.errors import ModelOutputInvalid
from qkva.contracts.models import Form
from qkva.models.gateway import GatewayConnection
from qkva.models.text import encodable
from qkva.models.yes_no import FIRST_WORDS, probability_of_yes

FENCED = re.compile(r"```(?:json)?(.*?)```", re.DOTALL)
BRACED = re.compile(r"\{.*\}", re.DOTALL)
THOUGHTS_END = "</think>"
REFUSALS = (400, 422, 501)
UNTOLD = 3
"""Times in a row after which a gateway is not asked for log-probabilities any more; one odd answer is no rule."""


class GatewayChat:
    """One chat model of a gateway; implements contracts.models.Chat."""

    def __init__(
        self, connection: GatewayConnection, name: str, *, temperature: float = 0.2, max_tokens: int = 2048
    ) -> None:
        self.name = name
        self._connection = connection
        # Few gateways speak the Responses API, which the client chooses by itself for some names of models.
        options = {**connection.client_options(), "model": name, "max_tokens": max_tokens, "use_responses_api": False}
        # The patience of the connection covers a stalled stream; the client's own clock would only log as well.
        # Gateways that do not know `stream_usage` leave it alone; then the tokens of an answer stay unknown.
        self._prose = ChatOpenAI(
            **options, temperature=temperature, stream_chunk_timeout=None, streaming=True, stream_usage=True
        )
        # A form is read when it is whole; LangGraph's message stream would otherwise make the client stream it.
        self._forms = ChatOpenAI(**options, temperature=0, disable_streaming=True)
        self._takes_schemas = True
        self._untold = 0

    async def fill_form(self, form: type[Form], *, system: str, user: str, purpose: str) -> Form:
        """Structured output by JSON schema, at temperature 0.

        The fields are described in the prompt as well, because a gateway may ignore `response_format`, and a
        small model fills better what it has read. Raises ModelUnavailable or ModelOutputInvalid.
        """
        schema = form_schema(form)
        messages = prompt_messages(f"{system}\n\n{describe_form(schema)}", user)
        message = await self._connection.call(self.name, lambda: self._ask(messages, schema, purpose))
        return self._read(form, message)

    @property
    def gives_log_probabilities(self) -> bool:
        """Until the gateway has shown a few times that it does not, or that the model's first word is no answer."""
        return self._untold < UNTOLD

    async def probability_of_yes(self, *, system: str, user: str, purpose: str) -> float | None:
        """By the log-probabilities of the answer's first word; None where they are not given or tell nothing.

        Raises ModelUnavailable.
        """
        messages = prompt_messages(system, user)
        message = await self._connection.call(self.name, lambda: self._ask_first_word(messages, purpose))
        found = probability_of_yes(message.response_metadata.get("logprobs")) if message else None
        self._untold = 0 if found is not None else self._untold + 1
        return found

    async def write(self, *, system: str, user: str, purpose: str) -> AIMessage:
        """Plain text, as the one message whose tokens stream to LangGraph's message stream (the same id).

        An attempt is repeated only while nothing has been shown. Raises ModelUnavailable, or ModelOutputInvalid
        if the text is empty or was cut at the limit of tokens.
        """
        messages = prompt_messages(system, user)
        config: Any = {"run_name": purpose, "metadata": {"purpose": purpose}}
        pieces: list[str] = []
        reason = message_id = None
        clock = asyncio.get_running_loop().time
        async with self._connection.patience(self.name) as patience:
            async for attempt in self._connection.attempts(unless=lambda: bool(pieces)):
                with attempt:
                    async for chunk in self._prose.astream(messages, config=config):
                        patience.reschedule(clock() + self._connection.timeout)
                        reason = chunk.response_metadata.get("finish_reason") or reason
                        if chunk.text:
                            message_id = chunk.id
                            pieces.append(chunk.text)
        return AIMessage(self._finish("".join(pieces), reason), id=message_id)

    async def _ask(self, messages: list[BaseMessage], schema: dict[str, Any], purpose: str) -> BaseMessage:
        config: Any = {"run_name": purpose, "tags": ["nostream"], "metadata": {"purpose": purpose}}
        if self._takes_schemas:
            try:
                format_ = {"type": "json_schema", "json_schema": schema}
                return await self._forms.ainvoke(messages, config=config, response_format=format_)
            except openai.BadRequestError as error:
                if not refuses_schemas(error):
                    raise
                self._takes_schemas = False
        return await self._forms.ainvoke(messages, config=config)

    async def _ask_first_word(self, messages: list[BaseMessage], purpose: str) -> BaseMessage | None:
        """None from a gateway that does not accept such a request."""
        config: Any = {"run_name": purpose, "tags": ["nostream"], "metadata": {"purpose": purpose}}
        try:
            return await self._forms.ainvoke(messages, config=config, **FIRST_WORDS)
        except openai.APIStatusError as error:
            if error.status_code not in REFUSALS:
                raise
        return None

    def _read(self, form: type[Form], message: BaseMessage) -> Form:
        if isinstance(message, AIMessage) and message.additional_kwargs.get("refusal"):
            raise ModelOutputInvalid(f"The model {self.name} refused to fill the {form.__name__}.")
        text = self._finish(message.text, message.response_metadata.get("finish_reason"))
        try:
            return read_form(form, text)
        except ValidationError as error:
            raise ModelOutputInvalid(
                f"The model {self.name} did not fill the {form.__name__} as asked: {first_problem(error)}."
            ) from None  # the cause quotes the values

    def _finish(self, text: str, reason: str | None) -> str:
        if reason == "length":
            raise ModelOutputInvalid(
                f"The model {self.name} reached its limit of tokens before it had finished; raise LLM_MAX_TOKENS."
            )
        text = text.rpartition(THOUGHTS_END)[2].strip()  # some gateways leave a model's thoughts in its text
        if not text:
            raise ModelOutputInvalid(f"The model {self.name} answered with nothing.")
        return text


@dataclass(frozen=True, kw_only=True)
class GatewayModels:
    """The chat models by what they are for; implements contracts.models.ChatModels."""

    answerer: GatewayChat
    router: GatewayChat
    judge: GatewayChat
    planner: GatewayChat
    connection: GatewayConnection

    async def close(self) -> None:
        """Give back the connection's sockets."""
        await self.connection.close()


def open_chat_models(
    *,
    base_url: str,
    api_key: SecretStr | str,
    answerer: str,
    router: str | None = None,
    judge: str | None = None,
    planner: str | None = None,
    temperature: float = 0.2,
    timeout: float = 60.0,
    max_retries: int = 2,
    max_tokens: int = 2048,
) -> GatewayModels:
    """Build the models by name; opens no connection yet.

    `router` and `planner` default to `answerer`, `judge` to the router.

    `timeout` in seconds, as in GatewayConnection. Raises ConfigError for a base URL that is none.
    """
    connection = GatewayConnection(base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries)
    router, planner = router or answerer, planner or answerer
    judge = judge or router
    names = {answerer, router, judge, planner}
    chats = {name: GatewayChat(connection, name, temperature=temperature, max_tokens=max_tokens) for name in names}
    return GatewayModels(
        answerer=chats[answerer],
        router=chats[router],
        judge=chats[judge],
        planner=chats[planner],
        connection=connection,
    )


def prompt_messages(system: str, user: str) -> list[BaseMessage]:
    """The two messages of every prompt."""
    return [SystemMessage(encodable(system)), HumanMessage(encodable(user))]


def form_schema(form: type[BaseModel]) -> dict[str, Any]:
    """`name`, `schema` and `strict`, with references written out, because not every gateway follows them."""
    function = convert_to_openai_function(form, strict=True)
    return {"name": form.__name__, "schema": function["parameters"], "strict": True}


def describe_form(schema: dict[str, Any]) -> str:
    """The form in words: one line per field."""
    lines = [f"- {line}" for line in field_lines(schema["schema"])]
    return "\n".join(["Answer with one JSON object with exactly these fields, and nothing else:", *lines])


def field_lines(schema: dict[str, Any], prefix: str = "") -> list[str]:
    """One line per field; the fields of an array's items follow as `name[].field`."""
    lines = []
    for name, field in schema["properties"].items():
        about = f": {field['description']}" if field.get("description") else ""
        lines.append(f'"{prefix}{name}" ({type_words(field)}){about}')
        if field.get("items", {}).get("properties"):
            lines += field_lines(field["items"], f"{prefix}{name}[].")
    return lines


def type_words(field: dict[str, Any]) -> str:
    """ "string or null", "one of "a", "b"" …"""
    if "enum" in field:
        return "one of " + ", ".join(json.dumps(choice) for choice in field["enum"])
    if "anyOf" in field:
        return " or ".join(type_words(each) for each in field["anyOf"])
    return str(field.get("type", "any"))


def read_form(form: type[Form], text: str) -> Form:
    """Parse a form from text: bare, in a ``` fence, or between words. Raises ValidationError."""
    text = text.strip()
    if not text.startswith("{"):
        fenced = FENCED.search(text)
        braced = BRACED.search(fenced[1] if fenced else text)
        text = braced[0] if braced else text
    return form.model_validate_json(text)


def first_problem(error: ValidationError) -> str:
    """Where and what, without the value, which may be a person's."""
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else "it is no JSON object"


def refuses_schemas(error: openai.BadRequestError) -> bool:
    """Whether a 400 is about `response_format`, which older gateways do not know."""
    said = f"{error.param} {error.message}".casefold()
    return any(word in said for word in ("response_format", "json_schema", "structured output"))
