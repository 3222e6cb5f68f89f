"""Bearer tokens: JWTs of the company's own identity provider, checked against one key or its published ones."""

import asyncio
import time
from typing import Any

import jwt

from qkva.contracts.errors import ConfigError, NotAuthenticated, StoreUnavailable
from qkva.contracts.identity import REVIEW, TENANT, USER, Caller
from qkva.settings import Settings

SHARED = ("HS256", "HS384", "HS512")
PUBLIC = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Never both for one key: else a public key, which everybody has, could be used as a shared secret."""
SHORTEST_SECRET = 32
LEEWAY_SEC = 30
REVIEW_SCOPE = f"qkva:{REVIEW}"
LONGEST_TOKEN = 16_384
ASK_AGAIN_SEC = 30.0


class BearerTokens:
    """What tokens this server takes, and who they say is calling."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        key = settings.jwt_key.get_secret_value() if settings.jwt_key else ""
        self._key = key.replace("\\n", "\n")  # how a key of several lines is written into one variable
        self._algorithms = PUBLIC if not self._key or "-----BEGIN" in self._key else SHARED
        if self._algorithms is SHARED and len(self._key) < SHORTEST_SECRET:
            raise ConfigError(
                f"JWT_KEY is shorter than {SHORTEST_SECRET} characters: use a longer secret, or a public key."
            )
        self._published = jwt.PyJWKClient(settings.jwt_jwks_url, timeout=5) if settings.jwt_jwks_url else None
        self._asked_again_at = float("-inf")

    @classmethod
    def configured(cls, settings: Settings) -> "BearerTokens | None":
        """None where no key is set. Raises ConfigError."""
        return cls(settings) if settings.jwt_key or settings.jwt_jwks_url else None

    async def caller(self, token: str) -> Caller:
        """Who a token says is calling. Raises NotAuthenticated, or StoreUnavailable if no key can be fetched."""
        if len(token) > LONGEST_TOKEN:
            raise NotAuthenticated("The bearer token is too long.")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                await self._signing_key(token),
                algorithms=self._algorithms,
                issuer=self._settings.jwt_issuer,
                audience=self._settings.jwt_audience,
                leeway=LEEWAY_SEC,
                options={"require": ["exp"], "verify_aud": True, "verify_iss": self._settings.jwt_issuer is not None},
            )
        except jwt.ExpiredSignatureError:
            raise NotAuthenticated("The bearer token has expired: log in again.") from None
        except jwt.PyJWTError as error:
            raise NotAuthenticated(f"The bearer token is not accepted ({type(error).__name__}).") from None
        return self._read(claims)

    async def _signing_key(self, token: str) -> Any:
        if self._published is None:
            return self._key
        try:
            return await asyncio.to_thread(self._published_key, self._published, token)
        except jwt.PyJWKClientConnectionError:
            raise StoreUnavailable("The keys of JWT_JWKS_URL cannot be fetched: see that the issuer answers.") from None

    def _published_key(self, published: jwt.PyJWKClient, token: str) -> Any:
        """The key that a token names.

        One that is not known is looked for at the issuer only now and then, since whoever makes up names could else
        have it asked without end.
        """
        name = jwt.get_unverified_header(token).get("kid", "")
        key = published.match_kid(published.get_signing_keys(), name)
        if key is None and time.monotonic() - self._asked_again_at > ASK_AGAIN_SEC:
            self._asked_again_at = time.monotonic()
            key = published.match_kid(published.get_signing_keys(refresh=True), name)
        if key is None:
            raise jwt.InvalidKeyError
        return key.key

    def _read(self, claims: dict[str, Any]) -> Caller:
        tenant, user = claims.get(self._settings.jwt_tenant_claim), claims.get(self._settings.jwt_user_claim)
        if not isinstance(tenant, str) or not TENANT.fullmatch(tenant):
            raise NotAuthenticated(
                f"The bearer token names no tenant in its claim {self._settings.jwt_tenant_claim!r}."
            )
        if not isinstance(user, str) or not USER.fullmatch(user):
            raise NotAuthenticated(f"The bearer token names no user in its claim {self._settings.jwt_user_claim!r}.")
        scopes = claims.get("scope", claims.get("permissions", ()))
        words = scopes.split() if isinstance(scopes, str) else scopes if isinstance(scopes, list) else ()
        return Caller(tenant_id=tenant, user=user, may_review=REVIEW_SCOPE in words)
