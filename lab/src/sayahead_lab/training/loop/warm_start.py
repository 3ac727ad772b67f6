"""Starting a run from the weights of another run, in its folder or an archive, or of a voice's
graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sayahead.config import nearest
from sayahead.engine.files import sha256
from sayahead.errors import ConfigError
from sayahead.voices import installed_voices, read_config
from sayahead.voices.install.archives import is_archive
from torch import Tensor, nn

from sayahead_lab.training.corpus.store import Corpus, CorpusInfo, read_info
from sayahead_lab.training.layers import Scaled
from sayahead_lab.training.loop import checkpoint as checkpoints
from sayahead_lab.training.loop.publish import opened
from sayahead_lab.training.loop.saved_run import DESCRIPTION, check_corpus, check_fits, load_weights
from sayahead_lab.training.loop.task import TASKS, Task, TaskMaker


@dataclass(frozen=True, slots=True)
class Start:
    """A run or a voice to start from."""

    path: Path
    """Its folder."""
    found: Mapping[str, Any]
    """The values it sets in the recipe's [model]."""
    state: dict[str, Any] | None = None
    """The run's checkpoint; None for a voice."""
    info: CorpusInfo | None = None
    """The corpus it was trained on, if known."""

    @property
    def learned(self) -> Mapping[str, Tensor]:
        """A run's weights: their average, where it has one."""
        assert self.state is not None
        weights: Mapping[str, Tensor] = (
            self.state["model"] if self.state["ema"] is None else self.state["ema"]
        )
        return weights


def find_start(name: str, task: TaskMaker) -> Start:
    """The run or voice of that name or folder; ConfigError where there is none.

    ``ARCHIVE`` is the only run of the task in an archive, and ``ARCHIVE/RUN`` the one of that name.
    """
    path = Path(name)
    archive, inner = (path, "") if path.is_file() else (path.parent, path.name)
    if archive.is_file() and is_archive(archive):
        with opened(archive) as release:
            return replace(
                find_run(release / inner if inner else only_run(archive, release, task)), path=path
            )
    if not checkpoints.has_checkpoint(path) and not path.is_file():
        folder = path if (path / "voice.json").is_file() else installed_voices().get(name)
        if folder is not None:
            return Start(folder, task.found_in_voice(read_config(folder)))
    return find_run(path)


def find_run(path: Path) -> Start:
    """The run in a folder, or of a checkpoint file."""
    state = checkpoints.load_checkpoint(path)
    try:
        info = read_info(path if path.is_dir() else path.parent)
    except ConfigError:
        info = None
    return Start(path, state.get("found", {}), state, info)


def only_run(archive: Path, folder: Path, task: TaskMaker) -> Path:
    """The folder of the one run of a task among those of an archive; ConfigError where there are
    none or several."""
    runs = [path.parent for path in sorted(folder.glob(f"*/{checkpoints.NAME}"))]
    fitting = [
        run for run in runs if TASKS[checkpoints.load_checkpoint(run)["recipe"]["task"]] is task
    ]
    if len(fitting) != 1:
        names = ", ".join(run.name for run in runs) or "none"
        raise ConfigError(
            f"{archive} holds {len(fitting)} runs of the recipe's task (all: {names}): name one of"
            f" them, as in {archive}/RUN."
        )
    return fitting[0]


def taken_over(start: Start | None, state: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The values of the recipe's [model] that a resumed run, or its start, sets already."""
    statistics: Mapping[str, Any] = {} if state is None else state.get("found", {})
    return statistics if start is None else start.found


def validated(task: Task[Any], corpus: object) -> bool:
    """Whether there is anything to validate on: a split, or the task's own data."""
    if not isinstance(corpus, Corpus) or "val" in corpus.info.splits:
        return True
    try:
        next(task.batches("val", batch_size=1, seed=0, rank=0, ranks=1), None)
    except ConfigError:
        return False
    return True


def begin(
    start: Start,
    task: Task[Any],
    model: nn.Module,
    average: nn.Module | None,
    folder: Path,
    anew: Sequence[str] = (),
) -> str:
    """Set a task's model and its average to the start's weights; returns a line for the user.

    ``folder`` has the corpus. The parts ``anew`` keep the fresh weights that the model has; frozen
    weights stay as the task set them, unless it ``starts_whole``. On another corpus than the
    start's, of the same phonemes and frames, mean and deviation are the new one's. ConfigError for
    weights or corpora that do not fit."""
    fresh = drawn_anew(model, anew)
    done = set_weights(start, task, model, folder, anew)
    if fresh:
        model.load_state_dict(fresh, strict=False)
        done = f"{done[:-1]}, but {', '.join(anew)} anew."
    if average is not None:
        average.load_state_dict(model.state_dict())
    return done


def drawn_anew(model: nn.Module, anew: Sequence[str]) -> dict[str, Tensor]:
    """Copies of the weights of the parts named; ConfigError for a name that the model does not
    have."""
    weights = model.state_dict()
    parts = {name for name, _ in model.named_modules() if name}
    fresh = dict[str, Tensor]()
    for name in anew:
        part = {
            key: value.clone() for key, value in weights.items() if f"{key}.".startswith(f"{name}.")
        }
        if not part:
            raise ConfigError(
                f"[train] anew names {name!r}, which is no part of the"
                f" model{nearest(name, parts | set(weights))}."
            )
        fresh.update(part)
    return fresh


def set_weights(
    start: Start, task: Task[Any], model: nn.Module, folder: Path, anew: Sequence[str]
) -> str:
    """Set the model's weights to a run's or voice's where it begins with one; the sentence that
    says so."""
    if start.state is None:
        config = read_config(start.path)
        if isinstance(corpus := getattr(task, "corpus", None), Corpus):
            check_voice(config.phonemes, config.sample_rate, config.hop_length, corpus, config.name)
        task.read_voice(model, start.path, config)
        return f"Beginning with the voice {config.name}."
    fresh = model.state_dict()
    fixed = {name for name, weight in model.named_parameters() if not weight.requires_grad}
    own = set() if task.starts_whole else fixed
    own |= drawn_anew(model, anew).keys()
    if moved(start, folder):
        own |= {
            f"{name}.{leaf}".lstrip(".")
            for name, module in model.named_modules()
            if isinstance(module, Scaled)
            for leaf in ("mean", "std")
        }
    learned = task.carried(start.learned, start.info, fresh)
    load_weights(model, {**learned, **{name: fresh[name] for name in own}}, str(start.path))
    return f"Beginning with {start.path} after its step {start.state['counters']['step']}."


def moved(start: Start, folder: Path) -> bool:
    """Whether a run was trained on another corpus than that in ``folder``; ConfigError where it
    does not fit it."""
    assert start.state is not None
    digest = sha256(folder / DESCRIPTION)
    if start.state["corpus"]["fingerprint"] == digest:
        return False
    if start.info is None:
        # Anything but a known corpus must be the same.
        check_corpus(start.state, folder, str(start.path))
        return False
    what = f"{start.path} was trained on a corpus of other phonemes or frames than {folder}"
    check_fits(start.info, read_info(folder), what)
    return True


def check_voice(
    phonemes: Mapping[str, int], sample_rate: int, hop: int, corpus: Corpus, name: str
) -> None:
    """ConfigError where a voice has other phonemes or frames than a corpus."""
    front = corpus.info.front_end
    if phonemes and phonemes != corpus.info.phonemes:
        raise ConfigError(
            f"The voice {name} reads other phonemes than the corpus {corpus.path} has."
        )
    if (sample_rate, hop) != (front.sample_rate, front.hop):
        raise ConfigError(
            f"The voice {name} has {sample_rate} Hz and a hop of {hop}, but the corpus"
            f" {corpus.path} has {front.sample_rate} Hz and {front.hop}: make it with"
            " --front-end ma."
        )
