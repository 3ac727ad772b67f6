"""What the training loop needs of a model: a task, built from a recipe's tables and a corpus."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from sayahead.config import nearest
from sayahead.errors import ConfigError
from sayahead.extensions import Extensible

if TYPE_CHECKING:
    from sayahead.voices import VoiceConfig
    from torch import Tensor, nn

    from sayahead_lab.training.corpus.store import CorpusInfo


Batch = Mapping[str, "Tensor"]
M = TypeVar("M", bound="nn.Module")


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """How a recipe trains: its ``[train]`` table."""

    batch_size: int
    """Items per step, over all processes."""
    steps: int
    """Optimizer steps of the run; ``--minutes`` may end it before."""
    start: str = ""
    """Folder of another run of the same model, a published one by its archive, or a voice, whose
    weights this run starts from; empty: fresh weights."""
    anew: tuple[str, ...] = ()
    """Parts of the model, or single weights, that are drawn anew all the same, by their names in
    it; with ``start``."""
    learning_rate: float = 1e-3
    """Adam's learning rate after the warm-up."""
    warmup_steps: int = 0
    """Steps over which the learning rate rises from 0."""
    half_life_steps: float | None = None
    """Steps in which the learning rate halves after the warm-up and ``hold_steps``; None:
    constant."""
    hold_steps: int = 0
    """Steps after the warm-up for which the learning rate is constant before it halves."""
    least_rate: float = 0.0
    """Lower bound of the learning rate while halving; ``final_share`` goes below it."""
    final_share: float = 0.0
    """Share of the run at its end, of its steps or its minutes, whichever end first, over which the
    rate falls to 0."""
    betas: tuple[float, ...] = (0.9, 0.999)
    """Adam's."""
    eps: float = 1e-8
    """Adam's epsilon."""
    l2: float = 0.0
    """Weight of L2 regularization: the share of each weight added to its gradient (Adam's)."""
    weight_decay: float = 0.0
    """Decoupled decay, times the learning rate (AdamW's); not together with ``l2``."""
    clip: float = 1.0
    """Largest norm of the gradient; larger ones are scaled down to it."""
    ema: float = 0.0
    """Decay of the moving average of the weights, which is validated and exported; reached
    gradually; 0: none."""
    precision: str = "auto"
    """float32, bfloat16, or auto: bfloat16 where the device computes it fast."""
    seed: int = 0
    """Seed of the initial weights, the order of the data and dropout."""
    log_every: int = 20
    """Steps between lines of the log."""
    checkpoint_s: float = 50.0
    """Seconds between checkpoints: what an interruption can lose."""
    sample_every: int = 2000
    """Steps between validations, which measure the loss on the val split and write sounds."""


class Task(ABC, Generic[M]):
    """A model M with its data and its loss."""

    found: Mapping[str, Any] = {}
    """Values for the recipe's [model] computed from the corpus's items, where the recipe leaves
    them open.

    A checkpoint stores them: they must not change or vanish with the corpus.
    """

    @classmethod
    def open(cls, folder: Path) -> Any:
        """The data to learn from in a folder, a corpus; ConfigError where there is none."""
        from sayahead_lab.training.corpus.store import Corpus

        return Corpus(folder)

    @abstractmethod
    def model(self) -> M:
        """The network with fresh weights; the loop has seeded torch before."""

    @abstractmethod
    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """One pass over a split in an order that the seed fixes; each rank gets its own share, of
        equal length.

        ``batch_size`` counts this rank's items. Tensors are on the CPU. Random draws come from the
        seed alone, never from the global generators: a resumed run skips the batches already used.
        A batch may hold ``items`` (B,), the numbers of its items in the split, for error messages.
        """

    @abstractmethod
    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        """The loss to minimize and its parts for the log; runs the model only through its
        ``forward``."""

    @classmethod
    def found_in_voice(cls, config: VoiceConfig) -> dict[str, Any]:
        """Values for the recipe's [model] that training takes from a voice it starts from."""
        return {}

    starts_whole: bool = False
    """Whether weights that do not learn are the start's, too; else they stay as ``model`` has
    them."""

    def check_start(self, *, voice: bool, run: bool) -> None:
        """ConfigError where the data wants another start: whether a new run begins with a
        ``voice``, or another run.

        By default any start, or none.
        """
        return

    def carried(
        self, learned: Mapping[str, Tensor], before: CorpusInfo | None, fresh: Mapping[str, Tensor]
    ) -> Mapping[str, Tensor]:
        """The weights of the run that this one begins with, as this one's model has them: by
        default as they are.

        ``before``: that run's corpus, if known; ``fresh``: the weights of ``model``.
        """
        return learned

    def read_voice(self, model: M, folder: Path, config: VoiceConfig) -> None:
        """Set the model's weights to those of a voice's graphs; ConfigError where they cannot be
        read back."""
        raise ConfigError(
            f"[train] start names the voice {config.name}, but no weights of {type(model).__name__}"
            " can be read back from a voice: name the folder of a run, or an archive of runs."
        )

    def samples(self, model: M, folder: Path) -> None:
        """Write a few validation sentences into the folder, as WAV and as a picture; by default
        none."""


def logged(parts: Mapping[str, Tensor]) -> dict[str, float]:
    """Parts of a loss, as logged."""
    return {name: float(part.detach()) for name, part in parts.items()}


class TaskMaker(Protocol):
    """A task's class."""

    open: ClassVar[Any]

    def __call__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Any) -> Task[Any]:
        """The task; ConfigError for an unknown key or data that the corpus lacks."""
        ...

    def found_in_voice(self, config: VoiceConfig) -> dict[str, Any]: ...


TASKS: Extensible[TaskMaker] = Extensible(
    "sayahead_lab.tasks",
    {
        "heart": "sayahead_lab.training.heart.task:HeartPrefixes",
        "heart-memory": "sayahead_lab.training.heart.memory:HeartMemory",
        "heart-voice": "sayahead_lab.training.heart.own_voice_task:HeartVoiceTask",
        "heart-student": "sayahead_lab.training.heart.student:HeartStudent",
        "heart-hidden": "sayahead_lab.training.heart.student:HeartHidden",
        "ma": "sayahead_lab.training.ma.task:DeepVoice3Task",
        "mel": "sayahead_lab.training.mel.task:MelVocoderTask",
        "wavenet": "sayahead_lab.training.clarinet.teacher:WaveNetTask",
        "clarinet": "sayahead_lab.training.clarinet.task:ClariNetTask",
        "saeki": "sayahead_lab.training.saeki.task:SaekiTask",
        "saeki-guided": "sayahead_lab.training.saeki.guided:GuidedTask",
        "saeki-student": "sayahead_lab.training.saeki.student:StudentTask",
        "saeki-hidden": "sayahead_lab.training.saeki.hidden:HiddenTask",
        "waveglow": "sayahead_lab.training.waveglow.task:WaveGlowTask",
        "mohan": "sayahead_lab.training.mohan.task:MohanTask",
        "mohan-agent": "sayahead_lab.training.mohan.agent:AgentTask",
        "wavernn": "sayahead_lab.training.wavernn.task:WaveRNNTask",
        "aligner": "sayahead_lab.training.aligner.task:AlignerTask",
        "learned": "sayahead_lab.training.learned.task:LearnedTask",
    },
)
"""The class of each recipe's ``task``."""
RENAMED = {"deepvoice3": "ma", "melvocoder": "mel"}
"""Names of tasks in recipes and checkpoints of earlier versions."""


def task_name(name: str, where: str) -> str:
    """The task's current name; ConfigError for an unknown one."""
    name = RENAMED.get(name, name)
    if name not in TASKS:
        raise ConfigError(f"{where}: task {name!r} is unknown{nearest(name, TASKS)}.")
    return name
