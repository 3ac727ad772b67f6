"""The listening page in a browser: agree, rate, come back, save, and go on elsewhere with what was
saved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sayahead.sound.files import write_wav
from support.browser import chromium

from sayahead_lab.eval.listening.blind_test import listening_page
from sayahead_lab.eval.listening.ratings import listening_statistics

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium("--autoplay-policy=no-user-gesture-required") as found:
        yield found


@pytest.fixture(scope="module")
def sounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sentences by two voices."""
    folder = tmp_path_factory.mktemp("set")
    for number, voice in enumerate(("ann", "bob")):
        tone = 0.2 * np.sin(2 * np.pi * (400 + 300 * number) * np.arange(4000) / 8000)
        for at in range(2):
            (folder / voice).mkdir(exist_ok=True)
            write_wav(folder / voice / f"s{at}.wav", tone.astype(np.float32), 8000)
    (folder / "texts.csv").write_text("s0|One.\ns1|Two.\n", encoding="utf-8")
    return folder


def opened(browser: Any, page_file: Path, errors: list[str]) -> Any:
    page = browser.new_context(accept_downloads=True).new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(page_file.as_uri())
    return page


def saved(page: Any, file: Path) -> dict[str, Any]:
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(file)
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


@pytest.mark.parametrize("design", ["mushra", "mos", "ab"])
def test_rate_save_and_go_on(browser: Any, sounds: Path, tmp_path: Path, design: str) -> None:
    target = tmp_path / f"{design}.html"
    listening_page(sounds, target, None, 2, design=design)
    errors = list[str]()
    page = opened(browser, target, errors)
    # Nothing is heard or rated before one agrees.
    assert not page.is_visible("#save")
    page.keyboard.press("1")
    page.check("#consent")
    page.fill("#rater", "xy")
    page.click("h1")
    page.click("#play-0")
    page.wait_for_function("player.ended || player.currentTime > 0")
    many = {"mushra": 2, "mos": 4, "ab": 2}[design]
    for number in range(many):
        if design == "mushra":
            for n in range(2):
                page.locator(f"#rate-{n}").fill(str(60 + 10 * n))
        else:
            page.click("h1")
            page.keyboard.press("4" if design == "mos" else "ArrowDown")
        if number < many - 1:
            page.click("#next")
    page.reload()
    assert page.input_value("#rater") == "xy"
    made = saved(page, tmp_path / "saved.json")
    assert (made["consent"], made["complete"], made["name"]) == (True, True, "xy")
    assert len(made["ratings"]) == {"mushra": 4, "mos": 4, "ab": 2}[design]
    assert {one["condition"] for one in made["ratings"]} <= {"ann", "bob"}
    assert listening_statistics([tmp_path / "saved.json"])["ratings"] == len(made["ratings"])

    # Another browser goes on with the file; a file of another page is none.
    other = opened(browser, target, errors)
    other.check("#consent")
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"page": "x"}', encoding="utf-8")
    other.set_input_files("#load", wrong)
    other.wait_for_function("said.textContent.includes('none of this page')")
    other.set_input_files("#load", tmp_path / "saved.json")
    other.wait_for_function("said.textContent.startsWith('Loaded')")
    again = saved(other, tmp_path / "again.json")
    assert (again["rater"], again["ratings"]) == (made["rater"], made["ratings"])
    assert not errors
