"""A new contextual embedding network for an existing Tacotron: one whose future reaches the sound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sayahead.errors import ConfigError
from sayahead.training.corpus.store import Corpus
from sayahead.training.saeki.network import Tacotron
from sayahead.training.saeki.shipped import read_tacotron
from sayahead.training.saeki.task import PartlyTrained, SaekiData, SaekiTask, Windowed
from sayahead.voices import installed_voices, read_config

PARTS = ("encoder", "decoder", "postnet", "contextual")


@dataclass(frozen=True, slots=True)
class ContextData(SaekiData):
    """Its training data and their source."""

    voice: str = "saeki-lj"
    """The voice whose Tacotron it is, by its name or its folder; [model] has that one's sizes."""
    trained: tuple[str, ...] = ("contextual",)
    """The parts of the Tacotron that are trained; the others stay as the voice has them."""


class NewContext(PartlyTrained, Windowed):
    """See Windowed; the parts that are not trained stay as they are."""


class ContextTask(SaekiTask):
    """See Task."""

    DATA = ContextData
    data: ContextData

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        super().__init__(model, data, corpus)
        if unknown := [part for part in self.data.trained if part not in PARTS]:
            raise ConfigError(f"[data] trained names {unknown[0]!r}, which is none of {', '.join(PARTS)}.")
        if read_config(installed_voices().get(self.data.voice, Path(self.data.voice))).phonemes != corpus.info.phonemes:
            raise ConfigError(f"The voice {self.data.voice} reads other phonemes than the corpus {corpus.path} has.")
        tacotron = self.fresh()
        # Frames are normalized as the voice's were, not as those of this corpus would be.
        mean, deviation = tuple(tacotron.mean.tolist()), tuple(tacotron.std.tolist())
        corpus.info = replace(corpus.info, mel_mean=mean, mel_std=deviation)

    def model(self) -> NewContext:
        """See Task."""
        return NewContext(self.fresh(), self.data.trained)

    def fresh(self) -> Tacotron:
        """The voice's Tacotron with a fresh contextual embedding network."""
        return read_tacotron(self.data.voice, self.config, contextual=False)
