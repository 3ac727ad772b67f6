"""A running server takes over what its files say, and no conversation ends."""

from __future__ import annotations

import asyncio
import logging
import shutil
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.servers import Running, certified, serving

from sayahead.client import AsyncClient, ServerError
from sayahead.server import reload
from sayahead.server.operation.access import Access
from sayahead.server.operation.settings import Settings
from sayahead.server.reload import TAKEN_OVER, taken_over
from sayahead.server.voices import Voices
from sayahead.text.saying.lexicon import Lexicon

TEXT = "Hello there, how are you today? I am fine. "


def until(condition: Callable[[], bool], most_s: float = 10.0) -> None:
    """Wait until something holds: on a free machine a second, of which a loaded one needs
    several."""
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() < begin + most_s
        time.sleep(0.02)


def renamed(path: Path, text: str) -> None:
    """Write a file beside another, and rename it: nobody sees half of it."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the command openssl")
def test_keys_lexicon_and_certificate_change_while_somebody_speaks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = tmp_path / "keys"
    lexicon = tmp_path / "lexicon"
    keys.write_text("me:first-key\nold:second-key\n", encoding="utf-8")
    lexicon.write_text("SQL = sequel\n", encoding="utf-8")
    key, certificate = certified(tmp_path)
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("SSL_CERT_FILE", certificate)

    def status(name: str) -> int:
        answer = httpx.get(
            f"{address}/v1/models", headers={"Authorization": f"Bearer {name}"}, verify=False
        )
        return answer.status_code

    def serial() -> str:
        return ssl.get_server_certificate(("127.0.0.1", server.port))

    def failed() -> float:
        return server.metric("tts_reloads_total", outcome="failed")

    async def run() -> None:
        async with AsyncClient(address, key="first-key") as client:
            speech = client.open_speech()
            await speech.push("A database of SQL. ")
            words = [word.text for word in (await anext(speech)).words]
            await asyncio.to_thread(change)
            await speech.push("A database of SQL. ")
            await speech.finish()
            words += [word.text async for chunk in speech for word in chunk.words]
            assert len(words) == 8
        with pytest.raises(ServerError, match="401"):
            async with AsyncClient(address, key="second-key"):
                pass

    def change() -> None:
        renamed(keys, "me:first-key\nnew:third-key\n")
        until(lambda: status("second-key") == 401)
        assert (status("first-key"), status("third-key")) == (200, 200)
        # What is wrong changes nothing, and is told.
        keys.write_text("short\n", encoding="utf-8")
        until(lambda: failed() == 1)
        lexicon.write_text("no entry\n", encoding="utf-8")
        until(lambda: any("no entry" in record.getMessage() for record in caplog.records))
        before = serial()
        old = server.hub.lexicon
        assert (status("first-key"), status("third-key")) == (200, 200)
        assert any(
            "is shorter than 8 characters" in record.getMessage() for record in caplog.records
        )
        # It holds up no other file.
        keys.write_text("me:first-key\nanother:fourth-key\n", encoding="utf-8")
        until(lambda: status("third-key") == 401)
        assert (status("first-key"), status("fourth-key"), server.hub.lexicon is old) == (
            200,
            200,
            True,
        )
        keys.write_text("me:first-key\n", encoding="utf-8")
        lexicon.write_text("SQL = squeal\n", encoding="utf-8")
        for made, used in zip(certified(tmp_path / "other"), (key, certificate), strict=True):
            shutil.move(made, used)
        until(lambda: serial() != before and status("fourth-key") == 401)
        assert server.hub.lexicon is not old

    settings: dict[str, Any] = {
        "keys_file": str(keys),
        "lexicon": str(lexicon),
        "certificate": certificate,
        "certificate_key": key,
    }
    with caplog.at_level(logging.INFO, "sayahead.server"), serving(**settings) as server:
        address = server.http.replace("http", "https")
        asyncio.run(run())


def test_a_key_that_goes_while_others_are_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = tmp_path / "keys"
    lexicon = tmp_path / "lexicon"
    keys.write_text("me:first-key\nold:second-key\n", encoding="utf-8")
    lexicon.write_text("SQL = sequel\n", encoding="utf-8")
    read = Lexicon.of

    def slow(path: Any) -> Lexicon:
        # The keys were read by now.
        keys.write_text("me:first-key\n", encoding="utf-8")
        return read(path)

    def status() -> int:
        return httpx.get(
            f"{server.http}/v1/models", headers={"Authorization": "Bearer second-key"}
        ).status_code

    with serving(keys_file=str(keys), lexicon=str(lexicon)) as server:
        assert status() == 200
        monkeypatch.setattr(Lexicon, "of", slow)
        lexicon.write_text("SQL = squeal\n", encoding="utf-8")
        until(lambda: status() == 401)


def test_a_key_that_goes_waits_for_no_voices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = tmp_path / "keys"
    keys.write_text("old:second-key\n", encoding="utf-8")

    def again(*_: object) -> None:
        raise AssertionError("Voices were read, of which nothing had changed.")

    with serving(keys_file=str(keys)) as server:
        server.hub.given_voices = False
        monkeypatch.setattr("sayahead.server.reload.Voices", again)
        keys.write_text("old:third-key\n", encoding="utf-8")
        until(lambda: server.hub.access.caller("second-key") is None)
        assert server.hub.access.caller("third-key") is not None


def test_no_text_begins_for_a_key_that_is_gone(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("me:first-key\nold:second-key\n", encoding="utf-8")

    async def run() -> None:
        async with AsyncClient(server.ws, key="second-key") as client:
            speech = client.open_speech()
            await speech.push(TEXT)
            assert await anext(speech)
            assert caller is not None
            token = server.hub.access.token(caller)[0]
            keys.write_text("me:first-key\nold:another-key\n", encoding="utf-8")
            await asyncio.to_thread(
                until, lambda: server.hub.access.caller("another-key") is not None
            )
            # What was made for the old key opens nothing, whatever the name of the new one.
            assert server.hub.access.caller(token) is None
            # Who speaks is heard to the end, and begins no other text.
            await speech.push(TEXT)
            await speech.finish()
            assert [chunk async for chunk in speech]
            with pytest.raises(ServerError, match="not valid any more"):
                [chunk async for chunk in client.stream([TEXT])]

    with serving(keys_file=str(keys)) as server:
        caller = server.hub.access.caller("second-key")
        asyncio.run(run())


def test_what_needs_a_restart_is_told() -> None:
    old = Settings(port=1, voices=("a",))
    new = Settings(port=2, voices=("b",), certificate="c")
    settings, kept = taken_over(old, new)
    assert (settings.port, settings.voices, settings.certificate) == (1, ("b",), None)
    assert kept == ["port", "certificate"]
    assert set(TAKEN_OVER.split()) <= set(Settings.__slots__)


def test_voices_come_and_go() -> None:
    old = Voices(("heart", "heart-low"))
    heart = old.load("heart")
    low = old.load("heart-low")
    new = Voices(("heart-low", "heart"))
    new.take_over(old)
    assert new.loaded == {"heart": heart, "heart-low": low}
    assert new.default == "heart-low"
    new.unload(0)
    new.unload(1000)
    assert set(new.loaded) == {"heart", "heart-low"}
    new.unload(1e-9)
    # The default one stays.
    assert set(new.loaded) == {"heart-low"}
    assert new.in_use("heart") is None
    assert new.load("heart") is not heart


def known(server: Running, key: str) -> bool:
    return server.hub.access.caller(key) is not None


def test_a_key_that_goes_waits_for_no_thread_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asked for usage while its database hung kept a revoked key good, his own too."""
    keys = tmp_path / "keys"
    lexicon = tmp_path / "lexicon"
    held = threading.Event()
    keys.write_text("me:first-key\nold:second-key\n", encoding="utf-8")
    lexicon.write_text("SQL = sequel\n", encoding="utf-8")

    def hang(*_: object) -> Any:
        held.wait(60)
        raise OSError("The database went away.")

    async def ask(server: Running) -> list[int]:
        headers = {"Authorization": "Bearer second-key"}
        async with httpx.AsyncClient(timeout=60) as http:
            asked = [http.get(f"{server.http}/v1/usage", headers=headers) for _ in range(30)]
            return [answer.status_code for answer in await asyncio.gather(*asked)]

    with serving(keys_file=str(keys), lexicon=str(lexicon)) as server:
        monkeypatch.setattr(server.hub.usage, "rows", hang)
        monkeypatch.setattr(Lexicon, "of", hang)
        # All that asyncio's own threads could do hangs, and so does a reload of the lexicon.
        lexicon.write_text("SQL = squeal\n", encoding="utf-8")
        asyncio.run(ask(server))
        until(lambda: server.hub.metrics.registry is not None and lexicon_is_read(server))
        renamed(keys, "me:first-key\n")
        until(lambda: not known(server, "second-key"), most_s=5)
        assert known(server, "first-key")
        held.set()


def lexicon_is_read(server: Running) -> bool:
    """Whether the thread that reads lexicons has been given this one."""
    return any(thread.name == "reload" for thread in threading.enumerate())


def test_half_a_keys_file_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Good keys were refused, and the first half of a key let in."""
    keys = tmp_path / "keys"
    names = [f"key-{number}:secret-{number:08}" for number in range(10)]
    whole = "\n".join(names) + "\n"
    keys.write_text(whole, encoding="utf-8")

    def failed() -> float:
        return server.metric("tts_reloads_total", outcome="failed")

    with serving(keys_file=str(keys)) as server:
        loop = server.server.servers[0].get_loop()
        # Cut in the middle of a key: as a program leaves it that died while it wrote.
        keys.write_text(whole[: len(whole) // 2 - 3], encoding="utf-8")
        until(lambda: failed() == 1)
        # At the end of a line, with fewer than half of the keys.
        keys.write_text("\n".join(names[:4]) + "\n", encoding="utf-8")
        until(lambda: failed() == 2)
        loop.call_soon_threadsafe(server.server.reload)
        assert all(known(server, name.partition(":")[2]) for name in names)
        assert not known(server, "secret-0")
        # The rest comes.
        keys.write_text(whole.replace("key-9:secret", "key-9:another"), encoding="utf-8")
        until(lambda: known(server, "another-00000009"))
        assert all(known(server, name.partition(":")[2]) for name in names[:9])
        assert not known(server, "secret-00000009")
        # Few keys that stay are meant, and so are those of a file that was renamed.
        monkeypatch.setattr(reload, "FEWER_S", 0.0)
        keys.write_text("\n".join(names[:2]) + "\n", encoding="utf-8")
        until(lambda: not known(server, "secret-00000005"))
        monkeypatch.setattr(reload, "FEWER_S", 60.0)
        renamed(keys, names[0])
        until(lambda: not known(server, "secret-00000001"))
        assert known(server, "secret-00000000")


def test_keys_by_the_thousand_cost_no_more_than_one(tmp_path: Path) -> None:
    """Each request compared all keys."""
    compared = 0

    class Counting(bytes):
        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return bytes(self) == other

        __hash__ = bytes.__hash__

    path = tmp_path / "keys"
    path.write_text(
        "".join(f"key-{number}:secret-{number:08}\n" for number in range(2000)), encoding="utf-8"
    )
    access = Access(Settings(keys_file=str(path)))
    access._keys = {Counting(digest): key for digest, key in access._keys.items()}
    assert access.caller("secret-00001234") is not None
    assert access.caller("wrong-key-of-somebody") is None
    assert compared < 20


def test_tokens_of_both_keys_of_one_name_are_good() -> None:
    """While a key is exchanged for another, those of the older one were refused."""
    access = Access(Settings(keys=("acme:older-secret", "acme:newer-secret")))
    for key in ("older-secret", "newer-secret"):
        caller = access.caller(key)
        assert caller is not None
        token, _ = access.token(caller)
        again = access.caller(token)
        assert again is not None
        assert again.digest == caller.digest
    only = Access(Settings(keys=("acme:newer-secret",)), before=access)
    older = access.caller("older-secret")
    assert older is not None
    assert only.caller(access.token(older)[0]) is None
