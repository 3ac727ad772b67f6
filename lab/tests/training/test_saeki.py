"""Saeki et al.: sizes of the papers, segments, steps against the whole, what moves in which
training, graphs."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.tiny_saeki import CONFIG, ids, tacotron, tiny_saeki
from lab_support.tiny_training import lessons
from lab_support.tones import PAD, SPACE, tones_corpus
from sayahead import load_voice
from sayahead.contexts.hidden_states import Hidden, HiddenConfig, states_of
from sayahead.contexts.word_vectors import WordVectors
from sayahead.engine.onnx import OnnxGraph
from sayahead.errors import ConfigError
from sayahead.systems.saeki import SegmentalAcoustic
from sayahead.types import Rendering, Segment
from support.states import WIDTH, ToyStates
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.corpus.segments import SegmentCutter, path_of
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.distilled.export import student_graph
from sayahead_lab.training.distilled.network import Student, StudentConfig
from sayahead_lab.training.distilled.states import write_states
from sayahead_lab.training.loop.recipe import Recipe, load_recipe
from sayahead_lab.training.loop.run import train
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.loop.task import TrainSettings
from sayahead_lab.training.saeki.guided import Guided, GuidedTask
from sayahead_lab.training.saeki.hidden import HiddenTask
from sayahead_lab.training.saeki.network import Tacotron, TacotronConfig, Texts, generate
from sayahead_lab.training.saeki.student import StudentTask, StudentTraining
from sayahead_lab.training.saeki.task import SaekiTask, aligned, inputs, speak
from sayahead_lab.training.voice import extend_voice

RECIPES = Path(__file__).parents[2] / "recipes" / "saeki"
SMALL = {
    "reduction": 3,
    "embedding": 24,
    "kernel": 3,
    "prenet": [16, 16],
    "attention_rnn": 32,
    "decoder_rnn": 24,
    "attention": 12,
    "location_filters": 4,
    "location_kernel": 5,
    "postnet": 16,
    "postnet_layers": 3,
    "dropout": 0.0,
    "taught": True,
    "context": {
        "filters": [4, 4, 6],
        "strides": [2, 1, 2],
        "recurrent": 12,
        "tokens": 4,
        "heads": 2,
        "embedding": 16,
    },
}
DATA = {
    "windows": [1, 2],
    "past": 32,
    "lookahead": 2,
    "alignment_weight": 0.3,
    "l1_weight": 1.0,
    "stop_weight": 0.3,
}


def count(part: nn.Module) -> int:
    return sum(weight.numel() for weight in part.parameters())


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return tones_corpus(tmp_path_factory.mktemp("tones"))


def made(corpus: Corpus, model: Any = SMALL, **data: Any) -> SaekiTask:
    return SaekiTask(model, {**DATA, **data}, corpus)


def recipe(corpus: Corpus, settings: TrainSettings, **data: Any) -> Recipe:
    return Recipe(
        name="tiny",
        task="saeki",
        corpus=str(corpus.path),
        model=SMALL,
        data={**DATA, **data},
        train=settings,
    )


def batches(task: Any, split: str = "train", **changes: Any) -> list[Any]:
    return list(
        task.batches(split, **{"batch_size": 4, "seed": 5, "rank": 0, "ranks": 1, **changes})
    )


def one_step(task: Any, batch: Any, rate: float = 1e-3) -> tuple[nn.Module, set[str]]:
    """The model after a step, and the names of the weights that moved."""
    torch.manual_seed(0)
    model = task.model()
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    optimizer = torch.optim.Adam(
        [weight for weight in model.parameters() if weight.requires_grad], rate
    )
    loss, parts = task.loss(model.train(), batch, 0)
    loss.backward()
    optimizer.step()
    assert np.isfinite(float(loss.detach()))
    assert all(np.isfinite(list(parts.values())))
    return model, {
        name for name, weight in model.named_parameters() if not torch.equal(weight, before[name])
    }


def test_paper_preset_is_the_published_tacotron_with_the_context_joined(corpus: Corpus) -> None:
    preset = load_recipe(RECIPES / "tacotron-paper.toml")
    assert (preset.train.batch_size, preset.train.steps) == (160, 76_000)
    assert SaekiTask(preset.model, preset.data, corpus).data.windows == (3,)
    with torch.device("meta"):
        model = Tacotron(TacotronConfig(phonemes=148))
    context = model.contextual
    e = 256
    wider = e * (2 * 4 * 1024 + 128 + 80 + 1)
    # 28,193,153: the parameters of the release of Tacotron 2 that Saeki et al. built on, with its
    # 148 symbols.
    assert count(model) - count(context) - wider == 28_193_153
    # Style tokens' reference encoder: six 3 x 3 convolutions, stride 2, from 512 channels to 8; a
    # GRU of 128.
    widths = (1, 32, 32, 64, 64, 128, 128)
    convolutions = sum(9 * a * b + 3 * b for a, b in itertools.pairwise(widths))
    assert count(context.reference) == convolutions + 3 * 128 * (128 * 8 + 128 + 2)
    assert count(context.attention) == 10 * 32 + 256 * 256 + 2 * 32 * 256


@pytest.mark.parametrize(
    ("row", "past", "future"),
    [
        ("full", False, False),
        ("independent", False, False),
        ("unicontext", True, False),
        ("", True, True),
    ],
)
def test_each_row_of_the_papers_is_a_preset_of_its_own(
    corpus: Corpus, row: str, past: bool, future: bool
) -> None:
    preset, base = (
        load_recipe(RECIPES / f"tacotron-{name}paper.toml")
        for name in (f"{row}-" if row else "", "")
    )
    assert (preset.model, preset.train) == (base.model, base.train)
    task = SaekiTask(preset.model, preset.data, corpus)
    items = corpus.split("train")
    draw = np.random.default_rng(0)
    drawn = [
        (item, task.draw(item, draw)) for _ in range(5) for item in items if len(item.words) > 3
    ]
    assert any(len(piece.past) for _, piece in drawn) == past
    assert any(len(piece.future) for _, piece in drawn) == future
    assert all(piece.frames == item.durations.sum() for item, piece in drawn) == (row == "full")


@pytest.mark.slow
def test_paper_preset_takes_a_training_step(corpus: Corpus) -> None:
    preset = load_recipe(RECIPES / "tacotron-paper.toml")
    task = SaekiTask(preset.model, preset.data, corpus)
    assert not task.config.taught
    _, moved = one_step(task, batches(task, batch_size=2)[0])
    # Of texts of up to 64 phonemes six strides of 2 leave one row, so that the recurrent layer has
    # no past.
    still = {name for name, _ in task.model().named_parameters()} - moved
    assert still <= {"tacotron.contextual.reference.recurrent.weight_hh_l0"}


@pytest.mark.parametrize(
    ("name", "hidden", "wide"), [("small", 100, 200), ("medium", 300, 600), ("large", 500, 1000)]
)
def test_students_have_the_papers_sizes(name: str, hidden: int, wide: int) -> None:
    preset = load_recipe(RECIPES / f"student-{name}.toml")
    assert (preset.model["recurrent"], preset.model["wide"]) == (hidden, wide)
    model = Student(StudentConfig(recurrent=hidden, wide=wide))
    lstm = 4 * hidden * (300 + hidden + 2)
    assert count(model) == 2 * lstm + (2 * hidden + 1) * wide + (wide + 1) * 256


def test_steps_taken_one_by_one_are_those_of_the_whole(corpus: Corpus) -> None:
    task = made(corpus)
    torch.manual_seed(0)
    model = task.model().eval().tacotron
    assert isinstance(model, Tacotron)
    texts, past, future, frames, _, taught = inputs(batches(task, "val")[0])
    with torch.no_grad():
        memory = model.memory(texts, model.embedding(past, future))
        previous = functional.pad(frames, (0, 0, 1, 0))[:, :-1]
        whole, stops, weights = model.decoder.all_at_once(previous, memory, taught)
        state = model.decoder.initial(memory)
        for step in range(whole.shape[1]):
            if step:
                where = functional.one_hot(taught.attended[:, step], memory.rows.shape[1]).float()
                seen = (where[..., None] * memory.rows).sum(1)
                state = state._replace(weights=where, counts=taught.counts[:, step], context=seen)
            one, stop, own, state = model.decoder.advance(
                state._replace(frame=previous[:, step]), memory
            )
            assert torch.allclose(one, whole[:, step], atol=1e-5)
            assert torch.allclose(stop, stops[:, step], atol=1e-5)
            at = taught.attended[:, step, None] + torch.arange(model.config.window)
            shown = functional.pad(own, (0, model.config.window), value=-1e9).gather(1, at)
            assert torch.allclose(shown.exp(), weights[:, step].exp(), atol=1e-5)


def test_free_attention_trains_on_the_steps_that_it_speaks_by(corpus: Corpus) -> None:
    task = made(corpus, {**SMALL, "taught": False})
    torch.manual_seed(0)
    model = task.model().eval().tacotron
    texts, past, future, frames, *_ = inputs(batches(task, "val")[0])
    with torch.no_grad():
        memory = model.memory(texts, model.embedding(past, future))
        previous = functional.pad(frames, (0, 0, 1, 0))[:, :-1]
        whole, stops, weights = model.decoder.one_by_one(previous, memory)
        state = model.decoder.initial(memory)
        for step in range(whole.shape[1]):
            one, stop, own, state = model.decoder.advance(
                state._replace(frame=previous[:, step]), memory
            )
            assert torch.allclose(one, whole[:, step], atol=1e-5)
            assert torch.allclose(stop, stops[:, step], atol=1e-5)
            assert torch.allclose(own.exp(), weights[:, step].exp(), atol=1e-5)


def test_free_attention_is_guided_and_measured_but_not_taught_by_durations(corpus: Corpus) -> None:
    task = made(corpus, {**SMALL, "taught": False}, alignment_weight=0.0, guided_weight=2.0)
    torch.manual_seed(0)
    model = task.model().eval()
    batch = batches(task, "val")[0]
    unguided = made(corpus, {**SMALL, "taught": False}, alignment_weight=0.0)
    other = {**batch, "path": torch.zeros_like(batch["path"])}
    with torch.no_grad():
        total, parts = task.loss(model, batch, 0)
        plain, _ = unguided.loss(model, batch, 0)
        again, others = task.loss(model, other, 0)
    assert float(total - plain) == pytest.approx(2 * parts["guided"], abs=1e-5)
    assert 0 < parts["aligned"] < 1
    assert float(again) == pytest.approx(float(total))
    assert others["aligned"] != parts["aligned"]
    with pytest.raises(ConfigError, match="guided_weight needs"):
        made(corpus, guided_weight=1.0)


def test_aligned_is_the_share_on_a_step_s_phonemes_and_beside_them() -> None:
    weights = torch.tensor(
        [[[0.1, 0.2, 0.3, 0.0, 0.4], [0.1, 0.2, 0.3, 0.0, 0.4], [1.0, 0, 0, 0, 0]]]
    ).log()
    path = torch.tensor([[[0, 0], [1, 2], [4, 4]]])
    assert float(aligned(weights, path, torch.tensor([[1.0, 1.0, 0.0]]))) == pytest.approx(
        (0.3 + 0.6) / 2
    )


def test_what_stands_beside_a_text_in_a_batch_does_not_change_it() -> None:
    model = tacotron()
    short = torch.from_numpy(ids(7))
    long = torch.from_numpy(ids(19, seed=1))
    both = Texts(torch.stack([functional.pad(short, (0, 12)), long]), torch.tensor([7, 19]))
    alone = Texts(short[None], torch.tensor([7]))
    nothing = Texts(torch.zeros(1, 3, dtype=torch.long), torch.tensor([0]))
    with torch.no_grad():
        assert torch.allclose(model.encoder(both)[0, :7], model.encoder(alone)[0], atol=1e-5)
        one = model.embedding(both, both)[0]
        assert torch.allclose(one, model.embedding(alone, alone)[0], atol=1e-5)
        # Past and future are told apart, from each other and from nothing.
        sides = [model.embedding(alone, nothing)[0], model.embedding(nothing, alone)[0], one]
        for at, a in enumerate(sides):
            assert all((a - b).abs().max() > 1e-4 for b in sides[:at])


def test_segments_are_the_sentence_cut(corpus: Corpus) -> None:
    cutter = SegmentCutter(pad=PAD, space=SPACE, past=0, lookahead=2)
    item = next(item for item in corpus.split("train") if len(item.words) == 5)
    pieces = [cutter.cut(item, at, min(at + 2, 5)) for at in (0, 2, 4)]
    padded = cutter.padded(item)
    assert np.array_equal(np.concatenate([piece.ids for piece in pieces]), padded)
    assert np.array_equal(np.concatenate([piece.durations for piece in pieces]), item.durations)
    assert [piece.first for piece in pieces] == [
        0,
        pieces[0].frames,
        pieces[0].frames + pieces[1].frames,
    ]
    assert np.array_equal(pieces[1].past, pieces[0].ids)
    assert pieces[0].past.size == 0
    assert pieces[1].ids[0] == SPACE
    assert np.array_equal(pieces[0].future, pieces[1].ids)
    assert np.array_equal(pieces[1].future, pieces[2].ids)
    assert pieces[2].future.size == 0
    assert [len(SegmentCutter(pad=PAD, space=SPACE, past=3, lookahead=1).cut(item, 2, 4).past)] == [
        3
    ]
    alone = cutter.alone(item, 2, 4)
    assert alone.ids[0] == alone.ids[-1] == PAD
    assert alone.durations[0] == alone.durations[-1] == 0
    assert np.array_equal(alone.ids[1:-1], pieces[1].ids[1:])
    assert alone.first == pieces[1].first + pieces[1].durations[0]


def test_a_path_goes_on_within_its_window_and_rests_where_the_frames_are(corpus: Corpus) -> None:
    cutter = SegmentCutter(pad=PAD, space=SPACE, past=0, lookahead=0)
    for item in corpus.split("train"):
        piece = cutter.cut(item, 0, len(item.words))
        steps = -(-piece.frames // 3)
        draw = np.random.default_rng(0)
        path = path_of(piece.durations, steps, reduction=3, window=4, draw=draw)
        moved = np.diff(path.attended)
        assert path.attended[0] == 0
        assert ((moved >= 0) & (moved < 4)).all()
        owners = np.repeat(np.arange(len(piece.ids)), piece.durations)
        middles = owners[np.minimum(np.arange(len(path.attended)) * 3 + 1, len(owners) - 1)]
        assert (np.abs(path.attended[1:] - middles[:-1]) <= 1).all()


def test_a_pass_has_windows_of_all_kinds_and_whole_sentences(corpus: Corpus) -> None:
    task = made(
        corpus, unicontext_share=0.3, independent_share=0.3, sentence_share=0.3, sentence_batch=0.5
    )
    found = [batch for seed in range(8) for batch in batches(task, seed=seed)]
    sizes = {len(batch["ids"]) for batch in found}
    assert 2 in sizes
    kinds = {
        (bool(past), bool(future))
        for batch in found
        for past, future in zip(
            batch["past_lengths"].tolist(), batch["future_lengths"].tolist(), strict=True
        )
    }
    assert kinds == {(False, False), (True, False), (False, True), (True, True)}
    halves = [batches(task, seed=3, batch_size=2, rank=rank, ranks=2) for rank in (0, 1)]
    assert [len(a["ids"]) == len(b["ids"]) for a, b in zip(*halves, strict=True)]


@pytest.mark.parametrize(
    ("steps", "left"), [(20, 0.9), pytest.param(120, 0.6, marks=pytest.mark.slow)]
)
def test_it_learns_what_a_segment_sounds_like(
    corpus: Corpus, tmp_path: Path, steps: int, left: float
) -> None:
    settings = TrainSettings(
        batch_size=8,
        steps=steps,
        learning_rate=1e-2,
        warmup_steps=10,
        sample_every=1000,
        log_every=5,
    )
    train(recipe(corpus, settings), corpus.path, tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in lines if line.get("loss") is not None]
    assert losses[-1] < left * losses[0]
    assert sorted((tmp_path / "run" / "samples").rglob("*.wav"))


@pytest.fixture(scope="module")
def teacher(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, with futures of its corpus's prefixes and word vectors."""
    folder = tmp_path_factory.mktemp("teacher")
    settings = TrainSettings(batch_size=8, steps=2, sample_every=1000)
    train(recipe(corpus, settings, samples=0), corpus.path, folder / "run")
    for split in ("train", "val"):
        lines = [
            {
                "name": item.name,
                "words": words,
                "futures": [["bad", "cab."]] * (len(words) - 1) + [None],
            }
            for item in corpus.split(split)
            for words in [item.text.split()]
        ]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    draw = np.random.default_rng(0)
    (folder / "vectors").mkdir()
    table = WordVectors.of(
        {"a": 0}, draw.normal(size=(9, 6)).astype(np.float32), buckets=8, shortest=3, longest=4
    )
    table.save(folder / "vectors" / "words.npz")
    np.save(folder / "vectors" / "axes.npy", draw.normal(size=(6, 10)).astype(np.float32))
    return folder


def files(teacher: Path) -> dict[str, str]:
    futures = {"futures": str(teacher / "train.jsonl"), "val_futures": str(teacher / "val.jsonl")}
    return {"teacher": str(teacher / "run"), **futures}


def test_guided_training_moves_the_context_network_alone(corpus: Corpus, teacher: Path) -> None:
    task = GuidedTask({}, files(teacher), corpus)
    batch = batches(task)[0]
    assert (batch["pseudo_lengths"] > 0).all()
    model, moved = one_step(task, batch)
    assert isinstance(model, Guided)
    assert moved
    assert all(name.startswith("tacotron.contextual.") for name in moved)
    # Statistics of normalization are no weights, and must not move either.
    fresh: Any = task.model()
    for name, value in model.state_dict().items():
        if "running" in name:
            assert torch.equal(value, fresh.state_dict()[name]), name
    _, parts = task.loss(fresh.eval(), batch, 0)
    assert -1 <= parts["similarity"] <= 1
    same = {**batch, "pseudo": batch["future"], "pseudo_lengths": batch["future_lengths"]}
    assert task.loss(fresh, same, 0)[1]["similarity"] == pytest.approx(1, abs=1e-5)
    # Beside the similarity with a target that moves along there is one with the network before the
    # fine-tuning.
    with torch.no_grad():
        for weight in fresh.tacotron.contextual.parameters():
            weight.add_(torch.randn_like(weight))
    moved_on = task.loss(fresh, same, 0)[1]
    assert moved_on["similarity"] == pytest.approx(1, abs=1e-5)
    assert moved_on["similarity_fixed"] < 0.999


@pytest.mark.parametrize(("fixed", "aim"), [(False, "similarity"), (True, "similarity_fixed")])
def test_the_fine_tuning_weighs_what_is_missing_of_the_cosine(
    corpus: Corpus, teacher: Path, fixed: bool, aim: str
) -> None:
    """Saeki-a, Eq. 5: the frames' loss, and alpha times (1 - cosine)."""
    losses = list[float]()
    for alpha in (0.0, 50.0):
        task = GuidedTask(
            {}, {**files(teacher), "similarity_weight": alpha, "fixed_target": fixed}, corpus
        )
        model = task.model().eval()
        torch.manual_seed(0)
        for weight in model.tacotron.contextual.parameters():
            weight.data.add_(torch.randn_like(weight))
        loss, parts = task.loss(model, batches(task)[0], 0)
        losses.append(float(loss.detach()))
    assert parts["similarity"] - parts["similarity_fixed"] > 1e-3
    assert losses[1] - losses[0] == pytest.approx(50 * (1 - parts[aim]), rel=1e-3)


def noise(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def test_windows_without_a_past_keep_their_future(corpus: Corpus) -> None:
    batch = batches(SaekiTask(SMALL, {**DATA, "pastless_share": 1.0}, corpus))[0]
    assert not batch["past_lengths"].any()
    assert batch["future_lengths"].any()


def test_a_student_learns_the_teacher_s_embedding(corpus: Corpus, teacher: Path) -> None:
    sizes = {"vectors": 10, "recurrent": 8, "wide": 12, "embedding": 16}
    more = {"vectors": str(teacher / "vectors")}
    task = StudentTask(sizes, {**files(teacher), **more}, corpus)
    batch = batches(task)[0]
    assert "frames" not in batch
    torch.manual_seed(0)
    model = task.model().train()
    steps = lessons(task, model, [batch] * 40, 1e-2)
    assert steps[-1]["distil"] < 0.3 * steps[0]["distil"]
    # Saeki-b, Eq. 8, as its text has it: the mean over the embedding's dimensions, not the norm
    # that its formula has.
    with torch.no_grad():
        apart = model.eval()(batch["vectors"], batch["tokens"], None)[0] - batch["meant"]
        loss, parts = task.loss(model, batch, 0)
    assert (
        float(loss)
        == pytest.approx(parts["distil"])
        == pytest.approx(float(apart.square().sum(1).mean()) / 16)
    )
    # Without a language model the teacher sees what really follows: other embeddings.
    truth = StudentTask(sizes, {**files(teacher), **more, "truth": True}, corpus)
    assert not torch.allclose(truth.taught("train")[2], task.taught("train")[2])
    with pytest.raises(ConfigError, match="vectors and embedding are 300 and 256"):
        StudentTask({}, {**files(teacher), **more}, corpus)


@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_hidden_states_of_a_language_model_teach_as_word_vectors_do(
    weight: float, corpus: Corpus, teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    language = ToyStates()
    monkeypatch.setattr(
        "sayahead_lab.training.distilled.states.TransformersModel", lambda name: language
    )
    sizes = {"vectors": WIDTH, "recurrent": 8, "wide": 12, "embedding": 16}
    more = {**files(teacher), "lm": "toy", "most": 6, "distil_weight": weight}
    task = HiddenTask(sizes, more, corpus)
    batch = batches(task)[0]
    assert batch["vectors"].shape[2] == WIDTH
    assert int(batch["tokens"].max()) <= 6
    # One pass of the language model an item: the states of a prefix are those of a longer one.
    prefixes = task.taught("train")[0]
    assert len(language.asked) <= len({one.item for one in prefixes}) < len(prefixes)
    words = prefixes[0].words
    alone, _ = states_of(ToyStates(), words, -1)
    assert np.allclose(task.states.of(words), alone[-6:], atol=1e-2)
    model, moved = one_step(task, batch)
    assert all(name.startswith("student.") for name in moved)
    run: Any = Trained(
        task, model.eval(), Recipe("one", "saeki-hidden", TrainSettings(1, 1)), corpus, 1
    )
    paths, about = write_states(run, tmp_path)
    assert about == {"graph": "hidden.onnx", "width": WIDTH, "model": "toy", "layer": -1, "most": 6}
    predictor = Hidden(OnnxGraph(paths[0]), HiddenConfig(**about), ToyStates())
    said = predictor.predict(words).embedding
    assert said is not None
    with torch.no_grad():
        vectors = torch.from_numpy(alone[None, -6:])
        meant = model.get_submodule("student")(vectors, torch.tensor([vectors.shape[1]]))[0].numpy()
    assert np.allclose(said, meant, atol=0.02)
    # A voice that has learned it speaks by it, and otherwise than without.
    tiny_saeki(tmp_path / "voice")
    extend_voice(tmp_path / "voice", student=run)
    monkeypatch.setattr("sayahead.contexts.hidden_states.TransformersModel", lambda name: language)
    voice = load_voice(tmp_path / "voice")
    sounds = [
        voice.synthesize("Hello there, proud team.", context=name) for name in ("hidden", "none")
    ]
    assert all(len(sound) > 0 for sound in sounds)
    assert len(sounds[0]) != len(sounds[1]) or not np.array_equal(sounds[0], sounds[1])
    with pytest.raises(ConfigError, match="vectors is 10, but the states of toy have 7"):
        batches(HiddenTask({**sizes, "vectors": 10}, more, corpus))
    with pytest.raises(ConfigError, match="lm must name"):
        HiddenTask(sizes, {**more, "lm": ""}, corpus)
    # The true future needs no file of futures.
    with pytest.raises(ConfigError, match="or set truth = true"):
        HiddenTask(sizes, {**more, "futures": ""}, corpus)
    truth = HiddenTask(sizes, {**more, "futures": "", "truth": True, "drawn": 2}, corpus)
    drawn, _, meant = truth.taught("train")
    assert (
        max(
            sum(one.item == number for one in drawn) for number in range(len(corpus.split("train")))
        )
        == 2
    )
    assert len(drawn) == len(meant)


def test_the_small_preset_of_hidden_states_is_the_student_s_but_for_what_it_reads() -> None:
    ours, theirs = (load_recipe(RECIPES / f"{name}-small.toml") for name in ("hidden", "student"))
    assert ours.model == {**theirs.model, "vectors": 576}
    assert replace(ours.train, batch_size=0) == replace(theirs.train, batch_size=0)


@pytest.mark.parametrize("weight", [0.0, 0.95])
def test_frames_teach_the_student_alone(weight: float, corpus: Corpus, teacher: Path) -> None:
    sizes = {"vectors": 10, "recurrent": 8, "wide": 12, "embedding": 16}
    more = {"vectors": str(teacher / "vectors")}
    task = StudentTask(sizes, {**files(teacher), **more, "distil_weight": weight}, corpus)
    batch = batches(task)[0]
    model, moved = one_step(task, batch)
    assert isinstance(model, StudentTraining)
    assert moved
    assert all(name.startswith("student.") for name in moved)
    loss, parts = task.loss(model.eval(), batch, 0)
    assert float(loss.detach()) == pytest.approx(
        (1 - weight) * parts["target"] + weight * parts["distil"], rel=1e-5
    )


def spoken(acoustic: SegmentalAcoustic, segment: Segment, **rendering: Any) -> Any:
    return acoustic.step(segment, acoustic.initial(), Rendering(**rendering), hold_back=0)[0]


def test_graphs_say_what_torch_says(tmp_path: Path) -> None:
    voice: Any = tiny_saeki(tmp_path)
    model = tacotron()
    acoustic = voice.synthesizer.acoustic
    pad = torch.zeros(1, dtype=torch.long)
    first, second, future = (torch.from_numpy(ids(size, seed=size)) for size in (8, 6, 9))

    def of(*parts: Tensor) -> Texts:
        joined = torch.cat(parts) if parts else pad[:0]
        return Texts(
            functional.pad(joined, (0, max(0, 1 - len(joined))))[None], torch.tensor([len(joined)])
        )

    with torch.no_grad():
        one = model.embedding(of(), of(second, future))
        two = model.embedding(of(pad, first), of(future, pad))
    meant = [generate(model, torch.cat([pad, first]), one[0]), generate(model, second, two[0])]
    state = acoustic.initial()
    found = []
    for own, seen, ends in ((first, torch.cat([second, future]), False), (second, future, True)):
        segment = Segment(torch.cat([own, seen]).numpy(), len(own), ((0, len(own)),), ends)
        frames, state = acoustic.step(segment, state, Rendering(), hold_back=0)
        found.append(frames.final)
    for mine, theirs in zip(found, meant, strict=True):
        # The runtime moves attention on where it rests for too long, and ends there; until then
        # both go the same way.
        rows = min(len(mine), len(theirs), 30)
        assert rows > 3
        assert np.abs(mine[: rows - 3] - theirs[: rows - 3].numpy()).max() < 0.15


class Forced:
    """A decoder's graph of which some outputs are given, whatever it computes: ``stop``, and where
    attention looks."""

    def __init__(self, graph: Any, *, stop: float, place: int | None = None) -> None:
        self.graph = graph
        self.stop = stop
        self.place = place
        self.steps = 0

    def __call__(self, **inputs: Any) -> dict[str, Any]:
        self.steps += 1
        out = self.graph(**inputs)
        weights = out["weights"] if self.place is None else np.zeros_like(out["weights"])
        if self.place is not None:
            weights[0, self.place] = 1
        return {**out, "stop": np.full_like(out["stop"], self.stop), "weights": weights}


def test_stop_and_resting_attention_are_rules_that_can_be_switched_off(tmp_path: Path) -> None:
    voice: Any = tiny_saeki(tmp_path)
    own = voice.synthesizer.acoustic
    segment = Segment(ids(10), 8, ((0, 8),), False)

    def frames(stop: float, place: int | None, **rules: Any) -> int:
        forced = {**own._graphs, "decoder": Forced(own._graphs["decoder"], stop=stop, place=place)}
        return len(
            spoken(SegmentalAcoustic(forced, replace(own._model, **rules), pad=0), segment).final
        )

    # A stop that always fires: at once, or behind the last sound, which attention has to reach
    # first.
    assert frames(1.0, None, early_stop=True) == 1
    assert frames(1.0, 0, longest=2) > 8 * 3
    # Attention that never moves: moved on from phoneme to phoneme, or left where it is, up to the
    # bound.
    assert frames(0.0, 0, longest=2) == (1 + 8) * 2 * 3
    assert frames(0.0, 0, longest=0) == pytest.approx((1 + 8) * 40, abs=3)


def test_dropout_in_the_prenet_is_drawn_by_the_seed_and_an_option(tmp_path: Path) -> None:
    voice: Any = tiny_saeki(tmp_path, replace(CONFIG, prenet_dropout=0.5))
    own = voice.synthesizer.acoustic
    segment = Segment(ids(10), 8, ((0, 8),), False)
    assert own._model.prenet_dropout == 0.5
    still = SegmentalAcoustic(own._graphs, replace(own._model, prenet_dropout=0.0), pad=0)
    one, same, other = (spoken(own, segment, seed=seed).final for seed in (1, 1, 2))
    off, also_off = (spoken(still, segment, seed=seed).final for seed in (1, 2))
    assert np.array_equal(one, same)
    assert np.array_equal(off, also_off)
    assert not np.array_equal(one[:6], other[:6])
    assert not np.array_equal(one[:6], off[:6])
    draws = (own._dropout(np.random.default_rng(seed)) for seed in range(500))
    kept = np.concatenate([draw["kept"] for draw in draws])
    assert set(np.unique(kept)) == {0.0, 2.0}
    assert abs(kept.mean() - 1) < 0.03
    with pytest.raises(ConfigError, match="without dropout"):
        replace(own._model, prenet=0)


def test_free_attention_speaks_as_torch_does(tmp_path: Path) -> None:
    config = replace(CONFIG, taught=False)
    voice: Any = tiny_saeki(tmp_path, config)
    acoustic = voice.synthesizer.acoustic
    model = tacotron(config)
    assert (acoustic._model.window, acoustic._model.longest, acoustic._model.early_stop) == (
        0,
        0,
        True,
    )
    given = ids(12)
    embedding = np.linspace(-1, 1, 16).astype(np.float32)
    segment = Segment(given, 12, ((0, 6), (6, 12)), False, embedding=embedding)
    made = spoken(
        SegmentalAcoustic(acoustic._graphs, replace(acoustic._model, early_stop=False), pad=0),
        segment,
    )
    with torch.no_grad():
        padded = torch.cat([torch.zeros(1, dtype=torch.long), torch.from_numpy(given)])
        memory = model.memory(
            Texts(padded[None], torch.tensor([13])), torch.from_numpy(embedding)[None]
        )
        state = model.decoder.initial(memory)
        rows = []
        for _ in range(8):
            frame, _, _, state = model.decoder.advance(state, memory)
            rows.append(frame.view(-1, 80))
        mel = torch.cat(rows)[None]
        meant = (mel + model.postnet(mel, torch.ones(mel.shape[:2], dtype=torch.bool)))[
            0
        ] * model.std + model.mean
    # Close to the end the postnet sees what follows.
    assert np.abs(made.final[:18] - meant[:18].numpy()).max() < 0.1
    (first, middle), (begin, end) = made.words
    assert first <= middle <= begin <= end <= len(made.final)
    assert [timing.text for chunk in voice.stream(["One two three."]) for timing in chunk.words]


def test_students_graph_says_what_torch_says(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = Student(StudentConfig(vectors=10, recurrent=8, wide=12, embedding=16)).eval()
    draw = np.random.default_rng(0)
    axes = draw.normal(size=(6, 10)).astype(np.float32)
    rows = draw.normal(size=(5, 6)).astype(np.float32)
    student_graph(model, axes).save(str(tmp_path / "g.onnx"))
    with torch.no_grad():
        meant = model(torch.from_numpy(rows @ axes)[None], torch.tensor([5]))[0].numpy()
    found = OnnxGraph(tmp_path / "g.onnx")(vectors=rows)["embedding"]
    assert found.shape == (16,)
    assert np.abs(found - meant).max() < 0.02


def test_an_embedding_takes_the_place_of_past_and_future(tmp_path: Path) -> None:
    voice: Any = tiny_saeki(tmp_path)
    acoustic = voice.synthesizer.acoustic
    plain = Segment(ids(20), 8, ((0, 8),), False)
    given = replace(plain, embedding=np.full(16, 0.7, np.float32))
    a = spoken(acoustic, plain).final
    b = spoken(acoustic, given).final
    rows = min(len(a), len(b))
    assert np.abs(a[:rows] - b[:rows]).max() > 1e-3
    other = replace(given, ids=np.concatenate([given.ids[:8], ids(12, seed=5)]))
    assert np.array_equal(b, spoken(acoustic, other).final)


def test_delta_copies_the_last_frame(tmp_path: Path) -> None:
    voice: Any = tiny_saeki(tmp_path)
    acoustic = voice.synthesizer.acoustic
    segment = Segment(ids(20), 8, ((0, 8),), False)
    for delta, copies in ((None, 1), (0, 0), (4, 4)):
        frames = spoken(acoustic, segment, delta=delta)
        assert len(frames.right) == copies
        assert (frames.right == frames.final[-1]).all()


def test_independent_segments_know_nothing_of_each_other(tmp_path: Path) -> None:
    voice: Any = tiny_saeki(tmp_path)
    own = voice.synthesizer.acoustic
    acoustic = SegmentalAcoustic(own._graphs, replace(own._model, independent=True), pad=0)
    segment = Segment(ids(20), 8, ((1, 8),), False)
    _, state = acoustic.step(segment, acoustic.initial(), Rendering(), hold_back=0)
    after = acoustic.step(segment, state, Rendering(), hold_back=0)[0].final
    assert np.array_equal(after, spoken(acoustic, segment).final)
    assert np.array_equal(after, spoken(acoustic, replace(segment, ids=segment.ids[:8])).final)


@pytest.mark.parametrize("closes", [False, True])
def test_without_an_end_mark_nothing_says_where_an_independent_segment_ends(
    closes: bool, tmp_path: Path
) -> None:
    voice: Any = tiny_saeki(tmp_path)
    own = voice.synthesizer.acoustic
    seen = list[list[int]]()

    def encoder(ids: Any) -> Any:
        seen.append(ids.tolist())
        return own._graphs["encoder"](ids=ids)

    segment = Segment(ids(8), 8, ((0, 8),), closes)
    for end_mark in (True, False):
        model = replace(own._model, independent=True, end_mark=end_mark)
        graphs: Any = {**own._graphs, "encoder": encoder}
        acoustic = SegmentalAcoustic(graphs, model, pad=0)
        acoustic.step(segment, acoustic.initial(), Rendering(), hold_back=0)
    words = [0, *segment.ids.tolist()]
    assert [*words, 0] in seen
    assert words in seen
    assert sum(one[:9] == words for one in seen) == 2


def test_windows_of_their_own_may_end_without_a_mark(corpus: Corpus) -> None:
    item = corpus.split("train")[0]
    marked, bare = (
        made(corpus, independent_share=1.0, end_mark=end_mark).cutter.alone(item, 0, 2)
        for end_mark in (True, False)
    )
    assert marked.ids.tolist() == [*bare.ids.tolist(), marked.ids[0]]
    assert marked.frames == bare.frames
    assert bare.ids[-1] != marked.ids[0]


def test_a_whole_text_is_spoken(tmp_path: Path) -> None:
    voice = tiny_saeki(tmp_path)
    text = "One two three four five."
    chunks = list(voice.stream([text]))
    assert [timing.text for chunk in chunks for timing in chunk.words] == [
        "One",
        "two",
        "three",
        "four",
        "five.",
    ]
    assert len(chunks) == 3


def test_speaking_is_by_segments_of_the_corpus(corpus: Corpus) -> None:
    task = made(corpus)
    torch.manual_seed(0)
    model: Any = task.model().eval()
    piece = task.cutter.cut(corpus.split("val")[0], 0, 1)
    mel = speak(model.tacotron, [piece])
    assert mel.shape[1] == 80
    assert mel.shape[0] <= 40 * len(piece.ids) + 3
    assert CONFIG.taught
