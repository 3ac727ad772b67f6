"""The page's examples, the buttons that write who speaks and how, and texts in links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser
from support.browser import drawl, seated
from support.servers import Running, serving

from sayahead.text.styles.table import STYLES

TEXT = "Hello there, how are you? 1 + 1 & 50 % is #fine"
KNOWN = "document.getElementById('voice').value === 'toy'"


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    first = drawl()
    with serving(voice=first) as running:
        ben = first.described(replace(first.config, name="ben"), first.synthesizer)
        running.hub.voices.put(ben)
        running.hub.voices.put(first)
        yield running


def test_the_buttons_are_the_styles_that_there_are() -> None:
    source = files("sayahead.server").joinpath("page", "direct.js").read_text(encoding="utf-8")
    listed = re.search(r"STYLES = \[(.*?)\]", source, re.DOTALL)
    assert listed is not None
    assert re.findall(r'"(\w+)"', listed[1]) == list(STYLES)


@pytest.mark.slow
def test_a_dialogue_is_spoken_by_two(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.until(KNOWN)
        seat.page.click("#examples button >> nth=0")
        seat.until("document.querySelectorAll('#mirror .ready').length > 3")
        assert "[voice:toy]" in seat.said
        assert "[voice:ben]" in seat.said
        seat.page.keyboard.press("Escape")
        seat.until_heard()
        # Nobody was unknown.
        assert seat.page.inner_text("#unread") == ""


@pytest.mark.slow
def test_buttons_write_into_the_text(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.until(KNOWN)
        page = seat.page
        page.click("#directions summary")
        editor = page.locator("#editor")
        seat.type("I like ")
        page.click("#styles button >> text=whisper")
        seat.type("tea")
        page.click("#stress button")
        assert editor.input_value() == "I like [whisper] *tea*"
        editor.press("Home")
        editor.press("Control+Shift+ArrowRight")
        page.click("#speakers button >> text=ben")
        assert editor.input_value() == "[voice:ben] I [/voice] like [whisper] *tea*"
        page.click("#pauses button >> text=long pause")
        page.keyboard.press("Control+Z")
        assert editor.input_value() == "[voice:ben] I [/voice] like [whisper] *tea*"
        page.keyboard.press("Escape")
        seat.until_heard()


@pytest.mark.slow
def test_a_link_has_the_text_and_no_server_sees_it(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.until(KNOWN)
        seat.page.select_option("#voice", "ben")
        seat.page.select_option("#lookahead", "lookahead:k=2")
        seat.put(TEXT)
        seat.page.click("#share")
        seat.until("/clipboard/.test(document.getElementById('status').textContent)")
        address = str(seat.value("navigator.clipboard.readText()"))
        assert seat.page.url == address
        seat.page.keyboard.press("Escape")
        seat.until_heard()
    assert parse_qs(urlsplit(address).fragment)["text"] == [TEXT]
    assert not urlsplit(address).query
    with seated(browser, server.http) as seat:
        asked = list[str]()
        seat.page.on(
            "request", lambda request: asked.append(request.url + (request.post_data or ""))
        )
        seat.page.goto(address)
        seat.page.reload(wait_until="networkidle")
        seat.until("document.getElementById('voice').value === 'ben'")
        assert seat.page.input_value("#editor") == TEXT
        assert seat.page.input_value("#lookahead") == "lookahead:k=2"
        assert seat.page.inner_text("#status") == "This text came with the link."
        # It waits for whoever opened it.
        assert not seat.sent
        assert not [url for url in asked if "Hello" in url]
        seat.page.keyboard.press("Control+Enter")
        seat.until("document.querySelectorAll('#mirror .ready').length > 2")
        assert seat.said.startswith("Hello there")
        seat.page.keyboard.press("Escape")
        seat.until_heard()


@pytest.mark.slow
def test_a_link_asks_for_what_is_not_there(server: Running, browser: Browser) -> None:
    with seated(browser, f"{server.http}/#text=Hi&voice=nobody&lookahead=x&speed=quick") as seat:
        seat.until("document.getElementById('problem').textContent !== ''")
        assert "nobody" in seat.page.inner_text("#problem")
        assert seat.page.input_value("#voice") == "toy"
        assert seat.page.input_value("#lookahead") == ""
        assert seat.page.input_value("#speed") == "1"
        # Another link in the same tab.
        seat.page.evaluate("location.hash = '#text=Ho+there'")
        seat.until("document.getElementById('editor').value === 'Ho there'")
        # What is typed behind it is spoken; the rest was not asked for.
        seat.page.locator("#editor").press("End")
        seat.type(" again ")
        seat.until_heard()
        assert seat.said.split() == ["again"]
