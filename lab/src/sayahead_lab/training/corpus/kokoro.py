"""Kokoro as a teacher: whole sentences with the durations, pitch and energy from which its own
decoder made them.

Its networks and the default voice's have one clock (a unit is two frames of 300 samples at 24 kHz)
and one inventory of phonemes, so what its graph computes inside is all that a pupil has to say
(Kokoro-82M by hexgrad, Apache-2.0). No aligner is needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from sayahead.config import nearest
from sayahead.errors import ConfigError
from sayahead.sound.pcm import audible
from sayahead.systems.kokoro import EDGE, TOKENS
from sayahead.text import Normalizer, Phonemizer
from sayahead.text.saying.espeak.misaki import reader
from sayahead.types import Floats, Ids
from sayahead.vocoders.sourcefilter import SourceFilter
from sayahead.voices import located, read_config
from sayahead.voices.install.kokoro.files import read_files, read_styles

from sayahead_lab.eval.listening.listeners import (
    at_16khz,
    load_normalizer,
    load_whisper,
    missing_folder,
    require,
)
from sayahead_lab.eval.measures.word_errors import word_errors
from sayahead_lab.training.corpus.store import ACCENT, About, Item
from sayahead_lab.training.corpus.teacher import (
    EARLY,
    HOP,
    RATE,
    UNIT,
    Frames,
    Take,
    TeacherSpec,
    VoiceTeacher,
    inventory,
    load_reader,
)

DURATIONS = "/encoder/Round_output_0"
PITCH = "/encoder/F0_proj/Conv_output_0"
ENERGY = "/encoder/N_proj/Conv_output_0"
"""Tensors of its graph: units of each id (1, P + 2), Hz and energy of each frame (1, 1, 2 x
units)."""
FORMER = "model.onnx"
"""The whole graph in folders of versions that kept it."""
MIN_PAD = 4
"""Units of the first pad, of which Kokoro may say fewer: the pupil's, and the frames by which
phonemes sound early."""
MAX_WRONG = 0.2
"""Share of a sentence's words that a listener may mistake."""
PAUSES = ";:,.!?—…"
"""Marks; a sentence of these alone has no sound."""


@dataclass(frozen=True, slots=True)
class Whole:
    """Kokoro's whole graph, with what lies beside it."""

    name: str
    """What it is called."""
    graph: Path
    """Its file."""
    phonemes: dict[str, int]
    """Phonemes to ids."""
    languages: dict[str, str]
    """BCP 47 tag of each style."""
    digest: str
    """Of what describes it, 16 hexadecimal digits."""

    def style(self, name: str) -> Floats:
        """(R, D) the table of a style."""
        if self.graph.name == FORMER:
            tables = np.load(self.graph.with_name("styles.npy"), allow_pickle=False)
            return np.asarray(tables[list(self.languages).index(name)], np.float32)
        return read_styles(self.graph)[name]


def whole_of(voice: str) -> Whole:
    """The published file by its path, or a voice that was added from it by a version that kept it;
    ConfigError else."""
    if voice.endswith(".onnx"):
        path = Path(voice)
        if not path.is_file():
            raise ConfigError(f"There is no file {voice}: name Kokoro's graph as it was published.")
        files = read_files(path, None)
        digest = hashlib.sha256(json.dumps([files.vocab, files.languages]).encode()).hexdigest()[
            :16
        ]
        return Whole(path.stem, path, files.vocab, files.languages, digest)
    folder = located(voice)
    config = read_config(folder)
    if config.kind != "kokoro":
        raise ConfigError(f"The voice {config.name!r} is of the kind {config.kind!r}, not kokoro.")
    if FORMER not in config.files:
        raise ConfigError(
            f"The voice {config.name!r} is in parts, which speak word by word: as a teacher, name"
            " the file that it was added from, such as --teacher models/kokoro.onnx."
        )
    languages = dict.fromkeys(
        sorted(config.speakers, key=config.speakers.__getitem__), config.language
    )
    digest = hashlib.sha256((folder / "voice.json").read_bytes()).hexdigest()[:16]
    return Whole(config.name, folder / FORMER, dict(config.phonemes), languages, digest)


@dataclass(frozen=True, slots=True)
class KokoroSpec(TeacherSpec):
    """A corpus's settings for Kokoro as its teacher."""

    voice: str = "kokoro"
    """Kokoro's graph as it was published, with what lies beside it, or a voice that was added with
    all of it."""
    speaker: str = ""
    """Name of its style; empty: the first one, or the first one of the language."""
    language: str = ""
    """Tag of the language of the texts, which the style has to speak; empty: that of the style."""
    understood: str = ""
    """Folder of a Whisper model: sentences of which it mistakes more than a fifth are left out;
    empty: none are."""

    def __post_init__(self) -> None:
        super(KokoroSpec, self).__post_init__()
        if self.features:
            raise ConfigError(
                "Kokoro has no features of the default voice: make the corpus without them."
            )
        if self.understood:
            if not self.audio:
                raise ConfigError(
                    "What is understood has to be heard: leave out --no-audio, or --understood."
                )
            require(missing_folder(self.understood))
        whole = self.whole
        if self.speaker and self.speaker not in whole.languages:
            known = nearest(self.speaker, whole.languages)
            raise ConfigError(f"The voice {whole.name!r} has no speaker {self.speaker!r}{known}.")
        spoken = [
            style for style, tag in whole.languages.items() if in_language(tag, self.language)
        ]
        if self.speaker not in spoken and (self.speaker or not spoken):
            raise ConfigError(
                f"The voice {whole.name!r} speaks {self.language} with"
                f" {', '.join(spoken) or 'no style'}"
                + (f", not with {self.speaker}." if self.speaker else ".")
            )

    @property
    def whole(self) -> Whole:
        """The whole graph; ConfigError where there is none."""
        return whole_of(self.voice)

    @property
    def style(self) -> str:
        """The name of its style."""
        languages = self.whole.languages
        return self.speaker or next(
            style for style, tag in languages.items() if in_language(tag, self.language)
        )

    def about(self) -> About:
        """What it says of the corpus, with the digest of the voice's files."""
        whole = self.whole
        source = {
            "kind": "kokoro",
            "voice": f"{whole.name}, {self.style}",
            "digest": whole.digest,
            "language": whole.languages[self.style],
            **({ACCENT: "British"} if whole.languages[self.style] == "en-GB" else {}),
            "early": str(EARLY),
            "lead": str(self.lead),
            "tail": str(self.tail),
            "audio": str(self.audio).lower(),
            **(
                {"understood": f"Whisper {Path(self.understood).name}, {MAX_WRONG}"}
                if self.understood
                else {}
            ),
        }
        return About(
            self.front_end, dict(whole.phonemes), EDGE, source, self.punctuation, self.seed
        )

    def open(self) -> KokoroTeacher:
        """The teacher, loaded."""
        return KokoroTeacher(self)


def in_language(tag: str, language: str) -> bool:
    """Whether a BCP 47 tag is of a language; any is of none."""
    return f"{tag}-".lower().startswith(f"{language}-".lower() if language else "")


class KokoroTeacher(VoiceTeacher):
    """From a text to items, one a sentence, with exact durations, pitch and energy."""

    def __init__(self, spec: KokoroSpec) -> None:
        whole = spec.whole
        language = whole.languages[spec.style]
        self.spec = spec
        self._phonemes = whole.phonemes
        self._normalizer, self._phonemizer = front_of(
            language, whole.phonemes, spec.punctuation == "all"
        )
        self._pauses = frozenset(whole.phonemes[mark] for mark in PAUSES if mark in whole.phonemes)
        self._graph = load_tapped(whole.graph)
        self._tokens = next(
            name for name in TOKENS if name in {one.name for one in self._graph.get_inputs()}
        )
        self._style = whole.style(spec.style)
        self._mistaken = load_listener(spec.understood, language) if spec.understood else None

    def items(self, name: str, text: str) -> tuple[list[Item], list[str]]:
        """As any teacher's; sentences that the listener does not understand are left out, with what
        it heard."""
        items, left_out = super().items(name, text)
        if self._mistaken is None:
            return items, left_out
        kept = list[Item]()
        for item in items:
            wrong, heard = self._mistaken(item)
            if wrong > MAX_WRONG:
                left_out.append(
                    f"{item.name}: {wrong:.0%} of the words are heard otherwise ({heard})"
                )
            else:
                kept.append(item)
        return kept, left_out

    def speak(self, ids: Ids, name: str) -> Take:
        """The sentence of phoneme ids (P,), without pads; the ``name`` draws nothing, since there
        is no noise."""
        if len(ids) > len(self._style):
            raise ConfigError(
                f"The sentence {name} has {len(ids)} phonemes; Kokoro says {len(self._style)} at"
                " most."
            )
        tokens = np.concatenate([[EDGE], ids, [EDGE]])[None].astype(np.int64)
        fed = {
            self._tokens: tokens,
            "style": self._style[len(ids) - 1][None],
            "speed": np.ones(1, np.float32),
        }
        samples, units, f0, energy = (
            np.asarray(value, np.float32).reshape(-1)
            for value in self._graph.run(
                [self._graph.get_outputs()[0].name, DURATIONS, PITCH, ENERGY], fed
            )
        )
        counts = np.rint(units).astype(np.int64)
        f0 = heard_pitch(f0)
        more = max(0, MIN_PAD - int(counts[0]))
        counts[0] += more
        samples = np.pad(samples, (more * UNIT * HOP, 0))
        f0 = np.pad(f0, (more * UNIT, 0))
        energy = np.pad(energy, (more * UNIT, 0), mode="edge")
        first, edges = trim_exact(counts, samples, lead=self.spec.lead, tail=self.spec.tail)
        end = first + int(edges[-1])
        return Take(
            edges, f0[first:end], samples[first * HOP : end * HOP], energy=energy[first:end]
        )


def heard_pitch(f0: Floats) -> Floats:
    """The pitch (T,) in Hz that is heard in each frame's middle, where ``f0`` (T,) is what the
    source is told.

    The source's phase in the middle of a frame is the sum of the pitches up to its own, so that
    from there on the next frame's is heard: half a frame early. Where one of both has no voice, it
    is the frame's own."""
    after = np.append(f0[1:], f0[-1:])
    return np.where(np.minimum(f0, after) > SourceFilter.UNVOICED_HZ, (f0 + after) / 2, f0)


def trim_exact(units: Ids, samples: Floats, *, lead: int, tail: int) -> tuple[int, Frames]:
    """Frames to cut off the front, and the edges (P + 3,) of the pads and phonemes in the rest.

    Silence at the end is taken from the last durations, each of which keeps a unit, but ``tail``
    frames after the last audible one. All phonemes are moved to where they are heard, ``EARLY``
    frames to the front; of the first pad ``lead`` frames are kept, or fewer if it has fewer.
    """
    loud = audible(samples)
    silent = int(loud[-1]) // HOP + 1 if len(loud) else 0
    over = int(units.sum()) - -(-(silent + tail) // UNIT)
    units = units.copy()
    for place in range(len(units) - 1, -1, -1):
        shorter = min(max(0, over), max(0, int(units[place]) - 1))
        units[place] -= shorter
        over -= shorter
    edges = np.concatenate([[0], np.maximum(np.cumsum(units) * UNIT - EARLY, 1)])
    first = max(0, int(edges[1]) - lead)
    edges -= first
    edges[0] = 0
    return first, edges


def load_listener(folder: str, language: str) -> Callable[[Item], tuple[float, str]]:
    """What tells the share of an item's words that Whisper mistakes, and what it hears; ConfigError
    without it."""
    name = language.split("-")[0].lower()
    transcribe = load_whisper(folder, threads=1, language=name)
    normalize = load_normalizer(name)

    def mistaken(item: Item) -> tuple[float, str]:
        assert item.audio is not None
        heard = transcribe(at_16khz(item.audio.astype(np.float32) / np.float32(32767), RATE))
        return word_errors(normalize(item.text), normalize(heard)).rate, heard.strip()

    return mistaken


def front_of(
    language: str, phonemes: Mapping[str, int], inner_punctuation: bool
) -> tuple[Callable[[], Normalizer], Phonemizer]:
    """What makes a normalizer, and a phonemizer: of American English the default voice's own, which
    spells alike."""
    front = reader(language)
    if phonemes == inventory()[0] and language.lower() in ("en", "en-us"):
        return front.normalizer, load_reader(inner_punctuation)
    return front.normalizer, front.phonemizer(phonemes, inner_punctuation=inner_punctuation)


def load_tapped(path: Path) -> Any:
    """ONNX Runtime's session of Kokoro's graph with three more outputs; ConfigError for another
    export's graph."""
    model = onnx.load(str(path))
    there = {name for node in model.graph.node for name in node.output}
    missing = [name for name in (DURATIONS, PITCH, ENERGY) if name not in there]
    if missing:
        raise ConfigError(
            f"{path} is another export of Kokoro: it has no {missing[0]}, which tells what it says."
        )
    for name in (DURATIONS, PITCH, ENERGY):
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
