"""The page for everybody: axe-core finds nothing to complain of, in any state, light and dark, wide
and narrow.

With SAYAHEAD_PICTURES=FOLDER, a picture of each state is written there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from support.axe import axe, complaints
from support.browser import Seat, drawl, seated
from support.line import Line
from support.servers import KEY, Running, serving

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "phone-dark": {
        "viewport": {"width": 390, "height": 844},
        "has_touch": True,
        "color_scheme": "dark",
    },
}
pytestmark = pytest.mark.slow
looks = pytest.mark.parametrize("look", LOOKS)
TEXT = "One two three four five. Six seven Привет eight nine ten eleven twelve. "


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(voice=drawl()) as running:
        yield running


@pytest.fixture(scope="module")
def source(request: pytest.FixtureRequest) -> str:
    return axe(request.config)


def check(seat: Seat, source: str, name: str) -> None:
    """Nothing is wrong with the page as it is."""
    # Colours change slowly.
    seat.page.wait_for_timeout(400)
    if folder := os.environ.get("SAYAHEAD_PICTURES"):
        seat.page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
    found = complaints(seat.page, source)
    assert not found, "\n".join([name, *found[:12]])


@looks
def test_nothing_keeps_anybody_out(
    look: str, server: Running, browser: Browser, source: str
) -> None:
    with Line(server.port) as line, seated(browser, line.http, clean=False, **LOOKS[look]) as seat:
        seat.until("document.getElementById('voice').options[0].value === 'toy'")
        check(seat, source, f"{look}-open")
        seat.page.select_option("#race-pace", "fast")
        seat.page.click("#go")
        seat.until("document.querySelector('#by-sentence').dataset.state === 'speaking'")
        check(seat, source, f"{look}-race")
        seat.put(TEXT * 3)
        seat.until("document.querySelectorAll('#mirror .ready').length > 3")
        seat.until("document.querySelectorAll('#mirror .heard').length > 0")
        check(seat, source, f"{look}-speaking")
        line.cut()
        seat.until("!document.getElementById('banner').hidden")
        check(seat, source, f"{look}-gone")
        seat.page.keyboard.press("Escape")
        seat.until_heard()
        check(seat, source, f"{look}-stopped")


@looks
def test_the_key_dialog_keeps_nobody_out(look: str, browser: Browser, source: str) -> None:
    with (
        serving(voice=drawl(), keys=(KEY,)) as locked,
        seated(browser, locked.http, clean=False, **LOOKS[look]) as seat,
    ):
        seat.page.wait_for_selector("#ask[open]")
        check(seat, source, f"{look}-key")
        seat.page.keyboard.press("Escape")
        seat.until("document.getElementById('problem').textContent !== ''")
        check(seat, source, f"{look}-no-key")
