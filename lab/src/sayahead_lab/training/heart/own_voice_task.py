"""Another speaker in the default voice's own networks: its durations, pitch and energy, and the
decoder by the sound.

The networks begin as a voice has them and read sentences whole, or word by word as they will be
streamed (``memory.py``). What they have to say is not a teacher network's but a corpus's: anything
that was recorded, or that any engine has spoken. Crops of the sound go through the decoder with the
corpus's pitch, and their error through all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from sayahead.config import from_mapping, nearest
from sayahead.errors import ConfigError
from sayahead.types import Floats, Ids
from sayahead.vocoders.sourcefilter import SourceFilter
from sayahead.voices import VoiceConfig
from sayahead.voices.locations import packaged_voices
from torch import Tensor, nn

from sayahead_lab.training.corpus.batches import padded, tensors
from sayahead_lab.training.corpus.store import Corpus, CorpusInfo, Item
from sayahead_lab.training.corpus.teacher import HOP, RATE, UNIT
from sayahead_lab.training.heart.decoder import AHEAD, LOUD, HeartVoice, load_decoder
from sayahead_lab.training.heart.memory import HeartMemory, MemoryData
from sayahead_lab.training.heart.own_voice_data import SILENT, Spoken, moved, spoken
from sayahead_lab.training.heart.speakers import OWN, folded, make_several, regrouped, tell
from sayahead_lab.training.heart.streams import Stream
from sayahead_lab.training.heart.task import LEAD_UNITS, spread_rows
from sayahead_lab.training.hibari import heart_weights
from sayahead_lab.training.loop.pictures import examples, write_sample
from sayahead_lab.training.loop.task import Batch, Task, logged
from sayahead_lab.training.loop.warm_start import find_run
from sayahead_lab.training.mel.discriminators import JudgedData, judged
from sayahead_lab.training.mel.sound import band_errors, excitation, sound_errors, synthesized

HELD = 2
"""Units at the end of what is spoken that a stream holds back: the next word already sounds in
them."""


@dataclass(frozen=True, slots=True)
class HeartVoiceData(JudgedData, MemoryData):
    """How sentences are streamed and cropped, and the weights of the errors."""

    pace: float = 1.0
    """Weight of the relative error of a sentence's length: phoneme by phoneme alone, the median of
    what is skewed is learned, and speech becomes too fast."""
    units: int = 48
    """Units of 25 ms of a crop; ``spoken_steps`` crops of each sentence."""
    edge: int = 6
    """Units at a crop's left end that do not count, unless the sentence begins there: they lack
    their past."""
    part: str = ""
    """What learns, a key of ``PARTS``: alone, it takes all else from the corpus and costs a
    fraction of a step; empty: all of the networks, from each other's output, as the voice
    speaks."""
    compared: str = "bins"
    """How sounds are compared, a key of ``COMPARED``."""
    like: str = ""
    """Of a start that has several speakers, the one whose weights this one begins with."""
    intoned_by: str = ""
    """Folder of a run of the part ``prosody``, whose networks take the place of the start's: both
    parts can learn side by side."""


OWN_DATA = set(HeartVoiceData.__dataclass_fields__) - set(MemoryData.__dataclass_fields__)
"""Settings that lessons do not know."""
COMPARED = {"bins": sound_errors, "bands": band_errors}
"""Magnitudes bin by bin; or the powers of mel bands, which leaves noise and phases as crisp as they
were."""
PARTS = {
    "sound": ("heart.sound", "decoder"),
    "prosody": ("heart.text", "heart.dur_in", "heart.dur_out", "heart.prosody"),
}
"""Networks that can learn alone: phonemes to sound, given durations, pitch and energy; and phonemes
to these."""


class Lessons(HeartMemory):
    """Streams of which a sentence that is spoken at once has as many views, each with a crop, as
    another."""

    cropped = True
    """Whether views have crops: without, one of a sentence says all."""

    def _views(
        self, owner: int, stream: Stream, random: np.random.Generator
    ) -> Iterator[dict[str, Any]]:
        for view in super()._views(owner, stream, random):
            yield from [view] * (
                self.streaming.spoken_steps if self.cropped and len(stream.steps) == 1 else 1
            )


class ViewRows(NamedTuple):
    """Rows of a sentence that a step of its stream sees."""

    begin: int
    """The first."""
    end: int
    """Those before it are spoken."""
    seen: int
    """Those before it are seen; future tokens stand for the last of them."""


class HeartVoiceTask(Task[HeartVoice]):
    """Training of another speaker in the default voice's networks, from phonemes to sound."""

    starts_whole = True

    def __init__(self, model: Mapping[str, Any], data: Mapping[str, Any], corpus: Corpus) -> None:
        self.data = from_mapping(HeartVoiceData, data, where="[data]")
        if self.data.part and self.data.part not in PARTS:
            raise ConfigError(
                f"[data] part is {self.data.part!r}{nearest(self.data.part, PARTS)}, but must be"
                f" one of {', '.join(PARTS)}, or empty."
            )
        if self.data.compared not in COMPARED:
            raise ConfigError(
                f"[data] compared is {self.data.compared!r}, but must be one of"
                f" {', '.join(COMPARED)}."
            )
        self.data.check()
        if self.data.units <= self.data.edge + AHEAD:
            raise ConfigError(
                f"[data] units is {self.data.units}, but must be more than edge and {AHEAD}."
            )
        front = corpus.info.front_end
        if (front.sample_rate, front.hop) != (RATE, HOP):
            raise ConfigError(
                f"The corpus has {front.sample_rate} Hz and a hop of {front.hop}, but the voice"
                f" makes {RATE} Hz by hops of {HOP}: make it with --front-end ma."
            )
        own = {field: value for field, value in asdict(self.data).items() if field not in OWN_DATA}
        self.corpus = corpus
        self.lessons = Lessons(model, own, corpus)
        self.lessons.cropped = self.data.part != "prosody"
        self.speakers = tuple(corpus.info.joined)

    def model(self) -> HeartVoice:
        """The imported voice's networks and decoder."""
        model = HeartVoice(self.lessons.model())
        load_decoder(model.decoder, heart_weights())
        if self.speakers:
            make_several(model, len(self.speakers))
        if self.data.part:
            model.requires_grad_(False)
            for name in PARTS[self.data.part]:
                model.get_submodule(name).requires_grad_(True)
        model.discriminators = self.data.judges()
        return model

    def check_start(self, *, voice: bool, run: bool) -> None:
        # A run of this task has the context network of the voice that it began with.
        self.lessons.check_start(voice=voice or run, run=run)

    def carried(
        self, learned: Mapping[str, Tensor], before: CorpusInfo | None, fresh: Mapping[str, Tensor]
    ) -> Mapping[str, Tensor]:
        return self.data.carried(self._carried(learned, before, fresh), learned, fresh)

    def _carried(
        self, learned: Mapping[str, Tensor], before: CorpusInfo | None, fresh: Mapping[str, Tensor]
    ) -> Mapping[str, Tensor]:
        """The same without discriminators."""
        if self.data.intoned_by:
            learned = {**learned, **self._intonation(before)}
        known = tuple(before.joined) if before is not None else ()
        if known == self.speakers:
            return learned
        if not known:
            return {
                **{name: weight for name, weight in fresh.items() if name.endswith(OWN)},
                **learned,
            }
        if self.speakers:
            return regrouped(learned, known, self.speakers)
        if self.data.like not in known:
            raise ConfigError(
                f"[train] start has the speakers {', '.join(known)}: name with [data] like the one"
                f" to begin with{nearest(self.data.like, known)}."
            )
        return folded(learned, known.index(self.data.like))

    def _intonation(self, before: CorpusInfo | None) -> dict[str, Tensor]:
        """The prosody networks' weights of another run with the start's speakers."""
        other = find_run(Path(self.data.intoned_by))
        if other.info is None or before is None or other.info.joined != before.joined:
            raise ConfigError(
                f"[data] intoned_by: the run {self.data.intoned_by} has other speakers than [train]"
                " start."
            )
        return {
            name: weight
            for name, weight in other.learned.items()
            if name.startswith(PARTS["prosody"])
        }

    def read_voice(self, model: HeartVoice, folder: Path, config: VoiceConfig) -> None:
        name = "decoder.onnx"
        packaged = packaged_voices()["heart"]
        if (
            not (folder / name).is_file()
            or (folder / name).read_bytes() != (packaged / name).read_bytes()
        ):
            raise ConfigError(
                f"The voice {config.name} has another decoder than heart, which cannot be read"
                " back: set [train] start to heart, or to the folder of the voice's run."
            )
        self.lessons.read_voice(model.heart, folder, config)

    def batches(
        self, split: str, *, batch_size: int, seed: int, rank: int, ranks: int
    ) -> Iterator[Batch]:
        """Yield batches of ``batch_size`` sentences of similar length: streams as ``lessons`` makes
        them, with the recordings' durations, pitch and energy, and crops of their sound."""
        items = self.corpus.split(split)
        share = {"rank": rank, "ranks": ranks}
        for group, batch in enumerate(
            self.lessons.batches(split, batch_size=batch_size, seed=seed, **share)
        ):
            chosen = [items[int(number)] for number in batch["items"]]
            utterances = [spoken(item) for item in chosen]
            crops = self.cropped(batch, utterances, np.random.default_rng([seed, group, rank, 43]))
            who = (
                {"speaker": torch.tensor([self.number(item) for item in chosen])}
                if self.speakers
                else {}
            )
            yield {**batch, **taught_by(utterances), **crops, **who}

    def number(self, item: Item) -> int:
        """The number of who speaks an item: 0 where there is one speaker."""
        return self.speakers.index(item.speaker) if self.speakers else 0

    def cropped(
        self, batch: Batch, utterances: Sequence[Spoken], random: np.random.Generator
    ) -> dict[str, Tensor]:
        """A crop for each of the batch's views, which fits it; none where prosody learns alone."""
        if self.data.part == "prosody":
            return {}
        whole = int(batch["number"].max()) == 0
        views = zip(
            *(batch[f"view_{name}"].tolist() for name in ("owner", "begin", "end", "seen")),
            strict=True,
        )
        rows = [
            self._crop(utterances[owner], ViewRows(begin, begin + end, begin + seen), random, whole)
            for owner, begin, end, seen in views
        ]
        return tensors(**{name: np.array([row[name] for row in rows]) for name in rows[0]})

    def _crop(
        self, one: Spoken, view: ViewRows, random: np.random.Generator, whole: bool
    ) -> dict[str, int | Floats | Any]:
        """A crop of what a view speaks: anywhere in it where it is the whole sentence."""
        begin = view.begin
        end = view.end
        edges = np.cumsum(one.units)
        rows = len(one.units)
        total = int(edges[-1])
        before = int(edges[begin] - one.units[begin])
        size = self.data.units
        stop = total if end == rows else max(1, int(edges[end - 1]) - HELD)
        if whole:
            stop = int(random.integers(min(size, total), total + 1))
            end = rows if stop == total else int(np.searchsorted(edges, stop)) + 1
        start = max(before, stop - size)
        frames = UNIT * (size + AHEAD)
        hop = UNIT * HOP
        f0 = moved(one.f0, UNIT * start, frames, SILENT)
        audible = np.zeros(frames * HOP, np.float32)
        audible[(self.data.edge if start else 0) * hop : (stop - start) * hop] = 1
        told = dict[str, Any]()
        if self.data.part == "sound":
            units = np.arange(start, start + size + AHEAD)
            row = np.searchsorted(edges, units, side="right")
            there = (row < min(rows, view.seen)) & (units < stop + AHEAD)
            told["crop_row"] = np.where(there, row - begin, -1)
            told["crop_energy"] = moved(one.energy, UNIT * start, frames, SILENT)
        return told | {
            "view_first": int(np.searchsorted(edges, start, side="right")) - begin,
            "view_end": end - begin,
            "crop_first": start - before,
            "crop_end": stop - before,
            "crop_known": int(edges[end - 1]) - before,
            "crop_f0": f0,
            "audio": moved(one.audio, start * hop, frames * HOP, SILENT),
            "heard": audible,
            "pulses": excitation(f0, random.random()),
        }

    def loss(self, model: nn.Module, batch: Batch, step: int) -> tuple[Tensor, dict[str, float]]:
        out = model(batch)
        errors = dict[str, Tensor]()
        if "log_units" in out:
            units = batch["taught_units"]
            prosody = batch["taught_prosody"]
            taught = {"units": units, "log_units": torch.log1p(units.float()), "prosody": prosody}
            target = self.lessons.stream_targets(batch, taught)
            errors = {
                **self.lessons.errors(out, batch, target),
                "pace": pace_error(out["log_units"], target, batch),
            }
        total = sum(getattr(self.data, name) * error for name, error in errors.items())
        if "parts" not in out:
            return torch.as_tensor(total), logged(errors)
        # In full precision.
        with torch.autocast(out["parts"].device.type, enabled=False):
            noise = torch.randn_like(batch["pulses"]) * 2**0.5
            ours = synthesized(out["parts"].float(), batch["pulses"], noise) * batch["heard"]
            theirs = batch["audio"] * batch["heard"]
            sounds = COMPARED[self.data.compared](ours, theirs)
        total = total + self.data.sound * sum(sounds.values())
        added, told = judged(model, ours, theirs, self.data, step)
        return total + added, logged({**errors, **sounds, **told})

    @torch.no_grad()
    def samples(self, model: HeartVoice, folder: Path) -> None:
        """Two validation sentences from their text alone."""
        for _, item in examples(self.corpus.split("val"), 2):
            samples = self.speak(model, np.asarray(item.ids, np.int64), speaker=self.number(item))
            write_sample(folder, item.name, self.corpus.info.front_end, item.mel, samples=samples)

    @torch.no_grad()
    def speak(
        self, model: HeartVoice, ids: Ids, said: Spoken | None = None, *, speaker: int = 0
    ) -> Floats:
        """(S,) samples of a whole sentence of phonemes (P,), with the durations, pitch and energy
        that ``said`` has.

        Without, they are the model's own. ``speaker``: the number of one among several.
        """
        tell(model, torch.tensor([speaker]), torch.tensor([speaker]))
        device = model.decoder.head.weight.device
        pad = self.corpus.info.pad
        rows = torch.from_numpy(np.concatenate([[pad], ids, [pad]]))[None].to(device)
        real = torch.ones_like(rows, dtype=torch.bool)
        sound, text, logs = model.heart.encode(
            rows, real, torch.zeros(1, model.heart.config.context, device=device)
        )
        if said is None:
            units = torch.expm1(logs.float()).round().clamp(min=1, max=60).long()
            units[:, 0] = LEAD_UNITS
            spread, there = spread_rows(text, units)
            prosody = model.heart.prosody(spread, there)[0].float()
            f0 = 100 * prosody[:, :UNIT].flatten()
            energy = LOUD * prosody[:, UNIT:].flatten()
        else:
            units, f0, energy = (
                torch.from_numpy(one).to(device) for one in (said.units[None], said.f0, said.energy)
            )
        frames = spread_rows(sound, UNIT * units)
        parts = model.decoder(frames[0], f0[None], energy[None], frames[1])[0]
        synthesis = SourceFilter()
        pitch = f0.cpu().numpy()
        spectrum = parts.float().cpu().numpy()
        return synthesis.step(
            spectrum, pitch, synthesis.initial(0), final=len(pitch), seed=0, ended=True
        )[0]


def pace_error(logs: Tensor, target: Mapping[str, Tensor], batch: Batch) -> Tensor:
    """The mean error of what the sentences' steps speak in all, relative to how long it lasts."""
    row = batch["row"]
    # The first pad is as long as the voice has it, whatever is said of it.
    spoken_now = batch["known"] & (row >= batch["said"].clamp(min=1)) & (row < batch["ends"])
    theirs, ours = (torch.expm1(one.float()) * spoken_now for one in (target["log_units"], logs))
    return ((ours.sum(1) - theirs.sum(1)).abs() / theirs.sum(1).clamp(min=1)).mean()


def taught_by(utterances: Sequence[Spoken]) -> dict[str, Tensor]:
    """The sentences' durations, pitch and energy as ``HeartPrefixes.teach`` has them of a
    teacher."""
    units = padded([one.units for one in utterances])[0]
    prosody = np.zeros((len(utterances), int(units.sum(1).max()), 2 * UNIT), np.float32)
    for row, one in zip(prosody, utterances, strict=True):
        both = one.f0.reshape(-1, UNIT) / 100, one.energy.reshape(-1, UNIT) / LOUD
        row[: len(both[0])] = np.concatenate(both, axis=1)
    return tensors(taught_units=units, taught_prosody=prosody)
