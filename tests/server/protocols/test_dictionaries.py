"""ElevenLabs' pronunciation dictionaries and tags, by hand."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from support.servers import Running, serving, toy_voice
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from sayahead.server.protocols import dictionaries
from sayahead.types import Floats

PATH = "/v1/pronunciation-dictionaries"
RULES: list[dict[str, Any]] = [
    {"type": "alias", "string_to_replace": "SQL", "alias": "sequel"},
    {"type": "alias", "string_to_replace": "Fine", "alias": "grand", "case_sensitive": False},
]
MANY = [{"type": "alias", "string_to_replace": f"a{i}", "alias": "b"} for i in range(1001)]
PLS = """<?xml version="1.0"?><lexicon version="1.0" alphabet="ipa">
<lexeme><grapheme>SQL</grapheme><alias>squeal</alias></lexeme></lexicon>"""
QUERY = {"output_format": "pcm_8000"}


@pytest.fixture
def http(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.http) as client:
        yield client


def floats(data: bytes) -> Floats:
    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32767)


def same(sound: Floats, text: str) -> bool:
    wanted = toy_voice().synthesize(text)
    return len(sound) == len(wanted) and bool(np.abs(sound - wanted).max() < 1e-4)


def spoken(
    server: Running, first: dict[str, Any], text: str, query: str = ""
) -> tuple[Floats, dict[str, Any]]:
    """The sound of a text on ``stream-input``, and the last message."""

    async def run() -> tuple[Floats, dict[str, Any]]:
        address = f"{server.ws}/v1/text-to-speech/x/stream-input?output_format=pcm_8000{query}"
        async with connect(address) as socket:
            heard = b""
            last = dict[str, Any]()
            with contextlib.suppress(ConnectionClosed):
                for message in (
                    {"text": " ", **first},
                    {"text": text[:5]},
                    {"text": text[5:]},
                    {"text": ""},
                ):
                    await socket.send(json.dumps(message))
            with contextlib.suppress(ConnectionClosed):
                async for answer in socket:
                    last = json.loads(answer)
                    heard += base64.b64decode(last.get("audio") or "")
            return floats(heard), last

    return asyncio.run(asyncio.wait_for(run(), 30))


def test_a_dictionary_is_made_named_and_used(server: Running, http: httpx.Client) -> None:
    made = http.post(PATH + "/add-from-rules", json={"name": "mine", "rules": RULES}).json()
    assert (made["name"], made["version_rules_num"]) == ("mine", 2)
    locators = [{"pronunciation_dictionary_id": made["id"], "version_id": made["version_id"]}]
    chosen = {"pronunciation_dictionary_locators": locators}
    assert same(spoken(server, chosen, "My SQL is fine.")[0], "My sequel is grand.")
    body = {"text": "My SQL is fine.", **chosen}
    assert same(
        floats(http.post("/v1/text-to-speech/x", params=QUERY, json=body).content),
        "My sequel is grand.",
    )


@pytest.fixture
def keyed() -> Iterator[httpx.Client]:
    with (
        serving(keys=("one:first-key",)) as server,
        httpx.Client(base_url=server.http, headers={"xi-api-key": "first-key"}) as client,
    ):
        yield client


def test_a_dictionary_is_changed_listed_and_dropped(keyed: httpx.Client) -> None:
    http = keyed
    form: dict[str, Any] = {"name": (None, "filed"), "file": ("a.pls", PLS.encode())}
    made = http.post(PATH + "/add-from-file", files=form).json()
    own = f"{PATH}/{made['id']}"
    more = http.post(own + "/add-rules", json={"rules": RULES}).json()
    assert more["version_rules_num"] == 2
    less = http.post(own + "/remove-rules", json={"rule_strings": ["fine"]}).json()
    assert less["version_rules_num"] == 1
    assert http.get(own).json()["latest_version_id"] == less["version_id"]
    text = http.get(f"{own}/{made['version_id']}/download").text
    assert "<grapheme>SQL</grapheme><alias>squeal</alias>" in text
    assert [row["id"] for row in http.get(PATH).json()["pronunciation_dictionaries"]] == [
        made["id"]
    ]
    two = [
        {"pronunciation_dictionary_id": made["id"], "version_id": version}
        for version in (made["version_id"], more["version_id"])
    ]
    body = {"text": "SQL is fine.", "pronunciation_dictionary_locators": two}
    assert same(
        floats(http.post("/v1/text-to-speech/x", params=QUERY, json=body).content),
        "squeal is grand.",
    )
    assert http.patch(own, json={"archived": True}).status_code == 200
    assert http.get(own).status_code == 400


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        ("add-from-rules", {"name": "x", "rules": []}, "rules must be a list"),
        ("add-from-rules", {"rules": RULES}, "name must be a text"),
        ("add-from-rules", {"name": "x", "rules": [{"type": "alias"}]}, "rule 1: expected type"),
        (
            "add-from-rules",
            {"name": "x", "rules": [{**RULES[0], "string_to_replace": "+"}]},
            "rule 1: '+'",
        ),
        ("add-from-rules", {"name": "x", "rules": MANY}, "1001 entries are too many"),
        ("add-from-file", {"name": "x"}, "no form"),
        ("nothing/add-rules", {"rules": RULES}, "no pronunciation dictionary 'nothing'"),
    ],
)
def test_bad_dictionaries(http: httpx.Client, path: str, body: dict[str, Any], why: str) -> None:
    answer = http.post(f"{PATH}/{path}", json=body)
    assert answer.status_code == 400
    assert why in answer.json()["detail"]["message"]


def test_dictionaries_are_a_keys_own() -> None:
    """A token of a page could rewrite and archive those of its key."""
    with (
        serving(keys=("one:first-key", "two:second-key")) as server,
        httpx.Client(base_url=server.http) as http,
    ):
        one, two = ({"xi-api-key": key} for key in ("first-key", "second-key"))
        made = http.post(
            PATH + "/add-from-rules", json={"name": "mine", "rules": RULES}, headers=one
        ).json()
        own = f"{PATH}/{made['id']}"
        token = {"xi-api-key": http.post("/v1/tokens", headers=one).json()["token"]}
        for who, status in ((one, 200), (two, 400), (token, 401)):
            body = {"rules": [{"type": "alias", "string_to_replace": "SQL", "alias": "poison"}]}
            assert http.post(own + "/add-rules", json=body, headers=who).status_code == status
            assert http.get(own, headers=who).status_code == status
        assert [
            row["id"] for row in http.get(PATH, headers=one).json()["pronunciation_dictionaries"]
        ] == [made["id"]]
        assert http.get(PATH, headers=two).json()["pronunciation_dictionaries"] == []
        assert http.patch(own, json={"archived": True}, headers=token).status_code == 401


def test_what_an_owner_keeps_has_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 dictionaries had 8 versions each, whole, of any length."""
    monkeypatch.setattr(dictionaries, "MAX_SIZE", 3000)
    headers = {"xi-api-key": "first-key"}
    with (
        serving(keys=("one:first-key",)) as server,
        httpx.Client(base_url=server.http, headers=headers) as http,
    ):
        rules = [{"type": "alias", "string_to_replace": f"a{i}", "alias": "b"} for i in range(10)]
        made = http.post(PATH + "/add-from-rules", json={"name": "mine", "rules": rules}).json()
        assert http.post(f"{PATH}/{made['id']}/add-rules", json={"rules": rules}).status_code == 200
        refused = http.post(f"{PATH}/{made['id']}/add-rules", json={"rules": rules})
        assert (refused.status_code, "too large" in refused.text) == (400, True)
        long = [{"type": "alias", "string_to_replace": "a", "alias": "b" * 201}]
        assert (
            "200 are allowed"
            in http.post(PATH + "/add-from-rules", json={"name": "x", "rules": long}).text
        )


def test_without_keys_nobody_rewrites_what_anybody_made(http: httpx.Client) -> None:
    """Whoever knew a dictionary's name, which texts have, changed it for all."""
    made = http.post(PATH + "/add-from-rules", json={"name": "mine", "rules": RULES}).json()
    own = f"{PATH}/{made['id']}"
    assert http.post(own + "/add-rules", json={"rules": RULES}).status_code == 403
    assert http.post(own + "/remove-rules", json={"rule_strings": ["SQL"]}).status_code == 403
    assert http.patch(own, json={"archived": True}).status_code == 403
    assert http.get(own).json()["latest_version_id"] == made["version_id"]
    # It may be anybody's, and nobody is told of it.
    assert http.get(PATH).json()["pronunciation_dictionaries"] == []


def test_without_keys_one_client_leaves_others_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 64 of one client, nobody could make one for an hour."""
    monkeypatch.setattr(dictionaries, "MAX_DICTIONARIES", 3)
    body = {"name": "mine", "rules": RULES}
    with serving() as server, httpx.Client(base_url=server.http) as http:
        assert [http.post(PATH + "/add-from-rules", json=body).status_code for _ in range(4)] == [
            200
        ] * 3 + [400]
        # What was used lately stays, for a minute.
        monkeypatch.setattr(dictionaries, "SPARED_S", 0.0)
        assert http.post(PATH + "/add-from-rules", json=body).status_code == 200


def test_who_may_only_ask_makes_no_dictionaries(tmp_path: Path) -> None:
    """Keys that may only ask, or use other protocols, made and changed them."""
    keys = tmp_path / "keys.toml"
    tables = (
        '[desk]\nkey = "desk-secret"\nread_only = true\n[other]\nkey = "other-secret"\nprotocols ='
        ' ["native"]\n'
    )
    keys.write_text(tables + '[own]\nkey = "own-secret"\n', encoding="utf-8")
    with serving(keys_file=str(keys)) as server, httpx.Client(base_url=server.http) as http:
        made = http.post(
            PATH + "/add-from-rules",
            json={"name": "a", "rules": RULES},
            headers={"xi-api-key": "own-secret"},
        )
        assert made.status_code == 200
        own = f"{PATH}/{made.json()['id']}"
        for key in ("desk", "other"):
            headers = {"xi-api-key": f"{key}-secret"}
            for path in (
                PATH + "/add-from-rules",
                PATH + "/add-from-file",
                own + "/add-rules",
                own + "/remove-rules",
            ):
                assert (
                    http.post(path, json={"name": "a", "rules": RULES}, headers=headers).status_code
                    == 403
                ), path
            assert http.patch(own, json={"name": "b"}, headers=headers).status_code == 403
            assert http.get(PATH, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"--b\r\n" * 2000,
        b"--b\r\nContent-Disposition: form-data; name=" + b"(" * 20_000 + b"\r\n\r\nx\r\n--b--\r\n",
        b"--b\r\nContent-Disposition: form-data" + b";" * 16_000 + b" name=a\r\n\r\nx\r\n--b--\r\n",
        b"".join(
            b'--b\r\nContent-Disposition: form-data; name="%d"\r\n\r\nx\r\n' % n for n in range(100)
        )
        + b"--b--\r\n",
    ],
    ids="nested comments semicolons many".split(),
)
def test_forms_that_take_long_to_read_take_no_time(http: httpx.Client, body: bytes) -> None:
    """Each was a second of the event loop, or an answer of 500."""
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    begun = time.perf_counter()
    answer = http.post(PATH + "/add-from-file", content=body, headers=headers)
    assert answer.status_code == 400
    assert time.perf_counter() - begun < 0.5


def test_a_version_is_a_text(http: httpx.Client) -> None:
    """A list was an answer of 500."""
    made = http.post(PATH + "/add-from-rules", json={"name": "mine", "rules": RULES}).json()
    for version in ([1], {"a": 1}, 7):
        locators = [{"pronunciation_dictionary_id": made["id"], "version_id": version}]
        answer = http.post(
            "/v1/text-to-speech/x",
            json={"text": "Hi.", "pronunciation_dictionary_locators": locators},
        )
        assert (answer.status_code, "has no version" in answer.text) == (400, True)


def test_an_unknown_dictionary_is_told(server: Running) -> None:
    unknown = [{"pronunciation_dictionary_id": "abc"}]
    sound, last = spoken(server, {"pronunciation_dictionary_locators": unknown}, "Hello there.")
    assert not len(sound)
    assert "There is no pronunciation dictionary 'abc' on this server" in last["message"]


def test_tags_are_heard_where_they_are_asked_for(server: Running, http: httpx.Client) -> None:
    text = 'Hello. <break time="1.0s" /> You.'
    broken, _ = spoken(server, {}, text, "&enable_ssml_parsing=true")
    plain, _ = spoken(server, {}, text)
    assert same(plain, text)
    assert len(broken) - len(plain) == pytest.approx(8000, abs=800)
    over_http = floats(http.post("/v1/text-to-speech/x", params=QUERY, json={"text": text}).content)
    assert len(over_http) == len(broken)
