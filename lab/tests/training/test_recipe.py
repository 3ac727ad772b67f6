"""Recipes, the schedule that follows from one, and the log that a run keeps."""

from __future__ import annotations

import math
import re
import sys
import tomllib
from argparse import ArgumentTypeError
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.toytask import toy_corpus
from sayahead.cli import main
from sayahead.errors import ConfigError
from sayahead.voices.install.archives import write_archive

from sayahead_lab.overrides import override
from sayahead_lab.training.loop.curves import Log, draw_losses, read_log, scalar_writer
from sayahead_lab.training.loop.optimizer import optimizer
from sayahead_lab.training.loop.parallel import ahead
from sayahead_lab.training.loop.recipe import Recipe, as_toml, load_recipe, recipe_from
from sayahead_lab.training.loop.run import too_few, train
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.loop.schedule import Budget
from sayahead_lab.training.loop.task import TASKS, TrainSettings

RECIPES = Path(__file__).parents[2] / "recipes"
TOML = """task = "toy"
[train]
batch_size = 8
steps = 20
"""


def test_a_key_has_another_value_without_a_copy_of_the_recipe(tmp_path: Path) -> None:
    path = tmp_path / "toy.toml"
    path.write_text(TOML, encoding="utf-8")
    pairs = [
        override(text) for text in ("train.steps=7", "train.start=runs/one", "model.sizes=[1, 2]")
    ]
    recipe = load_recipe(path, pairs)
    assert (recipe.train.steps, recipe.train.start, recipe.model["sizes"]) == (
        7,
        "runs/one",
        [1, 2],
    )
    with pytest.raises(ConfigError, match=r"unknown key 'stesp' \(did you mean 'steps'"):
        load_recipe(path, [override("train.stesp=7")])
    with pytest.raises(ConfigError, match="must be at least 1"):
        load_recipe(path, [override("train.steps=0")])
    with pytest.raises(ConfigError, match="no table to set 'steps' in"):
        load_recipe(path, [override("train.batch_size.steps=0")])
    with pytest.raises(ArgumentTypeError, match="KEY=VALUE"):
        override("train.steps")


def test_a_corpus_whose_items_are_too_long_is_told_with_numbers() -> None:
    corpus = SimpleNamespace(
        split=lambda _: SimpleNamespace(lengths=np.array([100, 150, 151, 900]))
    )
    recipe = recipe_from(
        {"task": "toy", "train": {"batch_size": 5, "steps": 1}}, name="a", where="a"
    )
    assert too_few(corpus, recipe) == "The corpus has too few items for a batch of 5."
    told = too_few(corpus, replace(recipe, data={"longest": 150}))
    assert told.endswith("batch of 5: 2 of 4 are as short as [data] longest = 150 frames asks.")


def test_the_rate_warms_up_halves_and_falls_to_zero() -> None:
    settings = TrainSettings(
        8, 100, learning_rate=2.0, warmup_steps=10, half_life_steps=20.0, final_share=0.25
    )
    budget = Budget(settings, None, 0.0)
    assert [budget.rate(step) for step in (0, 4, 9, 10, 30, 50)] == [0.2, 1.0, 2.0, 2.0, 1.0, 0.5]
    assert budget.rate(75) == pytest.approx(2 * 0.5 ** (65 / 20))
    assert budget.rate(95) == pytest.approx(0.2 * 2 * 0.5 ** (85 / 20))
    assert budget.rate(100) == 0
    # Where the minutes end first, they count.
    timed = Budget(settings, 10.0, 0.0, seconds=570.0)
    assert timed.rate(30) == pytest.approx(0.2)
    assert timed.ended(30) == ""
    assert timed.left_s(30, 1.0) == pytest.approx(30.0)
    timed.seconds = 600.0
    assert timed.ended(30) == "minutes"


def test_the_rate_is_held_before_it_halves_and_has_a_floor() -> None:
    settings = TrainSettings(
        8,
        100,
        learning_rate=2.0,
        warmup_steps=10,
        hold_steps=20,
        half_life_steps=10.0,
        least_rate=0.3,
    )
    budget = Budget(settings, None, 0.0)
    assert [budget.rate(step) for step in (4, 9, 29, 30, 40, 50, 60, 99)] == [
        1.0,
        2.0,
        2.0,
        2.0,
        1.0,
        0.5,
        0.3,
        0.3,
    ]
    assert Budget(replace(settings, final_share=0.5), None, 0.0).rate(75) == pytest.approx(0.15)
    # In warm-up the rate may be lower.
    assert budget.rate(0) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("name", "betas", "eps", "l2"),
    [
        ("mohan/tts-paper", (0.9, 0.999), 1e-6, 1e-6),
        ("ma/dv3-paper", (0.5, 0.9), 1e-6, 0.0),
        ("saeki/tacotron-paper", (0.9, 0.999), 1e-6, 1e-6),
        ("saeki/guided-paper", (0.9, 0.999), 1e-6, 1e-6),
        ("saeki/student-paper", (0.9, 0.999), 1e-6, 0.0),
    ],
)
def test_the_paper_presets_have_the_papers_optimizer(
    name: str, betas: tuple[float, ...], eps: float, l2: float
) -> None:
    settings = load_recipe(RECIPES / f"{name}.toml").train
    assert (tuple(settings.betas), settings.eps, settings.l2, settings.weight_decay) == (
        betas,
        eps,
        l2,
        0.0,
    )


def test_mohan_s_preset_has_tacotron_2_s_schedule() -> None:
    budget = Budget(load_recipe(RECIPES / "mohan" / "tts-paper.toml").train, None, 0.0)
    assert [budget.rate(step) for step in (0, 49_999, 300_000)] == [1e-3, 1e-3, 1e-5]
    assert 1e-5 < budget.rate(120_000) < 1e-3


def test_adam_takes_epsilon_and_l2_from_the_recipe() -> None:
    def moved(**changes: Any) -> float:
        weight = torch.nn.Parameter(torch.tensor([2.0]))
        steps = optimizer(TrainSettings(1, 1, **changes), [weight])
        weight.grad = torch.tensor([1e-7])
        steps.param_groups[0]["lr"] = 0.1
        steps.step()
        return 2 - float(weight.detach())

    assert moved() == pytest.approx(0.1, rel=0.11)
    assert moved(eps=1e-6) == pytest.approx(0.1 / 11, rel=0.01)
    # L2 is a part of the gradient, which Adam brings to a step of the rate; decoupled decay is a
    # share of the weight.
    assert moved(l2=1e-3, eps=1e-4) == pytest.approx(0.1 * 2e-3 / 2.1e-3, rel=0.01)
    assert moved(weight_decay=1e-3, eps=1e-4) == pytest.approx(0.1 * (1e-3 + 2e-3), rel=0.01)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TOML + "step = 3\n", r"train: unknown key 'step' \(did you mean 'steps'\?\)"),
        (TOML + "[mode]\n", r"unknown key 'mode' \(did you mean 'model'\?\)"),
        (TOML.replace("toy", "toyy", 1), r"task 'toyy' is unknown \(did you mean 'toy'\?\)"),
        (TOML.replace("steps = 20", ""), "the key 'steps' is missing"),
        (TOML.replace("[train]", "[model]"), "the key 'train' is missing"),
        (TOML.replace("20", "0"), "train: steps must be at least 1, found int 0"),
        (
            TOML + "l2 = 1e-6\nweight_decay = 1e-6\n",
            "weight_decay must be at least 0, and 0 beside l2",
        ),
        (TOML + "least_rate = 1.0\n", "least_rate must be from 0 to learning_rate"),
        (TOML + "anew = ['decoder']\n", "train: anew must be empty without start"),
        (TOML + "ema = 1.0\n", "train: ema must be from 0 to below 1"),
        (TOML + "precision = 'float16'\n", "precision must be auto, float32 or bfloat16"),
        ("model = 3\n" + TOML, "model: expected a table"),
        ("task = [", "is not TOML"),
    ],
)
def test_a_recipe_that_does_not_fit_is_refused_with_its_key(
    tmp_path: Path, text: str, why: str
) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=why):
        load_recipe(path)


def test_every_recipe_of_the_repository_loads() -> None:
    # A voice's and a clip's are read by commands of their own.
    paths = [
        path
        for path in sorted(RECIPES.rglob("*.toml"))
        if path.name != "voice.toml" and path.parent.name != "clip"
    ]
    recipes = {path: load_recipe(path) for path in paths}
    assert all(recipe.name == path.stem for path, recipe in recipes.items())


@pytest.mark.parametrize(("old", "new"), [("deepvoice3", "ma"), ("melvocoder", "mel")])
def test_tasks_are_known_by_the_names_of_earlier_versions(
    old: str, new: str, tmp_path: Path
) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(TOML.replace("toy", old), encoding="utf-8")
    assert load_recipe(path).task == new


def test_a_recipe_survives_being_written() -> None:
    settings = replace(
        TrainSettings(8, 20, ema=0.9),
        clip=math.inf,
        learning_rate=1e-5,
        half_life_steps=None,
        checkpoint_s=7.0,
    )
    tables = {"name": 'a "quoted"\\ one', "sizes": (1, 2), "nested": {"on": True, "x": [0.5]}}
    recipe = Recipe("x", "toy", settings, corpus="a/b", model=tables)
    again = recipe_from(tomllib.loads(as_toml(recipe.resolved())), name="x", where="x")
    assert again.resolved() == recipe.resolved()


def test_the_documents_name_every_setting() -> None:
    text = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    assert [
        field.name for field in fields(TrainSettings) if f"| `{field.name}` |" not in text
    ] == []


def test_a_log_that_was_cut_off_goes_on_whole(tmp_path: Path) -> None:
    log = Log(tmp_path / "log.jsonl")
    log.write({"step": 1, "loss": math.nan})
    log.write({"step": 2, "loss": 1.0})
    with log.path.open("a", encoding="utf-8") as file:
        file.write('{"step": 3, "lo')
    log.begin(1)
    log.write({"step": 2, "loss": 2.0})
    assert read_log(log.path) == [{"step": 1, "loss": None}, {"step": 2, "loss": 2.0}]
    draw_losses(log.path, tmp_path / "loss.png")
    assert (tmp_path / "loss.png").exists()


def test_a_log_goes_to_tensorboard_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = list[tuple[str, float, int]]()

    class Writer:
        def __init__(self, folder: str) -> None:
            self.folder = folder

        def add_scalar(self, name: str, value: float, step: int) -> None:
            found.append((name, value, step))

        def flush(self) -> None:
            pass

    monkeypatch.setitem(
        sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Writer)
    )
    log = Log(tmp_path / "log.jsonl")
    log.scalars = scalar_writer(tmp_path)
    assert log.scalars.folder == str(tmp_path / "tensorboard")
    log.write({"step": 3, "loss": 0.5, "parts": {"stop": 0.25}})
    assert found == [("loss", 0.5, 3), ("parts/stop", 0.25, 3)]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ConfigError, match="pip install tensorboard"):
        scalar_writer(tmp_path)


def test_a_published_run_is_a_start_and_a_part_but_not_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = toy_corpus(tmp_path / "corpus")
    out = tmp_path / "release"
    recipe = Recipe("toy", "toy", TrainSettings(8, 3, ema=0.9, learning_rate=0.1))
    train(recipe, corpus, tmp_path / "run")
    assert main(["train", "publish", str(tmp_path / "run"), "-o", str(out)]) == 0
    assert main(["train", "publish", "--check", str(out)]) == 0
    meant = load_trained(tmp_path / "run")
    found = load_trained(out / "toy")
    assert found.step == 3
    for one, two in zip(meant.model.parameters(), found.model.parameters(), strict=True):
        assert torch.equal(one.half().float(), two)
    assert (out / "toy" / "checkpoint.pt").stat().st_size < (
        tmp_path / "run" / "checkpoint.pt"
    ).stat().st_size
    train(
        replace(recipe, train=replace(recipe.train, start=str(out / "toy"))),
        corpus,
        tmp_path / "next",
    )
    with pytest.raises(ConfigError, match="is a published run, which cannot be resumed"):
        train(recipe.shortened(9), corpus, out / "toy", resume=True)
    assert str(corpus.resolve()).encode() in (tmp_path / "run" / "checkpoint.pt").read_bytes()
    assert not any(str(tmp_path).encode() in path.read_bytes() for path in (out / "toy").iterdir())
    assert main(["train", "publish", str(tmp_path / "run"), "-o", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err
    (out / "toy" / "recipe.toml").write_text("")
    assert main(["train", "publish", "--check", str(out)]) == 2
    assert "recipe.toml is missing or damaged" in capsys.readouterr().err


def test_the_mean_of_runs_is_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = toy_corpus(tmp_path / "corpus")
    out = tmp_path / "release"
    recipe = Recipe("toy", "toy", TrainSettings(8, 3, ema=0.9, learning_rate=0.1))
    runs = [tmp_path / "first", tmp_path / "second"]
    for run, steps in zip(runs, (3, 6), strict=True):
        train(recipe.shortened(steps), corpus, run)
    names = [str(run) for run in runs]
    assert main(["train", "publish", "--mean", *names, "-o", str(out)]) == 0
    assert [path.name for path in out.iterdir() if path.is_dir()] == ["toy"]
    one, two, mean = (load_trained(path).model.state_dict() for path in (*runs, out / "toy"))
    assert any(not torch.equal(one[name], two[name]) for name in one)
    for name, weight in mean.items():
        assert torch.equal(((one[name] + two[name]) / 2).half().float(), weight)
    path = runs[0] / "checkpoint.pt"
    state = torch.load(path)
    torch.save({**state, "ema": {"another": torch.ones(1)}}, path)
    assert main(["train", "publish", "--mean", *names, "-o", str(tmp_path / "other")]) == 2
    assert "first has other weights than" in capsys.readouterr().err


def test_two_archives_are_unpacked_into_one_folder(tmp_path: Path) -> None:
    corpus = toy_corpus(tmp_path / "corpus")
    for name in ("one", "two"):
        recipe = Recipe(name, "toy", TrainSettings(8, 1))
        train(recipe, corpus, tmp_path / name)
        assert main(["train", "publish", str(tmp_path / name), "-o", f"{tmp_path}/{name}.zip"]) == 0
        unpack = ["train", "publish", "--unpack", f"{tmp_path}/{name}.zip"]
        assert main([*unpack, "-o", str(tmp_path / "runs")]) == 0
    assert main(["train", "publish", "--check", str(tmp_path / "runs")]) == 0
    sums = (tmp_path / "runs" / "SHA256SUMS").read_text(encoding="utf-8")
    assert {"one/checkpoint.pt", "two/checkpoint.pt"} <= set(sums.split())


def test_the_readme_lists_every_task() -> None:
    listed = re.findall(
        r"^\| `([\w-]+)` \|", (RECIPES / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(set(listed) - {"task"}) == sorted(set(TASKS) - {"toy"})


@pytest.mark.parametrize("ending", [".tar.xz", ".tar.gz", ".zip"])
def test_an_archive_of_runs_is_checked_unpacked_and_begun_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    corpus = toy_corpus(tmp_path / "corpus")
    archive = tmp_path / f"release{ending}"
    recipe = Recipe("toy", "toy", TrainSettings(8, 3, ema=0.9, learning_rate=0.1))
    train(recipe, corpus, tmp_path / "run")
    publish = ["train", "publish"]
    lines = list[str]()
    assert main([*publish, str(tmp_path / "run"), "-o", str(archive)]) == 0
    assert main([*publish, "--check", str(archive)]) == 0
    assert "4 files, all as they were" in capsys.readouterr().err
    start = replace(recipe, train=replace(recipe.train, start=str(archive), learning_rate=1e-9))
    train(start, corpus, tmp_path / "next", note=lines.append)
    assert f"Beginning with {archive} after its step 3." in lines
    named = replace(start, train=replace(start.train, start=f"{archive}/toy"))
    train(named, corpus, tmp_path / "named", note=lines.append)
    assert f"Beginning with {archive}/toy after its step 3." in lines
    assert main([*publish, "--unpack", str(archive), "-o", str(tmp_path / "release")]) == 0
    unpacked, meant = (load_trained(tmp_path / name) for name in ("release/toy", "run"))
    begun = load_trained(tmp_path / "next")
    for one, two, three in zip(
        *(run.model.parameters() for run in (meant, unpacked, begun)), strict=True
    ):
        assert torch.equal(one.half().float(), two)
        assert torch.allclose(two, three, atol=1e-6)
    # Bytes depend on the runs alone.
    assert main([*publish, str(tmp_path / "run"), "-o", str(tmp_path / f"again{ending}")]) == 0
    if ending == ".zip":
        assert archive.read_bytes() == (tmp_path / f"again{ending}").read_bytes()
    for command, error in (
        ([str(tmp_path / "run"), "-o", str(archive)], "is there already"),
        (["--unpack", str(archive), "-o", str(tmp_path / "release")], "is there already"),
        (["--unpack", str(archive)], "with -o where they go"),
    ):
        assert main([*publish, *command]) == 2
        assert error in capsys.readouterr().err
    (tmp_path / "release" / "toy" / "log.jsonl").write_text("")
    write_archive(tmp_path / "release", tmp_path / f"damaged{ending}")
    assert main([*publish, "--check", str(tmp_path / f"damaged{ending}")]) == 2
    assert "log.jsonl is missing or damaged" in capsys.readouterr().err
    (tmp_path / "two" / "toy").mkdir(parents=True)
    write_archive(tmp_path / "two", tmp_path / f"empty{ending}")
    with pytest.raises(ConfigError, match="There is no SHA256SUMS"):
        train(
            replace(start, train=replace(start.train, start=str(tmp_path / f"empty{ending}"))),
            corpus,
            tmp_path / "x",
        )


def test_batches_made_ahead_come_in_order_with_their_errors() -> None:
    assert list(ahead(iter(range(50)), 3)) == list(range(50))
    endless = ahead(iter(int, 1), 2)
    assert next(endless) == 0
    endless.close()  # type: ignore[attr-defined]

    def failing() -> Any:
        yield 1
        raise ConfigError("no more")

    with pytest.raises(ConfigError, match="no more"):
        list(ahead(failing(), 2))
