"""A training begins with a voice, or with a run on another corpus: weights from graphs, frames
normalized anew."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
import torch
from lab_support import tiny
from lab_support.tones import tones_corpus
from numpy.typing import NDArray
from sayahead.errors import ConfigError
from sayahead.voices import installed_voices, read_config

from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.loop.checkpoint import load_checkpoint
from sayahead_lab.training.loop.recipe import Recipe, load_recipe
from sayahead_lab.training.loop.run import train
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.loop.task import TASKS, TrainSettings
from sayahead_lab.training.loop.warm_start import Start, begin, find_start
from sayahead_lab.training.ma import export as ma_export
from sayahead_lab.training.ma.from_voice import read_deepvoice3
from sayahead_lab.training.ma.network import DeepVoice3
from sayahead_lab.training.ma.task import DeepVoice3Task
from sayahead_lab.training.mel import export as mel_export
from sayahead_lab.training.mel.from_voice import read_melvocoder
from sayahead_lab.training.mel.network import MelVocoderNetwork

RECIPES = Path(__file__).parents[2] / "recipes"
MA: dict[str, Any] = {**tiny.SIZES, "weight_norm": False}


def outputs(graph: Path) -> list[NDArray[Any]]:
    """What a graph makes of numbers that are always the same."""
    session = ort.InferenceSession(str(graph))
    draw = np.random.default_rng(0)
    feed = {}
    for one in session.get_inputs():
        shape = [size if isinstance(size, int) else 5 for size in one.shape]
        if one.type == "tensor(int64)":
            feed[one.name] = (
                np.array([3]) if one.name in ("rows", "commit") else draw.integers(1, 5, shape)
            )
        else:
            feed[one.name] = draw.normal(size=shape).astype(np.float32)
    return [
        value
        for value, one in zip(session.run(None, feed), session.get_outputs(), strict=True)
        if one.name != "mel"
    ]


def check_same(one: Path, two: Path, names: list[str]) -> None:
    for name in names:
        for value, other in zip(outputs(one / name), outputs(two / name), strict=True):
            assert np.allclose(value, other, atol=1e-4), name


@pytest.mark.parametrize("number", range(len(tiny.CONFIGS)))
def test_deep_voice_3_is_read_back_from_its_graphs(tmp_path: Path, number: int) -> None:
    config = tiny.CONFIGS[number]
    tiny.tiny_voice(tmp_path / "one", config=config)
    model = DeepVoice3(config)
    read_deepvoice3(model, tmp_path / "one")
    (tmp_path / "two").mkdir()
    ma_export.export(model, tmp_path / "two", frame_s=0.0125)
    check_same(tmp_path / "one", tmp_path / "two", ["encoder.onnx", "decoder.onnx"])
    with pytest.raises(ConfigError, match="other sizes than the encoder"):
        read_deepvoice3(DeepVoice3(replace(config, encoder_channels=12)), tmp_path / "one")


def test_the_mel_vocoder_is_read_back_with_its_mean(tmp_path: Path) -> None:
    tiny.tiny_voice(tmp_path / "one")
    model = MelVocoderNetwork(tiny.VOCODER)
    read_melvocoder(model, tmp_path / "one")
    assert torch.equal(model.mean, torch.full((80,), -4.0))
    (tmp_path / "two").mkdir()
    mel_export.export(model, tmp_path / "two")
    check_same(tmp_path / "one", tmp_path / "two", ["vocoder.onnx"])
    with pytest.raises(ConfigError, match=r"no vocoder.onnx of its own"):
        read_melvocoder(model, installed_voices()["mohan-lj"])


@pytest.mark.parametrize("recipe", ["ma/dv3-small", "ma/melvocoder"])
def test_the_shipped_voice_fits_the_recipes_it_was_made_with(recipe: str, tmp_path: Path) -> None:
    folder = installed_voices()["ma-lj"]
    settings = load_recipe(RECIPES / f"{recipe}.toml")
    config = read_config(folder)
    corpus = tones_corpus(tmp_path)
    maker = TASKS[settings.task]
    corpus.info = replace(corpus.info, phonemes=config.phonemes)
    task: Any = maker({**settings.model, **maker.found_in_voice(config)}, settings.data, corpus)
    model = task.model()
    fresh = model.mean.clone()
    task.read_voice(model, folder, config)
    # The vocoder's frames are the voice's, those of an acoustic model its new corpus's.
    assert torch.equal(model.mean, fresh) is (settings.task != "mel")
    (tmp_path / "out").mkdir()
    if settings.task == "mel":
        paths, _ = mel_export.export(model, tmp_path / "out")
    else:
        paths, _ = ma_export.export(model, tmp_path / "out", frame_s=0.0125)
    check_same(folder, tmp_path / "out", [path.name for path in paths])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return tones_corpus(tmp_path_factory.mktemp("tones"))


def ma(corpus: Corpus, start: str = "", **settings: Any) -> Recipe:
    return Recipe(
        "ma", "ma", TrainSettings(4, 1, start=start, **settings), str(corpus.path), MA, {}
    )


def changed(corpus: Corpus, folder: Path, **values: Any) -> Corpus:
    """Another corpus with the same items."""
    folder.mkdir()
    for path in corpus.path.iterdir():
        if path.is_dir():
            (folder / path.name).symlink_to(path)
    info = json.loads((corpus.path / "corpus.json").read_text())
    (folder / "corpus.json").write_text(json.dumps({**info, **values}))
    return Corpus(folder)


def test_a_run_goes_on_with_another_corpus_of_the_same_phonemes(
    corpus: Corpus, tmp_path: Path
) -> None:
    first = tmp_path / "first"
    second = tmp_path / "second"
    train(ma(corpus, ema=0.9), corpus.path, first, device="cpu")
    rate = load_checkpoint(first)["found"]["key_rate"]
    quieter = changed(corpus, tmp_path / "quieter", mel_mean=[-9.0] * 80)
    train(ma(quieter, str(first), ema=0.9, learning_rate=1e-9), quieter.path, second, device="cpu")
    learned = load_checkpoint(first)["ema"]
    begun = load_checkpoint(second)
    assert torch.allclose(
        begun["ema"]["encoder.embedding.weight"], learned["encoder.embedding.weight"], atol=1e-7
    )
    assert torch.equal(begun["ema"]["mean"], torch.full((80,), -9.0))
    assert begun["found"]["key_rate"] == rate
    other = changed(corpus, tmp_path / "other", phonemes={" ": 1, "a": 2})
    with pytest.raises(ConfigError, match="other phonemes or frames"):
        train(ma(other, str(first)), other.path, tmp_path / "third", device="cpu")


def test_a_run_begins_with_a_voice_and_keeps_its_rate_when_resumed(
    corpus: Corpus, tmp_path: Path
) -> None:
    task = DeepVoice3Task(MA, {}, corpus)
    folder = tmp_path / "voice"
    out = tmp_path / "out"
    tiny.tiny_voice(folder)
    _, acoustic = ma_export.export(
        tiny.deepvoice3(replace(task.config, key_rate=1.75)), folder, frame_s=0.0125
    )
    voice = json.loads((folder / "voice.json").read_text())
    lines = list[str]()
    with pytest.raises(ConfigError, match="reads other phonemes than the corpus"):
        train(ma(corpus, str(folder)), corpus.path, out, device="cpu")
    changes = {"phonemes": corpus.info.phonemes, "model": {**voice["model"], "acoustic": acoustic}}
    (folder / "voice.json").write_text(json.dumps({**voice, **changes}))
    train(
        ma(corpus, str(folder), learning_rate=1e-9),
        corpus.path,
        out,
        device="cpu",
        note=lines.append,
    )
    assert "Beginning with the voice tiny." in lines
    assert load_trained(out).model.config.key_rate == 1.75
    begun = load_checkpoint(out)["model"]["decoder.frames.bias"]
    fresh = DeepVoice3(task.config)
    read_deepvoice3(fresh, folder)
    assert torch.allclose(begun, fresh.decoder.frames.bias, atol=1e-6)
    # Once it has begun, the voice is not needed any more.
    (folder / "voice.json").unlink()
    again = replace(ma(corpus, str(folder), learning_rate=1e-9)).shortened(2)
    train(again, corpus.path, out, device="cpu", resume=True)
    assert load_trained(out).model.config.key_rate == 1.75


@pytest.mark.parametrize("ema", [pytest.param(0.0, marks=pytest.mark.slow), 0.9])
def test_parts_drawn_anew_are_those_of_a_run_without_a_start(
    corpus: Corpus, tmp_path: Path, ema: float
) -> None:
    still: dict[str, Any] = {"learning_rate": 1e-9, "seed": 3, "ema": ema}
    fresh = ma(corpus, "", **still)
    train(fresh, corpus.path, tmp_path / "fresh", device="cpu")
    train(ma(corpus, "", **{**still, "seed": 4}), corpus.path, tmp_path / "other", device="cpu")
    part = "decoder.frames"
    lines = list[str]()
    recipe = ma(corpus, str(tmp_path / "other"), anew=(part,), **still)
    train(recipe, corpus.path, tmp_path / "out", device="cpu", note=lines.append)
    assert any("other after its step 1, but decoder.frames anew." in line for line in lines)
    key = "model" if not ema else "ema"
    own, new, old = (load_checkpoint(tmp_path / name)[key] for name in ("out", "fresh", "other"))
    for name, weight in own.items():
        assert torch.allclose(
            weight, (new if name.startswith(f"{part}.") else old)[name], atol=1e-6
        ), name
    assert not torch.allclose(own[f"{part}.weight"], old[f"{part}.weight"], atol=1e-3)
    # Nothing is drawn again when it is resumed.
    train(recipe.shortened(2), corpus.path, tmp_path / "out", device="cpu", resume=True)
    wrong = ma(corpus, str(tmp_path / "other"), anew=("decoder.frame",))
    with pytest.raises(
        ConfigError,
        match=r"anew names 'decoder.frame', which is no part of the model \(did you mean",
    ):
        train(wrong, corpus.path, tmp_path / "wrong", device="cpu")


@pytest.mark.parametrize("recipe", ["mohan/tts-longer", "saeki/tacotron-longer"])
def test_a_recipe_does_not_begin_with_its_own_result(recipe: str) -> None:
    start = load_recipe(RECIPES / f"{recipe}.toml").train.start
    assert (RECIPES / Path(recipe).parent / f"{Path(start).name}.toml").is_file()
    assert "longer" not in start


@pytest.mark.parametrize("recipe", ["mohan/tts-longer", "saeki/tacotron-longer"])
def test_the_published_runs_fit_the_recipes_that_made_them(
    corpus: Corpus, recipe: str, tmp_path: Path
) -> None:
    run = Path("archives", "runs", f"{Path(recipe).parent}.tar.xz", Path(recipe).name)
    settings = load_recipe(RECIPES / f"{recipe}.toml", [("train.start", str(run))])
    start = find_start(str(RECIPES.parents[1] / settings.train.start), TASKS[settings.task])
    assert start.state is not None
    assert start.info is not None
    other = changed(
        corpus, tmp_path / "other", phonemes=dict(start.info.phonemes), pad=start.info.pad
    )
    task: Any = TASKS[settings.task](settings.model, settings.data, other)
    model = task.model()
    begin(start, task, model, None, other.path, settings.train.anew)
    for name, weight in model.state_dict().items():
        # Frames are normalized as the new corpus's.
        if not name.endswith(("mean", "std")) and not name.startswith(settings.train.anew):
            assert torch.equal(weight, start.state["model"][name].to(weight.dtype)), name


def test_a_part_drawn_anew_may_have_other_sizes_than_the_run_has(
    corpus: Corpus, tmp_path: Path
) -> None:
    settings = load_recipe(RECIPES / "saeki/tacotron-small.toml")
    anew = ("tacotron.contextual",)
    task: Any = TASKS["saeki"](settings.model, settings.data, corpus)
    model = task.model()
    fresh = {
        name: weight.clone() for name, weight in model.tacotron.contextual.state_dict().items()
    }
    narrow = {**settings.model, "context": {"filters": [16, 48], "strides": [2, 2]}}
    plain: Any = TASKS["saeki"](narrow, {}, corpus).model()
    state = {"model": plain.state_dict(), "ema": None, "counters": {"step": 1}}
    digest = hashlib.sha256((corpus.path / "corpus.json").read_bytes()).hexdigest()
    run = Start(tmp_path, {}, {**state, "corpus": {"fingerprint": digest}})
    begin(run, task, model, None, corpus.path, anew)
    for name, weight in model.tacotron.contextual.state_dict().items():
        assert torch.equal(weight, fresh[name]), name
    assert torch.equal(
        model.tacotron.encoder.embedding.weight, plain.tacotron.encoder.embedding.weight
    )
    with pytest.raises(ConfigError, match="contextual"):
        begin(run, task, model, None, corpus.path)


def test_an_encoder_of_wider_kernels_begins_as_the_narrower_one(
    corpus: Corpus, tmp_path: Path
) -> None:
    settings = load_recipe(RECIPES / "ma/dv3-whole-small.toml")
    narrow, wide = (
        TASKS["ma"]({**settings.model, "encoder_kernel": kernel}, settings.data, corpus)
        for kernel in (3, 7)
    )
    before = narrow.model().eval()
    after = wide.model().eval()
    digest = hashlib.sha256((corpus.path / "corpus.json").read_bytes()).hexdigest()
    state = {
        "model": before.state_dict(),
        "ema": None,
        "counters": {"step": 1},
        "corpus": {"fingerprint": digest},
    }
    begin(Start(tmp_path, {}, state), wide, after, None, corpus.path)
    ids = torch.arange(9) % len(corpus.info.phonemes)
    for one, other in zip(before.encode(ids), after.encode(ids), strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_a_voice_that_cannot_be_begun_with_is_an_error(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no checkpoint"):
        find_start(str(tmp_path / "nowhere"), TASKS["ma"])
    recipe = replace(
        ma(corpus, "heart"), task="aligner", model={"channels": 8, "hidden": 12, "blocks": 2}
    )
    with pytest.raises(
        ConfigError, match=r"heart, but no weights of Aligner|heart reads other phonemes"
    ):
        train(recipe, corpus.path, tmp_path / "out", device="cpu")


def test_a_corpus_without_val_is_trained_on_without_validation(
    corpus: Corpus, tmp_path: Path
) -> None:
    splits = {"train": json.loads((corpus.path / "corpus.json").read_text())["splits"]["train"]}
    alone = changed(corpus, tmp_path / "alone", splits=splits)
    lines = list[str]()
    train(ma(alone), alone.path, tmp_path / "out", device="cpu", note=lines.append)
    assert any("no val split" in line for line in lines)
    assert not any("validation" in line for line in lines)
