"""Deep Voice 3 as Ma et al. use it: sizes of the paper, steps against the whole, its data, and that
it learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.tiny_training import lessons
from lab_support.tones import PAD, SPACE, tones_corpus
from sayahead.errors import ConfigError
from torch import Tensor

from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.loop.recipe import load_recipe
from sayahead_lab.training.losses import guided_attention
from sayahead_lab.training.ma.network import DeepVoice3, DeepVoice3Config, generate
from sayahead_lab.training.ma.task import DeepVoice3Task

RECIPES = Path(__file__).parents[2] / "recipes" / "ma"
TINY = {
    "embedding": 32,
    "encoder_channels": 24,
    "encoder_layers": 3,
    "encoder_kernel": 3,
    "prenet": [16, 32],
    "decoder_layers": 3,
    "decoder_kernel": 3,
    "attention": 16,
    "dropout": 0.0,
    "prenet_dropout": 0.0,
    "weight_norm": False,
}
SMALL = {**TINY, "clock": "attended", "windowed_training": True, "own_windows": False}
TRUE = {"alignment_weight": 1.0, "guided_weight": 0.0}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return tones_corpus(tmp_path_factory.mktemp("tones"))


def made(
    corpus: Corpus, model: dict[str, Any] = SMALL, data: dict[str, Any] = TRUE
) -> DeepVoice3Task:
    return DeepVoice3Task(model, data, corpus)


def batches(task: DeepVoice3Task, **changes: Any) -> list[Any]:
    return list(
        task.batches("train", **{"batch_size": 4, "seed": 5, "rank": 0, "ranks": 1, **changes})
    )


def inputs(batch: Any) -> Iterator[Tensor]:
    return (batch[name] for name in ("ids", "lengths", "frames", "attended", "stayed"))


def test_paper_preset_has_the_papers_blocks_and_sizes(corpus: Corpus) -> None:
    recipe = load_recipe(RECIPES / "dv3-paper.toml")
    model = made(corpus, dict(recipe.model), dict(recipe.data)).model()
    encoder = model.encoder
    decoder = model.decoder
    # Ma 5.1: eleven blocks, seven, two attentions, 80 bands; window of 3. Ping et al. 2018, single
    # speaker: the widths.
    assert (len(encoder.blocks), len(decoder.blocks), len(decoder.attentions)) == (11, 7, 2)
    assert (model.config.window, model.config.n_mels, model.config.reduction) == (3, 80, 4)
    assert recipe.train.batch_size == 16

    def count(part: torch.nn.Module) -> int:
        return sum(weight.numel() for weight in part.parameters())

    def conv(d: int) -> int:
        return 5 * d * 2 * d + 2 * d + 2 * d  # weights, biases, and weight normalization's lengths

    assert [count(block) for block in encoder.blocks] == [conv(64)] * 11
    assert [count(block) for block in decoder.blocks] == [conv(256)] * 7
    assert [count(layer) for layer in decoder.prenet] == [320 * 128 + 128, 128 * 256 + 256]
    assert [count(attention) for attention in decoder.attentions] == [
        3 * (256 * 128 + 128) + 128 * 256 + 256
    ] * 2
    assert count(decoder.frames) + count(decoder.stop) == 256 * 321 + 321
    assert count(encoder.embedding) == 256 * 7
    assert count(model) == 5_501_185 + 256 * 7


@pytest.mark.slow
def test_paper_preset_takes_a_training_step(corpus: Corpus) -> None:
    recipe = load_recipe(RECIPES / "dv3-paper.toml")
    task = made(corpus, dict(recipe.model), dict(recipe.data))
    model = task.model()
    batch = batches(task, batch_size=2)[0]
    optimizer = torch.optim.Adam(model.parameters(), recipe.train.learning_rate)
    before = [weight.clone() for weight in model.parameters()]
    loss, parts = task.loss(model, batch, 0)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    assert np.isfinite(float(loss.detach()))
    assert {"l1", "stop", "guided1", "guided2"} <= set(parts)
    assert all(not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_small_preset_is_a_recipe(corpus: Corpus) -> None:
    recipe = load_recipe(RECIPES / "dv3-small.toml")
    model = made(corpus, dict(recipe.model), dict(recipe.data)).model()
    assert (
        len(model.encoder.blocks),
        len(model.decoder.blocks),
        len(model.decoder.attentions),
    ) == (11, 7, 2)


@pytest.mark.parametrize(
    ("changes", "window"), [({}, 0), ({"windowed_training": True, "clock": "attended"}, 3)]
)
def test_steps_equal_the_whole(corpus: Corpus, changes: dict[str, Any], window: int) -> None:
    task = made(corpus, {**TINY, "weight_norm": True, **changes}, TRUE)
    torch.manual_seed(1)
    model = task.model().eval()
    item = corpus.split("val")[0]
    batch = task.batch([(0, item)], None)
    with torch.no_grad():
        whole = model(*inputs(batch))
        keys, values = model.encode(batch["ids"][0])
        past = model.initial()
        for s in range(whole.frames.shape[1]):
            # Where attention is comes from the durations in both.
            past = past._replace(
                attended=batch["attended"][0, s].repeat(2), stayed=batch["stayed"][0, s].repeat(2)
            )
            first = torch.tensor(0)
            frames, stop, weights, after = model.step(past, keys, values, first, window=window)
            assert torch.allclose(frames, whole.frames[0, s], atol=1e-4)
            assert torch.allclose(stop, torch.sigmoid(whole.stop[0, s]), atol=1e-5)
            at = int(batch["attended"][0, s]) if window else 0
            for own, other in zip(weights, whole.weights, strict=True):
                seen = other[0, s].exp()[at : at + own.shape[0]]
                assert torch.allclose(own[: len(seen)], seen, atol=1e-5)
            past = after._replace(frames=batch["frames"][0, s])


def test_padding_of_a_batch_changes_nothing(corpus: Corpus) -> None:
    task = made(corpus)
    model = task.model().eval()
    items = [(i, corpus.split("val")[i]) for i in range(4)]
    together = task.batch(items, None)
    with torch.no_grad():
        many = model(*inputs(together))
        for row, item in enumerate(items):
            alone = task.batch([item], None)
            one = model(*inputs(alone))
            assert torch.allclose(one.frames[0], many.frames[row, : one.frames.shape[1]], atol=1e-5)


def test_each_item_is_there_once_and_ranks_share(corpus: Corpus) -> None:
    task = made(corpus)
    seen = [i for batch in batches(task) for i in batch["items"].tolist()]
    assert sorted(seen) == list(range(17))
    again = [i for batch in batches(task) for i in batch["items"].tolist()]
    other = [i for batch in batches(task, seed=6) for i in batch["items"].tolist()]
    assert seen == again != other
    shares = [batches(task, batch_size=2, rank=rank, ranks=2) for rank in (0, 1)]
    assert len(shares[0]) == len(shares[1])
    for one, two in zip(*shares, strict=True):
        assert len(one["items"]) == len(two["items"])
    numbers = [i for share in shares for batch in share for i in batch["items"].tolist()]
    assert len(numbers) == len(set(numbers)) == 16


def test_batches_are_fixed_by_the_seed_prefixes_included(corpus: Corpus) -> None:
    task = made(corpus, data={**TRUE, "prefix_share": 0.5})
    for one, two in zip(batches(task), batches(task), strict=True):
        assert all(torch.equal(one[name], two[name]) for name in one)


def test_prefixes_end_where_words_do(corpus: Corpus) -> None:
    task = made(corpus, data={**TRUE, "prefix_share": 1.0, "lookahead": 1})
    cut = 0
    for batch in batches(task):
        for row, number in enumerate(batch["items"].tolist()):
            item = corpus.split("train")[number]
            shown = int(batch["lengths"][row])
            frames = int(batch["counts"][row].sum())
            if shown == len(item.ids) + 2:
                assert frames == len(item.mel)
                assert batch["ends"][row].sum() == 1
                continue
            cut += 1
            assert batch["ends"][row].sum() == 0
            # What is seen ends in front of a word's space, and so does what is spoken, that word or
            # the one before.
            assert item.ids[shown - 1] == SPACE
            said = int(np.searchsorted(np.cumsum(item.durations), frames)) + 1
            spaces = np.flatnonzero(item.ids == SPACE) + 1
            assert np.cumsum(item.durations)[said - 1] == frames
            behind = np.flatnonzero(spaces == shown)[0] - np.flatnonzero(spaces == said)[0]
            assert behind in (0, 1)
    assert cut > 5


def test_windows_hold_what_is_attended_to(corpus: Corpus) -> None:
    task = made(corpus)
    for batch in batches(task):
        ahead = batch["path"] - batch["attended"][..., None]
        counted = batch["learned"] > 0
        assert 0 <= int(ahead[counted].min()) <= int(ahead[counted].max()) <= 2
        moved = batch["attended"][:, 1:] > batch["attended"][:, :-1]
        both = (batch["learned"][:, 1:] > 0) & moved
        assert torch.all(batch["stayed"][:, 1:][both] == 1)


def test_scheduled_sampling_rises(corpus: Corpus) -> None:
    data = {**TRUE, "sampling_share": 0.5, "sampling_start": 100, "sampling_steps": 200}
    task = made(corpus, data=data)
    assert [task.data.sampling(step) for step in (0, 100, 200, 300, 900)] == [
        0.0,
        0.0,
        0.25,
        0.5,
        0.5,
    ]
    model = task.model()
    batch = batches(task)[0]
    with torch.no_grad():
        own, true = (model(*inputs(batch), share).frames for share in (1.0, 0.0))
    assert torch.allclose(own[:, 0], true[:, 0], atol=1e-6)
    assert not torch.allclose(own[:, 1:], true[:, 1:], atol=1e-4)


def test_guided_attention_is_tachibanas() -> None:
    weights = torch.zeros(1, 2, 2)
    lengths = torch.tensor([2])
    learned = torch.ones(1, 2)
    # All weight 1 everywhere: penalties of the two places half a sentence off the diagonal, over
    # two steps.
    expected = 1 - np.exp(-(0.5**2) / (2 * 0.2**2))
    assert float(guided_attention(weights, lengths, learned, 0.2)) == pytest.approx(expected)


def test_it_learns_and_speaks_freely(corpus: Corpus) -> None:
    torch.manual_seed(0)
    task = made(corpus, data={**TRUE, "stop_weight": 0.3})
    model = task.model()
    seen = [batch for epoch in range(25) for batch in batches(task, batch_size=8, seed=epoch)]
    losses = [parts["loss"] for parts in lessons(task, model, seen, 4e-3)]
    assert np.mean(losses[-3:]) < 0.5 * losses[0]
    item = corpus.split("train")[0]
    ids = torch.tensor([PAD, *item.ids.tolist(), PAD])
    mel, weights = generate(model.eval(), ids)
    visited = weights.argmax(1)
    assert torch.all(visited[1:] >= visited[:-1])
    assert len(ids) - 3 <= int(visited[-1]) < len(ids)
    assert len(item.mel) / 2 < len(mel) < 2 * len(item.mel)


def test_free_speech_always_ends(corpus: Corpus) -> None:
    model = made(corpus).model().eval()
    mel, _ = generate(model, torch.tensor([PAD, 2, 3, PAD]), stop=2.0)
    assert mel.shape == (160, 80)


def test_samples_are_written(corpus: Corpus, tmp_path: Path) -> None:
    task = made(corpus)
    task.samples(task.model().eval(), tmp_path)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".png", ".png", ".wav", ".wav"]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({**SMALL, "n_mels": 40}, "80 mel bands"),
        ({**SMALL, "prenet": [16, 16]}, "must end with embedding"),
        ({**SMALL, "clock": "water"}, "steps or attended"),
        ({**SMALL, "phonemes": 3}, "ids up to 6"),
        ({**SMALL, "kernle": 3}, "unknown key 'kernle'"),
    ],
)
def test_what_does_not_fit_is_told(corpus: Corpus, model: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        made(corpus, model)


def test_a_model_without_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="two blocks"):
        DeepVoice3(replace(DeepVoice3Config(phonemes=3), decoder_layers=1))


def test_a_prefix_attends_to_nothing_that_it_does_not_show(corpus: Corpus) -> None:
    task = made(corpus, data={**TRUE, "prefix_share": 1.0, "lookahead": 0})
    for seed in range(6):
        for batch in task.batches("train", batch_size=5, seed=seed, rank=0, ranks=1):
            for name in ("path", "attended"):
                last = batch[name].flatten(1).max(1).values
                assert (last < batch["lengths"]).all()
