"""Who goes on with a text of another server is let in where others are late, and nobody else by
saying so."""

from __future__ import annotations

import json

import pytest
from support.servers import serving, toy_voice
from websockets.sync.client import connect

from sayahead.server.hub import Hub, RefusedError
from sayahead.server.operation.access import Caller
from sayahead.server.operation.settings import settings_of
from sayahead.server.synthesis.capacity import CHUNKS
from sayahead.server.voices import Voices

KEYS = ("a:first-key", "b:second-key", "c:third-key")
SECRET = "shared-by-all-servers"


def late(secret: str | None) -> Hub:
    """A server that serves its clients too late."""
    voices = Voices(("heart",))
    voices.put(toy_voice())
    settings = settings_of(
        {"keys": KEYS, "token_secret": secret, "limits": {"sessions": 20}, "workers": 1}
    )
    hub = Hub(settings, voices=voices)
    for key in ("first-key", "third-key"):
        hub.enter("native", caller(hub, key))
    for _ in range(4 * CHUNKS):
        hub.lateness.add(1.0)
    return hub


def caller(hub: Hub, key: str) -> Caller:
    found = hub.access.caller(key)
    assert found is not None
    return found


def admitted(hub: Hub, who: Caller, resumed: str) -> bool:
    try:
        hub.enter("native", who, resumed=resumed)
    except RefusedError:
        return False
    return True


def test_who_proves_that_its_server_has_gone_is_let_in_once() -> None:
    """Twelve of twelve newcomers were, who said so."""
    gone = late(SECRET)
    hub = late(SECRET)
    who = caller(hub, "second-key")
    proof = gone.access.resumption(caller(gone, "second-key"), 60)
    assert not admitted(hub, who, "")
    assert not admitted(hub, who, "true")
    assert not admitted(hub, caller(hub, "first-key"), proof)
    assert not admitted(hub, who, gone.access.resumption(who, -1))
    assert not admitted(hub, who, gone.access.token(who)[0])
    assert admitted(hub, who, proof)
    assert not admitted(hub, who, proof)
    # It is no key.
    assert hub.access.caller(proof) is None
    for each in (gone, hub):
        each.close()


def test_who_gives_up_before_a_text_may_come_again() -> None:
    """A client that had waited too long for the answer was refused for as long as others were
    late."""
    hub = late(SECRET)
    who = caller(hub, "second-key")
    proof = hub.access.resumption(who, 60)
    for _ in range(2):
        lease = hub.enter("native", who, resumed=proof)
        assert not admitted(hub, who, proof)
        hub.leave(lease)
    lease = hub.enter("native", who, resumed=proof)
    hub.open_utterance(lease)
    hub.close_utterance(lease)
    hub.leave(lease)
    assert not admitted(hub, who, proof)
    hub.close()


def test_without_a_shared_secret_one_in_ten_places_is_for_those_who_say_so() -> None:
    hub = late(None)
    who = caller(hub, "second-key")
    assert [admitted(hub, who, "true") for _ in range(6)] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    hub.close()


@pytest.mark.parametrize("keys", [KEYS, ()])
def test_the_first_message_has_the_proof(keys: tuple[str, ...]) -> None:
    with serving(keys=keys, token_secret=SECRET) as server:
        with connect(f"{server.ws}/v1/stream?api_key=first-key") as socket:
            proof = json.loads(socket.recv())["resume"]
        found = server.hub.access.caller("first-key", address="127.0.0.1")
        assert found is not None
        assert server.hub.access.resumes(found, proof)
        with connect(f"{server.ws}/v1/stream?api_key=first-key&resumed={proof}") as socket:
            assert json.loads(socket.recv())["type"] == "session.created"
            assert not server.hub.access.resumes(found, proof)
