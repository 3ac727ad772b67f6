"""Who may come in, over HTTP and over sockets."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import BaseRoute, Route, WebSocketRoute
from support.servers import KEY, Running, serving
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from sayahead import ConfigError
from sayahead.server.operation.access import Access
from sayahead.server.operation.settings import Settings
from sayahead.server.protocols import PROTOCOLS

OTHER = "another-key-of-the-tests"
ORIGIN = "https://allowed.example"
# Every address that must not answer without a key, and how it is asked.
CLOSED = [
    ("POST", "/v1/audio/speech"),
    ("GET", "/v1/models"),
    ("GET", "/v1/audio/voices"),
    ("POST", "/v1/tokens"),
]
OPEN = {"/health", "/ready", "/metrics", "/version", "/openapi.json"}
SPEECH = {"model": "sayahead", "voice": "alloy", "input": "Hello.", "response_format": "pcm"}


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(keys=(f"me:{KEY}", OTHER), origins=(ORIGIN,), token_s=1.0) as running:
        yield running


def handshake(server: Running, path: str = "/v1/stream", **options: Any) -> str:
    """The type of the first message, or the status where there is none."""

    async def run() -> str:
        try:
            async with connect(server.ws + path, **options) as socket:
                return str(json.loads(await socket.recv())["type"])
        except InvalidStatus as error:
            return str(error.response.status_code)

    return asyncio.run(run())


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_nothing_speaks_without_a_key(server: Running, method: str, path: str) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"xi-api-key": KEY[:-1]},
        {"Authorization": f"Basic {KEY}"},
    ):
        answer = httpx.request(method, server.http + path, headers=headers, json=SPEECH)
        assert answer.status_code == 401, headers
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_no_socket_opens_without_a_key(server: Running) -> None:
    assert handshake(server) == "401"
    assert handshake(server, "/v1/stream?token=wrong") == "401"
    assert handshake(server, additional_headers={"Authorization": "Bearer wrong"}) == "401"


def addresses(kind: type[BaseRoute], server: Running) -> list[Any]:
    """All addresses of a kind that the server answers at, but those that are open to all: health,
    and the page."""
    modules = [
        module
        for module in PROTOCOLS.values()
        if hasattr(module, "routes") and module.__name__ != "sayahead.server.protocols.page"
    ]
    routes = [route for module in modules for route in module.routes(server.hub)]
    return [
        route
        for route in routes
        if isinstance(route, kind) and getattr(route, "path", "") not in OPEN
    ]


def filled(path: str) -> str:
    """The address with something in its places."""
    return re.sub(r"{\w+(:\w+)?}", "x", path)


def test_no_protocol_forgets_the_key(server: Running) -> None:
    asked = 0
    for route in addresses(Route, server):
        for method in sorted(route.methods - {"HEAD"}):
            answer = httpx.request(method, server.http + filled(route.path), json={})
            assert answer.status_code == 401, (method, route.path)
            asked += 1
    assert asked >= 4


def test_no_socket_of_any_protocol_forgets_the_key(server: Running) -> None:
    async def speak(path: str) -> str:
        try:
            async with connect(server.ws + path) as socket:
                for message in (
                    '{"text": "Hello there, how are you? "}',
                    '{"type": "Speak", "text": "Hello there, you. "}',
                ):
                    await socket.send(message)
                while True:
                    heard = await asyncio.wait_for(socket.recv(), 10)
                    assert isinstance(heard, str), path
                    assert "unauthorized" in heard or "key" in heard.lower(), (path, heard)
        except InvalidStatus as error:
            return str(error.response.status_code)
        except ConnectionClosed as closed:
            return str(closed.rcvd.code if closed.rcvd else 1006)

    paths = [filled(route.path) for route in addresses(WebSocketRoute, server)]
    assert "/v1/stream" in paths
    for path in paths:
        assert asyncio.run(speak(path)) in ("401", "403", "1008"), path
    server.settle()
    assert server.metric("tts_audio_seconds_total", protocol="native") == 0


def test_every_key_opens_wherever_it_is_put(server: Running) -> None:
    for headers in (
        {"Authorization": f"Bearer {KEY}"},
        {"Authorization": f"Token {OTHER}"},
        {"Authorization": KEY},
        {"xi-api-key": OTHER},
        {"X-API-Key": KEY},
    ):
        assert httpx.get(server.http + "/v1/models", headers=headers).status_code == 200
        assert handshake(server, additional_headers=headers) == "session.created"
    assert handshake(server, f"/v1/stream?api_key={KEY}") == "session.created"


def test_health_and_metrics_are_open(server: Running) -> None:
    for path in ("/health", "/ready", "/metrics"):
        assert httpx.get(server.http + path).status_code == 200
    assert "tts_sessions_active" in httpx.get(server.http + "/metrics").text


def token(server: Running) -> dict[str, Any]:
    answer = httpx.post(server.http + "/v1/tokens", headers={"Authorization": f"Bearer {KEY}"})
    assert answer.headers["Cache-Control"] == "no-store"
    data: dict[str, Any] = answer.json()
    return data


def test_a_token_opens_for_a_while_and_makes_no_tokens(server: Running) -> None:
    made = token(server)["token"]
    assert handshake(server, f"/v1/stream?token={made}") == "session.created"
    assert (
        handshake(server, subprotocols=[Subprotocol(f"sayahead-token.{made}")]) == "session.created"
    )
    assert (
        httpx.post(
            server.http + "/v1/tokens", headers={"Authorization": f"Bearer {made}"}
        ).status_code
        == 401
    )
    changed = made[:-1] + ("A" if made[-1] != "A" else "B")
    assert handshake(server, f"/v1/stream?token={changed}") == "401"


def test_a_token_ends() -> None:
    access = Access(Settings(keys=(f"me:{KEY}",), token_s=0.0))
    caller = access.caller(KEY)
    assert caller is not None
    assert access.caller(access.token(caller)[0]) is None
    living = Access(Settings(keys=(f"me:{KEY}",), token_s=60.0))
    made = living.token(caller)[0]
    assert living.caller(made) == caller
    # Another server has another secret, unless it was given the same; a key that is gone takes its
    # tokens with it.
    assert Access(Settings(keys=(f"me:{KEY}",))).caller(made) is None
    shared = Settings(keys=(f"me:{KEY}",), token_secret="s")
    assert Access(shared).caller(Access(shared).token(caller)[0]) == caller
    assert (
        Access(Settings(keys=(f"you:{KEY}",), token_secret="s")).caller(
            Access(shared).token(caller)[0]
        )
        is None
    )


@pytest.mark.parametrize("wrong", ["", ".", "a.b.c", "é.é", "====", "a" * 100_000, "\x00"])
def test_what_is_no_token_is_no_token(wrong: str) -> None:
    assert Access(Settings(keys=(f"me:{KEY}",))).caller(wrong) is None


def test_pages_of_others_stay_out(server: Running) -> None:
    key = {"Authorization": f"Bearer {KEY}"}
    own = f"http://127.0.0.1:{server.port}"
    for origin, status in (("https://evil.example", 403), ("null", 403), (ORIGIN, 200), (own, 200)):
        answer = httpx.get(server.http + "/v1/models", headers={**key, "Origin": origin})
        assert answer.status_code == status, origin
        opened = handshake(server, additional_headers={**key, "Origin": origin})
        assert opened == ("session.created" if status == 200 else "403"), origin
    preflight = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    answer = httpx.options(server.http + "/v1/audio/speech", headers=preflight)
    assert answer.headers["access-control-allow-origin"] == ORIGIN


def test_a_name_that_is_not_the_servers_own_stays_out(server: Running) -> None:
    key = {"Authorization": f"Bearer {KEY}"}
    for host, status in (
        ("evil.example", 403),
        (f"localhost:{server.port}", 200),
        ("[::1]:1", 200),
        ("[", 403),
    ):
        answer = httpx.get(server.http + "/v1/models", headers={**key, "Host": host})
        assert answer.status_code in (status, 400 if host == "[" else status), host


def test_hosts_can_be_named() -> None:
    access = Access(Settings(host="127.0.0.1", hosts=("Speech.Example",)))
    assert access.host_may({"host": "speech.example:8000"})
    assert not access.host_may({"host": "localhost"})
    assert Access(Settings(host="0.0.0.0")).host_may({"host": "anything"})


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("evil.example", False),
        ("evil.example:8000", False),
        ("192.168.0.5:8000", True),
        ("[fe80::1]:8000", True),
        ("speaker.local", True),
        ("localhost", True),
        ("speech", True),
        ("local", True),
        ("evil.example.", False),
    ],
)
def test_without_keys_no_page_gets_in_by_a_name_of_its_own(host: str, allowed: bool) -> None:
    """Any name passed on an address that is not loopback, so that a page's name pointed there was
    the server's own."""
    assert Access(Settings(host="0.0.0.0")).host_may({"host": host}) == allowed
    assert Access(Settings(host="0.0.0.0", keys=("me:first-key",))).host_may({"host": host})


def test_keys_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# ours\nme:{KEY}\n\n{OTHER}\n", encoding="utf-8")
    access = Access(Settings(keys_file=str(file)))
    assert [getattr(access.caller(key), "name", None) for key in (KEY, OTHER, "# ours")] == [
        "me",
        "key-2",
        None,
    ]
    file.write_text("# none\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="contains no key"):
        Access(Settings(keys_file=str(file)))
    with pytest.raises(ConfigError, match="cannot be read"):
        Access(Settings(keys_file=str(tmp_path / "nothing")))
    with pytest.raises(ConfigError, match="shorter than 8"):
        Access(Settings(keys=("me:short",)))


def test_no_voice_but_those_offered_is_read(server: Running, tmp_path: Path) -> None:
    key = {"Authorization": f"Bearer {KEY}"}
    for name in ("../voices/heart", str(tmp_path), "/etc/passwd", "heart/../heart", "ma-lj"):
        answer = httpx.post(
            server.http + "/v1/audio/speech", headers=key, json={**SPEECH, "voice": name}
        )
        assert answer.status_code == 400, name
        assert answer.json()["error"]["param"] == "voice"
