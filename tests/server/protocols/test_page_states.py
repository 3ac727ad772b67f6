"""The page where things are not as they should be: no server, no key, text that no voice can
read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Request
from support.browser import drawl, seated
from support.line import Line
from support.servers import KEY, Running, serving

from sayahead import Voice

pytestmark = pytest.mark.slow
TEXT = "One two three four five six seven eight nine ten eleven twelve."
GONE = "!document.getElementById('banner').hidden"
BACK = "document.getElementById('banner').hidden"
STARTED = "document.querySelectorAll('#mirror :is(.ready, .now, .heard)').length > 2"


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(voice=drawl()) as running:
        yield running


def test_a_server_that_is_gone_is_told_of_until_it_is_back(
    server: Running, browser: Browser
) -> None:
    with Line(server.port) as line, seated(browser, line.http, clean=False) as seat:
        seat.type("Hello. ")
        seat.until_heard()
        line.cut()
        seat.until(GONE, timeout_s=10)
        assert seat.page.inner_text("#gone").startswith("The server does not answer.")
        assert "Next attempt in" in seat.page.inner_text(
            "#next"
        ) or "Trying" in seat.page.inner_text("#next")
        # Keys ask nothing of it: attempts come ever more rarely.
        asked = list[Request]()
        seat.page.on("request", lambda request: asked.append(request))
        seat.type("And this is typed meanwhile. ")
        seat.page.wait_for_timeout(3000)
        assert len(asked) <= 4
        assert seat.value(GONE)
        assert seat.page.locator("#banner").is_visible()
        line.mend()
        # Its own next attempt may come first: then there is nothing left to press.
        seat.page.evaluate("document.querySelector('#again')?.click()")
        seat.until(BACK)
        seat.until_heard()
        assert seat.lit == "Hello. And this is typed meanwhile.".split()


def test_it_comes_back_by_itself(server: Running, browser: Browser) -> None:
    with Line(server.port) as line, seated(browser, line.http, clean=False) as seat:
        seat.type("Hello. ")
        seat.until_heard()
        line.cut()
        seat.until(GONE, timeout_s=10)
        line.mend()
        seat.until(BACK, timeout_s=30)
        assert seat.page.inner_text("#status") == "The server is back."


def test_a_text_goes_on_where_the_server_left_it(server: Running, browser: Browser) -> None:
    with Line(server.port) as line, seated(browser, line.http, clean=False) as seat:
        seat.page.select_option("#pace", "typist")
        seat.paste(TEXT)
        seat.until(STARTED)
        line.cut()
        seat.until(GONE, timeout_s=10)
        line.mend()
        seat.until(BACK, timeout_s=30)
        seat.until_heard()
        # Nothing is missing, and nothing is said twice.
        assert seat.lit == TEXT.split()
        assert seat.page.locator("#mirror .skipped").count() == 0
        assert seat.page.inner_text("#problem") == ""


def test_a_text_that_a_server_never_survives_is_given_up(browser: Browser) -> None:
    with (
        serving(voice=drawl(step_s=2.0), limits={"session_s": 1.0}) as mortal,
        seated(browser, f"{mortal.http}/", clean=False) as seat,
    ):
        seat.paste("One two three.")
        seat.until("document.getElementById('problem').textContent !== ''", timeout_s=60)
        assert "connection was open for" in seat.page.inner_text("#problem")


def test_the_voices_are_there_at_once_and_take_no_place(browser: Browser) -> None:
    with (
        serving(voice=drawl(), installed=()) as every,
        seated(browser, f"{every.http}/", has_touch=True) as seat,
    ):
        seat.until(
            "[...document.getElementById('voice').options].some(({ value }) => value === 'heart')",
            timeout_s=10,
        )
        assert every.hub.connections == 0
        assert seat.sent == []
        names = seat.value(
            "[...document.querySelectorAll('#voice > option')].map(({ value }) => value)"
        )
        assert "heart" in names
        groups = seat.value(
            "[...document.querySelectorAll('#voice > optgroup')].map(({ label }) => label)"
        )
        research = seat.value(
            "[...document.querySelectorAll('#voice > optgroup > option')].map(({ value }) => value)"
        )
        assert not set(names) & {"ma-lj", "saeki-lj", "mohan-lj"}
        assert (groups == ["for research"]) == bool(research)


def test_a_key_is_typed_without_a_mouse(browser: Browser) -> None:
    with (
        serving(voice=drawl(), keys=(KEY,)) as locked,
        seated(browser, f"{locked.http}/", clean=False) as seat,
    ):
        seat.page.wait_for_selector("#ask[open]")
        assert seat.value("document.activeElement.id") == "key"
        seat.page.keyboard.type(KEY)
        seat.page.keyboard.press("Enter")
        seat.until("!document.getElementById('ask').open")
        seat.until("document.getElementById('voice').options[0].value === 'toy'")


def test_what_cannot_be_read_is_told_and_marked(heart: Voice, browser: Browser) -> None:
    with serving(voice=heart) as server, seated(browser, f"{server.http}/") as seat:
        seat.paste("Hello Привет 你好 world 😀.")
        seat.until_heard()
        seat.until("document.getElementById('unread').textContent !== ''")
        assert seat.page.inner_text("#unread").endswith("for it: “Привет”, “你好”.")
        assert seat.value(
            "[...document.querySelectorAll('#mirror .unread')].map((each) => each.textContent)"
        ) == ["Привет", "你好"]
        # A mark that stands alone is no word that somebody could hear.
        with seat.page.expect_download() as saved:
            seat.page.click("#srt")
        assert saved.value.path().read_text(encoding="utf-8").splitlines()[2] == "Hello world"
        seat.put("")
        seat.until("document.getElementById('unread').textContent === ''")


def test_both_lanes_of_the_race_have_the_same_seconds(browser: Browser) -> None:
    # So slow that the axis must grow.
    with serving(voice=drawl(step_s=0.25)) as slow, seated(browser, f"{slow.http}/") as seat:
        seat.page.select_option("#race-pace", "fast")
        spans = (
            "[...document.querySelectorAll('.track canvas')].map((each) => each.dataset.seconds)"
        )
        seat.page.click("#go")
        seat.until("document.querySelector('#by-sentence').dataset.state === 'speaking'")
        assert len(set(seat.value(spans))) == 1
        seat.until("document.body.dataset.racing === 'false'")
        words, sentences = seat.value(spans)
        assert words == sentences
        assert float(words) > 8


def test_no_word_is_heard_before_it_is_ready(server: Running, browser: Browser) -> None:
    with seated(browser, f"{server.http}/") as seat:
        seat.paste(TEXT)
        seat.until_heard()
        assert "ready: its sound has begun to arrive" in seat.page.inner_text(".legend")
        cells = {row: seat.cell(row, 0) for row in ("ready", "heard")}
        assert seconds(cells["heard"]) >= seconds(cells["ready"])


def seconds(cell: str) -> float:
    """A duration as the page writes it."""
    number, unit = cell.split()
    return float(number) / (1000 if unit == "ms" else 1)
