"""The page makes a voice of what its microphone hears, for whom the server lets."""

from __future__ import annotations

import io
import sys
import wave
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from support.browser import chromium, drawl, seated
from support.servers import KEY, serving, toy_voice
from support.toy_voices import TOYS

from sayahead.server.protocols import clips

pytestmark = pytest.mark.slow
SCRIPT = """
import sys
from pathlib import Path
from sayahead.cli import main
given = dict(one[2:].split("=", 1) for one in sys.argv[2:])
Path(r"REPORT").write_bytes(Path(sys.argv[1]).read_bytes())
sys.exit(main(["voices", "add", r"TOY", "--name", given["name"], "-q"]))
"""
# A browser's own microphone for tests beeps once a second.
MICROPHONE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium(*MICROPHONE) as found:
        yield found


def test_a_recording_becomes_a_voice_of_the_menu(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A server reads its default voice's rules when it starts; one that is put there has not.
    toy_voice().session()
    report = tmp_path / "clip.wav"
    script = tmp_path / "fit.py"
    script.write_text(SCRIPT.replace("REPORT", str(report)).replace("TOY", str(TOYS / "mohan")))
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path / "voices"))
    monkeypatch.setattr(clips, "COMMAND", (sys.executable, str(script)))
    monkeypatch.setattr(clips, "NICENESS", "0")
    with serving(voice=drawl()) as server, seated(browser, server.http) as seat:
        page = seat.page
        page.click("#mine")
        page.click("#clip-make")
        assert page.evaluate("document.getElementById('clip-name').matches(':invalid')")
        page.fill("#clip-name", "mine")
        page.fill("#consent", "It is my own voice.")
        page.click("#record")
        seat.until("/^Recording: [2-9]/.test(document.getElementById('clip-status').textContent)")
        page.click("#record")
        seat.until("/are the clip/.test(document.getElementById('clip-status').textContent)")
        page.click("#clip-make")
        seat.until("document.getElementById('voice').value === 'mine'")
        assert not page.evaluate("document.getElementById('clip').open")
    with wave.open(io.BytesIO(report.read_bytes())) as file:
        assert file.getnframes() > 1.5 * file.getframerate()


def test_it_is_not_offered_to_a_key_that_may_not(browser: Browser) -> None:
    with (
        serving(voice=drawl(), keys=(KEY,)) as server,
        seated(browser, server.http, clean=False) as seat,
    ):
        seat.page.fill("#key", KEY)
        seat.page.click("#ask button.primary")
        seat.until("document.getElementById('voice').options[0].value === 'toy'")
        seat.page.wait_for_load_state("networkidle")
        assert seat.page.evaluate("document.getElementById('mine').hidden")
