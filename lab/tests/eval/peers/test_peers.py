"""Peers: how a text is cut for engines that speak whole pieces, and their traces from real
processes."""

from __future__ import annotations

import json
import sys
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sayahead import ConfigError, load_voice
from sayahead.sound.files import write_wav
from support.servers import serving, toy_voice

from sayahead_lab.eval.experiment.clock import Arrival, ReadingClock, Tokens
from sayahead_lab.eval.experiment.conditions import Clock, Condition, Matrix
from sayahead_lab.eval.experiment.trace import measure, read_traces, retime
from sayahead_lab.eval.measures.latency import first_heard_s, stalls_s
from sayahead_lab.eval.peers import catalogue
from sayahead_lab.eval.peers.adapters import engines
from sayahead_lab.eval.peers.catalogue import PEERS, make_peer
from sayahead_lab.eval.peers.fragment import Fragment, by_sentence, first_fragment_early
from sayahead_lab.eval.peers.peer import CUTS, Engine, PeerError, WorkerPeer, has_module
from sayahead_lab.eval.peers.run import run_peer
from sayahead_lab.eval.peers.timing import cancelled_s, live, measured
from sayahead_lab.scripts import ScriptLine
from sayahead_lab.training.aligner.words import word_times

BEEPER = str(Path(__file__).parents[2] / "lab_support" / "beeper.py")
MATRIX = Matrix((Condition("ours"),), (Clock("llm", "tokens"), Clock("reader", "reader")), count=2)


def beeper(text: str = "sentence", **options: Any) -> WorkerPeer:
    return WorkerPeer(Engine("beeper", f"{BEEPER}:load", text, options))


def started(peer: WorkerPeer) -> Iterator[WorkerPeer]:
    peer.start()
    yield peer
    peer.close()
    peer.close()


@pytest.fixture(scope="module")
def beeping() -> Iterator[WorkerPeer]:
    yield from started(beeper())


def pieces(cut: Any, text: str) -> list[tuple[str, str]]:
    """Each fragment, and what of the text behind it is read before it is known to be one."""
    found: list[Fragment] = cut(text)
    assert " ".join(text[piece.start : piece.end] for piece in found).split() == text.split()
    return [
        (text[piece.start : piece.end].strip(), text[piece.end : piece.read].strip())
        for piece in found
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n", []),
        ("No end", [("No end", "")]),
        ("One. Two! Three", [("One.", "T"), ("Two!", "T"), ("Three", "")]),
        ("Dr. Smith came. He left.", [("Dr. Smith came.", "H"), ("He left.", "")]),
        ("J. K. Rowling, e.g. Mr. Fox.", [("J. K. Rowling, e.g. Mr. Fox.", "")]),
        ("The U.S. Army. It is.", [("The U.S. Army.", "I"), ("It is.", "")]),
        ('"Go!" he said. "Why?" She.', [('"Go!" he said.', '"'), ('"Why?"', "S"), ("She.", "")]),
        ("It is 3.5 miles... or so", [("It is 3.5 miles... or so", "")]),
        ("A title\n\nThen text", [("A title", ""), ("Then text", "")]),
    ],
)
def test_sentences(text: str, expected: list[tuple[str, str]]) -> None:
    assert pieces(by_sentence, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Short.", [("Short.", "")]),
        ("Yes, he came home, and he slept.", [("Yes, he came home,", ""), ("and he slept.", "")]),
        (
            "At 3:30, some 1,000 men: all of them.",
            [("At 3:30, some 1,000 men:", ""), ("all of them.", "")],
        ),
        ("There were 1,000, I think.", [("There were 1,000,", ""), ("I think.", "")]),
        # The second sentence is the rest of the first; the third begins early again.
        (
            "Hello there my friend. How are you, today? I am very well, thank you.",
            [
                ("Hello there my friend.", "H"),
                ("How are you, today?", "I am very w"),
                ("I am very well,", ""),
                ("thank you.", ""),
            ],
        ),
        ("Good. Yes! No way at all.", [("Good. Yes!", "No way at all."), ("No way at all.", "")]),
        ("It was Acme Inc., they said.", [("It was Acme Inc., they said.", "")]),
        ("word " * 31, [("word " * 29 + "word", ""), ("word", "")]),
    ],
)
def test_fragments_as_early_as_possible(text: str, expected: list[tuple[str, str]]) -> None:
    assert pieces(first_fragment_early, text) == expected


@pytest.mark.parametrize("cut", [by_sentence, first_fragment_early])
def test_fragments_need_no_more_text_than_they_say(cut: Any) -> None:
    text = (
        'Dr. Who met "her, or him" at 3:30. Was it so? They, of course, said: no! And so on; it'
        " ended there. Fine."
    )
    whole = cut(text)
    for number, piece in enumerate(whole):
        for read in range(piece.read, len(text)):
            assert cut(text[:read])[: number + 1] == whole[: number + 1]


def test_a_trace_of_two_sentences(beeping: WorkerPeer) -> None:
    text = "Hi you! — Go home."
    trace, samples = measured(beeping, text, index=4, name="x")
    about = (trace.index, trace.name, trace.condition, trace.clock, trace.sample_rate)
    assert about == (4, "x", "beeper", "measured", 1000)
    assert trace.source == text
    assert [(f.start, f.end, f.at_s) for f in trace.fragments] == [
        (i, i + 1, 0.0) for i in range(len(text))
    ]
    first, second = trace.chunks
    assert [(c.start, c.samples, c.read, c.audible) for c in trace.chunks] == [
        (0, 600, 9, 50),
        (600, 700, 18, 50),
    ]
    assert len(samples) == 1300
    assert samples.dtype == np.float32
    assert 0.01 <= first.generation_s < 60
    assert second.ready_s == pytest.approx(first.generation_s + second.generation_s)
    assert [(w.text, w.start, w.end, w.onset_samples, w.offset_samples) for w in trace.words] == [
        *(("Hi", 0, 2, 50, 250), ("you!", 3, 7, 250, 550)),
        *(("Go", 10, 12, 650, 850), ("home.", 13, 18, 850, 1250)),
    ]
    timed = retime(trace, [Arrival("Hi you! ", 1.0), Arrival("— Go", 2.0), Arrival(" home.", 4.0)])
    assert [chunk.ideal_s for chunk in timed.chunks] == [2.0, 4.0]
    assert [chunk.read for chunk in timed.chunks] == [12, 18]


def test_the_wall_clock_has_what_the_measured_trace_says(beeping: WorkerPeer) -> None:
    text = "Hi you! Go home."
    arrivals = [Arrival("Hi you!", 0.05), Arrival(" Go", 0.1), Arrival(" home.", 0.3)]
    trace, samples, late_s = live(beeping, arrivals, name="x", clock="own")
    assert 0 <= late_s < 0.5
    assert [chunk.read for chunk in trace.chunks] == [10, 16] or [
        chunk.read for chunk in trace.chunks
    ] == [9, 16]
    assert [(f.start, f.end) for f in trace.fragments] == [(0, 7), (7, 10), (10, 16)]
    # The first sentence is pushed with the second one's first letter, and in time by definition;
    # the last may be late.
    assert [f.at_s for f in trace.fragments] == pytest.approx([0.05, 0.1, 0.3 + late_s])
    assert [chunk.ideal_s for chunk in trace.chunks] == pytest.approx([0.1, 0.3 + late_s])
    # Computing takes 10 ms; two processes' clocks agree to less than 5.
    assert trace.chunks[0].ready_s >= 0.105
    assert trace.chunks[1].ready_s >= 0.305 + late_s
    assert np.array_equal(samples, measured(beeping, text)[1])
    assert (trace.condition, trace.name, trace.clock) == ("beeper", "x", "own")
    # Told to be silent at the first sentence's sound, it does not speak the second.
    assert cancelled_s(beeping, text) < 0.5


def test_what_is_not_heard_is_paid_for(beeping: WorkerPeer) -> None:
    trace, _ = measured(beeping, "Say nothing. A hush.")
    assert [(chunk.read, chunk.audible) for chunk in trace.chunks] == [(20, None)]
    assert trace.chunks[0].generation_s == trace.chunks[0].ready_s >= 0.02
    with pytest.raises(PeerError, match="gave no sound for 'Say nothing"):
        measured(beeping, "Say nothing.")
    with pytest.raises(PeerError, match=r"nothing to say in '\.\.\.'"):
        measured(beeping, "...")
    whole, _ = measured(beeping, "Say it. All of it.", whole=True)
    assert [chunk.read for chunk in whole.chunks] == [18]


def test_a_worker_that_fails_says_why() -> None:
    peer = beeper()
    with pytest.raises(PeerError, match="beeper does not run: start it"):
        peer.push("a")
    peer.start()
    with pytest.raises(PeerError, match=r"^Peer beeper: ValueError: cannot say 'I refuse'\.$"):
        measured(peer, "I refuse")
    assert len(measured(peer, "still there")[1]) == 1100
    with pytest.raises(
        PeerError, match=r"^Peer beeper: its process ended \(exit code 3\): out of luck\.$"
    ):
        measured(peer, "die")
    peer.start()
    assert len(measured(peer, "again")[1]) == 600
    peer.close()
    with pytest.raises(PeerError, match="FileNotFoundError: no voice here"):
        beeper(broken=True).start()
    with pytest.raises(PeerError, match="cannot be started: No such file"):
        WorkerPeer(Engine("none", "x.py:f", python="/no/such/python")).start()


@pytest.mark.parametrize(
    ("prints", "message"),
    [
        ("print('hello')", r"its process answered \{'line': 'hello\\n'\}"),
        ("print('[]')", "its process answered"),
        ('print(\'{"ready": {}, "at": 0}\')', "its process answered {}"),
        ('print(\'{"clock": 1, "at": 0}\')', "its process answered"),
        ("", r"its process ended \(exit code 0\)"),
    ],
)
def test_answers_that_are_none(prints: str, message: str, tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text(
        f"#!{sys.executable}\nimport sys\n{prints}\nsys.stdout.flush(); sys.stdin.read()\n"
    )
    script.chmod(0o755)
    if not prints:
        script.write_text(f"#!{sys.executable}\n")
    with pytest.raises(PeerError, match=message):
        WorkerPeer(Engine("odd", "x.py:f", python=str(script), timeout_s=5)).start()


def test_a_worker_that_hangs_is_ended() -> None:
    peer = WorkerPeer(Engine("beeper", f"{BEEPER}:load", timeout_s=8))
    peer.start()
    object.__setattr__(peer.engine, "timeout_s", 0.5)
    with pytest.raises(PeerError, match=r"^Peer beeper: no answer within 0.5 s"):
        measured(peer, "hang")


def test_a_run_goes_on_after_a_death(tmp_path: Path) -> None:
    texts = [ScriptLine("a", "Hello there. You!"), ScriptLine("b", "Do not die.")]
    lines = list[str]()
    with pytest.raises(PeerError, match="process ended"):
        run_peer(beeper(), MATRIX, texts, tmp_path, progress=lines.append)
    folder = tmp_path / "beeper"
    assert [trace.name for trace in read_traces(folder / "measured.jsonl")] == ["a"]
    with pytest.raises(ConfigError, match="holds a with another text"):
        run_peer(beeper(), MATRIX, [ScriptLine("a", "Other words.")], tmp_path)
    texts[1] = ScriptLine("b", "Do not stop.")
    run_peer(beeper(), MATRIX, texts, tmp_path, progress=lines.append)
    assert len(lines) == 2
    for clock in ("llm", "reader"):
        traces = list(read_traces(folder / f"{clock}.jsonl"))
        named = [(trace.name, trace.condition, trace.clock) for trace in traces]
        assert named == [("a", "beeper", clock), ("b", "beeper", clock)]
        with wave.open(str(folder / "wav" / "b.wav")) as sound:
            assert sound.getnframes() == sum(chunk.samples for chunk in traces[1].chunks)
    run_peer(WorkerPeer(Engine("beeper", "not:needed")), MATRIX, texts, tmp_path)
    with pytest.raises(ConfigError, match="has the name of a condition"):
        run_peer(WorkerPeer(Engine("ours", "")), MATRIX, texts, tmp_path)


def test_a_peer_of_one_s_own_is_loaded_by_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = Path(__file__).parents[3] / "examples" / "custom_peer.py"
    run_peer(
        make_peer(f"{example}:peer"), MATRIX, [ScriptLine("a", "Hello there.")], tmp_path / "out"
    )
    (trace,) = read_traces(tmp_path / "out" / "tone" / "llm.jsonl")
    assert (trace.condition, trace.duration_s) == ("tone", 800 * 12 / 16000)
    about = json.loads((tmp_path / "out" / "tone" / "about.json").read_text(encoding="utf-8"))
    assert about["settings"] == {"name": "tone"}
    (tmp_path / "my_engine.py").write_text(
        "from dataclasses import dataclass\nfrom sayahead_lab.eval.peers.catalogue import"
        " hibari\n@dataclass\nclass Choice:\n    name: 'str'\ndef other():\n    return"
        " hibari(Choice('mine').name)\ndef bad():\n    return hibari('a/b')\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert (
        make_peer("my_engine:other").name
        == make_peer(f"{tmp_path / 'my_engine.py'}:other").name
        == "mine"
    )
    for name, message in (
        (
            "hibary",
            (
                r"'hibary' is not known \(did you mean 'hibari'\?\); one of your own is"
                r" FILE.py:FUNCTION"
            ),
        ),
        ("no_such_module:make", "cannot be loaded: ModuleNotFoundError"),
        (f"{tmp_path}/none.py:make", "cannot be loaded: FileNotFoundError"),
        ("my_engine:none", "cannot be loaded: AttributeError"),
        ("my_engine:bad", "'a/b', cannot be the name of a folder"),
    ):
        with pytest.raises(ConfigError, match=message):
            make_peer(name)


def test_ours_through_the_protocol_is_ours_in_process() -> None:
    text = "Well, hello there, Dr. Smith. How do you do?"
    (peer,) = started_now(make_peer("sayahead"))
    trace, samples = measured(peer, text)
    heard, streamed, _ = live(peer, Tokens(per_s=100).arrivals(text))
    peer.close()
    voice = load_voice("heart")
    assert np.array_equal(samples, streamed)
    assert np.array_equal(samples, voice.synthesize(text))
    assert [chunk.samples for chunk in trace.chunks] == [chunk.samples for chunk in heard.chunks]
    inside, _ = measure(voice.session(), text)
    assert [chunk.read for chunk in trace.chunks] == [chunk.read for chunk in inside.chunks]


def started_now(*peers: WorkerPeer) -> tuple[WorkerPeer, ...]:
    for peer in peers:
        peer.start()
    return peers


def test_what_is_known_is_measured(tmp_path: Path) -> None:
    """A delay, a stall and a shift of words, each within 10 ms in the best of some takes."""
    text = "The last train leaves."
    voice = load_voice("heart")
    sound = voice.synthesize(text)
    wav = tmp_path / "a.wav"
    write_wav(wav, sound, voice.sample_rate)
    known = {"delay_s": 0.12, "stall_s": 0.08, "shift_s": 0.137}
    lead_s = int(np.flatnonzero(np.abs(sound) > 10 ** (-50 / 20))[0]) / voice.sample_rate
    (exact,) = started_now(
        WorkerPeer(Engine("exact", f"{BEEPER}:exact", "token", {"wav": str(wav), **known}))
    )
    delays = []
    stalls = []
    for _ in range(4):
        trace, shifted, _ = live(exact, [Arrival(text, 0.0)])
        delays.append(first_heard_s(trace) - trace.fragments[-1].at_s - lead_s - known["shift_s"])
        stalls.append(stalls_s(trace).sum())
    exact.close()
    assert min(delays) == pytest.approx(known["delay_s"], abs=0.01)
    assert min(abs(stall - known["stall_s"]) for stall in stalls) < 0.01
    found, moved = (word_times(one, voice.sample_rate, text) for one in (sound, shifted))
    assert found is not None
    assert moved is not None
    shifts = [
        (b.onset_samples - a.onset_samples) / voice.sample_rate
        for a, b in zip(found, moved, strict=True)
    ]
    assert [word.text for word in found] == text.split()
    assert np.mean(shifts) == pytest.approx(known["shift_s"], abs=0.01)
    assert word_times(sound[::-1].copy(), voice.sample_rate, text) is None


@pytest.mark.parametrize("name", ["hibari", "piper", "streaming-vits", "espeak-ng", "flite"])
def test_the_others_where_they_are_installed(name: str) -> None:
    peer = make_peer(name)
    if missing := peer.missing():
        pytest.skip(missing)
    peer.start()
    trace, samples = measured(peer, "Well, hello there, Dr. Smith. How do you do?")
    peer.close()
    assert len({chunk.read for chunk in trace.chunks}) == 2
    assert 1 < trace.duration_s < 10
    assert np.abs(samples).max() > 0.05


@pytest.mark.parametrize(
    "service", ["elevenlabs", "cartesia", "deepgram", "flux", "kyutai", "openai"]
)
def test_sockets_at_our_own_server(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Hello there, how are you today? I am fine."
    with serving() as server:
        monkeypatch.setenv(catalogue.SERVER, server.ws)
        peer = make_peer(f"{service}-socket")
        peer.start()
        trace, samples, _ = live(peer, ReadingClock(900).arrivals(text))
        peer.close()
    whole = toy_voice().synthesize(text)
    assert len(samples) / 24000 == pytest.approx(len(whole) / 8000, abs=0.05)
    assert trace.chunks[0].ready_s < trace.fragments[-1].at_s
    assert peer.about["simulates"] is False
    assert 0 <= peer.about["round_trip_ms"] < 1000


def test_a_command_that_fails_says_why() -> None:
    assert engines.output_of([sys.executable, "-c", "print(input())"], "x\n").split() == [b"x"]
    failing = [sys.executable, "-c", "import sys; sys.exit('no such voice')"]
    with pytest.raises(RuntimeError, match="ended with exit code 1 no such voice"):
        engines.output_of(failing, "x")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for variable in (catalogue.PIPER, catalogue.KOKORO, catalogue.POCKET, catalogue.SERVER):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(catalogue.PYTHON, str(tmp_path / "python"))
    for name, make in PEERS.items():
        assert make().name == name
        assert make().text in CUTS
    for name, message in (
        ("espeak-ng", "install espeak-ng"),
        ("piper+fragments", "pip install piper-tts"),
        ("streaming-vits", "pip install streaming-vits"),
        ("kokoro", "set SAYAHEAD_KOKORO"),
        ("pocket-tts", "install pocket-tts"),
        ("cartesia-socket", "set SAYAHEAD_SERVER"),
    ):
        with pytest.raises(PeerError, match=message):
            make_peer(name).start()
    monkeypatch.setattr(catalogue, "has_module", lambda python, name: True)
    assert "set SAYAHEAD_PIPER_VOICE to a folder" in (make_peer("piper").missing() or "")
    monkeypatch.setenv(catalogue.PIPER, str(tmp_path))
    (tmp_path / "x.onnx").touch()
    assert "set SAYAHEAD_PIPER_VOICE" in (make_peer("piper").missing() or "")
    (tmp_path / "x.onnx.json").touch()
    assert make_peer("piper").missing() is None
    assert "set SAYAHEAD_POCKET_TTS" in (make_peer("pocket-tts").missing() or "")
    assert "piper" not in sys.modules


def test_a_package_is_found_without_importing_it() -> None:
    assert has_module(sys.executable, "wave")
    assert not has_module(sys.executable, "no_such_package")
    assert not has_module("/no/such/python", "wave")
