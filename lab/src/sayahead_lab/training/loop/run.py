"""The one training loop: any task, one process or several, stopped at any moment and resumed
exactly."""

from __future__ import annotations

import logging
import math
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch
from sayahead import __version__
from sayahead.errors import ConfigError, SayaheadError
from torch import Tensor, nn

from sayahead_lab.training.loop import checkpoint as checkpoints
from sayahead_lab.training.loop.curves import Log, draw_losses, scalar_writer
from sayahead_lab.training.loop.optimizer import optimizer
from sayahead_lab.training.loop.parallel import Ranks, ahead, emulates_bfloat16, join
from sayahead_lab.training.loop.recipe import Recipe, as_toml, first_difference, recipe_from
from sayahead_lab.training.loop.saved_run import (
    DESCRIPTION,
    check_corpus,
    corpus_record,
    load_weights,
    published,
)
from sayahead_lab.training.loop.schedule import (
    Budget,
    Counters,
    Interrupt,
    TrainingOutcome,
    ema_decay,
)
from sayahead_lab.training.loop.task import TASKS, Batch, Task
from sayahead_lab.training.loop.warm_start import begin, find_start, taken_over, validated

BAD_STEPS = 20
"""Steps in a row without a finite loss and gradient after which a run gives up."""
VALIDATION_BATCHES = 20
"""Most batches of the val split per validation."""
VALIDATION_SEED = 1
AHEAD = 4
"""Batches prepared while a GPU computes."""
SHOW_S = 0.2
"""Seconds between updates of the progress line."""
logger = logging.getLogger("sayahead")
Teller = Callable[[str], None]


class TrainingError(SayaheadError):
    """A run that cannot go on."""


def silent(line: str) -> None:
    """Print nothing."""


def train(
    recipe: Recipe,
    corpus_folder: Path,
    out: Path,
    *,
    minutes: float | None = None,
    resume: bool = False,
    device: str = "auto",
    threads: int | None = None,
    tensorboard: bool = False,
    progress: Teller = silent,
    note: Teller = silent,
) -> TrainingOutcome:
    """Train; returns how the run ended. Its checkpoint, log, curve and samples are in the folder
    ``out``.

    ``minutes`` bounds this invocation alone. ``progress`` gets a line that replaces the one
    before, ``note`` lines that stay. ``tensorboard``: the log is written for it too. ConfigError
    for bad arguments, TrainingError where the loss stays non-finite."""
    budget = Budget(recipe.train, minutes, time.monotonic())
    interrupt = Interrupt()
    if not resume and checkpoints.has_checkpoint(out):
        raise ConfigError(
            f"{out} holds a run already: use --resume, or name another folder with --out."
        )
    if threads is not None:
        torch.set_num_threads(threads)
    with join(device) as ranks, interrupt.watching():
        state = checkpoints.load_checkpoint(out) if resume else None
        run = Run(recipe, corpus_folder, out, ranks, budget, interrupt, state)
        if ranks.rank == 0:
            run.progress = progress
            run.note = note
            run.log.scalars = scalar_writer(out) if tensorboard else None
        run.prepare()
        return run.fit()


def too_few(corpus: Any, recipe: Recipe) -> str:
    """Why there is no batch: how many items there are, and how many the recipe's longest leaves."""
    told = f"The corpus has too few items for a batch of {recipe.train.batch_size}"
    longest = recipe.data.get("longest", 0)
    if not longest or not hasattr(corpus, "split"):
        return f"{told}."
    lengths = corpus.split("train").lengths
    fitting = int((lengths <= longest).sum())
    return (
        f"{told}: {fitting} of {len(lengths)} are as short as [data] longest = {longest} frames"
        " asks."
    )


class Run:
    """The state of a run and its steps."""

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        out: Path,
        ranks: Ranks,
        budget: Budget,
        interrupt: Interrupt,
        state: dict[str, Any] | None = None,
    ) -> None:
        """Build task, model and optimizer from the recipe's seed; ``folder`` has the corpus.

        ``state``: the checkpoint from which a run is resumed.
        """
        self.recipe = recipe
        self.folder = folder
        self.out = out
        self.ranks = ranks
        self.budget = budget
        self.interrupt = interrupt
        self.settings = recipe.train
        self.progress: Teller = silent
        self.note: Teller = silent
        maker = TASKS[recipe.task]
        self.corpus = maker.open(folder)
        if self.settings.batch_size % ranks.count:
            raise ConfigError(
                f"A batch of {self.settings.batch_size} cannot be shared by {ranks.count}"
                " processes."
            )
        self.state = state
        self.start = (
            find_start(self.settings.start, maker)
            if state is None and self.settings.start
            else None
        )
        self.task: Task[Any] = maker(
            {**recipe.model, **taken_over(self.start, state)}, recipe.data, self.corpus
        )
        if state is None:
            begins = self.start is not None
            voice = self.start is not None and self.start.state is None
            self.task.check_start(voice=voice, run=begins and not voice)
        checkpoints.seed_all(self.settings.seed)
        self.model: nn.Module = self.task.model().to(ranks.device)
        self.average = self._average()
        self.weights = [weight for weight in self.model.parameters() if weight.requires_grad]
        self.optimizer = optimizer(self.settings, self.weights)
        self.bfloat16 = self.settings.precision == "bfloat16" or (
            self.settings.precision == "auto"
            and ranks.device.type == "cuda"
            and torch.cuda.is_bf16_supported()
        )
        self.at = Counters()
        self.bad_steps = 0
        self.earlier_s = 0.0
        self.saved_s = 0.0
        self.shown_s = 0.0
        self.sums: list[dict[str, float]] = []
        self.ticks: deque[tuple[int, float]] = deque(maxlen=50)
        self.log = Log(out / "log.jsonl")

    def _average(self) -> nn.Module | None:
        """A second model for the moving average of the weights; built anew, as some layers cannot
        be copied."""
        if not self.settings.ema:
            return None
        average: nn.Module = self.task.model().to(self.ranks.device)
        average.load_state_dict(self.model.state_dict())
        return average.eval().requires_grad_(False)

    def prepare(self) -> None:
        """Start afresh or from the checkpoint; notes what is trained, on what."""
        self.note(
            f"{self.recipe.name}: {sum(weight.numel() for weight in self.weights):,} parameters, "
            f"{self.ranks.count} x {self.ranks.device.type}, {torch.get_num_threads()} threads, "
            f"{'bfloat16' if self.bfloat16 else 'float32'}, {self.corpus.size}"
        )
        if self.bfloat16 and self.ranks.rank == 0 and emulates_bfloat16(self.ranks.device):
            logger.warning(
                'This processor has no bfloat16 arithmetic: precision = "float32" is faster here.'
            )
        state = self.state
        if state is not None:
            self._load(state)
            self.note(f"Resuming after step {self.at.step} ({self.at.seconds / 60:.1f} minutes).")
        elif self.start is not None:
            self.note(
                begin(
                    self.start, self.task, self.model, self.average, self.folder, self.settings.anew
                )
            )
        self.trained = self.ranks.wrap(self.model)
        batches = self._batches()
        # Skip the batches already used before restoring the generators.
        self.batches: Iterator[tuple[int, int, Batch]] = chain([next(batches)], batches)
        if self.ranks.device.type == "cuda":
            self.batches = ahead(self.batches, AHEAD)
        if state is not None and len(state["rng"]) == self.ranks.count:
            checkpoints.restore_random(state["rng"][self.ranks.rank], self.ranks.device)
        else:
            if state is not None:
                logger.warning(
                    "The checkpoint was made by %d processes: random draws differ.",
                    len(state["rng"]),
                )
            checkpoints.seed_all(self.settings.seed + 7919 * (self.ranks.rank + 1) + self.at.step)
        if self.ranks.rank == 0:
            self.out.mkdir(parents=True, exist_ok=True)
            (self.out / "recipe.toml").write_text(as_toml(self.recipe.resolved()), encoding="utf-8")
            (self.out / DESCRIPTION).write_bytes((self.folder / DESCRIPTION).read_bytes())
            self.log.begin(self.at.step)
        self.validated = validated(self.task, self.corpus)
        if not self.validated:
            self.note(f"{self.folder} has no val split: nothing is validated.")

    def _load(self, state: dict[str, Any]) -> None:
        """Restore weights, optimizer and counters; ConfigError for another recipe or corpus."""
        if published(state):
            raise ConfigError(
                f"{self.out} is a published run, which cannot be resumed: begin another one with"
                " [train] start."
            )
        # Keys newer than the checkpoint have their defaults.
        earlier = recipe_from(state["recipe"], name=state["name"], where=str(self.out)).resolved()
        difference = first_difference(earlier, self.recipe.resolved())
        if difference is not None:
            raise ConfigError(
                f"{self.out} was trained by another recipe: {difference}. Name another folder with"
                " --out."
            )
        check_corpus(state, self.folder, str(self.out))
        load_weights(self.model, state["model"], str(self.out))
        if self.average is not None:
            load_weights(self.average, state["ema"], str(self.out))
        self.optimizer.load_state_dict(state["optimizer"])
        self.at = Counters(**state["counters"])
        self.earlier_s = self.at.seconds

    def _batches(self) -> Iterator[tuple[int, int, Batch]]:
        """Epoch, number in it from 1, and batch, from the counters on, endlessly."""
        epoch = self.at.epoch
        passed = self.at.position
        share = {
            "batch_size": self.settings.batch_size // self.ranks.count,
            "ranks": self.ranks.count,
        }
        while True:
            number = 0
            seed = self.settings.seed * 100_003 + epoch
            for number, batch in enumerate(
                self.task.batches("train", seed=seed, rank=self.ranks.rank, **share), 1
            ):
                if number > passed:
                    yield epoch, number, batch
            if number == 0:
                raise ConfigError(too_few(self.corpus, self.recipe))
            epoch = epoch + 1
            passed = 0

    def fit(self) -> TrainingOutcome:
        """Train until steps or minutes are used up, or a signal arrives."""
        if self.budget.ended(self.at.step) == "steps":
            self.note(
                f"{self.out} has its {self.at.step} steps already: more with --steps, or steps in"
                " the recipe."
            )
            return TrainingOutcome("steps", self.at.step)
        while True:
            signalled = self.step()
            ended = "signal" if signalled else self.budget.ended(self.at.step)
            validating = not signalled and (
                ended != "" or self.at.step % self.settings.sample_every == 0
            )
            if self.at.step % self.settings.log_every == 0 or ended:
                self.write_log()
            if (
                validating
                or ended
                or self.budget.seconds - self.saved_s >= self.settings.checkpoint_s
            ):
                self.save()
            if validating and self.ranks.rank == 0 and self.validated:
                self.validate()
            if ended:
                self.progress("")
                return TrainingOutcome(ended, self.at.step, signalled)

    def step(self) -> int:
        """One step on the next batch; the number of a signal that reached any of the processes, or
        0."""
        epoch, number, batch = next(self.batches)
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast():
            loss, parts = self.task.loss(self.trained, self.moved(batch), self.at.step)
        loss.backward()  # type: ignore[no-untyped-call]
        value = float(loss.detach())
        norm = float(nn.utils.clip_grad_norm_(self.weights, self.settings.clip))
        # One exchange per step: all processes decide from the same numbers.
        spent_s = time.monotonic() - self.budget.begun_s
        bad = not (math.isfinite(value) and math.isfinite(norm))
        spent_s, skip, signalled = self.ranks.largest(spent_s, bad, self.interrupt.number)
        self.budget.seconds = spent_s
        self.at.seconds = self.earlier_s + spent_s
        rate = self.budget.rate(self.at.step)
        if skip:
            which = "; ".join(self.ranks.gather(self.names(epoch, number, batch)))
            self._skip(f"step {self.at.step + 1} ({which})", value, norm)
        else:
            self._update(rate)
            self.sums.append(
                {
                    "loss": value,
                    "norm": norm,
                    "lr": rate,
                    **{f"parts.{k}": v for k, v in parts.items()},
                }
            )
        self.at.step = self.at.step + 1
        self.at.epoch = epoch
        self.at.position = number
        self._show(value)
        return int(signalled)

    def _update(self, rate: float) -> None:
        """Update the weights and their average."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.bad_steps = 0
        self.at.updates = self.at.updates + 1
        if self.average is None:
            return
        share = 1 - ema_decay(self.settings.ema, self.at.updates)
        with torch.no_grad():
            for old, new in zip(
                self.average.state_dict().values(), self.model.state_dict().values(), strict=True
            ):
                if old.is_floating_point():
                    old.lerp_(new, share)
                else:
                    old.copy_(new)

    def _skip(self, which: str, loss: float, norm: float) -> None:
        """Count a step that must not change the weights; TrainingError after too many in a row."""
        self.at.skipped = self.at.skipped + 1
        self.bad_steps = self.bad_steps + 1
        if self.bad_steps == 1:
            logger.warning("Skipped %s: loss %g, norm of the gradient %g.", which, loss, norm)
        if self.bad_steps >= BAD_STEPS:
            raise TrainingError(
                f"Loss or gradient were not finite in {BAD_STEPS} steps in a row, the last of them"
                f" {which}: lower learning_rate or clip, or look at these items. The last good"
                f" checkpoint is in {self.out}."
            )

    def names(self, epoch: int, number: int, batch: Batch) -> str:
        """A batch's items: their names, where the task's batches number them."""
        if "items" not in batch:
            return f"batch {number} of epoch {epoch}"
        split = self.corpus.split("train")
        return "items " + ", ".join(split[int(item)].name for item in batch["items"].tolist())

    def moved(self, batch: Batch) -> dict[str, Tensor]:
        """The batch on the device."""
        return {key: value.to(self.ranks.device, non_blocking=True) for key, value in batch.items()}

    def autocast(self) -> torch.autocast:
        """Mixed precision, if enabled."""
        return torch.autocast(self.ranks.device.type, dtype=torch.bfloat16, enabled=self.bfloat16)

    def save(self) -> None:
        """Write a checkpoint; not amid bad steps, whose forward passes may have corrupted running
        statistics."""
        if self.bad_steps:
            return
        states = self.ranks.gather(checkpoints.random_state(self.ranks.device))
        self.saved_s = self.budget.seconds
        if self.ranks.rank:
            return
        state = {
            "name": self.recipe.name,
            "recipe": self.recipe.resolved(),
            "corpus": corpus_record(self.folder),
            "versions": {"torch": str(torch.__version__), "sayahead": __version__},
            "counters": asdict(self.at),
            "rng": states,
            "found": dict(self.task.found),
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "ema": None if self.average is None else self.average.state_dict(),
        }
        checkpoints.save_checkpoint(self.out, state)

    def write_log(self) -> None:
        """Log the means over the steps since the last line."""
        sums = self.sums
        self.sums = []
        keys = list(sums[0]) if sums else []
        means = self.ranks.mean([sum(one[key] for one in sums) / len(sums) for key in keys])
        values = dict(zip(keys, means, strict=True))
        parts = {
            key.removeprefix("parts."): value
            for key, value in values.items()
            if key.startswith("parts.")
        }
        if self.ranks.rank == 0:
            totals = {key: values.get(key) for key in ("loss", "lr", "norm")}
            pace = {
                "items_per_s": round(self.pace() * self.settings.batch_size, 3),
                "skipped": self.at.skipped,
            }
            self.log.write({**self.place(), **totals, "parts": parts, **pace})

    def place(self) -> dict[str, Any]:
        """The first keys of every line of the log."""
        return {"step": self.at.step, "epoch": self.at.epoch, "seconds": round(self.at.seconds, 3)}

    def pace(self) -> float:
        """Recent steps per second."""
        step, first = self.ticks[0]
        last_step, last = self.ticks[-1]
        return (last_step - step) / (last - first) if last > first else 0.0

    def _show(self, loss: float) -> None:
        """The progress line."""
        self.ticks.append((self.at.step, self.budget.seconds))
        if self.budget.seconds - self.shown_s >= SHOW_S:
            self.shown_s, pace = self.budget.seconds, self.pace()
            left = self.budget.left_s(self.at.step, pace) / 60
            skipped = f", {self.at.skipped} skipped" if self.at.skipped else ""
            self.progress(
                f"{self.recipe.name}: step {self.at.step} of {self.settings.steps}{skipped}, loss"
                f" {loss:.4f}, {pace:.2f} steps/s, {'?' if math.isinf(left) else f'{left:.0f}'} min"
                " left"
            )

    def validate(self) -> None:
        """Measure the loss on the val split with the weights that would be exported, and write
        samples."""
        model = self.model if self.average is None else self.average
        with self.aside(model):
            size = max(1, self.settings.batch_size // self.ranks.count)
            batches = self.task.batches(
                "val", batch_size=size, seed=VALIDATION_SEED, rank=0, ranks=1
            )
            losses: list[dict[str, float]] = []
            for batch in islice(batches, VALIDATION_BATCHES):
                with self.autocast():
                    loss, parts = self.task.loss(model, self.moved(batch), self.at.step)
                losses.append({"": float(loss), **parts})
            if losses:
                means = {key: sum(one[key] for one in losses) / len(losses) for key in losses[0]}
                mean = means.pop("")
                self.log.write({**self.place(), "validation": {"loss": mean, "parts": means}})
                self.note(f"step {self.at.step}: validation loss {mean:.4f}")
            else:
                logger.warning(
                    "The val split has no batch of %d items: nothing is validated.", size
                )
            self._sample(model)
        draw_losses(self.log.path, self.out / "loss.png")

    def _sample(self, model: nn.Module) -> None:
        """Let the task write its samples; errors there are reported and do not end the run."""
        folder = self.out / "samples" / f"step-{self.at.step:06}"
        folder.mkdir(parents=True, exist_ok=True)
        try:
            self.task.samples(model, folder)
        except Exception as error:
            (folder / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
            logger.warning(
                "No samples of step %d: %s: %s (%s)",
                self.at.step,
                type(error).__name__,
                error,
                folder,
            )

    @contextmanager
    def aside(self, model: nn.Module) -> Iterator[None]:
        """The model in eval mode without gradients; random draws inside are always the same and
        affect none outside."""
        state = checkpoints.random_state(self.ranks.device)
        checkpoints.seed_all(VALIDATION_SEED)
        model.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            self.model.train()
            checkpoints.restore_random(state, self.ranks.device)
