"""The voice saeki-lj: Tacotron 2 by segments with ma-lj's vocoder and a student of context, as they
are shipped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sayahead import Voice, VoiceError, installed_voices, load_voice
from sayahead.contexts.baselines import RandomWords, Truth
from sayahead.engine.context import ContextPredictor, NoContext
from sayahead.engine.onnx import OnnxGraph
from sayahead.research import LookaheadK, WaitAll
from support.command import Command, kept
from support.splits import joined, same_by_letters

from sayahead_lab.training.loop.publish import unpack_release
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.voice import make_voice

RUNS = Path(__file__).parents[3] / "archives" / "runs" / "saeki.tar.xz"
TEXT = "Nobody had told them, so they came too late. We knew."


@pytest.fixture(scope="module")
def voice() -> Voice:
    return kept("saeki-lj")


def contexts(voice: Voice) -> dict[str, ContextPredictor]:
    return {
        "none": NoContext(),
        "random": RandomWords(),
        "truth": Truth.of(TEXT),
        "distilled": voice.context("distilled"),
    }


@pytest.mark.parametrize("name", ["none", "random", "truth", "distilled"])
def test_any_split_gives_the_same_sound(voice: Voice, name: str) -> None:
    same_by_letters(voice, TEXT, context=contexts(voice)[name])


def test_segments_take_as_long_as_the_sentence(voice: Voice) -> None:
    sentence, _ = joined(voice, [TEXT], policy=WaitAll())
    made, _ = joined(voice, [TEXT], context=voice.context("distilled"))
    assert 2 < len(sentence) / 24000 < 8
    assert len(made) == pytest.approx(len(sentence), rel=0.2)


def test_contexts_are_heard(voice: Voice) -> None:
    made = {
        name: joined(voice, [TEXT], context=context)[0] for name, context in contexts(voice).items()
    }
    for a, b in (("none", "random"), ("none", "truth"), ("random", "truth"), ("distilled", "none")):
        assert len(made[a]) != len(made[b]) or not np.array_equal(made[a], made[b])


def test_segments_have_two_words(voice: Voice) -> None:
    session = voice.session()
    session.push("Nobody ")
    assert session.pull() is None
    session.push("had ")
    chunk = session.pull()
    assert chunk is not None
    assert chunk.words[0].text == "Nobody"
    one = voice.session(policy=LookaheadK(0))
    one.push("Nobody ")
    assert one.pull() is not None


@pytest.mark.parametrize("context", ["none", "random", "distilled", "truth"])
def test_contexts_on_the_command_line(sayahead: Command, context: str, tmp_path: Path) -> None:
    path = tmp_path / "one.wav"
    options = ["--voice", "saeki-lj", "--context", context, "--delta", "1", "--hold-back", "0"]
    sayahead("say", *options, "-q", "-o", str(path), TEXT)
    assert path.stat().st_size > 2 * 24000


def test_voices_without_a_predictor_and_texts_that_are_to_come_are_named(sayahead: Command) -> None:
    _, stderr = sayahead(
        "say", "--voice", "ma-lj", "--context", "distilled", "-o", "x.wav", "Hello.", code=2
    )
    assert "'ma-lj' has no context 'distilled'" in stderr
    _, stderr = sayahead("say", "--context", "truth", "-o", "x.wav", "-f", "-", code=2)
    assert "--context truth needs the whole text" in stderr


def test_a_lent_vocoder_is_the_one_that_was_meant(tmp_path: Path) -> None:
    folders = installed_voices()
    own = tmp_path / "saeki-lj"
    lender = tmp_path / "ma-lj"
    shutil.copytree(folders["saeki-lj"], own)
    load_voice(own)
    # A voice beside it goes before one of the package.
    lender.mkdir()
    shutil.copy(folders["ma-lj"] / "voice.json", lender)
    with pytest.raises(VoiceError, match=r"ma-lj/vocoder.onnx is missing"):
        load_voice(own)
    (lender / "vocoder.onnx").write_bytes(b"another")
    with pytest.raises(VoiceError, match=r"ma-lj/vocoder.onnx is damaged"):
        load_voice(own)
    table = json.loads((own / "voice.json").read_text(encoding="utf-8"))
    table["model"]["vocoder"]["voice"] = "nobody"
    (own / "voice.json").write_text(json.dumps(table), encoding="utf-8")
    with pytest.raises(VoiceError, match="needs the vocoder of the voice 'nobody'"):
        load_voice(own)


def test_its_published_runs_make_it(tmp_path: Path) -> None:
    unpack_release(RUNS, tmp_path)
    acoustic = load_trained(tmp_path / "guided-small")
    student = load_trained(tmp_path / "student-medium")
    make_voice(acoustic, "ma-lj", made := tmp_path / "voice", name="saeki-lj", student=student)
    shipped = installed_voices()["saeki-lj"]
    assert (made / "words.npz").read_bytes() == (shipped / "words.npz").read_bytes()
    # Published weights are rounded before those of the graphs are.
    noise = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
    for graph, feed, output, error in (
        ("encoder", {"ids": np.arange(1, 12)}, "states", 0.06),
        ("distilled", {"vectors": noise}, "embedding", 0.005),
    ):
        own, other = (
            OnnxGraph(folder / f"{graph}.onnx")(**feed)[output] for folder in (made, shipped)
        )
        assert np.abs(own - other).max() < error < np.abs(own).max() / 5, graph
