"""The process that loads espeak-ng: what it answers, how it dies, and that nothing is lost when it
does."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sayahead.errors import ConfigError, VoiceError
from sayahead.text.saying.espeak import client
from sayahead.text.saying.espeak.client import Espeak


@pytest.fixture
def espeak() -> Espeak:
    return client.ESPEAK


def gone(pid: int, within_s: float = 10.0) -> bool:
    """Whether a process is no more, or a zombie that waits for its parent."""
    limit = time.monotonic() + within_s
    while time.monotonic() < limit:
        try:
            state = (
                Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
            )
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def pid(espeak: Espeak) -> int:
    espeak.about()
    assert espeak._worker is not None
    return espeak._worker.pid


def test_clauses_have_stress_and_keep_what_is_between_marks_apart(espeak: Espeak) -> None:
    assert espeak.clauses("de", "Guten | Tag, Welt") == ("ɡˈuːtən tˈɑːk", "vˈɛlt")
    assert espeak.clauses("en-us", "the | apple") == ("ðɪ ˈæpəl",)


def test_the_library_is_not_loaded_here(espeak: Espeak) -> None:
    espeak.clauses("fr", "bonjour")
    if Path("/proc/self/maps").exists():
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
        assert "espeak" not in maps
        assert "espeak" in Path(f"/proc/{pid(espeak)}/maps").read_text(
            encoding="utf-8", errors="replace"
        )


def test_an_unknown_voice_is_named(espeak: Espeak) -> None:
    with pytest.raises(ConfigError, match="no voice 'tlh-x'"):
        espeak.clauses("tlh-x", "a")
    assert espeak.clauses("es", "sol") == ("sˈol",)


def test_text_of_any_kind_is_answered(espeak: Espeak) -> None:
    for text in ("", "\0", "|", "\ud800", "😀", "a" * 10_000, "\n\n", "<speak>", "[[x]]", "\u202e"):
        assert isinstance(espeak.clauses("it", text), tuple)


def test_a_worker_that_dies_is_replaced_and_nothing_is_lost() -> None:
    espeak = Espeak()
    try:
        asked = [f"Wort | {number}" for number in range(20)]
        expected = [client.ESPEAK.clauses("de", text) for text in asked]
        found = []
        for number, text in enumerate(asked):
            if number in (5, 12):
                os.kill(pid(espeak), signal.SIGKILL)
            found.append(espeak.clauses("de", text))
        assert found == expected
    finally:
        espeak.close()


def test_a_worker_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    espeak = Espeak()
    try:
        first = pid(espeak)
        monkeypatch.setattr(client, "ANSWER_S", 0.3)
        os.kill(first, signal.SIGSTOP)
        started = client.Worker

        def unhurried() -> client.Worker:
            monkeypatch.setattr(client, "ANSWER_S", 10.0)
            return started()

        monkeypatch.setattr(client, "Worker", unhurried)
        assert espeak.clauses("de", "Haus") == ("hˈaʊs",)
        assert gone(first)
        assert pid(espeak) != first
    finally:
        espeak.close()


def test_a_text_that_kills_it_twice_is_an_error_and_the_next_is_read() -> None:
    espeak = Espeak()

    class Fatal(client.Worker):
        def ask(self, request: dict[str, object], timeout_s: float) -> dict[str, object]:
            if request["text"] == "fatal":
                self._process.kill()
            return super().ask(request, timeout_s)

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(client, "Worker", Fatal)
            with pytest.raises(VoiceError, match=r"failed twice over 'fatal' \(de\)"):
                espeak.clauses("de", "fatal")
            assert espeak.clauses("de", "Haus") == ("hˈaʊs",)
    finally:
        espeak.close()


def test_threads_share_one_and_get_their_own_answers() -> None:
    espeak = Espeak()
    numbers = range(40)
    expected = {n: client.ESPEAK.clauses(("de", "fr")[n % 2], f"{n}") for n in numbers}
    found: dict[int, tuple[str, ...]] = {}

    def ask(start: int) -> None:
        for n in numbers[start::4]:
            found[n] = espeak.clauses(("de", "fr")[n % 2], f"{n}")

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    espeak.close()
    assert found == expected


def test_it_ends_with_its_owner_however_that_ends() -> None:
    script = (
        "import os, sys, time; from sayahead.text.saying.espeak.client import ESPEAK;"
        " ESPEAK.clauses('de', 'ja'); print(ESPEAK._worker.pid, flush=True);"
        " time.sleep(float(sys.argv[1]))"
    )
    for seconds, kill in (("60", True), ("0", False)):
        process = subprocess.Popen(
            [sys.executable, "-c", script, seconds], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        with process.stdout as out:
            worker = int(out.readline())
        if kill:
            process.kill()
        process.wait()
        assert gone(worker)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_one_of_its_own(espeak: Espeak) -> None:
    before = pid(espeak)
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        child, found = pool.apply(asked_in_child)
    assert found == ("hˈaʊs",)
    assert child != before
    assert pid(espeak) == before
    assert espeak.clauses("de", "Maus") == ("mˈaʊs",)
    assert gone(child)


def asked_in_child() -> tuple[int, tuple[str, ...]]:
    found = client.ESPEAK.clauses("de", "Haus")
    return pid(client.ESPEAK), found


def test_no_espeak_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(client.LIBRARY, str(tmp_path / "libespeak-ng.so"))
    espeak = Espeak()
    with pytest.raises(
        ConfigError, match=r"pip install 'sayahead\[espeak\]'.*apt install libespeak-ng1"
    ):
        espeak.clauses("de", "ja")
    (tmp_path / "libespeak-ng.so").write_bytes(b"no library")
    with pytest.raises(ConfigError, match="is not there"):
        espeak.clauses("de", "ja")
    monkeypatch.delenv(client.LIBRARY)
    assert espeak.clauses("de", "ja") == ("jˈɑː",)
    espeak.close()


def test_the_extra_comes_before_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(client.LIBRARY, raising=False)
    found = client.candidates()
    assert len(found) % 2 == 0
    assert found[-2:][1] == ""
    if "espeakng_loader" in found[0]:
        assert Path(found[1]).is_dir()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert client.candidates()[0] == "libespeak-ng.so.1"
