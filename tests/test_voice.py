"""Voices: loading, damage, and what sessions refuse."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sayahead import ConfigError, SessionError, Voice, VoiceError, installed_voices, load_voice
from sayahead.research import READ, LookaheadK, Read, View
from sayahead.types import Floats

pytestmark = pytest.mark.smoke


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the default voice to damage."""
    return Path(shutil.copytree(installed_voices()["heart"], tmp_path / "heart"))


def edit(folder: Path, **changes: Any) -> None:
    path = folder / "voice.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        if value is None:
            del config[key]
        else:
            config[key] = value
    path.write_text(json.dumps(config), encoding="utf-8")


def test_a_folder_is_a_voice(folder: Path, heart: Voice) -> None:
    voice = load_voice(folder)
    assert voice.config == heart.config
    assert np.array_equal(voice.synthesize("Hello."), heart.synthesize("Hello."))


def test_an_unknown_voice_is_named() -> None:
    with pytest.raises(VoiceError, match=r"'hart' \(did you mean 'heart'\?\)"):
        load_voice("hart")


def test_a_damaged_file_is_named(folder: Path) -> None:
    path = folder / "prosody.onnx"
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    with pytest.raises(VoiceError, match=r"prosody\.onnx is damaged: its SHA-256 is"):
        load_voice(folder)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "decoder.onnx").unlink()
    with pytest.raises(VoiceError, match=r"decoder\.onnx is missing"):
        load_voice(folder)


def test_a_graph_that_is_none_is_named(folder: Path) -> None:
    (folder / "text.onnx").write_bytes(b"not a graph")
    with pytest.raises(VoiceError, match=r"text\.onnx cannot be loaded"):
        load_voice(folder, verify=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sampel_rate": 1}, "unknown key 'sampel_rate' .did you mean 'sample_rate'"),
        ({"sample_rate": None}, "the key 'sample_rate"),
        ({"sample_rate": "fast"}, "sample_rate: expected int, found str 'fast'"),
        ({"hop_length": True}, "hop_length: expected int, found bool True"),
        ({"model": {"window": 80}}, "model: the key 'pad' is missing"),
        ({"phonemes": {"a": "b"}}, "phonemes.a: expected int"),
        ({"defaults": {"lookahead": 1}}, "defaults: the key 'hold_back_s' is missing"),
        ({"speed": [0.5, "x"]}, r"speed\[1\]: expected float"),
        ({"format": 99}, "format 99 is not supported"),
        ({"kind": "heat"}, "kind 'heat' is unknown .did you mean 'heart'"),
    ],
)
def test_a_bad_voice_json_says_where(folder: Path, changes: dict[str, Any], message: str) -> None:
    edit(folder, **changes)
    with pytest.raises(VoiceError, match=message):
        load_voice(folder)


def test_a_voice_json_that_is_not_json(folder: Path) -> None:
    (folder / "voice.json").write_text("{", encoding="utf-8")
    with pytest.raises(VoiceError, match="cannot be read"):
        load_voice(folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sped": 1.0}, r"unknown option 'sped' \(did you mean 'speed'"),
        ({"sample_rate": 8000}, r"unknown option 'sample_rate': speak\(\) and stream\(\) have it"),
        ({"sampel_rate": 8000}, r"\(did you mean 'sample_rate'"),
        ({"speed": 0.4}, "speed is 0.4, but must be a number from 0.5 to 2"),
        ({"speed": "fast"}, "speed is 'fast'"),
        ({"speed": True}, "speed is True"),
        ({"volume": -1}, "volume is -1"),
        ({"hold_back_s": float("nan")}, "hold_back_s is nan"),
        ({"seed": -1}, "seed is -1"),
        ({"research": {"k2": 99}}, "k2 is 99"),
        ({"research": {"delta": -3}}, "delta is -3"),
    ],
)
def test_bad_options_are_named(heart: Voice, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        heart.session(**options)


def test_numpys_numbers_are_numbers(heart: Voice) -> None:
    options: Any = {
        "speed": np.float32(1.25),
        "volume": np.float16(0.5),
        "hold_back_s": np.float32(0.25),
    }
    options |= {"seed": np.int64(3)}
    research: Any = {"k2": np.uint8(1), "delta": np.int32(8)}
    plain: Any = {name: value.item() for name, value in options.items()}
    plain["research"] = {name: value.item() for name, value in research.items()}
    options["research"] = research
    k: Any = np.int64(2)
    same = heart.synthesize("Hello there, you.", policy="lookahead:k=2", **plain)
    for policy in (LookaheadK(k), {"name": "lookahead", "k": k}):
        assert np.array_equal(heart.synthesize("Hello there, you.", policy=policy, **options), same)


def test_numpys_numbers_are_numbers_to_a_session(heart: Voice) -> None:
    quarter_s: Any = np.float32(0.25)
    at: Any = np.int64(18)
    true: Any = np.True_
    session = heart.session(keep_up={"lag_s": np.float32(2)})
    session.push("Hello there, you. ")
    list(session.chunks())
    session.played(quarter_s)
    assert session.heard(quarter_s) == session.heard(0.25)
    assert session.revise(at, "And you? ") == 18
    with pytest.raises(ConfigError, match="speed is np"):
        heart.session(speed=true)
    with pytest.raises(ConfigError, match="played_s is 1000"):
        session.heard(10**400)


@pytest.mark.parametrize("name", [5, ["heart"]])
def test_what_is_no_name_of_a_voice_is_refused(name: Any) -> None:
    with pytest.raises(VoiceError, match="must be its name or its folder"):
        load_voice(name)


@pytest.mark.parametrize("threads", [0, "2", None, 1.5])
def test_a_number_of_threads_that_cannot_be_is_refused(threads: Any) -> None:
    with pytest.raises(ConfigError, match="threads is"):
        load_voice("heart", threads=threads)


def test_a_policy_that_never_speaks_is_told_and_loses_nothing_in_silence(heart: Voice) -> None:
    class Reading:
        unit = "words"

        def decide(self, view: View) -> Read:
            return READ

    policy: Any = Reading()
    session = heart.session(policy=policy)
    session.push("Hello there. ")
    assert session.pull() is None
    with pytest.raises(SessionError, match="from character 0 on"):
        heart.synthesize("Hello there. ", policy=policy)

    async def run() -> None:
        async for _ in heart.speak("Hello there. ", policy=policy):
            pass

    with pytest.raises(SessionError, match="never speaks its rest"):
        asyncio.run(asyncio.wait_for(run(), 20))


@pytest.mark.parametrize("wrong", [None, ["soon"], "soon"])
def test_a_context_that_predicts_something_else_is_named(heart: Voice, wrong: Any) -> None:
    class Soon:
        def predict(self, words: Sequence[str]) -> Any:
            return wrong

        def __repr__(self) -> str:
            return "Soon()"

    with pytest.raises(ConfigError, match=r"Soon\(\) returned .* must return a Prediction"):
        heart.synthesize("Hello there, you.", context=Soon())


def test_astream_gives_what_stream_gives(heart: Voice) -> None:
    fragments = ["Hello ", "there, how", " are you?"]

    async def source() -> AsyncIterator[str]:
        for fragment in fragments:
            await asyncio.sleep(0.01)
            yield fragment

    async def collect() -> Floats:
        return np.concatenate([chunk.samples async for chunk in heart.astream(source())])

    assert np.array_equal(asyncio.run(collect()), heart.synthesize("".join(fragments)))


def test_idle_text_is_spoken_as_it_stands(heart: Voice) -> None:
    heard = asyncio.Event()

    async def source() -> AsyncIterator[str]:
        yield "Hello the"
        # Nothing more comes until the words so far were heard.
        await asyncio.wait_for(heard.wait(), 30)
        yield "re you."

    async def collect() -> list[str]:
        words = []
        async for chunk in heart.astream(source(), idle_s=0.2):
            words += [word.text for word in chunk.words]
            if "the" in words:
                heard.set()
        return words

    assert asyncio.run(collect()) == ["Hello", "the", "re", "you."]


def test_leaving_an_astream_early_harms_nothing(heart: Voice) -> None:
    async def source() -> AsyncIterator[str]:
        while True:
            yield "and so on "
            await asyncio.sleep(0)

    async def first() -> int:
        stream = heart.astream(source())
        async for chunk in stream:
            await stream.aclose()  # type: ignore[attr-defined]
            return len(chunk.samples)
        return 0

    assert asyncio.run(first()) > 0


OUTSIDE = "../secret.onnx"
FAULTS: dict[str, dict[str, Any]] = {
    "a file outside": {"files": {OUTSIDE: "0" * 64}},
    "an absolute file": {"files": {"/etc/passwd": "0" * 64}},
    "a predictor outside": {"distilled": {"graph": OUTSIDE, "vectors": "words.npz"}},
    "a pause that fills the memory": {"pause_s": 1e9},
    "a pause that is no number": {"pause_s": float("nan")},
    "a rate without end": {"sample_rate": 10**12},
    "no rate": {"sample_rate": 0},
    "one speed": {"speed": [1.0]},
    "no phonemes": {"phonemes": {}},
    "phonemes that the graph lacks": {"phonemes": {"a": 9999, "s": 9998, "e": 9997}},
    "unlisted files": {"files": {}},
}


@pytest.mark.parametrize("changes", FAULTS.values(), ids=FAULTS)
def test_faults_of_a_foreign_voice_are_errors_of_a_voice(
    folder: Path, changes: dict[str, Any]
) -> None:
    """Names with .. and absolute ones were read, unlisted files loaded unchecked; others were
    tracebacks, or 87 TiB."""
    (folder.parent / "secret.onnx").write_bytes((folder / "distilled.onnx").read_bytes())
    edit(folder, **changes)
    with pytest.raises(VoiceError):
        load_voice(folder)


def test_a_link_out_of_the_folder_is_refused(folder: Path) -> None:
    """Links were followed."""
    outside = folder.parent / "outside.onnx"
    (folder / "decoder.onnx").rename(outside)
    (folder / "decoder.onnx").symlink_to(outside)
    with pytest.raises(VoiceError, match="reads only its own"):
        load_voice(folder)


def test_graphs_that_are_swapped_are_an_error_of_a_voice(folder: Path) -> None:
    """It was a traceback of the first synthesis."""
    names = ("text.onnx", "prosody.onnx")
    first, second = ((folder / name).read_bytes() for name in names)
    (folder / names[0]).write_bytes(second)
    (folder / names[1]).write_bytes(first)
    with pytest.raises(VoiceError):
        load_voice(folder, verify=False)


def test_a_voice_json_that_is_deep_is_an_error_of_a_voice(folder: Path) -> None:
    """RecursionError."""
    (folder / "voice.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(VoiceError):
        load_voice(folder)
