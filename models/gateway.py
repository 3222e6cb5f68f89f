"""The edge to an OpenAI-compatible gateway: one HTTP client, retries, and every failure as one clear error."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlsplit

import openai
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_before_delay

from qkva.contracts.errors import ConfigError, ModelError, ModelOutputInvalid, ModelUnavailable

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
"""Seconds before the first retry, doubled for each further one up to the longest; Retry-After goes before both."""

LENGTH_WORDS = ("context size", "context length", "context window", "maximum context", "context_length", "context_size")


class GatewayConnection:
    """One gateway. Bound to the event loop that first uses it; `close` gives back its sockets.

    `timeout` is what one call may take in seconds, retries included, so a gateway that hangs is not asked twice;
    for a streamed text it is the longest silence. `max_retries` counts the attempts after the first.
    """

    def __init__(self, *, base_url: str, api_key: SecretStr | str, timeout: float, max_retries: int) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError("LITELLM_PROVIDER_BASE_URL must be a URL such as http://127.0.0.1:4000/v1.")
        self.base_url = base_url
        self.api_key = SecretStr(api_key) if isinstance(api_key, str) else api_key
        self.timeout = timeout
        self.max_retries = max_retries
        self.host = parts.netloc.rpartition("@")[2]  # never the password of a URL
        self.http = openai.DefaultAsyncHttpxClient(timeout=timeout)

    def client_options(self) -> dict[str, Any]:
        """What every client of langchain-openai gets; its own retries are off, because this edge has them."""
        return {
            "base_url": self.base_url,
            "api_key": self.api_key,
            "http_async_client": self.http,
            "timeout": self.timeout,
            "max_retries": 0,
            "openai_proxy": "",  # else OPENAI_PROXY of the environment makes the client refuse our HTTP client
        }

    async def call(self, model: str, work: Callable[[], Awaitable[T]]) -> T:
        """Do it, again after a transient failure, within the timeout. Raises ModelUnavailable or ModelOutputInvalid."""
        async with self.patience(model):
            async for attempt in self.attempts():
                with attempt:
                    return await work()
        raise AssertionError("the last attempt returns or raises")

    def attempts(self, unless: Callable[[], bool] = lambda: False) -> AsyncRetrying:
        """Retry transient failures `unless` it says that it is too late for that."""
        return AsyncRetrying(
            retry=retry_if_exception(lambda error: is_transient(error) and not unless()),
            stop=stop_after_attempt(1 + self.max_retries) | stop_before_delay(self.timeout),
            wait=pause,
            reraise=True,
        )

    @contextlib.asynccontextmanager
    async def patience(self, model: str) -> AsyncIterator[asyncio.Timeout]:
        """The timeout (which may be rescheduled) and the translation of all that a client raises."""
        try:
            async with asyncio.timeout(self.timeout) as timeout:
                yield timeout
        except (ModelError, ConfigError):
            raise
        except TimeoutError:
            raise self.silence(model) from None
        except openai.OpenAIError as error:
            self.refuse(error, model)
        except (ValueError, TypeError, LookupError, AttributeError):  # the clients' answer to a body of another shape
            raise ModelUnavailable(
                f"The gateway {self.host} answered for {model} with something that is not the OpenAI protocol; "
                "check LITELLM_PROVIDER_BASE_URL."
            ) from None

    def silence(self, model: str) -> ModelUnavailable:
        """The error of a gateway that does not answer."""
        return ModelUnavailable(
            f"The model {model} at the gateway {self.host} did not answer within {self.timeout:g} s."
        )

    def refuse(self, error: openai.OpenAIError, model: str) -> NoReturn:
        """Raise our error for one of theirs.

        Without the cause: what a gateway says may quote the key or the question, and tracebacks end in logs.
        """
        if isinstance(error, openai.LengthFinishReasonError):
            raise ModelOutputInvalid(
                f"The model {model} reached its limit of tokens before it had finished; raise LLM_MAX_TOKENS."
            ) from None
        if isinstance(error, openai.ContentFilterFinishReasonError):
            raise ModelOutputInvalid(f"The content filter of the model {model} stopped its output.") from None
        if isinstance(error, openai.APITimeoutError):
            raise self.silence(model) from None
        if isinstance(error, openai.APIStatusError):
            raise ModelUnavailable(self.status_sentence(error, model)) from None
        if isinstance(error, openai.APIConnectionError):
            raise ModelUnavailable(
                f"The gateway {self.host} could not be reached, or hung up; check LITELLM_PROVIDER_BASE_URL."
            ) from None
        raise ModelUnavailable(
            f"The model {model} at the gateway {self.host} failed in the middle of its answer."
        ) from None

    def status_sentence(self, error: openai.APIStatusError, model: str) -> str:
        """What an HTTP status means for the reader."""
        status, at = error.status_code, f"The gateway {self.host}"
        if status in (401, 403):
            return f"{at} refused the key for {model} ({status}); check LLM_API_KEY."
        if status == 404:
            return f"{at} does not know the model {model} (404); check its name and LITELLM_PROVIDER_BASE_URL."
        if status == 429:
            asked = error.response.headers.get("retry-after")
            when = f" and asks to wait {asked} s" if asked and asked.isdigit() else ""
            return f"{at} answered 429 for {model}: too many requests{when}."
        if status in (400, 413, 422):
            if is_too_long(error):
                return f"The prompt is too long for the model {model} ({status} from the gateway {self.host})."
            reasons = [str(reason) for reason in (status, error.code or error.type) if reason]
            return f"{at} did not accept the request for {model} ({', '.join(dict.fromkeys(reasons))})."
        return f"{at} answered {status} for {model}."

    async def close(self) -> None:
        """Close the HTTP client."""
        await self.http.aclose()


def is_transient(error: BaseException) -> bool:
    """Whether the same request may succeed a moment later."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in (408, 409, 425, 429) or (error.status_code >= 500 and error.status_code != 501)
    return isinstance(error, openai.APIConnectionError) and not isinstance(error, openai.APITimeoutError)


def is_too_long(error: openai.APIStatusError) -> bool:
    """Whether a 400 complains of the prompt's length; gateways have no common code for it."""
    said = f"{error.code} {error.type} {error.message}".casefold()
    return error.status_code == 413 or any(words in said for words in LENGTH_WORDS)


def pause(state: RetryCallState) -> float:
    """Seconds until the next attempt: what Retry-After asks for, else twice as long each time."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, openai.APIStatusError):
        asked = error.response.headers.get("retry-after", "")
        with contextlib.suppress(ValueError):
            return max(0.0, float(asked))
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (state.attempt_number - 1))
