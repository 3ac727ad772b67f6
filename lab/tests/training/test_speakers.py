"""Several speakers in the default voice's networks: what is each one's own, and that graphs say
what the model says."""

from __future__ import annotations

import shutil
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pytest
import torch
from lab_support.family import NAMES, family_corpus, family_run
from sayahead import load_voice
from sayahead.errors import ConfigError, VoiceError
from sayahead.policies.fixed import LookaheadK, WaitAll

from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.corpus.joined import join
from sayahead_lab.training.corpus.making import make_corpus
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.corpus.teacher import TeacherSpec
from sayahead_lab.training.heart.own_voice_task import HeartVoiceTask
from sayahead_lab.training.heart.speaker import make_speaker
from sayahead_lab.training.heart.speakers import OWN, folded, own_layers, regrouped, tell
from sayahead_lab.training.loop.saved_run import load_trained


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A joined corpus of two speakers."""
    return family_corpus(tmp_path_factory.mktemp("family"))


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run by the three recipes, each for a step."""
    folder = tmp_path_factory.mktemp("runs")
    prosody = family_run("family-prosody", corpus, folder / "prosody", units=48)
    sound = family_run("family-sound", corpus, folder / "sound")
    out = family_run("family", corpus, folder / "family", start=str(sound), intoned_by=str(prosody))
    before, after = (load_trained(path).model.state_dict() for path in (prosody, out))
    fresh = load_trained(sound).model.state_dict()
    # What each part has learned is there, and the last step has moved it on by little.
    for part in ("heart.text.linear1.weight", "heart.dur_out.own"):
        assert (after[part] - before[part]).abs().max() < (fresh[part] - before[part]).abs().max()
    return out


@pytest.fixture(scope="module")
def voice(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The voice of the run, in which bob was made to speak higher and faster."""
    opened = load_trained(run)
    with torch.no_grad():
        opened.model.heart.prosody.pro_out.own[1] += torch.tensor([0.1, 0.1, 0, 0])
        opened.model.heart.dur_out.own[1] -= 0.1
        opened.model.decoder.norm.own[1, 1] += 0.05
        # As publishing rounds what did not learn: the voice borrows the default voice's context
        # network all the same.
        opened.model.heart.expect.out.weight += 1e-3
    folder = tmp_path_factory.mktemp("voice") / "two"
    make_speaker(
        opened, folder, name="two", license="CC0-1.0", student="heart", borrow=True, observed=1
    )
    return folder


def test_a_joined_corpus_knows_who_says_what(corpus: Path, tmp_path: Path) -> None:
    joined = Corpus(corpus)
    assert joined.info.joined == {"ann": "en-US", "bob": "en-US"}
    assert [(item.speaker, item.name) for item in joined.split("train")][::2] == [
        ("ann", "ann-0"),
        ("bob", "bob-0"),
    ]
    parts = [
        np.concatenate([item.mel for item in Corpus(corpus / name).split("train")])
        for name in NAMES
    ]
    mean = np.concatenate(parts).astype(np.float64).mean(axis=0)
    assert np.allclose(joined.info.mel_mean, mean, atol=1e-3)
    with pytest.raises(ConfigError, match="corpus of its own"):
        join(corpus / "ann", ["bob"])
    shutil.copytree(corpus / "ann", tmp_path / "ann")
    make_corpus(
        tmp_path / "other", TeacherSpec(PRESETS["ma"], "final"), {"train": [("x", "It is.")]}
    )
    with pytest.raises(ConfigError, match="another punctuation"):
        join(tmp_path, ["ann", "other"])


@pytest.mark.slow
def test_a_batch_says_who_speaks_and_only_their_own_weights_learn(corpus: Path, run: Path) -> None:
    task = HeartVoiceTask(
        {}, {"units": 14, "spoken_steps": 1, "part": "sound", "fixed_context": True}, Corpus(corpus)
    )
    batch = next(task.batches("val", batch_size=2, seed=0, rank=0, ranks=1))
    assert sorted(batch["speaker"].tolist()) == [0, 1]
    model = task.model()
    alone = {**batch, "speaker": torch.ones(2, dtype=torch.long)}
    task.loss(model, alone, 0)[0].backward()  # type: ignore[no-untyped-call]
    for name, layer in own_layers(model):
        if name.startswith(("heart.sound", "decoder")):
            assert layer.own.grad is not None
            assert not layer.own.grad[0].any()
            assert layer.own.grad[1].any(), name


@pytest.mark.slow
def test_a_speaker_alone_is_the_same_network(run: Path) -> None:
    opened = load_trained(run)
    state = opened.model.state_dict()
    with torch.no_grad():
        for _, layer in own_layers(opened.model):
            layer.own[1] += 0.02
    ids = np.arange(40, 60)
    both = [opened.task.speak(opened.model, ids, speaker=number) for number in (0, 1)]
    single = HeartVoiceTask({}, {"units": 14}, one_speaker(opened.corpus))
    for number, sound in enumerate(both):
        model = single.model()
        model.load_state_dict(folded(state, number))
        assert np.abs(single.speak(model.eval(), ids) - sound).max() < 1e-3
    assert not np.array_equal(*both)


def one_speaker(corpus: Corpus) -> Corpus:
    """The same corpus as if it were of one speaker."""
    alone = Corpus(corpus.path)
    alone.info.joined.clear()
    return alone


def test_new_speakers_begin_as_the_mean_of_all() -> None:
    own = torch.arange(6.0).view(2, 3)
    moved = regrouped({f"a{OWN}": own, "b": own}, ["ann", "bob"], ["bob", "eve", "ann"])
    assert torch.equal(moved[f"a{OWN}"], torch.stack([own[1], own.mean(0), own[0]]))
    assert torch.equal(moved["b"], own)


@pytest.mark.slow
def test_the_voices_graphs_say_what_the_model_says(voice: Path) -> None:
    two = load_voice(voice)
    text = "The quick brown fox jumps over the lazy dog."
    policy = WaitAll()
    ann, bob = (two.synthesize(text, policy=policy, speaker=name) for name in NAMES)
    assert len(bob) < 0.97 * len(ann)
    assert np.array_equal(ann, two.synthesize(text, policy=policy, speaker=0))
    assert np.array_equal(ann, two.synthesize(text, policy=policy))
    half = two.synthesize(text, policy=policy, speaker="ann+bob")
    assert len(bob) < len(half) < len(ann)
    # Any split of the text, and both speakers at once, are the same sound.
    whole = two.synthesize(text, policy=LookaheadK(1), speaker="bob")
    streams = [two.stream(list(text), policy=LookaheadK(1), speaker=name) for name in NAMES]
    chunks = [chunk.samples for _, chunk in zip_longest(*streams) if chunk is not None]
    assert np.array_equal(np.concatenate(chunks), whole)
    with pytest.raises(ConfigError, match="did you mean 'bob'"):
        two.session(speaker="bobb")


@pytest.mark.slow
def test_a_table_of_other_speakers_is_an_error(voice: Path, tmp_path: Path) -> None:
    folder = tmp_path / "voice"
    shutil.copytree(voice, folder)
    with np.load(folder / "speakers.npz") as file:
        tables = {name: file[name][:1] for name in file.files}
    np.savez(folder / "speakers.npz", **tables)
    config = (folder / "voice.json").read_text(encoding="utf-8")
    from sayahead.engine.files import sha256

    old = sha256(voice / "speakers.npz")
    new = sha256(folder / "speakers.npz")
    (folder / "voice.json").write_text(config.replace(old, new), encoding="utf-8")
    with pytest.raises(VoiceError, match="does not belong to text"):
        load_voice(folder)


@pytest.mark.slow
def test_who_speaks_is_told_by_sentence_and_by_view(run: Path) -> None:
    model = load_trained(run).model
    tell(model, torch.tensor([0, 1]), torch.tensor([0, 0, 1]))
    counts: dict[str, list[tuple[str, int]]] = {"decoder": [], "heart": []}
    for name, layer in own_layers(model):
        counts[name.split(".")[0]].append((name, len(layer.speaker)))
    assert {length for name, length in counts["decoder"]} == {3}
    assert {length for name, length in counts["heart"] if "prosody" not in name} == {2}
