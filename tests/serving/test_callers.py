"""How a server finds out who calls, over the real store: without a key, with a first one, with the store away."""

import json
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from qkva.contracts.errors import ConfigError, NotAuthenticated, RequestRefused, StoreUnavailable, TooManyCalls
from qkva.contracts.identity import Caller
from qkva.contracts.keys import ApiKey, new_key
from qkva.serving.callers import Callers
from qkva.settings import Settings
from qkva.stores.database import Database
from qkva.stores.keys import PostgresKeyStore

pytestmark = pytest.mark.db

LOCAL = Caller(tenant_id="default", user="local", may_review=True)
ABSENT = "postgresql://nobody@127.0.0.1:1/none"


def settings(**fields):
    return Settings(_env_file=None, **fields)


def request(client="127.0.0.1", **headers):
    given = {"host": "127.0.0.1:2024", **{name.replace("_", "-"): value for name, value in headers.items()}}
    raw = [(name.encode(), value.encode()) for name, value in given.items() if value is not None]
    return {"type": "http", "client": (client, 5000), "headers": raw}


@pytest.fixture
def keys(database):
    return PostgresKeyStore(database)


async def made(keys, tenant="acme", user="ann", **fields):
    key = new_key(tenant)
    kept = ApiKey(id=key.id, tenant_id=tenant, user=user, created_at=datetime.now(UTC), **fields)
    await keys.create(key, kept)
    return key


async def test_first_key_shuts_the_door_of_a_running_server(keys):
    callers = Callers(settings(), keys)
    assert await callers.identify(request()) == LOCAL

    key = await made(keys)

    with pytest.raises(NotAuthenticated, match="needs an API key"):
        await callers.identify(request())
    assert (await callers.identify(request(x_api_key=key.text))).identity == "acme/ann"
    assert (await callers.identify(request("10.0.0.7", x_api_key=key.text))).identity == "acme/ann"


async def test_revoking_the_last_key_opens_nothing(keys):
    key = await made(keys)
    assert await keys.end("acme", key.id)

    with pytest.raises(NotAuthenticated):
        await Callers(settings(), keys).identify(request())
    assert not await keys.end("acme", key.id)


@pytest.mark.parametrize(
    "client", ["10.0.0.7", "192.168.1.2", "::ffff:10.0.0.7", "2001:db8::1", "0.0.0.0", "testclient", ""]
)
async def test_other_machines_need_a_key(keys, client):
    with pytest.raises(RequestRefused, match="only programs on its own machine"):
        await Callers(settings(), keys).identify(request(client))


@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
async def test_own_machine_needs_none(keys, client):
    assert await Callers(settings(tenant_id="mine"), keys).identify(request(client)) == Caller(
        tenant_id="mine", user="local", may_review=True
    )


async def test_no_host_is_no_local_call(keys):
    with pytest.raises(RequestRefused):
        await Callers(settings(), keys).identify(request(host=None))


async def test_keys_can_be_demanded_before_there_is_one(keys):
    with pytest.raises(NotAuthenticated):
        await Callers(settings(server_auth="keys"), keys).identify(request())


async def test_switched_off_serves_this_machine_whatever_is_shown(keys):
    key = await made(keys)
    callers = Callers(settings(server_auth="off"), keys)

    assert await callers.identify(request(x_api_key=key.text)) == LOCAL
    with pytest.raises(RequestRefused):
        await callers.identify(request("10.0.0.7", x_api_key=key.text))


async def test_nobody_is_served_while_it_is_not_known_whether_keys_are_demanded():
    database = await Database.open(ABSENT)

    with pytest.raises(StoreUnavailable, match="SERVER_AUTH=off"):
        await Callers(settings(), PostgresKeyStore(database)).identify(request())

    assert await Callers(settings(server_auth="off"), PostgresKeyStore(database)).identify(request()) == LOCAL
    await database.close()


async def test_known_callers_are_served_while_the_store_is_away(keys, database, monkeypatch):
    """Nobody else is, and not for ever."""
    key, other = await made(keys), await made(keys, user="abe")
    callers = Callers(settings(), keys)
    await callers.identify(request(x_api_key=key.text))
    away = await Database.open(ABSENT)
    callers.keys._database = away

    assert (await callers.identify(request(x_api_key=key.text))).identity == "acme/ann"
    with pytest.raises(StoreUnavailable):
        await callers.identify(request(x_api_key=other.text))
    with pytest.raises(NotAuthenticated):
        await callers.identify(request())
    stolen = key.model_copy(update={"tenant_id": "bolt"})
    with pytest.raises(StoreUnavailable):
        await callers.identify(request(x_api_key=stolen.text))
    monkeypatch.setattr("qkva.serving.callers.GRACE_SEC", -1.0)
    with pytest.raises(StoreUnavailable):
        await callers.identify(request(x_api_key=key.text))
    await away.close()


async def test_revoked_key_is_forgotten(keys):
    key = await made(keys)
    callers = Callers(settings(), keys)
    await callers.identify(request(x_api_key=key.text))
    await keys.end("acme", key.id)
    with pytest.raises(NotAuthenticated):
        await callers.identify(request(x_api_key=key.text))

    callers.keys._database = away = await Database.open(ABSENT)
    with pytest.raises(StoreUnavailable):
        await callers.identify(request(x_api_key=key.text))
    await away.close()


async def test_budget_is_one_for_all_servers_and_fills_again(keys, database):
    key = await made(keys, per_minute=60)
    servers = [Callers(settings(), keys), Callers(settings(), PostgresKeyStore(database))]
    for number in range(60):
        await servers[number % 2].identify(request(x_api_key=key.text))
    # 60 a minute are one a second, and some seconds may have passed
    with pytest.raises(TooManyCalls):
        for number in range(60):
            await servers[number % 2].identify(request(x_api_key=key.text))

    async with database.tenant_transaction("acme") as connection:
        await connection.execute("update qkva.call_budgets set filled_at = filled_at - interval '5 seconds'")
    for _ in range(5):
        await servers[0].identify(request(x_api_key=key.text))


async def test_budget_never_holds_more_than_a_minute(keys, database):
    key = await made(keys, per_minute=2)
    callers = Callers(settings(), keys)
    await callers.identify(request(x_api_key=key.text))
    async with database.tenant_transaction("acme") as connection:
        await connection.execute("update qkva.call_budgets set filled_at = filled_at - interval '1 day'")
    for _ in range(2):
        await callers.identify(request(x_api_key=key.text))
    with pytest.raises(TooManyCalls):
        await callers.identify(request(x_api_key=key.text))


async def test_user_of_tokens_has_a_budget(keys):
    secret = "x" * 32
    callers = Callers(settings(jwt_key=secret, rate_limit_per_minute=2), keys)

    def bearer(user):
        claims = {"sub": user, "tenant": "acme", "exp": datetime.now(UTC) + timedelta(minutes=1)}
        return request(authorization=f"Bearer {jwt.encode(claims, secret)}")

    for _ in range(2):
        await callers.identify(bearer("ann"))
    with pytest.raises(TooManyCalls):
        await callers.identify(bearer("ann"))
    assert (await callers.identify(bearer("abe"))).identity == "acme/abe"


@pytest.mark.parametrize("made_of", ["rsa", "ec"])
async def test_public_key_is_no_shared_secret(keys, made_of):
    """Whoever knows the public key, as everybody may, signs nothing with it."""
    private = rsa.generate_private_key(65537, 2048) if made_of == "rsa" else ec.generate_private_key(ec.SECP256R1())
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    callers = Callers(settings(jwt_key=public.decode(), jwt_issuer="https://id.example"), keys)
    claims = {
        "sub": "ann",
        "tenant": "acme",
        "iss": "https://id.example",
        "exp": datetime.now(UTC) + timedelta(minutes=1),
    }
    good = jwt.encode(claims, private, algorithm="RS256" if made_of == "rsa" else "ES256")
    assert (await callers.identify(request(authorization=f"Bearer {good}"))).identity == "acme/ann"

    head = jwt.utils.base64url_encode(b'{"alg":"HS256","typ":"JWT"}')
    body = good.split(".")[1].encode()
    signature = jwt.utils.base64url_encode(
        jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(head + b"." + body, public)
    )
    with pytest.raises(NotAuthenticated):
        await callers.identify(request(authorization=f"Bearer {b'.'.join((head, body, signature)).decode()}"))
    foreign = jwt.encode(
        {**claims, "iss": "https://evil.example"}, private, algorithm="RS256" if made_of == "rsa" else "ES256"
    )
    with pytest.raises(NotAuthenticated):
        await callers.identify(request(authorization=f"Bearer {foreign}"))


class Issuer:
    """An identity provider that publishes its keys, and counts how often it is asked."""

    def __init__(self):
        self.keys, self.asked = {}, 0
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.asked += 1
                body = json.dumps({"keys": [issuer.published(name) for name in issuer.keys]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/keys"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def published(self, name):
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.keys[name].public_key()))
        return {**key, "kid": name, "use": "sig", "alg": "RS256"}

    def token(self, name, key=None):
        claims = {"sub": "ann", "tenant": "acme", "exp": datetime.now(UTC) + timedelta(minutes=1)}
        return jwt.encode(claims, key or self.keys[name], algorithm="RS256", headers={"kid": name})

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


async def test_published_keys_are_fetched_and_followed(keys):
    """A new key of the issuer is found; names that somebody makes up do not have it asked again and again."""
    issuer = Issuer()
    try:
        issuer.keys["first"] = rsa.generate_private_key(65537, 2048)
        callers = Callers(settings(jwt_jwks_url=issuer.url), keys)

        def bearer(token):
            return request(authorization=f"Bearer {token}")

        for _ in range(3):
            assert (await callers.identify(bearer(issuer.token("first")))).identity == "acme/ann"
        assert issuer.asked == 1
        issuer.keys["second"] = rsa.generate_private_key(65537, 2048)
        assert (await callers.identify(bearer(issuer.token("second")))).identity == "acme/ann"
        assert issuer.asked == 2
        stranger = rsa.generate_private_key(65537, 2048)
        for name in ("first", "made up", "made up too"):
            with pytest.raises(NotAuthenticated):
                await callers.identify(bearer(issuer.token(name, stranger)))
        assert issuer.asked == 2
    finally:
        issuer.close()
    with pytest.raises(StoreUnavailable, match="JWT_JWKS_URL cannot be fetched"):
        await Callers(settings(jwt_jwks_url=issuer.url), keys).identify(bearer(issuer.token("first")))


def test_short_secret_is_refused(keys):
    with pytest.raises(ConfigError, match="JWT_KEY is shorter than 32 characters"):
        Callers(settings(jwt_key="too short"), keys)


async def test_keys_of_one_tenant_are_not_seen_by_another(keys, app_database_url):
    await made(keys)
    assert await keys.list_keys("bolt") == []
    assert [key.user for key in await keys.list_keys("acme")] == ["ann"]


@pytest.mark.parametrize("tenant", ["", "*", "a/b", "a b", ".", "-a", "a\n", "x" * 129])
def test_what_cannot_name_a_tenant_is_no_setting(tenant):
    with pytest.raises(ValueError, match="tenant"):
        settings(tenant_id=tenant)
