"""The training loop on a toy task: what it computes, what it survives, what it says when it cannot
go on."""

from __future__ import annotations

import json
import math
import os
import platform
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from lab_support.toytask import ITEMS, hurt, toy, toy_corpus, weights
from sayahead.cli import main
from sayahead.errors import ConfigError

from sayahead_lab.training.loop.checkpoint import load_checkpoint, save_checkpoint
from sayahead_lab.training.loop.curves import read_log
from sayahead_lab.training.loop.recipe import as_toml, load_recipe
from sayahead_lab.training.loop.run import BAD_STEPS, TrainingError, train
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.loop.schedule import TrainingOutcome, ema_decay

TOML = """task = "toy"
[train]
batch_size = 8
steps = 20
"""
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_corpus(tmp_path_factory.mktemp("toy") / "corpus")


def run(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """``sayahead train`` with the toy task, as a process."""
    command = [
        sys.executable,
        str(Path(__file__).parents[1] / "lab_support" / "toytask.py"),
        "train",
        *arguments,
    ]
    env = os.environ | {"OMP_NUM_THREADS": "1"} | environment
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )


def test_a_run_learns_and_leaves_log_curve_samples_and_recipe(corpus: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    recipe = toy(dropout=0.0, steps=200, sample_every=80)
    assert train(recipe, corpus, tmp_path, device="cpu", note=lines.append) == TrainingOutcome(
        "steps", 200
    )
    log = read_log(tmp_path / "log.jsonl")
    steps = [line for line in log if "loss" in line]
    assert [line["step"] for line in steps] == list(range(5, 201, 5))
    assert steps[-1]["loss"] < 0.2 * steps[0]["loss"]
    assert steps[-1]["parts"]["square"] == pytest.approx(steps[-1]["loss"])
    assert steps[-1]["epoch"] == 200 // (ITEMS // 8) - 1
    assert all(
        line["norm"] > 0 and line["items_per_s"] >= 0 and line["skipped"] == 0 for line in steps
    )
    checks = [line for line in log if "validation" in line]
    assert [line["step"] for line in checks] == [80, 160, 200]
    assert checks[-1]["validation"]["loss"] < checks[0]["validation"]["loss"]
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "samples" / "step-000080" / "sample.txt").read_text() == "False"
    assert load_recipe(tmp_path / "recipe.toml").resolved() == recipe.resolved()
    assert lines[0].startswith("toy: 195 parameters, 1 x cpu, 1 threads, float32, 0.0 h")


def test_a_resumed_run_equals_one_that_was_not_interrupted_bit_for_bit(
    corpus: Path, tmp_path: Path
) -> None:
    recipe = toy(warmup_steps=7, half_life_steps=5.0, weight_decay=0.01, sample_every=7)
    train(recipe, corpus, tmp_path / "whole", device="cpu")
    # Twelve steps end amid the third pass over the corpus.
    train(recipe.shortened(12), corpus, tmp_path / "parts", device="cpu")
    torch.rand(5)
    train(recipe, corpus, tmp_path / "parts", device="cpu", resume=True)
    whole = weights(tmp_path / "whole")
    parts = weights(tmp_path / "parts")
    assert whole.keys() == parts.keys()
    assert all(torch.equal(whole[key], parts[key]) for key in whole)
    logs = [read_log(tmp_path / name / "log.jsonl") for name in ("whole", "parts")]
    losses = [{line["step"]: line["loss"] for line in log if "loss" in line} for log in logs]
    assert losses[0][20] == losses[1][20]
    states = [load_checkpoint(tmp_path / name) for name in ("whole", "parts")]
    assert all(torch.equal(s["rng"][0]["torch"], states[0]["rng"][0]["torch"]) for s in states)


@pytest.mark.parametrize("ema", [0.9, 0.0])
def test_validation_is_without_dropout_and_changes_nothing_that_training_draws(
    corpus: Path, tmp_path: Path, ema: float
) -> None:
    for every in (3, 1000):
        train(toy(sample_every=every, ema=ema), corpus, tmp_path / str(every), device="cpu")
    often = weights(tmp_path / "3")
    once = weights(tmp_path / "1000")
    assert all(torch.equal(often[key], once[key]) for key in often)
    assert (tmp_path / "3" / "samples" / "step-000018" / "sample.txt").read_text() == "False"


def test_another_seed_gives_other_weights(corpus: Path, tmp_path: Path) -> None:
    for seed in (0, 1):
        train(toy(seed=seed), corpus, tmp_path / str(seed), device="cpu")
    assert not torch.equal(
        weights(tmp_path / "0")["model.0.weight"], weights(tmp_path / "1")["model.0.weight"]
    )


def test_the_average_is_that_of_the_weights_with_its_warm_up(corpus: Path, tmp_path: Path) -> None:
    recipe = toy(dropout=0.0, steps=1)
    expected = torch.zeros(())
    for step in range(1, 6):
        train(recipe.shortened(step), corpus, tmp_path, device="cpu", resume=step > 1)
        now = load_checkpoint(tmp_path)["model"]["0.weight"]
        if step == 1:
            torch.manual_seed(0)
            expected = torch.nn.Linear(8, 16).weight.detach()
        decay = min(0.9, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * now
    torch.testing.assert_close(load_checkpoint(tmp_path)["ema"]["0.weight"], expected)
    assert ema_decay(0.9, 10**6) == 0.9


@pytest.mark.slow
def test_two_processes_train_as_one_with_the_whole_batch(corpus: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "toy.toml"
    recipe.write_text(as_toml(toy(dropout=0.0, steps=12).resolved()), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    place = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    arguments = (
        str(recipe),
        "--corpus",
        str(corpus),
        "--out",
        str(tmp_path / "two"),
        "--device",
        "cpu",
    )
    both = [run(*arguments, RANK=str(rank), **place) for rank in (0, 1)]
    told = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert "2 x cpu" in told[0]
    train(load_recipe(recipe), corpus, tmp_path / "one", device="cpu")
    one = weights(tmp_path / "one")
    two = weights(tmp_path / "two")
    assert one.keys() == two.keys()
    for key in one:
        torch.testing.assert_close(one[key], two[key], rtol=1e-4, atol=1e-6)
    assert len(load_checkpoint(tmp_path / "two")["rng"]) == 2
    logs = [read_log(tmp_path / name / "log.jsonl") for name in ("one", "two")]
    first, second = ([line["loss"] for line in log if "loss" in line] for log in logs)
    assert first == pytest.approx(second, rel=1e-4)


@pytest.mark.slow
@POSIX
def test_a_terminated_run_saves_and_goes_on_exactly(corpus: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "toy.toml"
    # Slow enough that the signal meets it amid its steps, wherever those are.
    recipe.write_text(as_toml(toy({"sleep_s": 0.02}, steps=10**6).resolved()), encoding="utf-8")
    out = tmp_path / "out"
    process = run(str(recipe), "--corpus", str(corpus), "--out", str(out))
    while not (out / "log.jsonl").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 143, told
    assert "Traceback" not in told
    step = load_checkpoint(out)["counters"]["step"]
    assert step >= 5
    assert f"Stopped after step {step}" in told
    long = load_recipe(recipe)
    train(long.shortened(step + 3), corpus, out, device="cpu", resume=True)
    train(long.shortened(step + 3), corpus, tmp_path / "whole", device="cpu")
    stopped = weights(out)
    whole = weights(tmp_path / "whole")
    assert all(torch.equal(stopped[key], whole[key]) for key in whole)


@POSIX
def test_ctrl_c_ends_after_the_step_and_a_second_signal_at_once(
    corpus: Path, tmp_path: Path
) -> None:
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        once = toy({"signals_at": 6, "signals": [int(signal.SIGINT)]})
        assert train(once, corpus, tmp_path / "once", device="cpu") == TrainingOutcome(
            "signal", 7, signal.SIGINT
        )
        assert load_checkpoint(tmp_path / "once")["counters"]["step"] == 7
        assert not (tmp_path / "once" / "samples").exists()
        twice = toy({"signals_at": 6, "signals": [int(signal.SIGINT), int(signal.SIGTERM)]})
        with pytest.raises(SystemExit) as ended:
            train(twice, corpus, tmp_path / "twice", device="cpu")
        assert ended.value.code == 128 + signal.SIGTERM
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, previous)


def test_a_step_without_a_finite_loss_is_left_out(
    corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    train(toy({"bad_from": 5, "bad_to": 8}), corpus, tmp_path, device="cpu")
    counters = load_checkpoint(tmp_path)["counters"]
    assert (counters["step"], counters["updates"], counters["skipped"]) == (20, 17, 3)
    assert all(torch.isfinite(value).all() for value in weights(tmp_path).values())
    assert [
        record.message
        for record in caplog.records
        if "Skipped step 6 (items item-" in record.message
    ]
    lines = [line for line in read_log(tmp_path / "log.jsonl") if "loss" in line]
    assert [line["skipped"] for line in lines] == [0, 3, 3, 3]
    assert all(math.isfinite(line["loss"]) for line in lines)


def test_a_loss_that_stays_not_finite_ends_the_run_and_keeps_the_checkpoint(
    corpus: Path, tmp_path: Path
) -> None:
    recipe = toy({"bad_from": 5}, steps=100, checkpoint_s=0.0)
    with pytest.raises(
        TrainingError, match=f"{BAD_STEPS} steps in a row.* step {5 + BAD_STEPS} .items item-"
    ):
        train(recipe, corpus, tmp_path, device="cpu")
    state = load_checkpoint(tmp_path)
    assert state["counters"]["step"] == 5
    assert all(torch.isfinite(value).all() for value in weights(tmp_path).values())


def test_the_command_fails_with_a_sentence_where_the_loss_stays_bad(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "bad.toml"
    recipe.write_text(as_toml(toy({"bad_from": 0}, steps=100).resolved()), encoding="utf-8")
    assert (
        main(["train", str(recipe), "--corpus", str(corpus), "--out", str(tmp_path / "out")]) == 1
    )
    assert "not finite" in capsys.readouterr().err


def test_a_seed_of_the_command_is_another_training(corpus: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "toy.toml"
    recipe.write_text(as_toml(toy(steps=3).resolved()), encoding="utf-8")
    for name, seed in {"a": [], "b": ["--seed", "5"], "c": ["--seed", "5"]}.items():
        assert (
            main(
                [
                    "train",
                    str(recipe),
                    "--corpus",
                    str(corpus),
                    "--out",
                    str(tmp_path / name),
                    *seed,
                ]
            )
            == 0
        )
    first, second, third = (weights(tmp_path / name) for name in "abc")
    assert any(not torch.equal(first[name], second[name]) for name in first)
    assert all(torch.equal(second[name], third[name]) for name in first)
    assert "seed = 5" in (tmp_path / "b" / "recipe.toml").read_text(encoding="utf-8")
    more = ["--steps", "4", "--resume"]
    assert (
        main(["train", str(recipe), "--corpus", str(corpus), "--out", str(tmp_path / "b"), *more])
        == 2
    )


def test_checkpoints_come_by_the_clock_and_the_one_before_is_kept(
    corpus: Path, tmp_path: Path
) -> None:
    train(toy(steps=4, checkpoint_s=0.0), corpus, tmp_path, device="cpu")
    assert load_checkpoint(tmp_path / "checkpoint.pt")["counters"]["step"] == 4
    assert load_checkpoint(tmp_path / "checkpoint.previous.pt")["counters"]["step"] == 3
    train(toy(steps=4), corpus, tmp_path / "rare", device="cpu")
    assert not (tmp_path / "rare" / "checkpoint.previous.pt").exists()


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "other"])
def test_a_damaged_checkpoint_gives_way_to_the_one_before(
    corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    train(toy(steps=4, checkpoint_s=0.0), corpus, tmp_path, device="cpu")
    hurt(tmp_path / "checkpoint.pt", damage)
    train(toy(steps=6), corpus, tmp_path, device="cpu", resume=True)
    assert "Resuming from checkpoint.previous.pt, step 3." in caplog.text
    steps = [line["step"] for line in read_log(tmp_path / "log.jsonl") if "loss" in line]
    assert steps == [5, 6]
    whole = tmp_path / "whole"
    train(toy(steps=6), corpus, whole, device="cpu")
    ours = weights(tmp_path)
    theirs = weights(whole)
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_two_damaged_checkpoints_are_an_error(corpus: Path, tmp_path: Path) -> None:
    train(toy(steps=4, checkpoint_s=0.0), corpus, tmp_path, device="cpu")
    hurt(tmp_path / "checkpoint.pt", "cut")
    hurt(tmp_path / "checkpoint.previous.pt", "bit")
    with pytest.raises(
        ConfigError, match=r"checkpoint.pt is damaged.*previous.pt is damaged.*Nothing is left"
    ):
        train(toy(), corpus, tmp_path, device="cpu", resume=True)


def test_a_checkpoint_that_cannot_be_written_leaves_the_last_one(tmp_path: Path) -> None:
    state: dict[str, Any] = {
        key: {} for key in ("recipe", "corpus", "versions", "model", "optimizer")
    }
    state |= {"name": "x", "ema": None, "rng": [], "counters": {"step": 1}}
    save_checkpoint(tmp_path, state)
    with pytest.raises(AttributeError):
        save_checkpoint(tmp_path, state | {"counters": {"step": lambda: 2}})
    assert load_checkpoint(tmp_path)["counters"]["step"] == 1


def test_a_run_is_not_begun_over_another_one(corpus: Path, tmp_path: Path) -> None:
    train(toy(steps=2), corpus, tmp_path, device="cpu")
    with pytest.raises(ConfigError, match="holds a run already: use --resume"):
        train(toy(), corpus, tmp_path, device="cpu")
    with pytest.raises(ConfigError, match="has no checkpoint"):
        train(toy(), corpus, tmp_path / "new", device="cpu", resume=True)
    lines: list[str] = []
    assert (
        train(toy(steps=2), corpus, tmp_path, device="cpu", resume=True, note=lines.append).step
        == 2
    )
    assert "has its 2 steps already" in lines[-1]


def test_resuming_with_another_recipe_or_corpus_names_what_differs(
    corpus: Path, tmp_path: Path
) -> None:
    train(toy(steps=2), corpus, tmp_path / "out", device="cpu")
    for recipe, why in (
        (toy(learning_rate=0.5), "train.learning_rate was 0.01 and is 0.5"),
        (toy({"sleep_s": 0.0}), "data.sleep_s was nothing and is 0.0"),
        (toy(dropout=0.3), "model.dropout was 0.2 and is 0.3"),
    ):
        with pytest.raises(ConfigError, match=why):
            train(recipe, corpus, tmp_path / "out", device="cpu", resume=True)
    other = toy_corpus(tmp_path / "other")
    info = json.loads((other / "corpus.json").read_text())
    (other / "corpus.json").write_text(json.dumps(info | {"seed": 1}))
    with pytest.raises(ConfigError, match="was trained on another corpus"):
        train(toy(steps=3), other, tmp_path / "out", device="cpu", resume=True)
    # A checkpoint that is older than a key of the recipe has its default.
    state = load_checkpoint(tmp_path / "out")
    del state["recipe"]["train"]["start"]
    save_checkpoint(tmp_path / "out", state)
    # What a step does not depend on may change.
    assert (
        train(toy(steps=3, log_every=1), corpus, tmp_path / "out", device="cpu", resume=True).step
        == 3
    )


def test_a_run_begins_with_what_another_learned(corpus: Path, tmp_path: Path) -> None:
    first = tmp_path / "first"
    second = tmp_path / "second"
    lines = list[str]()
    train(toy(), corpus, first, device="cpu")
    recipe = toy({"fixed": True}, start=str(first), steps=1, learning_rate=1e-9)
    train(recipe, corpus, second, device="cpu", note=lines.append)
    assert lines[1] == f"Beginning with {first} after its step 20."
    learned = load_checkpoint(first)
    begun = load_checkpoint(second)
    for part in ("model", "ema"):
        assert torch.allclose(begun[part]["3.weight"], learned["ema"]["3.weight"], atol=1e-7)
        # What the second run does not train is what its task made.
        assert not torch.allclose(begun[part]["0.weight"], learned["ema"]["0.weight"], atol=1e-2)
    # Once it has begun, the first run is not needed any more.
    first.rename(tmp_path / "gone")
    recipe = toy({"fixed": True}, start=str(first), steps=2, learning_rate=1e-9)
    assert train(recipe, corpus, second, device="cpu", resume=True).step == 2
    assert load_trained(second).step == 2


def test_a_start_that_does_not_fit_is_an_error(corpus: Path, tmp_path: Path) -> None:
    train(toy(steps=1), corpus, tmp_path / "first", device="cpu")
    for number, (recipe, where, why) in enumerate(
        (
            (toy(start=str(tmp_path / "none")), corpus, "has no checkpoint"),
            (toy({"hidden": 7}, start=str(tmp_path / "first")), corpus, "do not fit the model"),
            (toy({"voice_only": True}, start=str(tmp_path / "first")), corpus, "A voice, please"),
            (toy({"voice_only": True}), corpus, "A voice, please"),
        )
    ):
        with pytest.raises(ConfigError, match=why):
            train(recipe, where, tmp_path / f"second-{number}", device="cpu")
    other = toy_corpus(tmp_path / "other")
    info = json.loads((other / "corpus.json").read_text())
    (other / "corpus.json").write_text(json.dumps(info | {"pad": 99}))
    with pytest.raises(ConfigError, match="a corpus of other phonemes or frames"):
        train(toy(start=str(tmp_path / "first")), other, tmp_path / "third", device="cpu")


def test_samples_that_fail_are_told_and_do_not_end_the_run(
    corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert train(toy({"bad_samples": True}), corpus, tmp_path, device="cpu").step == 20
    assert "No samples of step 20: ValueError: no sound today" in caplog.text
    assert "Traceback" in (tmp_path / "samples" / "step-000020" / "error.txt").read_text()


def test_minutes_end_an_invocation_with_all_saved(corpus: Path, tmp_path: Path) -> None:
    recipe = toy({"sleep_s": 0.01}, steps=10**6)
    outcome = train(recipe, corpus, tmp_path, device="cpu", minutes=0.2 / 60)
    assert outcome.reason == "minutes"
    assert 1 <= outcome.step <= 20
    assert load_checkpoint(tmp_path)["counters"]["step"] == outcome.step
    more = train(recipe, corpus, tmp_path, device="cpu", minutes=0.2 / 60, resume=True)
    assert more.step > outcome.step


def test_gradients_are_clipped_and_their_norm_before_it_is_logged(
    corpus: Path, tmp_path: Path
) -> None:
    train(
        toy(steps=1, clip=1e-9, log_every=1, dropout=0.0), corpus, tmp_path / "small", device="cpu"
    )
    train(
        toy(steps=1, clip=math.inf, log_every=1, dropout=0.0),
        corpus,
        tmp_path / "all",
        device="cpu",
    )
    norms = []
    moments = []
    for name in ("small", "all"):
        norms.append(read_log(tmp_path / name / "log.jsonl")[0]["norm"])
        moments.append(load_checkpoint(tmp_path / name)["optimizer"]["state"][0]["exp_avg"].norm())
    assert norms[0] == norms[1] > 0.01
    assert moments[0] < 1e-9 < 1e-4 < moments[1]


def test_what_is_missing_is_named_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "toy.toml"
    recipe.write_text(TOML, encoding="utf-8")
    out = ["--out", str(tmp_path / "out")]
    assert main(["train", str(tmp_path / "none.toml"), *out]) == 2
    assert "There is no recipe" in capsys.readouterr().err
    assert main(["train", str(recipe), "--corpus", str(tmp_path / "none"), *out]) == 2
    assert "is no corpus" in capsys.readouterr().err
    if not torch.cuda.is_available():
        assert main(["train", str(recipe), "--device", "cuda", *out]) == 2
        assert "no CUDA device" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_help_shows_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    for words, expected in (
        (["train"], "--resume"),
        (["train", "corpus"], "usage: sayahead train corpus"),
    ):
        with pytest.raises(SystemExit) as ended:
            main([*words, "--help"])
        assert ended.value.code == 0
        assert expected in capsys.readouterr().out


def test_a_trained_model_is_loaded_with_or_without_its_average(
    corpus: Path, tmp_path: Path
) -> None:
    folder = toy_corpus(tmp_path / "corpus")
    train(toy(), folder, tmp_path / "out", device="cpu")
    state = load_checkpoint(tmp_path / "out")
    torch.manual_seed(1)
    trained = load_trained(tmp_path / "out")
    drawn = torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(drawn, torch.rand(3))
    assert torch.equal(trained.model.state_dict()["0.weight"], state["ema"]["0.weight"])
    assert (trained.recipe.resolved(), trained.step) == (toy().resolved(), 20)
    assert not trained.model.training
    plain = load_trained(tmp_path / "out" / "checkpoint.pt", ema=False)
    assert torch.equal(plain.model.state_dict()["0.weight"], state["model"]["0.weight"])
    # Without the corpus the run's own copy of its description serves.
    folder.rename(tmp_path / "moved")
    assert load_trained(tmp_path / "out").corpus.info.phonemes == {"_": 0, "a": 1}
    assert (
        len(load_trained(tmp_path / "out", corpus=tmp_path / "moved").corpus.split("train"))
        == ITEMS
    )
    with pytest.raises(ConfigError, match="is no corpus"):
        load_trained(tmp_path / "out", corpus=folder)


def test_bfloat16_is_used_where_it_is_asked_for(
    corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: False)
    lines: list[str] = []
    train(toy(precision="bfloat16"), corpus, tmp_path / "half", device="cpu", note=lines.append)
    train(toy(), corpus, tmp_path / "full", device="cpu")
    half = weights(tmp_path / "half")
    full = weights(tmp_path / "full")
    assert "bfloat16" in lines[0]
    assert [record.message for record in caplog.records] == [
        'This processor has no bfloat16 arithmetic: precision = "float32" is faster here.'
    ]
    assert half["model.0.weight"].dtype == torch.float32
    assert not torch.equal(half["model.0.weight"], full["model.0.weight"])
    torch.testing.assert_close(half["model.0.weight"], full["model.0.weight"], rtol=0.1, atol=0.1)
