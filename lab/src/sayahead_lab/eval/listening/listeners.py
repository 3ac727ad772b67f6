"""Listeners: a speech recogniser and models of listeners' opinions, from packages that only scoring
needs."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sayahead.errors import ConfigError
from sayahead.types import Floats

from sayahead_lab.eval.measures.word_errors import Errors, word_errors

RATE = 16000
"""Samples per second of the listeners' input."""
WHISPER = "SAYAHEAD_WHISPER"
"""Environment variable with the Whisper folder, for want of an argument."""
FIGURE = re.compile(r"^(?!<\|).*[0-9]")
"""A token that is written with figures; those in <| |> are Whisper's own, such as times."""
UTMOS = "SAYAHEAD_UTMOS"
"""Environment variable with UTMOS's file or its folder, for want of an argument."""
EXTRA = "pip install 'sayahead-lab[score]'"
NEEDS: dict[str, tuple[tuple[str, str], ...]] = {
    "whisper": (("faster_whisper", EXTRA),),
    "normalizer": (("whisper_normalizer", EXTRA),),
    "distillmos": (
        ("distillmos", "pip install --no-deps distillmos xls-r-sqa"),
        ("xls_r_sqa", "pip install --no-deps distillmos xls-r-sqa"),
    ),
    "dnsmos": (("speechmos", EXTRA), ("librosa", EXTRA), ("requests", "pip install requests")),
    "resemblyzer": (
        ("resemblyzer", "pip install --no-deps Resemblyzer webrtcvad-wheels"),
        ("webrtcvad", "pip install --no-deps Resemblyzer webrtcvad-wheels"),
        ("librosa", EXTRA),
    ),
}
"""Modules that a listener imports, directly or not, each with the command that installs it."""


class SpeechRecogniser(Protocol):
    """A speech recogniser."""

    def __call__(self, samples: Floats, /) -> str:
        """The words in samples (S,) at 16 kHz."""
        ...


class Rater(Protocol):
    """A model of listeners' opinions."""

    def __call__(self, samples: Floats, /) -> float:
        """The opinion score, 1 to 5, of samples (S,) at 16 kHz."""
        ...


def at_16khz(samples: Floats, rate: int) -> Floats:
    """Samples (S,) resampled to 16 kHz by soxr, at its high quality."""
    if rate == RATE:
        return np.asarray(samples, np.float32)
    import soxr

    return np.asarray(soxr.resample(samples, rate, RATE), np.float32)


def load_whisper(
    folder: str | Path | None, *, threads: int, language: str = "en", figures: bool = True
) -> SpeechRecogniser:
    """Whisper by faster-whisper: int8, beam 1, no conditioning on earlier speech; without
    ``figures``, numbers are written as words."""
    require(missing("whisper") or missing_folder(folder))
    from faster_whisper import WhisperModel

    model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads)
    # -1: what Whisper never writes anyway.
    never = [-1]
    if not figures:
        tokens: dict[str, int] = model.hf_tokenizer.get_vocab()
        never += [number for token, number in tokens.items() if FIGURE.search(token)]

    def transcribe(samples: Floats) -> str:
        segments, _ = model.transcribe(
            samples,
            language=language,
            beam_size=1,
            condition_on_previous_text=False,
            suppress_tokens=never,
        )
        return " ".join(segment.text for segment in segments)

    return transcribe


def load_normalizer(language: str = "en") -> Callable[[str], str]:
    """Whisper's text normalizer: English's own, or that of all other languages."""
    require(missing("normalizer"))
    from whisper_normalizer.basic import BasicTextNormalizer
    from whisper_normalizer.english import EnglishTextNormalizer

    normalize: Callable[[str], str] = (
        EnglishTextNormalizer() if language == "en" else BasicTextNormalizer()
    )
    return normalize


def load_word_counter(
    folder: str | Path | None, language: str = "en"
) -> Callable[[str, Floats, int], Errors]:
    """Counts the words of a text that Whisper mistakes in samples (S,) at a rate."""
    transcribe = load_whisper(folder, threads=1, language=language)
    normalize = load_normalizer(language)
    return lambda text, samples, rate: word_errors(
        normalize(text), normalize(transcribe(at_16khz(samples, rate)))
    )


def load_distillmos() -> Rater:
    """DistillMOS; its weights come with its package."""
    require(missing("distillmos"))
    import torch

    # Both are imported, but used only for files at other rates and for its teacher model; and
    # torchaudio loads only with the exact version of torch that it was built for.
    empty = {"torchaudio.transforms": ("MFCC", "Resample"), "transformers": WAV2VEC}
    # It prints about its weights on standard output, which is for results.
    with stand_ins(empty), redirect_stdout(sys.stderr):
        model = importlib.import_module("distillmos").ConvTransformerSQAModel().eval()

    def rate(samples: Floats) -> float:
        with torch.no_grad():
            return float(model(torch.from_numpy(samples)[None])[0])

    return rate


WAV2VEC = ("Wav2Vec2FeatureExtractor", "Wav2Vec2Model")


def load_dnsmos() -> Rater:
    """DNSMOS P.835; its weights come with the package speechmos."""
    require(missing("dnsmos"))
    import onnxruntime
    from speechmos import dnsmos

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    folder = Path(dnsmos.__file__).parent / "dnsmos_models"
    model = dnsmos.DNSMOS(str(folder / "sig_bak_ovr.onnx"), str(folder / "model_v8.onnx"))
    # One thread, and without its second network, whose score is unused: the same score in half the
    # time.
    model.onnx_sess = onnxruntime.InferenceSession(model.primary_model_path, options)
    model.p808_onnx_sess = NoScore()
    model.audio_melspec = lambda audio: np.zeros((1, 1), np.float32)

    def rate(samples: Floats) -> float:
        return float(model(np.clip(samples, -1, 1), RATE, False)["ovrl_mos"])

    return rate


class NoScore:
    """Stand-in for a network whose score is unused."""

    def run(self, *_: object) -> Any:
        """Zero (1, 1, 1)."""
        return np.zeros((1, 1, 1), np.float32)


def load_utmos(path: str | Path | None) -> Rater:
    """UTMOS (Saeki et al. 2022) from a TorchScript file, or from the folder that holds one (.pt,
    .jit, .ts).

    Its ``score`` where it has one, otherwise the module itself, gets samples (1, S) as floats at 16
    kHz, and 16000 if it takes a second argument, and gives the score. The first form is
    ``utmos_scripted.pt``, UTMOS22's strong learner, which Blinorot/UTMOS-PyTorch publishes on the
    Hugging Face hub; the second is ``utmos22_strong`` of tarepan/SpeechMOS, once it is scripted.
    ConfigError for any other file, or one whose score is not a number."""
    require(missing_utmos(path))
    import torch

    file = utmos_file(str(path))
    assert file is not None
    with warnings.catch_warnings():
        # torch has deprecated TorchScript, but UTMOS is published in it.
        warnings.simplefilter("ignore", DeprecationWarning)
        load: Any = torch.jit.load
        try:
            module = load(str(file), map_location="cpu").eval()
        except RuntimeError as error:
            raise ConfigError(f"{file} is not TorchScript. {GET_UTMOS}") from error
    score = getattr(module, "score", module)
    schema = getattr(score, "schema", None) or module.forward.schema
    further = [RATE] if len(schema.arguments) > 2 else []

    def rate(samples: Floats) -> float:
        with torch.no_grad():
            try:
                opinion = float(
                    score(torch.from_numpy(np.ascontiguousarray(samples))[None], *further)
                )
            except (RuntimeError, ValueError, torch.jit.Error) as error:
                last = str(error).strip().splitlines()[-1]
                raise ConfigError(
                    f"{file} does not take samples (1, S) at 16 kHz: {last}. {GET_UTMOS}"
                ) from error
        if not np.isfinite(opinion):
            raise ConfigError(f"{file} gives {opinion} as a score. {GET_UTMOS}")
        return opinion

    return rate


GET_UTMOS = (
    "Get one for example by: hf download Blinorot/UTMOS-PyTorch utmos_scripted.pt --local-dir utmos"
)


def utmos_file(path: str | Path) -> Path | None:
    """The TorchScript file at a path or in its folder; none unless there is just one."""
    path = Path(path)
    if path.is_file():
        return path
    files = [file for ending in ("pt", "jit", "ts") for file in path.glob(f"*.{ending}")]
    return files[0] if len(files) == 1 else None


def missing_utmos(path: Any) -> str | None:
    """The problem with UTMOS's path, or none."""
    if path is None:
        return f"UTMOS needs its weights as TorchScript in {UTMOS} (or as an argument). {GET_UTMOS}"
    if utmos_file(path) is None:
        return f"{path} is neither a TorchScript file nor a folder with just one. {GET_UTMOS}"
    return None


def identity(listener: str, path: Any = None) -> str:
    """A listener's name with the version of its package, or the name and size of its model file."""
    if listener in ("whisper", "utmos") and path is not None:
        file = Path(path) / "model.bin" if listener == "whisper" else utmos_file(path)
        size = file.stat().st_size if file is not None and file.is_file() else 0
        return f"{Path(path).name}, {size} bytes"
    package = {"dnsmos": "speechmos"}.get(listener, listener)
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


@contextmanager
def stand_ins(modules: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """Inside the block, empty modules with empty classes of these names replace the modules and
    their parents."""
    names = {part for name in modules for part in (name, name.partition(".")[0])}
    replaced = {name: sys.modules.get(name) for name in names}
    for name in sorted(names):
        module = types.ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        for attribute in modules.get(name, ()):
            setattr(module, attribute, type(attribute, (), {}))
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)
    try:
        yield
    finally:
        for name, before in replaced.items():
            if before is None:
                del sys.modules[name]
            else:
                sys.modules[name] = before


def require(problem: str | None) -> None:
    """ConfigError where there is a problem."""
    if problem:
        raise ConfigError(problem)


def missing(listener: str) -> str | None:
    """Which package a listener lacks and how to install it; none if they are all there."""
    problems = (
        missing_module(name, command, listener) for name, command in NEEDS.get(listener, ())
    )
    return next((problem for problem in problems if problem), None)


def missing_module(name: str, command: str, purpose: str) -> str | None:
    """How to install the module, in a sentence, or none if it is there."""
    if name in sys.modules or importlib.util.find_spec(name) is not None:
        return None
    return f"The package {name} is not installed, which {purpose} needs: {command}"


def missing_folder(folder: str | Path | None) -> str | None:
    """The problem with a faster-whisper model folder, or none."""
    how = "for example by: hf download Systran/faster-whisper-base --local-dir whisper-base"
    if folder is None:
        return (
            f"WER and CER need a faster-whisper model folder in {WHISPER} (or as an argument),"
            f" {how}"
        )
    for name in ("model.bin", "config.json", "tokenizer.json"):
        if not (Path(folder) / name).is_file():
            return f"{folder} is not a faster-whisper model folder, it has no {name}; get one {how}"
    return None
