"""The arithmetic of the browser's engine: the same sound of the same segments and the same answers
of the graphs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.browser_tab import WEB, script

from sayahead import Voice, load_voice
from sayahead.engine.onnx import Array, OnnxGraph
from sayahead.engine.synthesizer import TwoStage
from sayahead.sound.pcm import to_pcm16
from sayahead.sound.resample import Resampler
from sayahead.types import NOTHING, Segment, Shape
from sayahead.voices import FOLDER

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not on PATH")

FAMILY = WEB.parent / "voices" / "family" / "src" / "sayahead_voices_family"
NEAR = 1e-4
"""Numbers that differ by less are the same: single precision here, double there."""
JUMP = 3e-3
"""Single samples may: where the last bit of the pitch decides whether one more harmonic is below 11
kHz."""
TEXTS = (
    "Wait here, please. I will be back in ten minutes!",
    "Dr. Smith paid $5 million for it on March 3rd, 1999.",
    "The committee's unexpected announcement about Zyxqorp surprised everyone.",
)
LONG = "and then, " * 60 + "all was said."
"""A sentence that takes more than one piece of the vocoder's, and more phonemes than the text
encoders remember."""
SESSIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((text, {}) for text in TEXTS),
    *((text, {"policy": "wait-all"}) for text in TEXTS),
    (TEXTS[0], {"policy": "lookahead:k=0", "seed": 7}),
    (TEXTS[1], {"policy": "lookahead:k=2", "speed": 1.3}),
    (TEXTS[1], {"policy": "learned", "speed": 0.7}),
    (TEXTS[2], {"pitch": -5.0, "formants": 0.88, "pitch_range": 1.3}),
    (TEXTS[0], {"hold_back_s": 0.2}),
    (
        'One <prosody rate="fast">two three</prosody> <break time="300ms"/> four.',
        {"markup": "ssml"},
    ),
    (LONG, {}),
    (LONG, {"policy": "wait-all"}),
)


class Trace:
    """What Python's session gave to its synthesizer, what the graphs said, and what came of it."""

    def __init__(
        self, voice: Voice, monkeypatch: pytest.MonkeyPatch, home: Path = FOLDER / "heart"
    ) -> None:
        """``home``: the folder of the voice that has its graphs."""
        self._voice = voice
        self._home = home
        self._monkeypatch = monkeypatch
        self._size = 0
        self._data = list[bytes]()
        self._calls = list[Any]()
        self.sessions = list[dict[str, Any]]()

    def speak(self, text: str, options: dict[str, Any]) -> None:
        """Record a session."""
        steps = list[dict[str, Any]]()
        own = TwoStage.step
        call = OnnxGraph.__call__
        shape = (
            options.get("pitch", 0.0),
            options.get("pitch_range", 1.0),
            options.get("formants", 1.0),
        )

        def called(graph: OnnxGraph, **inputs: Array) -> dict[str, Array]:
            outputs = call(graph, **inputs)
            sides = (
                {name: self._put(array) for name, array in side.items()}
                for side in (inputs, outputs)
            )
            self._calls.append((graph.name, *sides))
            return outputs

        def step(stages: TwoStage[Any, Any], segment: Segment, state: Any) -> Any:
            self._calls = []
            speech, after = own(stages, segment, state)
            told = None if segment is NOTHING else segment_of(segment)
            rows = {"segment": told, "calls": self._calls, "samples": self._put(speech.samples)}
            steps.append(
                rows
                | {
                    "words": np.ravel(speech.words).tolist(),
                    "ended": speech.ended,
                    "more": speech.more,
                }
            )
            return speech, after

        with self._monkeypatch.context() as patch:
            patch.setattr(OnnxGraph, "__call__", called)
            patch.setattr(TwoStage, "step", step)
            session = self._voice.session(**options)
            rendering = session._state.rendering
            for word in text.split(" "):
                session.push(f"{word} ")
                list(session.chunks())
            session.finish()
            list(session.chunks())
        numbers = (
            rendering.speed,
            rendering.hold_back_s,
            rendering.blind_hold_back_s,
            rendering.seed,
            *shape,
            rendering.speaker,
        )
        self.sessions.append({"rendering": numbers, "steps": steps})

    def _put(self, array: Array) -> dict[str, Any]:
        at = self._size
        self._size = self._size + array.size
        self._data.append(np.ascontiguousarray(array, np.float32).tobytes())
        return {"at": at, "size": array.size, "shape": list(array.shape)}

    def save(self, path: Path) -> None:
        """Write what replay.mjs reads."""
        voice = json.loads((self._home / "voice.json").read_text(encoding="utf-8"))
        if own := script("build").speakers(self._home):
            voice["sizes"] = {graph: table.shape[1] for graph, table in own.items()}
            voice["speakers"] = self._put(np.concatenate(list(own.values()), axis=1))
        path.with_suffix(".json").write_text(
            json.dumps({"voice": voice, "sessions": self.sessions})
        )
        path.with_suffix(".bin").write_bytes(b"".join(self._data))


def segment_of(segment: Segment) -> list[Any]:
    """A segment as ``engine.js`` takes it."""
    places = np.ravel(segment.spans).tolist()
    speeds = None if segment.speeds is None else segment.speeds.tolist()
    flags = segment.ends, segment.breath
    return [
        segment.ids.tolist(),
        segment.speak,
        places,
        *flags,
        speeds,
        segment.stretch,
        segment.pause,
    ]


def replayed(path: Path) -> dict[str, Any]:
    """What replay.mjs says of a trace."""
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("replay.mjs")), str(path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_sound_is_pythons_word_by_word_and_whole(
    heart: Voice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = Trace(heart, monkeypatch)
    for text, options in SESSIONS:
        trace.speak(text, options)
    assert any(step["segment"] is None for session in trace.sessions for step in session["steps"])
    trace.save(tmp_path / "trace")
    found = replayed(tmp_path / "trace")
    assert found["left"] == 0
    assert found["times"] == 0
    assert found["given"] < NEAR
    assert found["rms"] < NEAR / 5
    assert found["samples"] < JUMP


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("am_puck", TEXTS[1]),
        ("bf_emma", TEXTS[0]),
        ("ef_dora", "El tren sale a las nueve y media, señora."),
        ("ff_siwis", "Le train part à neuf heures et demie."),
        ("if_sara", "Il treno parte alle nove e mezza."),
        ("pm_alex", "O trem parte às nove e meia."),
    ],
)
def test_speakers_of_a_family_are_pythons(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = Trace(load_voice(FAMILY / name), monkeypatch, FAMILY / "family")
    trace.speak(text, {})
    trace.save(tmp_path / "trace")
    found = replayed(tmp_path / "trace")
    assert found["left"] == found["times"] == 0
    assert found["given"] < NEAR
    assert found["rms"] < NEAR / 5
    assert found["samples"] < JUMP


def test_whole_sentences_are_equal_to_single_precision(
    heart: Voice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = Trace(heart, monkeypatch)
    for text in TEXTS:
        trace.speak(text, {"policy": "wait-all"})
    trace.save(tmp_path / "trace")
    assert replayed(tmp_path / "trace")["samples"] < 1e-6


def test_other_numbers_are_not_near(
    heart: Voice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = Trace(heart, monkeypatch)
    trace.speak(TEXTS[0], {"seed": 1})
    (session,) = trace.sessions
    session["rendering"] = (*session["rendering"][:3], 2, *session["rendering"][4:])
    trace.save(tmp_path / "trace")
    found = replayed(tmp_path / "trace")
    assert found["samples"] > JUMP
    assert found["rms"] > NEAR


@pytest.mark.parametrize("rate", [8000, 44100, 48000])
def test_samples_are_sent_as_python_sends_them(rate: int, tmp_path: Path) -> None:
    samples = np.random.default_rng(0).uniform(-1.1, 1.1, 5000).astype(np.float32)
    samples.tofile(tmp_path / "samples")
    program = f"""
      import {{ readFileSync, writeFileSync }} from "node:fs";
      import {{ Encoder }} from "{(WEB / "package" / "engine" / "resample.js").as_uri()}";
      const bytes = readFileSync("samples");
      const samples = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
      const encoder = new Encoder(24000, {rate});
      const parts = [];
      for (let at = 0; at < samples.length; at += 700) {{
        encoder.take(samples.subarray(at, at + 700), 1);
        encoder.take(30, 1);
        parts.push(encoder.give());
      }}
      parts.push(encoder.finish());
      writeFileSync("sent", Int16Array.from(parts.flatMap((part) => [...part])));
    """  # noqa: E501
    subprocess.run(["node", "--input-type=module", "-e", program], cwd=tmp_path, check=True)
    pieces = [
        np.append(samples[at : at + 700], np.zeros(30, np.float32))
        for at in range(0, len(samples), 700)
    ]
    here = Resampler(24000, rate)
    clipped = [np.clip(piece, -1, 1) for piece in pieces]
    wanted = to_pcm16(np.concatenate([*map(here.push, clipped), here.finish()])).astype(np.int32)
    sent = np.fromfile(tmp_path / "sent", np.int16).astype(np.int32)
    assert len(sent) == len(wanted)
    assert np.abs(sent - wanted).max() <= 1


def test_the_voice_is_the_one_that_the_engine_knows() -> None:
    voice = load_voice("heart")
    assert voice.config.shape == Shape()
    assert voice.config.model["futures"]
    assert voice.config.defaults.context == "none"
