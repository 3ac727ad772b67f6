"""Teaching the learned policy: tables, episodes that are sessions in small, and REINFORCE where the
answer is known."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sayahead import ConfigError, Voice, installed_voices, load_voice
from sayahead.cli import main
from sayahead.engine.policy import WordPolicy
from sayahead.engine.stages import Frames
from sayahead.policies.learned import MOST, Clues, LearnedPolicy, Network
from sayahead.research import LookaheadK, Read, Speak, View
from sayahead.types import Floats
from support.tagger import ToyTagger

from sayahead_lab.eval.experiment.clock import ReadingClock
from sayahead_lab.eval.experiment.trace import measure, retime
from sayahead_lab.eval.measures.latency import stalls_s, word_lags_s
from sayahead_lab.training.learned.episodes import (
    Decisions,
    EpisodeOutcome,
    ReadingEpisodes,
    clocks,
    distances,
    fixed,
    scales,
)
from sayahead_lab.training.learned.tables import (
    ClueTable,
    Tabulator,
    distance,
    load_tables,
    make_tables,
    needed,
    one_sentence,
    save_tables,
)
from sayahead_lab.training.learned.task import (
    Deciding,
    DecidingConfig,
    LearnedTask,
    advantages,
    reader,
)
from sayahead_lab.training.loop.recipe import recipe_from
from sayahead_lab.training.loop.run import train
from sayahead_lab.training.loop.saved_run import Trained, load_run_of

TEXT = "The old judge read the whole letter, and nobody in New York said a word."
READER = list(clocks()).index("180 words/min")


def toy_table(text: str) -> ClueTable:
    """Words of a quarter of a second; those with a capital lose 3 in each part without lookahead,
    others nothing."""
    words, needs = needed(text)
    apart = np.zeros((len(words), MOST + 1, 3))
    apart[[word.text[0].isupper() for word in words], 0] = 3.0
    ends = 20.0 * np.arange(1, len(words) + 1)
    return ClueTable(
        text,
        words,
        needs,
        np.stack([ends - 20, ends], axis=1),
        20 * len(words),
        apart,
        np.full(len(words), 9.0),
    )


def toy_episodes(texts: list[str]) -> ReadingEpisodes:
    clues = Clues(ToyTagger(), {}, np.zeros((1, 0), np.float32))
    tables = [toy_table(text) for text in texts]
    return ReadingEpisodes(
        tables,
        clues,
        lambda word: len(word.text),
        scale=np.ones(3),
        frame_s=0.0125,
        hold_back_s=0.05,
    )


def toy_texts() -> list[str]:
    draw = np.random.default_rng(5)
    lists = [["tame" if draw.random() < 0.7 else "Tall" for _ in range(9)] for _ in range(24)]
    return [" ".join(words) + " end." for words in lists]


def toy_tables(folder: Path, texts: list[str]) -> Path:
    """The folder, with tables of the texts as both splits."""
    folder.mkdir()
    for split in ("train", "val"):
        save_tables(folder / f"{split}.npz", [toy_table(text) for text in texts])
    info = {"voice": "heart", "hold_back_s": 0.05, "seed": 0, "files": {}}
    (folder / "corpus.json").write_text(json.dumps(info), encoding="utf-8")
    return folder


def taught(tables: Path, out: Path, steps: int, **settings: Any) -> Trained[LearnedTask, Deciding]:
    """A short run on tables."""
    recipe = {
        "task": "learned",
        "model": {"hidden": [8]},
        "data": {"siblings": 6, "entropy_steps": steps, "least_price": 0.1, "largest_price": 0.3},
        "train": {
            "batch_size": 12,
            "steps": steps,
            "learning_rate": 0.03,
            "final_share": 1.0,
            **settings,
        },
    }
    train(recipe_from(recipe, name="toy", where="a test"), tables, out, device="cpu", threads=1)
    return load_run_of(LearnedTask, Deciding, out)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned, with its tables beside it."""
    folder = tmp_path_factory.mktemp("learned")
    taught(toy_tables(folder / "tables", toy_texts()), folder / "run", 200, log_every=100)
    return folder / "run"


def test_reinforce_finds_the_words_that_are_worth_waiting_for(run: Path) -> None:
    learned = load_run_of(LearnedTask, Deciding, run)
    episodes = learned.task.episodes("val")
    every = np.arange(len(episodes.counts))
    on = np.full(len(every), READER)
    prices = np.full(len(every), 0.6)
    draw = np.random.default_rng(0)
    outcome = episodes.play(every, on, prices, learned.model.choose(greedy=True), draw)
    lost = episodes.apart[every, : outcome.lookahead.shape[1], 0] > 0
    assert (outcome.lookahead[lost & outcome.words] > 0).mean() > 0.95
    # Where the sound is behind the text anyway, a word more costs nothing.
    assert (outcome.lookahead[~lost & outcome.words] > 0).mean() < 0.6
    for k in range(3):
        other = episodes.play(every, on, prices, fixed(k), np.random.default_rng(0))
        assert outcome.cost(prices).sum() < other.cost(prices).sum()


def test_a_run_logs_its_cost_and_compares_with_fixed_lookahead(run: Path) -> None:
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    costs = [line["parts"]["cost"] for line in lines if "parts" in line]
    assert len(costs) == 2
    assert costs[1] < costs[0]
    (table,) = (json.loads(path.read_text()) for path in run.rglob("val.json"))
    assert list(table["units"]) == ["duration", "pitch", "frames"]
    reader = {name: row for name, row in table["val"].items() if name.startswith("180 words/min")}
    assert (
        reader["180 words/min, price 0.1"]["apart"] < 0.1 < reader["180 words/min, k = 0"]["apart"]
    )


def test_a_run_becomes_a_voice_s_policy(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "heart"
    shutil.copytree(installed_voices()["heart"], folder)
    # The run is all that is needed.
    shutil.copytree(run, tmp_path / "run")
    shutil.move(run.parent / "tables", tmp_path / "tables")
    try:
        assert main(["train", "voice", "--policy", str(tmp_path / "run"), "-o", str(folder)]) == 0
    finally:
        shutil.move(tmp_path / "tables", run.parent / "tables")
    learned = load_run_of(LearnedTask, Deciding, run)
    voice = load_voice(folder)
    wanted = learned.task.network(learned.model)
    policy: Any = voice.policy("learned")
    assert np.allclose(policy.network.layers[0][0], wanted.layers[0][0], rtol=2e-3)
    assert len(voice.synthesize("It waits.", policy=policy)) > 12000


def test_the_same_seed_gives_the_same_network(tmp_path: Path) -> None:
    tables = toy_tables(tmp_path / "tables", toy_texts()[:12])
    one, two, other = (
        taught(tables, tmp_path / name, 3, seed=seed, sample_every=99).model.arrays()
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    pairs = [pair for layers in zip(one, two, strict=True) for pair in zip(*layers, strict=True)]
    assert all(np.array_equal(a, b) for a, b in pairs)
    assert not np.array_equal(one[0][0], other[0][0])


def test_exported_weights_decide_as_the_network_in_training(run: Path) -> None:
    model = load_run_of(LearnedTask, Deciding, run).model
    inputs = np.random.default_rng(0).normal(size=(5, model.mean.shape[0])).astype(np.float32)
    own = Network(model.arrays(), (",",), np.zeros((1, 0), np.float32))
    import torch

    with torch.no_grad():
        expected = model(torch.from_numpy(inputs)).numpy()
    assert [own(row) for row in inputs] == pytest.approx(expected.tolist(), rel=1e-3, abs=1e-4)


def test_an_advantage_is_what_siblings_paid_more() -> None:
    words = np.ones((2, 2), np.bool_)
    nothing = np.zeros((2, 2))
    steps = Decisions(
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
        np.zeros((0, 1), np.float32),
        np.zeros(0, np.bool_),
    )
    apart = np.array([[1.0, 2.0], [0.0, 5.0]])
    lag = np.array([[0.0, 0.0], [1.0, 0.0]])
    made = EpisodeOutcome(
        steps, words, np.zeros((2, 2), np.int64), apart, lag, nothing, np.zeros((2, 2, 2))
    )
    prices = np.array([1.0, 1.0])
    assert made.cost(prices).tolist() == [[1, 2], [1, 5]]
    gain = advantages(made, prices, siblings=2, discount=1.0)
    assert gain == pytest.approx(np.array([[3, 3], [-3, -3]]) / 0.8)
    assert advantages(made, prices, siblings=2, discount=0.5)[:, 0] == pytest.approx(
        np.array([1.5, -1.5]) / 0.8
    )


@dataclass(frozen=True, slots=True)
class Noting:
    """A policy that writes down how much lookahead another one takes."""

    policy: WordPolicy
    taken: list[int]
    unit = "words"

    def decide(self, view: View) -> Read | Speak:
        action = self.policy.decide(view)
        if isinstance(action, Speak):
            visible = view.pending[action.word_count : action.word_count + action.lookahead]
            self.taken.append(len(visible))
        return action


def heart_episodes(heart: Voice, clues: Clues) -> ReadingEpisodes:
    tables = make_tables(heart, [TEXT], hold_back_s=0.05)
    return ReadingEpisodes(
        tables,
        clues,
        heart.phonemizer.phonemes,
        scale=scales(tables),
        frame_s=0.0125,
        hold_back_s=0.05,
    )


def test_episodes_take_the_lookahead_that_sessions_take(heart: Voice) -> None:
    clues = Clues(reader(heart), {}, np.zeros((1, 0), np.float32))
    episodes = heart_episodes(heart, clues)
    size = clues.size + 3
    model = Deciding(DecidingConfig((8,), mean=(0.0,) * size, spread=(1.0,) * size))
    import torch

    with torch.no_grad():
        for seed, weight in enumerate(model.parameters()):
            weight.copy_(
                torch.from_numpy(
                    np.random.default_rng(seed).normal(size=weight.shape).astype(np.float32)
                )
            )
    network = Network(model.arrays(), (",",), np.zeros((1, 0), np.float32))
    learned = LearnedPolicy(network, clues, 0.7, float(episodes.words_per_min[READER]))
    taken = list[int]()
    session = heart.session(policy=Noting(learned, taken))
    taken.clear()
    session.push(TEXT)
    session.finish()
    assert list(session.chunks())
    one = np.zeros(1, np.int64)
    made = episodes.play(
        one, one + READER, np.array([0.7]), model.choose(greedy=True), np.random.default_rng(0)
    )
    assert made.lookahead[0].tolist() == taken
    assert len(set(taken)) > 1


@pytest.mark.parametrize("k", [0, 1, 2])
def test_episodes_last_as_long_as_sessions(heart: Voice, k: int) -> None:
    episodes = heart_episodes(heart, Clues(reader(heart), {}, np.zeros((1, 0), np.float32)))
    one = np.zeros(1, np.int64)
    made = episodes.play(one, one + READER, np.ones(1), fixed(k), np.random.default_rng(0))
    traced, _ = measure(heart.session(policy=LookaheadK(k), hold_back_s=0.05), TEXT)
    chunks = tuple(replace(chunk, generation_s=0.013, before=()) for chunk in traced.chunks)
    timed = retime(replace(traced, chunks=chunks), ReadingClock(180).arrivals(TEXT))
    assert made.lag_s.mean() == pytest.approx(word_lags_s(timed).mean(), abs=0.08)
    assert made.stall_s.sum() == pytest.approx(stalls_s(timed).sum(), abs=0.3)


def test_a_table_says_what_lookahead_changes(heart: Voice, tmp_path: Path) -> None:
    tables = make_tables(heart, ["Two sentences. No.", TEXT], hold_back_s=0.05)
    (table,) = tables
    assert table.apart.shape == (len(table.words), MOST + 1, 3)
    # A last word has nothing behind it, the one before it one word.
    assert np.array_equal(table.apart[-1, 0], table.apart[-1, 3])
    assert np.array_equal(table.apart[-2, 1], table.apart[-2, 3])
    mean = distances(table.apart, scales(tables)).mean(axis=0)
    assert mean[0] == pytest.approx(1.0)
    assert mean[1] < 0.8
    save_tables(tmp_path / "t.npz", tables)
    (read,) = load_tables(tmp_path / "t.npz")
    assert (read.words, read.needs, read.length) == (table.words, table.needs, table.length)
    assert read.apart == pytest.approx(table.apart, rel=1e-5)
    again = Tabulator(heart, hold_back_s=0.05)(TEXT, np.random.default_rng([0, 1]))
    assert np.array_equal(again.apart, table.apart)


def test_characters_that_make_words_final() -> None:
    words, needs = needed("Go on, Dr. No")
    assert [word.text for word in words][:2] == ["Go", "on,"]
    assert needs[-1] == len("Go on, Dr. No") + 1
    assert all(word.end <= need for word, need in zip(words, needs, strict=True))
    assert all(a <= b for a, b in itertools.pairwise(needs))
    assert one_sentence("Go on, now.")
    assert not one_sentence("Go. Now stay here.")
    assert not one_sentence("Go.")


def test_a_distance_is_of_partners() -> None:
    whole = np.zeros((10, 130), np.float32)
    whole[:, 128] = 100.0
    ours = whole.copy()
    ours[:, 128] = 200.0
    ours[:, 5] = 3.0
    made = Frames(ours[:4], ours[4:], ((2, 8),), False)
    assert distance(made, 0, (2, 8), whole, (2, 6)) == pytest.approx([25.0, 4 * 1200, 4 * 3.0])
    assert distance(made, 0, (2, 2), whole, (2, 6)) == pytest.approx([50.0, 0, 0])


def test_waits_cost_time_and_chance_is_no_placing() -> None:
    episodes = toy_episodes(toy_texts())
    every = np.arange(len(episodes.counts))
    on = np.full(len(every), READER)
    prices = np.ones(len(every))

    def by_chance(inputs: Floats, pending: Any, draw: np.random.Generator) -> Any:
        return draw.random(len(pending)) < 0.3

    made = [
        episodes.play(every, on, prices, fixed(k), np.random.default_rng(0)).means()
        for k in range(4)
    ]
    assert [one["lag_s"] for one in made] == sorted(one["lag_s"] for one in made)
    assert made[0]["lookahead"] == 0
    assert made[1]["apart"] == 0
    chance = episodes.play(every, on, prices, by_chance, np.random.default_rng(0)).means()
    assert made[0]["lag_s"] < chance["lag_s"] < made[3]["lag_s"]
    assert 0 < chance["apart"] < made[0]["apart"]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"least_price": 3.0}, "least_price"),
        ({"siblings": 1}, "siblings"),
        ({"siblngs": 8}, "siblings"),
        ({"entropy_steps": 0}, "entropy_steps"),
    ],
)
def test_data_that_makes_no_sense_is_refused(
    data: dict[str, Any], error: str, tmp_path: Path
) -> None:
    tables = LearnedTask.open(toy_tables(tmp_path / "tables", toy_texts()[:2]))
    with pytest.raises(ConfigError, match=error):
        LearnedTask({}, data, tables)


def test_tables_are_made_of_a_voice_s_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for split, texts in (("train", ["Two sentences. No.", TEXT]), ("val", ["It was so."])):
        lines = [f"{split}-{number}|{text}" for number, text in enumerate(texts)]
        (tmp_path / f"{split}.csv").write_text("\n".join(lines), encoding="utf-8")
    files = ["--train", str(tmp_path / "train.csv"), "--val", str(tmp_path / "val.csv")]
    assert main(["train", "tables", str(tmp_path / "tables"), *files]) == 0
    assert "train: 1 sentences of 2 texts" in capsys.readouterr().err
    tables = LearnedTask.open(tmp_path / "tables")
    assert [table.text for table in tables.split("train")] == [TEXT]
    assert tables.size == "tables of 1 sentences"
    with pytest.raises(ConfigError, match="holds no tables"):
        LearnedTask.open(tmp_path)
    (tmp_path / "val.csv").write_text("a|Two sentences. No.", encoding="utf-8")
    assert main(["train", "tables", str(tmp_path / "other"), *files]) == 2
    assert "None of the 1 texts of val" in capsys.readouterr().err
