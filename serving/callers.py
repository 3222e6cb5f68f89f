"""Who calls the server: by API key, by bearer token, or, where no key is demanded, whoever sits at this machine."""

import asyncio
import time
import weakref

from starlette.datastructures import Headers
from starlette.types import Scope

from qkva.contracts.errors import NotAuthenticated, RequestRefused, StoreUnavailable
from qkva.contracts.identity import Caller
from qkva.contracts.keys import PREFIX, KeyStore, read_key
from qkva.graphs.services import default_services
from qkva.serving.bearer import BearerTokens
from qkva.serving.local import is_local
from qkva.settings import Settings, load_settings

LOCAL_USER = "local"
GRACE_SEC = 900.0
"""How long a caller who was known is still served while our own database is away."""
MOST_REMEMBERED = 1_000

NO_KEY = "This server needs an API key (header X-Api-Key) or a bearer token; `qkva keys create` makes a key."
NOT_LOCAL = (
    "No API key exists, so this server serves only programs on its own machine; `qkva keys create` makes a key, "
    "and opens it to whoever has one."
)
UNSURE = (
    "qkva's own database does not answer, so it is not known whether callers need a key: see that it runs, or set "
    "SERVER_AUTH=off to serve this machine alone."
)


class Callers:
    """Knows each caller, and counts its calls."""

    def __init__(self, settings: Settings, keys: KeyStore) -> None:
        self.settings = settings
        self.keys = keys
        self._tokens = BearerTokens.configured(settings)
        self._demanded: bool | None = None
        self._known: dict[bytes, tuple[Caller, float]] = {}

    async def identify(self, scope: Scope) -> Caller:
        """Who calls. Raises NotAuthenticated, TooManyCalls, RequestRefused (not this machine) or StoreUnavailable."""
        shown = credential(Headers(scope=scope))
        if self.settings.server_auth == "off":
            return self._local(scope)
        if shown is not None and shown.startswith(PREFIX):
            return await self._by_key(shown)
        if not await self.demanded():
            return self._local(scope)
        if shown is None or self._tokens is None:
            raise NotAuthenticated(NO_KEY)
        return await self._by_token(shown, self._tokens)

    async def demanded(self) -> bool:
        """Whether callers need a key. Raises StoreUnavailable while that cannot be known."""
        if self.settings.server_auth != "auto" or self._tokens is not None:
            return self.settings.server_auth != "off"
        try:
            self._demanded = await self.keys.demanded()
        except StoreUnavailable:
            if self._demanded is None:
                raise StoreUnavailable(UNSURE) from None
        return bool(self._demanded)

    def _local(self, scope: Scope) -> Caller:
        if not is_local(scope):
            raise RequestRefused(NOT_LOCAL)
        return Caller(tenant_id=self.settings.tenant_id, user=LOCAL_USER, may_review=True)

    async def _by_key(self, text: str) -> Caller:
        key = read_key(text)
        remembered = key.secret_hash
        try:
            caller = await self.keys.use(key, per_minute=self.settings.rate_limit_per_minute)
        except NotAuthenticated:
            self._known.pop(remembered, None)
            raise
        except StoreUnavailable:
            return self._remembered(remembered, key.tenant_id)
        self._demanded = True  # where there is a key, keys are demanded
        self._known.pop(remembered, None)
        self._known[remembered] = (caller, time.monotonic())
        if len(self._known) > MOST_REMEMBERED:
            self._known.pop(next(iter(self._known)))
        return caller

    def _remembered(self, secret_hash: bytes, tenant_id: str) -> Caller:
        """A question is not blocked by its cache: whoever was known a moment ago is served without it."""
        caller, seen_at = self._known.get(secret_hash, (None, 0.0))
        if caller is None or caller.tenant_id != tenant_id or time.monotonic() - seen_at > GRACE_SEC:
            raise StoreUnavailable("qkva's own database does not answer, so no key can be checked: try again.")
        return caller

    async def _by_token(self, token: str, tokens: BearerTokens) -> Caller:
        caller = await tokens.caller(token)
        try:
            await self.keys.count_call(caller, per_minute=self.settings.rate_limit_per_minute)
        except StoreUnavailable:
            pass  # the token says who calls without the database; only the count is lost
        return caller


def credential(headers: Headers) -> str | None:
    """The key or token that is shown; a key of another product in X-Api-Key, as some clients send it, is none."""
    key = headers.get("x-api-key", "").strip()
    if key.startswith(PREFIX):
        return key
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


_callers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Callers] = weakref.WeakKeyDictionary()


async def default_callers() -> Callers:
    """By the environment's settings. Raises QkvaError when the services cannot be opened."""
    services = await default_services()
    loop = asyncio.get_running_loop()
    callers = _callers.get(loop)
    if callers is None or callers.keys is not services.keys:
        assert services.keys is not None, "default services have a key store"
        callers = _callers[loop] = Callers(await asyncio.to_thread(load_settings), services.keys)
    return callers
