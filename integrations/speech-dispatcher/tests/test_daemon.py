"""Under the real Speech Dispatcher, with its own client; what the daemon plays is in a file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from sayahead import load_voice
from sayahead.sound.pcm import to_pcm16

pytestmark = pytest.mark.skipif(
    not (shutil.which("speech-dispatcher") and shutil.which("spd-say")),
    reason=(
        "needs Speech Dispatcher: apt-get install speech-dispatcher speech-dispatcher-audio-plugins"
    ),
)

CONFIGURATION = """
LogLevel 5
LogDir "{folder}"
AudioOutputMethod "alsa"
AudioALSADevice "default"
DefaultModule sayahead
DefaultLanguage "en-US"
DefaultVolume 100
Timeout 0
AddModule "sayahead" "{module}" "" "{folder}/module.log"
"""
ALSA = """
pcm.!default {{ type plug slave.pcm {{ type file slave.pcm null file "{folder}/played.raw" format raw }} }}
ctl.!default {{ type null }}
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class Daemon:
    """A running one."""

    folder: Path
    environment: dict[str, str]

    def say(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["spd-say", "-o", "sayahead", *arguments]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )

    def played(self) -> bytes:
        path = self.folder / "played.raw"
        return path.read_bytes() if path.exists() else b""


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    module = Path(sys.executable).with_name("sd_sayahead")
    assert module.exists(), "the package is not installed"
    (tmp_path / "speechd.conf").write_text(CONFIGURATION.format(folder=tmp_path, module=module))
    (tmp_path / "modules").mkdir()
    (tmp_path / "asound.conf").write_text(ALSA.format(folder=tmp_path))
    environment = {
        **os.environ,
        "ALSA_CONFIG_PATH": f"/usr/share/alsa/alsa.conf:{tmp_path}/asound.conf",
        "XDG_RUNTIME_DIR": str(tmp_path),
        "SPEECHD_ADDRESS": f"unix_socket:{tmp_path}/socket",
    }
    command = [
        "speech-dispatcher",
        "-s",
        "-C",
        str(tmp_path),
        "-S",
        str(tmp_path / "socket"),
        "-P",
        str(tmp_path / "pid"),
    ]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 20
        while not (tmp_path / "socket").exists() and time.monotonic() < end:
            time.sleep(0.05)
        yield Daemon(tmp_path, environment)
    finally:
        process.terminate()
        process.wait(20)


def audible(data: bytes) -> np.ndarray:
    samples = np.frombuffer(data[: len(data) // 2 * 2], "<i2")
    heard = np.flatnonzero(np.abs(samples.astype(np.int32)) > 300)
    return samples[heard[0] : heard[-1]] if len(heard) else samples[:0]


def test_spd_say_is_heard(daemon: Daemon) -> None:
    text = "This is a screen reader speaking."
    answer = daemon.say("-w", text)
    assert answer.returncode == 0, answer.stderr
    expected = audible(to_pcm16(load_voice("heart").synthesize(text)).tobytes())
    got = audible(daemon.played())
    log = (daemon.folder / "speech-dispatcher.log").read_text(errors="replace")[-3000:]
    assert len(got) == pytest.approx(len(expected), rel=0.02), log
    # The daemon may move it by a few samples.
    size = min(len(got), len(expected)) - 400
    likeness = [
        np.corrcoef(got[lag : lag + size], expected[200 : 200 + size])[0, 1] for lag in range(400)
    ]
    assert max(likeness) > 0.99


def test_the_module_is_listed_with_its_voices(daemon: Daemon) -> None:
    assert "sayahead" in daemon.say("-O").stdout
    assert "heart" in daemon.say("-L").stdout


def test_a_rate_and_a_cancelled_text(daemon: Daemon) -> None:
    assert daemon.say("-w", "-r", "100", "Spoken twice as fast as it was.").returncode == 0
    fast = len(audible(daemon.played()))
    normal = len(
        audible(
            to_pcm16(load_voice("heart").synthesize("Spoken twice as fast as it was.")).tobytes()
        )
    )
    assert 0.4 < fast / normal < 0.7
    assert daemon.say("A very long text. " * 300).returncode == 0
    assert daemon.say("-C").returncode == 0
    # The queue is free at once.
    since = time.monotonic()
    assert daemon.say("-w", "Short.").returncode == 0
    assert time.monotonic() - since < 10
