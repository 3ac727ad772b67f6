"""Peers: how a text is cut for engines that speak whole pieces, and their traces from real processes."""

from __future__ import annotations

import json
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
from sayahead import ConfigError

from sayahead_lab.eval.experiment import peer_worker, peers
from sayahead_lab.eval.experiment.clock import Arrival
from sayahead_lab.eval.experiment.conditions import Clock, Condition, Matrix
from sayahead_lab.eval.experiment.fragment import Fragmenter, by_sentence, first_fragment_early
from sayahead_lab.eval.experiment.peers import PEERS, PeerError, WorkerPeer, make_peer, measure_peer, run_peer
from sayahead_lab.eval.experiment.trace import read_traces, retime
from sayahead_lab.scripts import ScriptLine

BEEPER = str(Path(__file__).parents[2] / "lab_support" / "beeper.py")
MATRIX = Matrix((Condition("ours"),), (Clock("llm", "tokens"), Clock("reader", "reader")), count=2)


def beeper(*arguments: str, fragments: Fragmenter = by_sentence) -> WorkerPeer:
    return WorkerPeer("beeper", [sys.executable, BEEPER, *arguments], fragments=fragments)


def pieces(cut: Fragmenter, text: str) -> list[tuple[str, str]]:
    """Each fragment, and what of the text behind it is read before it is known to be one."""
    found = cut(text)
    assert " ".join(text[piece.start : piece.end] for piece in found).split() == text.split()
    return [(text[piece.start : piece.end].strip(), text[piece.end : piece.read].strip()) for piece in found]


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
        ("At 3:30, some 1,000 men: all of them.", [("At 3:30, some 1,000 men:", ""), ("all of them.", "")]),
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
def test_fragments_need_no_more_text_than_they_say(cut: Fragmenter) -> None:
    text = 'Dr. Who met "her, or him" at 3:30. Was it so? They, of course, said: no! And so on; it ended there. Fine.'
    whole = cut(text)
    for number, piece in enumerate(whole):
        for read in range(piece.read, len(text)):
            assert cut(text[:read])[: number + 1] == whole[: number + 1]


def test_a_trace_of_two_sentences() -> None:
    text = "Hi you! — Go home."
    peer = beeper()
    peer.start()
    trace, samples = measure_peer(peer, text, index=4, name="x")
    peer.close()
    peer.close()
    assert (trace.index, trace.name, trace.condition, trace.clock, trace.sample_rate) == (
        4,
        "x",
        "beeper",
        "measured",
        1000,
    )
    assert trace.source == text
    assert [(f.start, f.end, f.at_s) for f in trace.fragments] == [(i, i + 1, 0.0) for i in range(len(text))]
    first, second = trace.chunks
    assert [(c.start, c.samples, c.read, c.audible) for c in trace.chunks] == [(0, 600, 9, 50), (600, 700, 18, 50)]
    assert len(samples) == 1300
    assert samples.dtype == np.float32
    assert 0.01 <= first.generation_s < 60
    assert second.ready_s == pytest.approx(first.generation_s + second.generation_s)
    assert [(w.text, w.start, w.end, w.onset, w.offset) for w in trace.words] == [
        *(("Hi", 0, 2, 50, 250), ("you!", 3, 7, 250, 550)),
        *(("Go", 10, 12, 650, 850), ("home.", 13, 18, 850, 1250)),
    ]
    timed = retime(trace, [Arrival("Hi you! ", 1.0), Arrival("— Go", 2.0), Arrival(" home.", 4.0)])
    assert [chunk.ideal_s for chunk in timed.chunks] == [2.0, 4.0]
    assert [chunk.read for chunk in timed.chunks] == [12, 18]


def test_what_is_not_heard_is_paid_for() -> None:
    peer = beeper()
    peer.start()
    trace, _ = measure_peer(peer, "Say nothing. A hush.")
    assert [(chunk.read, chunk.audible) for chunk in trace.chunks] == [(20, None)]
    assert trace.chunks[0].generation_s == trace.chunks[0].ready_s
    assert [word.onset for word in trace.words] == [0, 20]
    with pytest.raises(PeerError, match="gave no sound for 'Say nothing"):
        measure_peer(peer, "Say nothing.")
    with pytest.raises(PeerError, match="sample rate changed from 1000 to 2000 Hz"):
        measure_peer(peer, "One. Now fast.")
    peer.close()


def test_a_worker_that_fails_says_why() -> None:
    peer = beeper()
    with pytest.raises(PeerError, match="beeper does not run: start it"):
        peer.speak("a")
    peer.start()
    with pytest.raises(PeerError, match=r"^Peer beeper: ValueError: cannot say 'I refuse'\.$"):
        peer.speak("I refuse")
    assert len(peer.speak("still there").samples) == 1100
    with pytest.raises(PeerError, match=r"^Peer beeper: its process ended \(exit code 3\): out of luck\.$"):
        peer.speak("die")
    peer.start()
    assert len(peer.speak("again").samples) == 600
    peer.close()
    with pytest.raises(PeerError, match="FileNotFoundError: no voice here"):
        beeper("broken").start()
    with pytest.raises(PeerError, match="cannot be started: No such file"):
        WorkerPeer("none", ["/no/such/engine"]).start()


@pytest.mark.parametrize(
    ("prints", "message"),
    [
        ("print('hello')", r"its process answered b'hello\\n'"),
        ("print('[]')", r"its process answered b'\[\]\\n'"),
        ("print('{}\\n{}')", "its process answered {}"),
        ("print('{}\\n{\"samples\": 5}')", r"its process ended \(exit code 0\)"),
        ('print(\'{}\\n{"samples": "many"}\')', "its process answered"),
        ("", r"its process ended \(exit code 0\)"),
    ],
)
def test_answers_that_are_none(prints: str, message: str) -> None:
    # It reads a request before it ends, so that none breaks its pipe.
    worker = f"import sys; {prints or 'pass'}; sys.stdout.flush(); sys.stdin.readline() if {bool(prints)} else None"
    with pytest.raises(PeerError, match=message):
        WorkerPeer("odd", [sys.executable, "-c", worker]).start()


def test_a_worker_that_hangs_is_ended() -> None:
    slow = beeper()
    slow.start()
    # Only now: a busy machine takes its time to start a process.
    slow._timeout_s = 1.0
    with pytest.raises(PeerError, match=r"^Peer beeper: no answer within 1 s"):
        slow.speak("hang")


def test_a_run_goes_on_after_a_death(tmp_path: Path) -> None:
    texts, lines = [ScriptLine("a", "Hello there. You!"), ScriptLine("b", "Do not die.")], list[str]()
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
        assert [(trace.name, trace.condition, trace.clock) for trace in traces] == [
            ("a", "beeper", clock),
            ("b", "beeper", clock),
        ]
        with wave.open(str(folder / "wav" / "b.wav")) as sound:
            assert sound.getnframes() == sum(chunk.samples for chunk in traces[1].chunks)
    run_peer(WorkerPeer("beeper", ["/not/needed"]), MATRIX, texts, tmp_path)
    with pytest.raises(ConfigError, match="has the name of a condition"):
        run_peer(WorkerPeer("ours", []), MATRIX, texts, tmp_path)


def test_a_peer_of_one_s_own_is_loaded_by_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = Path(__file__).parents[3] / "examples" / "custom_peer.py"
    run_peer(make_peer(f"{example}:peer"), MATRIX, [ScriptLine("a", "Hello there.")], tmp_path / "out")
    (trace,) = read_traces(tmp_path / "out" / "tone" / "llm.jsonl")
    assert (trace.condition, trace.duration_s) == ("tone", 800 * 12 / 16000)
    about = json.loads((tmp_path / "out" / "tone" / "about.json").read_text(encoding="utf-8"))
    assert about["settings"] == {"name": "tone"}
    assert [load["own_processes"] for load in about["load"]] == [1]
    (tmp_path / "my_engine.py").write_text(
        "from dataclasses import dataclass\nfrom sayahead_lab.eval.experiment.peers import hibari\n"
        "@dataclass\nclass Choice:\n    name: 'str'\n"
        "def other():\n    return hibari(Choice('mine').name)\ndef bad():\n    return hibari('a/b')\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert make_peer("my_engine:other").name == make_peer(f"{tmp_path / 'my_engine.py'}:other").name == "mine"
    assert make_peer("hibari").name == "hibari"
    for name, message in (
        ("hibary", r"'hibary' is not known \(did you mean 'hibari'\?\); one of your own is FILE.py:FUNCTION"),
        ("no_such_module:make", "cannot be made: ModuleNotFoundError"),
        (f"{tmp_path}/none.py:make", "cannot be made: FileNotFoundError"),
        ("my_engine:none", "cannot be made: AttributeError"),
        ("my_engine:bad", "'a/b', cannot be the name of a folder"),
    ):
        with pytest.raises(ConfigError, match=message):
            make_peer(name)


def test_hibari_from_its_own_process() -> None:
    peer = PEERS["hibari"]()
    assert peer.missing() is None
    peer.start()
    trace, samples = measure_peer(peer, "Hello there.")
    peer.close()
    assert trace.sample_rate == 24000
    assert len(trace.chunks) == 1
    assert 0.3 < trace.duration_s < 3
    assert np.abs(samples).max() > 0.05
    assert [word.text for word in trace.words] == ["Hello", "there."]
    assert 0 < trace.chunks[0].generation_s < 10


@pytest.mark.parametrize("name", [name for name in PEERS if name != "hibari"])
def test_the_others_where_they_are_installed(name: str) -> None:
    peer = PEERS[name]()
    if missing := peer.missing():
        pytest.skip(missing)
    peer.start()
    trace, samples = measure_peer(peer, "Well, hello there, Dr. Smith. How do you do?")
    peer.close()
    assert len(trace.chunks) == (3 if name.endswith("fragments") else 2)
    assert 1 < trace.duration_s < 10
    assert np.abs(samples).max() > 0.05


def test_a_command_that_fails_says_why() -> None:
    assert peer_worker.output_of([sys.executable, "-c", "print(input())"], "x\n").split() == [b"x"]
    failing = [sys.executable, "-c", "import sys; sys.exit('no such voice')"]
    with pytest.raises(RuntimeError, match="ended with exit code 1 no such voice"):
        peer_worker.output_of(failing, "x")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SAYAHEAD_PIPER_VOICE", raising=False)
    monkeypatch.setenv("SAYAHEAD_PIPER_PYTHON", str(tmp_path / "python"))
    assert set(PEERS) >= {"hibari", "piper", "espeak-ng", "hibari+fragments", "piper+fragments"}
    for name, make in PEERS.items():
        assert make().name == name
    assert "install espeak-ng" in (PEERS["espeak-ng"]().missing() or "")
    for name in ("piper", "piper+fragments"):
        assert "pip install piper-tts" in (PEERS[name]().missing() or "")
        with pytest.raises(PeerError, match=r"pip install piper-tts"):
            PEERS[name]().start()
    monkeypatch.setattr(peers, "has_module", lambda python, name: True)
    assert "set SAYAHEAD_PIPER_VOICE to a folder" in (PEERS["piper"]().missing() or "")
    (tmp_path / "x.onnx").touch()
    assert "set SAYAHEAD_PIPER_VOICE" in (PEERS["piper"](voice=tmp_path).missing() or "")
    (tmp_path / "x.onnx.json").touch()
    assert PEERS["piper"](voice=tmp_path).missing() is None
    assert PEERS["piper"](voice=tmp_path / "x.onnx").missing() is None
    assert "piper" not in sys.modules


def test_a_package_is_found_without_importing_it() -> None:
    assert peers.has_module(sys.executable, "wave")
    assert not peers.has_module(sys.executable, "no_such_package")
    assert not peers.has_module("/no/such/python", "wave")
