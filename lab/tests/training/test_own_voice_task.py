"""Another speaker in the default voice's networks: the same network as the graph's, the sound where
it belongs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.sentences import PAD, PHONEMES, TEXTS
from lab_support.tiny_training import lessons
from sayahead import load_voice
from sayahead.cli import main
from sayahead.engine.files import sha256
from sayahead.engine.onnx import OnnxGraph, count
from sayahead.errors import ConfigError
from sayahead.voices.locations import packaged_voices
from torch import Tensor

from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.store import Corpus, Item
from sayahead_lab.training.corpus.teacher import TeacherSpec
from sayahead_lab.training.graph.builder import quantized
from sayahead_lab.training.heart.decoder import AHEAD, DecoderWeights, HeartVoice, linears
from sayahead_lab.training.heart.export import decoder_graph
from sayahead_lab.training.heart.own_voice_data import Spoken, energy_of, spoken, whole_edges
from sayahead_lab.training.heart.own_voice_task import (
    HELD,
    PARTS,
    HeartVoiceTask,
    pace_error,
    taught_by,
)
from sayahead_lab.training.heart.task import LEAD_UNITS, spread_rows
from sayahead_lab.training.loop.recipe import load_recipe
from sayahead_lab.training.loop.warm_start import Start, begin

RECIPE = Path(__file__).parents[2] / "recipes" / "heart" / "family-sound.toml"
FRONT = PRESETS["ma"]
INFO: dict[str, Any] = {
    "phonemes": PHONEMES,
    "punctuation": "all",
    "pad": PAD,
    "front_end": FRONT,
    "joined": {},
}


@pytest.fixture(scope="module")
def task() -> HeartVoiceTask:
    corpus: Any = SimpleNamespace(info=SimpleNamespace(**INFO))
    return HeartVoiceTask({}, {"nothing_share": 1.0, "units": 40, "spoken_steps": 3}, corpus)


def alone(part: str, units: int = 40, crops: int = 3) -> HeartVoiceTask:
    """The task of a part of the networks."""
    corpus: Any = SimpleNamespace(info=SimpleNamespace(**INFO))
    told = {
        "nothing_share": 1.0,
        "units": units,
        "spoken_steps": crops,
        "part": part,
        "fixed_context": True,
    }
    return HeartVoiceTask({}, told, corpus)


@pytest.fixture(scope="module")
def model(task: HeartVoiceTask) -> HeartVoice:
    """The imported voice."""
    torch.manual_seed(0)
    return task.model().eval()


@pytest.fixture(scope="module")
def items() -> list[Item]:
    """Two sentences as the imported voice speaks them."""
    teacher = TeacherSpec(FRONT).open()
    return [teacher.items(f"S-{number}", text)[0][0] for number, text in enumerate(TEXTS)]


def streamed(
    task: HeartVoiceTask, items: list[Item], said: list[Spoken], *, words: bool
) -> dict[str, Any]:
    """A batch of the sentences, whole or word by word."""
    streams = [
        task.lessons.streamer.at(
            item,
            [1] * 20 if words else [20],
            ahead=1 if words else 0,
            held=2 if words else 0,
            window=80,
        )
        for item in items
    ]
    batch = task.lessons.unfolded(items, streams, np.random.default_rng(0))
    return {**batch, **taught_by(said), **task.cropped(batch, said, np.random.default_rng(1))}


def parts_of(task: HeartVoiceTask, model: HeartVoice, batch: dict[str, Any]) -> dict[str, float]:
    torch.manual_seed(0)
    with torch.no_grad():
        return task.loss(model, batch, 0)[1]


@pytest.mark.parametrize("words", [False, True])
def test_the_imported_voices_own_sound_is_learned_where_it_is(
    task: HeartVoiceTask, model: HeartVoice, items: list[Item], words: bool
) -> None:
    """A frame earlier or later, the same sound is further from what its networks say."""
    said = [spoken(item) for item in items]
    found = {}
    for shift in (-1, 0, 1):
        moved = [
            replace(one, audio=np.roll(one.audio, 300 * shift), f0=np.roll(one.f0, shift))
            for one in said
        ]
        found[shift] = parts_of(task, model, streamed(task, items, moved, words=words))
    # Word by word, the imported voice does not know what follows, and its pitch is a guess.
    for name in ("convergence", "magnitudes", *(() if words else ("pitch",))):
        assert found[0][name] < 0.98 * min(found[-1][name], found[1][name]), name
    if not words:
        # Whole, the network has next to nothing to learn.
        assert found[0]["magnitudes"] < 0.5 * found[1]["magnitudes"]
        assert found[0]["pitch"] < 0.05
        assert found[0]["durations"] < 0.1


@pytest.mark.parametrize("words", [False, True])
def test_sound_alone_is_made_with_what_the_corpus_says(
    model: HeartVoice, items: list[Item], words: bool
) -> None:
    """Each crop is the same frames of a copy of the sentence, with the corpus's durations, pitch
    and energy."""
    task = alone("sound")
    said = [spoken(item) for item in items]
    batch = streamed(task, items, said, words=words)
    with torch.no_grad():
        out = model(batch)
    assert set(out) == {"parts"}
    errors = parts_of(task, model, batch)
    assert set(errors) == {"convergence", "magnitudes"}
    moved = [replace(one, audio=np.roll(one.audio, 300)) for one in said]
    assert (
        errors["magnitudes"]
        < 0.8 * parts_of(task, model, streamed(task, items, moved, words=words))["magnitudes"]
    )
    if not words:
        copy = task.speak(model, np.asarray(items[0].ids, np.int64), said[0])
        assert len(copy) == len(said[0].audio)
        quiet = replace(said[0], energy=said[0].energy - 3)
        assert np.std(task.speak(model, np.asarray(items[0].ids, np.int64), quiet)) < 0.8 * np.std(
            copy
        )
        # The energy that the corpus says is heard in a crop, too.
        softer = task.cropped(
            batch, [replace(one, energy=one.energy - 3) for one in said], np.random.default_rng(1)
        )
        with torch.no_grad():
            assert (model({**batch, **softer})["parts"] - out["parts"]).abs().max() > 0.5


@pytest.mark.parametrize("part", PARTS)
def test_a_part_learns_alone_from_all_of_a_run(
    items: list[Item], part: str, tmp_path: Path
) -> None:
    """Networks that do not learn are as the run before has left them, too: its part would be lost
    otherwise."""
    task = alone(part, units=14, crops=1)
    low = np.float32(0.5)
    said = [replace(one, f0=one.f0 * low) for one in map(spoken, items)]
    network = task.model()
    with torch.no_grad():
        network.decoder.norm.bias.add_(1)
        network.heart.text.norm.bias.add_(1)
    before = {name: weight.clone() for name, weight in network.state_dict().items()}
    (tmp_path / "corpus.json").write_text("{}", encoding="utf-8")
    about = {"corpus": {"fingerprint": sha256(tmp_path / "corpus.json")}, "counters": {"step": 1}}
    task.check_start(voice=False, run=True)
    network = task.model()
    begin(
        Start(tmp_path, {}, {"model": before, "ema": None, **about}), task, network, None, tmp_path
    )
    assert all(torch.equal(weight, before[name]) for name, weight in network.state_dict().items())
    steps = lessons(task, network, [streamed(task, items[:1], said[:1], words=False)], 3e-4)
    changed = {
        name
        for name, weight in network.state_dict().items()
        if not torch.equal(weight, before[name])
    }
    assert all(any(name.startswith(f"{own}.") for own in PARTS[part]) for name in changed)
    assert all(any(name.startswith(f"{own}.") for name in changed) for own in PARTS[part])
    expected = {
        "sound": {"convergence", "magnitudes"},
        "prosody": {"durations", "pitch", "energy", "pace"},
    }
    assert set(steps[0]) == {*expected[part], "loss"}


def test_a_whole_crop_is_what_the_decoder_makes_of_the_sentence(
    model: HeartVoice, items: list[Item]
) -> None:
    corpus: Any = SimpleNamespace(info=SimpleNamespace(**INFO))
    wide = HeartVoiceTask({}, {"nothing_share": 1.0, "units": 300, "spoken_steps": 1}, corpus)
    one = spoken(items[0])
    batch = streamed(wide, items[:1], [one], words=False)
    ids = torch.from_numpy(np.concatenate([[PAD], items[0].ids, [PAD]]).astype(np.int64))[None]
    with torch.no_grad():
        made = model(batch)["parts"][0]
        sound, text, _ = model.heart.encode(ids, torch.ones_like(ids).bool(), torch.zeros(1, 64))
        units = torch.from_numpy(one.units)[None]
        prosody = model.heart.prosody(*spread_rows(text, units))[0]
        frames, known = spread_rows(sound, 2 * units)
        whole = model.decoder(
            frames, torch.from_numpy(one.f0)[None], 5 * prosody[:, 2:].reshape(1, -1), known
        )[0]
    assert len(whole) < len(made)
    assert float((made[: len(whole)] - whole).abs().max()) < 1e-3


def test_the_graph_computes_what_was_trained(model: HeartVoice, tmp_path: Path) -> None:
    decoder = model.decoder
    with torch.no_grad():
        for name in linears():
            weight = decoder.get_parameter(f"{name}.weight")
            rounded, scale = quantized(weight.T.numpy() * 1.1)
            weight.copy_(torch.from_numpy((rounded.astype(np.float32) * scale).T.copy() / 1.1))
    decoder_graph(DecoderWeights(decoder)).save(str(tmp_path / "decoder.onnx"))
    draw = np.random.default_rng(0)
    sound = draw.normal(size=(50, 128)).astype(np.float32)
    f0 = draw.uniform(-1, 300, 50).astype(np.float32)
    energy = draw.normal(size=50).astype(np.float32)
    caches = {
        "input_cache": np.zeros((3, 130), np.float32),
        "cache": np.zeros((24, 256), np.float32),
    }
    rows = count(50)
    graph = OnnxGraph(tmp_path / "decoder.onnx")
    made = graph(sound_encoding=sound, f0=f0, energy=energy, rows=rows, commit=rows, **caches)[
        "spectrum"
    ]
    with torch.no_grad():
        given = [torch.from_numpy(one)[None] for one in (sound, f0, energy)]
        ours = decoder(*given, torch.ones(1, 50))[0].numpy()
    assert np.abs(made - ours).max() < 2e-3


def test_crops_of_a_stream_end_where_the_next_word_begins_to_sound(
    task: HeartVoiceTask, items: list[Item]
) -> None:
    said = [spoken(item) for item in items]
    batch = streamed(task, items, said, words=True)
    for row, owner in enumerate(batch["view_owner"].tolist()):
        edges = np.cumsum(said[owner].units)
        begin = int(batch["view_begin"][row])
        before = int(edges[begin] - said[owner].units[begin])
        end = begin + int(batch["view_end"][row])
        stop = before + int(batch["crop_end"][row])
        assert stop == (edges[-1] if end == len(edges) else edges[end - 1] - HELD)
        start = before + int(batch["crop_first"][row])
        assert start == max(before, stop - 40)
        heard = batch["heard"][row].numpy() > 0
        assert heard.sum() == 600 * (stop - start - (task.data.edge if start else 0))
        assert np.flatnonzero(heard)[-1] + 1 == 600 * (stop - start)
        theirs = said[owner].audio[600 * start : 600 * stop]
        assert np.array_equal(batch["audio"][row][: len(theirs)].numpy(), theirs)
        assert batch["crop_f0"].shape[1] == 2 * (40 + AHEAD)
    # A sentence that is spoken at once has as many crops as a stream.
    assert len(streamed(task, items, said, words=False)["view_owner"]) == 6


def test_every_phoneme_lasts_a_unit_near_where_it_was() -> None:
    # Marks without a time of their own, a pause, and more marks than there is time for.
    edges = np.array([3, 5, 5, 5, 8, 20, 20.4, 20.6, 26], np.float32)
    whole = whole_edges(edges)
    assert whole[0] == LEAD_UNITS
    assert (np.diff(whole) >= 1).all()
    assert np.abs(whole - edges).max() <= 2
    assert whole[5] in (19, 20)
    apart = np.array([3, 7, 12, 14], np.float32)
    assert np.array_equal(whole_edges(apart), apart)


def test_an_item_is_moved_to_the_voices_clock(items: list[Item]) -> None:
    one = spoken(items[0])
    item = items[0]
    assert one.units[0] == LEAD_UNITS
    assert len(one.f0) == len(one.energy) == 2 * one.units.sum()
    assert len(one.audio) == 600 * one.units.sum()
    # The imported voice's own durations are found again: its corpus has them as they sound.
    theirs = np.asarray(item.durations[1:-3], np.int64)
    assert np.mean(2 * one.units[1:-3] == theirs) > 0.9
    assert 5 < np.median(one.energy[one.f0 > 0]) < 9
    assert energy_of(np.full((1, 80), np.log(1e-5), np.float32))[0] < -8
    with pytest.raises(ConfigError, match="no sound"):
        spoken(replace(item, audio=None))


@pytest.mark.parametrize("words", [False, True])
def test_the_pace_is_that_of_what_is_spoken(
    task: HeartVoiceTask, items: list[Item], words: bool
) -> None:
    """Every row that a stream speaks counts once, whatever it thinks of those it only sees."""
    said = [spoken(item) for item in items]
    batch = streamed(task, items, said, words=words)
    target = task.lessons.stream_targets(
        batch,
        {
            "units": batch["taught_units"],
            "log_units": torch.log1p(batch["taught_units"].float()),
            "prosody": batch["taught_prosody"],
        },
    )
    assert float(pace_error(target["log_units"], target, batch)) == 0
    spoken_now = (batch["row"] >= batch["said"]) & (batch["row"] < batch["ends"])
    slower = torch.where(spoken_now, torch.log1p(1.5 * torch.expm1(target["log_units"])), 9.0)
    assert float(pace_error(slower, target, batch)) == pytest.approx(0.5, abs=1e-3)


def test_energy_is_the_imported_voices(model: HeartVoice, items: list[Item]) -> None:
    for item in items:
        one = spoken(item)
        ids = torch.from_numpy(np.concatenate([[PAD], item.ids, [PAD]]).astype(np.int64))[None]
        with torch.no_grad():
            _, text, _ = model.heart.encode(ids, torch.ones_like(ids).bool(), torch.zeros(1, 64))
            said = (
                5
                * model.heart.prosody(*spread_rows(text, torch.from_numpy(one.units)[None]))[
                    0, :, 2:
                ].flatten()
            )
        voiced = one.f0 > 0
        agreed = {
            shift: np.corrcoef(one.energy, np.roll(said.numpy(), shift))[0, 1]
            for shift in (-1, 0, 1)
        }
        assert agreed[0] > max(0.95, agreed[-1], agreed[1])
        assert abs(np.mean(one.energy[voiced] - said.numpy()[voiced])) < 0.5


@pytest.mark.slow
def test_another_speaker_is_something_to_learn(task: HeartVoiceTask, items: list[Item]) -> None:
    """The same sentences an octave lower, and half as loud."""
    said = [spoken(item) for item in items]
    half = np.float32(0.5)
    lower = [
        replace(one, audio=one.audio * half, f0=one.f0 * half, energy=one.energy - 1)
        for one in said
    ]
    torch.manual_seed(0)
    network = task.model()
    batches = [streamed(task, items, lower, words=words) for words in (False, True)]
    steps = lessons(task, network, batches * 4, 3e-4)
    for first, last in (steps[0], steps[-2]), (steps[1], steps[-1]):
        assert last["loss"] < 0.8 * first["loss"]
        assert last["pitch"] < 0.8 * first["pitch"]
    assert set(steps[0]) == {
        "durations",
        "pitch",
        "energy",
        "pace",
        "convergence",
        "magnitudes",
        "loss",
    }


def test_a_corpus_that_does_not_fit_is_refused() -> None:
    info = SimpleNamespace(phonemes=PHONEMES, punctuation="final", pad=PAD, front_end=FRONT)
    corpus: Any = SimpleNamespace(info=info)
    with pytest.raises(ConfigError, match="--punctuation all"):
        HeartVoiceTask({}, {}, corpus)
    info.punctuation = "all"
    info.front_end = PRESETS["saeki"]
    with pytest.raises(ConfigError, match="--front-end ma"):
        HeartVoiceTask({}, {}, corpus)
    info.front_end = FRONT
    with pytest.raises(ConfigError, match=r"part is 'sounds'.*did you mean 'sound'"):
        HeartVoiceTask({}, {"part": "sounds"}, corpus)
    with pytest.raises(ConfigError, match="units is 10"):
        HeartVoiceTask({}, {"units": 10}, corpus)
    with pytest.raises(ConfigError, match="features and alone must be at least 0"):
        HeartVoiceTask({}, {"features": -0.2}, corpus)


@pytest.mark.slow
def test_a_command_becomes_a_voice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From texts and a teacher to a voice that speaks, by the recipe's own commands."""
    monkeypatch.chdir(RECIPE.parents[3])
    lines = [
        "A-1|However, nobody knew.",
        "A-2|They went home, and slept.",
        "A-3|It was cold.",
        "A-4|Birds sing, at dawn.",
    ]
    (tmp_path / "train.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    corpus, run, voice = (str(tmp_path / name) for name in ("corpus", "run", "voice"))
    told = [
        "--train",
        str(tmp_path / "train.csv"),
        "--val",
        str(tmp_path / "train.csv"),
        "--punctuation",
        "all",
    ]
    assert main(["train", "corpus", corpus, "--teacher", "heart", *told]) == 0
    item = Corpus(corpus).split("train")[0]
    comma = np.flatnonzero(item.ids == PHONEMES[","])
    assert len(comma) == 1
    # The mark and the space behind it share the pause.
    mark, space = (int(one) for one in item.durations[1 + comma[0] : 3 + comma[0]])
    assert mark > 0
    assert abs(mark - space) <= 1
    assert main(["train", str(RECIPE), "--corpus", corpus, "--out", run, "--steps", "1"]) == 0
    assert "Beginning with the voice heart" in capsys.readouterr().err
    command = ["train", "voice", "--acoustic", run, "--name", "mine", "-o", voice]
    assert main(command) == 2
    assert "--license" in capsys.readouterr().err
    assert main([*command, "--license", "CC0-1.0", "--student", "heart"]) == 0
    loaded = load_voice(voice)
    assert (loaded.config.license, loaded.config.kind) == ("CC0-1.0", "heart")
    assert "heart" in (Path(voice) / "NOTICE").read_text(encoding="utf-8")
    # A step hardly changes what heart says, whole and word by word.
    own = load_voice().synthesize("They saw a calm sea.", policy="wait-all")
    for policy in ("wait-all", "lookahead:k=1"):
        speech = loaded.synthesize("They saw a calm sea.", policy=policy)
        assert 0.8 * len(own) < len(speech) < 1.25 * len(own)
        assert np.abs(speech).max() > 0.05
    # Its decoder is its own, which only its run can be read back from.
    table = load_recipe(RECIPE)
    task = HeartVoiceTask({}, table.data, Corpus(corpus))
    with pytest.raises(ConfigError, match="another decoder than heart"):
        task.read_voice(task.model(), Path(voice), loaded.config)
    task.read_voice(task.model(), packaged_voices()["heart"], load_voice().config)


def test_sounds_are_compared_by_bins_or_bands(items: list[Item]) -> None:
    corpus: Any = SimpleNamespace(info=SimpleNamespace(**INFO))
    data = {"nothing_share": 1.0, "units": 14, "spoken_steps": 1, "part": "sound"}
    task = HeartVoiceTask({}, {**data, "compared": "bands"}, corpus)
    said = [spoken(item) for item in items]
    assert set(parts_of(task, task.model(), streamed(task, items, said, words=False))) == {"bands"}
    with pytest.raises(ConfigError, match="must be one of bins, bands"):
        HeartVoiceTask({}, {**data, "compared": "ears"}, corpus)


def test_discriminators_learn_and_then_teach(items: list[Item]) -> None:
    corpus: Any = SimpleNamespace(info=SimpleNamespace(**INFO))
    data = {
        "nothing_share": 1.0,
        "units": 30,
        "spoken_steps": 1,
        "part": "sound",
        "compared": "bands",
    }
    without = HeartVoiceTask({}, data, corpus)
    task = HeartVoiceTask({}, {**data, "discriminators": 2, "alone": 10}, corpus)
    batch = streamed(task, items, [spoken(item) for item in items], words=False)

    def gradients(task: HeartVoiceTask, step: int) -> list[Tensor]:
        torch.manual_seed(0)
        model = task.model()
        weights = [model.decoder.head.weight]
        if model.discriminators is not None:
            weights.extend(one.get_parameter("last.weight") for one in model.discriminators.all)
        torch.manual_seed(0)
        return list(
            torch.autograd.grad(task.loss(model, batch, step)[0], weights, materialize_grads=True)
        )

    (plain,) = gradients(without, 20)
    first = gradients(task, 10)
    later = gradients(task, 20)
    # One learns, from the first step on, but nothing from what it teaches; the decoder learns from
    # it, after that.
    assert torch.equal(first[0], plain)
    assert sum(bool(one.any()) for one in first[1:]) == 1
    assert all(torch.equal(one, other) for one, other in zip(later[1:], first[1:], strict=True))
    assert not torch.allclose(later[0], plain)
    # A run without them goes on from one that had them, and the other way round.
    with_them, plainly = (dict(one.model().state_dict()) for one in (task, without))
    assert set(without.carried(with_them, None, plainly)) == set(plainly)
    assert set(task.carried(plainly, None, with_them)) == set(with_them)
