"""The module by its protocol: what Speech Dispatcher sends, and what it must get."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest
from sayahead_speechd import text
from sayahead_speechd.wire import escaped

from sayahead import Voice, load_voice
from sayahead.sound.pcm import to_pcm16


class Daemon:
    """The other end of the pipe."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "sayahead_speechd.module"]
        self.module = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.module.stdin is not None
        assert self.module.stdout is not None
        self.stdin = self.module.stdin
        self.stdout = self.module.stdout

    def send(self, *lines: str) -> None:
        self.stdin.write("".join(line + "\n" for line in lines).encode())
        self.stdin.flush()

    def line(self) -> bytes:
        return self.stdout.readline().removesuffix(b"\n")

    def answer(self) -> list[str]:
        """Lines up to one with a space after its number."""
        lines = []
        while True:
            lines.append(self.line().decode())
            if lines[-1][3:4] != "-":
                return lines

    def ask(self, *lines: str) -> list[str]:
        self.send(*lines)
        return self.answer()

    def event(self) -> tuple[str, bytes]:
        """The next event, and the samples of a block."""
        samples = b""
        while True:
            line = self.line()
            if line.startswith(b"705-AUDIO\0"):
                data = line.removeprefix(b"705-AUDIO\0")
                out = bytearray()
                at = 0
                while at < len(data):
                    escape = data[at] == 0x7D
                    out.append(data[at + escape] ^ (0x20 * escape))
                    at += 1 + escape
                samples = bytes(out)
            elif line.startswith(b"700-"):
                samples = line.removeprefix(b"700-")
            elif line[3:4] == b" ":
                return line.decode(), samples

    def speak(self, command: str, source: str) -> list[tuple[str, bytes]]:
        """All events of a message."""
        assert self.ask(command) == ["202 OK RECEIVING MESSAGE"]
        assert self.ask(
            *[("." + line if line.startswith(".") else line) for line in source.split("\n")], "."
        ) == ["200 OK SPEAKING"]
        events = [self.event()]
        while events[-1][0][:3] not in ("702", "703", "704"):
            events.append(self.event())
        return events


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    daemon = Daemon()
    assert daemon.ask("INIT")[-1] == "299 OK LOADED SUCCESSFULLY"
    assert daemon.ask("AUDIO") == ["207 OK RECEIVING AUDIO SETTINGS"]
    assert daemon.ask("audio_output_method=server", ".") == ["203 OK AUDIO INITIALIZED"]
    yield daemon
    assert daemon.ask("QUIT") == ["210 OK QUIT"]
    assert daemon.module.wait(10) == 0
    daemon.stdin.close()
    daemon.stdout.close()


@pytest.fixture(scope="module")
def voice() -> Voice:
    return load_voice("heart")


def set_to(daemon: Daemon, **settings: str) -> list[str]:
    assert daemon.ask("SET") == ["207 OK RECEIVING SETTINGS"]
    return daemon.ask(*[f"{name}={value}" for name, value in settings.items()], ".")


def samples(events: list[tuple[str, bytes]]) -> bytes:
    return b"".join(data for name, data in events if name == "705 AUDIO")


def test_a_text_is_spoken_whole(daemon: Daemon, voice: Voice) -> None:
    source = "Files & folders.\n.hidden is one of them."
    events = daemon.speak("SPEAK", source)
    assert events[0][0] == "701 BEGIN"
    assert events[-1][0] == "702 END"
    assert samples(events) == to_pcm16(voice.synthesize(source)).tobytes()


def test_index_marks_come_where_their_words_are_heard(daemon: Daemon, voice: Voice) -> None:
    ssml = '<speak>The first <mark name="__spd_1"/>and the &amp; second<mark name="two"/></speak>'
    events = daemon.speak("SPEAK", ssml)
    marks = [(at, data) for at, (name, data) in enumerate(events) if name == "700 INDEX MARK"]
    assert [data for _, data in marks] == [b"__spd_1", b"two"]
    words = [word for chunk in voice.stream(["The first and the & second"]) for word in chunk.words]
    before = len(samples(events[: marks[0][0]])) // 2
    assert before == next(word.onset_samples for word in words if word.start == 10)
    # The last one behind all sound.
    assert not samples(events[marks[1][0] :])
    assert samples(events) == to_pcm16(voice.synthesize("The first and the & second")).tobytes()


def test_characters_and_keys(daemon: Daemon) -> None:
    spoken = {
        source: samples(daemon.speak("CHAR", source)) for source in ("a", "A", "space", ",", "é")
    }
    assert all(len(data) > 2400 for data in spoken.values())
    assert spoken["a"] == spoken["A"]
    assert len(samples(daemon.speak("KEY", "control_shift_a"))) > len(spoken["a"])
    set_to(daemon, cap_let_recogn="spell")
    assert samples(daemon.speak("CHAR", "A")) != spoken["A"]
    set_to(daemon, cap_let_recogn="none")
    # Nothing but the sound: no silence before it.
    echo = np.frombuffer(spoken["a"], "<i2").astype(np.float32) / 32767
    assert np.flatnonzero(np.abs(echo) > 10 ** (-50 / 20))[0] <= 0.005 * 24000


def test_stop_and_pause_are_told_once(daemon: Daemon) -> None:
    for command, event in (("STOP", "703 STOP"), ("PAUSE", "704 PAUSE")):
        assert daemon.ask("SPEAK") == ["202 OK RECEIVING MESSAGE"]
        assert daemon.ask("A long text. " * 200, ".") == ["200 OK SPEAKING"]
        assert daemon.event()[0] == "701 BEGIN"
        assert daemon.event()[0] == "705 AUDIO"
        since = time.monotonic()
        daemon.send(command, command)
        while (name := daemon.event()[0]) == "705 AUDIO":
            pass
        assert name == event
        assert time.monotonic() - since < 2
    # Nothing is being spoken: nothing to tell.
    daemon.send("STOP")
    assert daemon.speak("SPEAK", "And on.")[-1][0] == "702 END"


def test_settings(daemon: Daemon, voice: Voice) -> None:
    assert set_to(daemon, rate="100", volume="0", pitch="20") == ["203 OK SETTINGS RECEIVED"]
    fast = samples(daemon.speak("SPEAK", "Quite fast and less loud."))
    assert (
        fast
        == to_pcm16(voice.synthesize("Quite fast and less loud.", speed=2.0, volume=0.5)).tobytes()
    )
    assert set_to(daemon, rate="200") == ["303 ERROR INVALID PARAMETER OR VALUE"]
    assert set_to(daemon, rate="fast") == ["303 ERROR INVALID PARAMETER OR VALUE"]
    assert set_to(daemon, rate="0", volume="100", synthesis_voice="nobody") == [
        "203 OK SETTINGS RECEIVED"
    ]
    assert samples(daemon.speak("SPEAK", "Back.")) == to_pcm16(voice.synthesize("Back.")).tobytes()


def test_voices_and_what_is_not_known(daemon: Daemon) -> None:
    voices = daemon.ask("LIST VOICES")
    assert "200-heart\ten-US\tnone" in voices
    assert daemon.ask("LIST LANGUAGES") == ["300 ERR UNKNOWN COMMAND"]
    assert daemon.ask("AUDIO") == ["207 OK RECEIVING AUDIO SETTINGS"]
    assert daemon.ask("audio_output_method=alsa", ".") == ["303 ERROR INVALID PARAMETER OR VALUE"]
    assert daemon.ask("SPEAK") == ["202 OK RECEIVING MESSAGE"]
    assert daemon.ask(".") == ["301 ERROR CANT SPEAK"]
    assert daemon.ask("CHAR") == ["202 OK RECEIVING MESSAGE"]
    assert daemon.ask("a", "b", ".") == ["305 DATA MORE THAN ONE LINE"]
    # A text without a word is silent, and ends.
    assert daemon.speak("SPEAK", "🙂")[-1][0] == "702 END"


def test_no_tag_is_spoken() -> None:
    given = "<speak><p>One</p><p>two <emphasis>three</emphasis></p> 4 &lt; 5</speak>"
    assert text.message(given).text.split() == ["One", "two", "three", "4", "<", "5"]
    assert text.message("a < b").text == "a < b"
    assert escaped(b"\x7d\n\x00") == b"\x7d\x5d\x7d\x2a\x00"
