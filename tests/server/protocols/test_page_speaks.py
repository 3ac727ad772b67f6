"""The page in a real browser: sound comes out, words light up in order, and silence is silence.

All else that it can do is in ``test_page.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from support.browser import NAME, drawl, seated
from support.effort import FULL
from support.servers import Running, serving

TEXT = "Hello there, how are you today? I am fine, thank you. "
LONG = "one two three four five six seven eight nine ten, eleven twelve. " * 40


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(voice=drawl()) as running:
        yield running


def test_everything_comes_from_the_server_itself(server: Running, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.http, wait_until="networkidle")
    assert len(asked) > 8
    assert all(url.startswith(server.http) for url in asked)
    context.close()


def test_what_is_typed_is_heard_while_typing_and_lights_up_in_order(
    server: Running, browser: Browser
) -> None:
    with seated(browser, server.http) as seat:
        seat.type(TEXT[:18])
        seat.until("window.loud() > 0.05")
        assert seat.value("document.body.dataset.way") == "worklet"
        seat.type(TEXT[18:])
        # Nobody presses a key to end it: a pause does.
        seat.until("window.seen.some(([text, state]) => text === 'you.' && state === 'now')")
        seat.until_heard()
        assert seat.lit == TEXT.split()
        assert seat.value("window.loud()") == 0
        assert seat.value("document.querySelectorAll('#mirror .heard').length") == len(TEXT.split())
        for row in ("first", "ready", "heard"):
            assert seat.cell(row, 0) != "–"
            assert seat.cell(row, 2) == "–"


@pytest.mark.parametrize("host", ["127.0.0.1", pytest.param(NAME, marks=pytest.mark.slow)])
def test_escape_is_silence_at_once(browser: Browser, host: str) -> None:
    with serving(voice=drawl(), hosts=(host, "127.0.0.1")) as server:
        address = f"http://{host}:{server.port}/"
        with seated(browser, address) as seat:
            seat.put(LONG)
            seat.until(
                "window.loud() > 0.05 && document.querySelectorAll('#mirror .ready').length > 200"
            )
            # 300 words and more lie ready: nothing but the key can end that.
            seat.page.keyboard.press("Escape")
            seat.page.wait_for_timeout(1500)
            assert seat.value("window.loud()") == 0
            # A busy machine may be late by a second; only a full run has a machine of its own.
            assert seat.value("window.echo") < (400 if FULL else 1400)
            assert seat.value("document.body.dataset.busy") == "false"
            heard = seat.lit
            assert heard == LONG.split()[: len(heard)]
            assert len(heard) < 200
            assert f"you heard {len(heard)} words" in seat.page.inner_text("#status")
            assert any("input_text.cancel" in message for message in seat.sent)
            # It speaks again, of what is new only.
            seat.page.focus("#editor")
            seat.page.keyboard.press("Control+End")
            seat.type("and now this. ")
            seat.until_heard()
            assert seat.lit == [*heard, "and", "now", "this."]
        server.settle()


def test_what_was_not_heard_can_still_be_changed(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.page.select_option("#pace", "typist")
        before = "This is the first part of it, and then comes "
        after = " at the very end of it all."
        seat.paste(before + "nonsense" + after)
        seat.until("window.loud() > 0.05")
        seat.put(before + "wisdom" + after)
        seat.until_heard()
        assert seat.lit == (before + "wisdom" + after).split()


def test_a_lost_connection_is_made_again_in_the_middle_of_a_text(browser: Browser) -> None:
    with (
        serving(voice=drawl(), limits={"session_s": 2.0}) as server,
        seated(browser, server.http, clean=False) as seat,
    ):
        seat.page.select_option("#pace", "slow")
        text = " ".join(f"word{i}" for i in range(20))
        seat.paste(text)
        seat.until_heard()
        assert sum('"session.update"' in message for message in seat.sent) > 1
        assert seat.lit == text.split()
