"""Ground truth for the experiments of Ma et al. (2020), as peers: the corpus's own speaker, and its
mel vocoded.

    sayahead eval run lab/benchmarks/ma/quality.toml --texts test.csv -o out \
        --peers lab/benchmarks/ma/truth.py:truth,lab/benchmarks/ma/truth.py:vocoded

The speaker is the default voice as teacher, whole sentences without inner punctuation, as in
training. SAYAHEAD_MA_VOICE names the voice whose vocoder is meant (default: ma-lj),
SAYAHEAD_MA_BESIDE another for ``beside``. Any other name is a voice's own: truth.py:ma-lj,
truth.py:voices/ma-clarinet. SAYAHEAD_MA_TEACHER names another speaker, a voice of the family.
``recordings`` are a person's, of the folder SAYAHEAD_MA_RECORDINGS: wavs/NAME.wav, and test.csv
with their texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sayahead import load_voice
from sayahead.engine.synthesizer import TwoStage
from sayahead.types import Floats

from sayahead_lab.eval.peers.peer import Engine
from sayahead_lab.scripts import read_texts
from sayahead_lab.training.corpus.recordings import read_recording


def load(vocode: bool, voice: str = "ma-lj", teacher: str = "") -> Any:
    """Runs in the worker: the teacher, and the named voice's vocoder where its mel is to be
    vocoded."""
    from sayahead_lab.training.corpus.family import FamilySpec
    from sayahead_lab.training.corpus.frontend import PRESETS
    from sayahead_lab.training.corpus.teacher import TeacherSpec

    front = PRESETS["ma"]
    source = (
        FamilySpec(front, "final", voice=teacher) if teacher else TeacherSpec(front, "final")
    ).open()
    loaded = load_voice(voice)
    synthesizer = loaded.synthesizer
    assert isinstance(synthesizer, TwoStage)

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Floats]:
        for piece in text:
            for item in source.items("text", piece)[0]:
                assert item.audio is not None
                if vocode:
                    yield synthesizer.vocode(item.mel.astype(np.float32))
                else:
                    yield item.audio.astype(np.float32) / np.float32(32767)

    return {"rate": loaded.sample_rate}, speak


def teacher() -> str:
    """The voice of the family that is the speaker; empty: the default voice."""
    return os.environ.get("SAYAHEAD_MA_TEACHER", "")


def load_recordings(folder: str, rate: int) -> Any:
    """Runs in the worker: a person's recordings by their texts."""
    named = {line.text: line.name for line in read_texts(Path(folder) / "test.csv")}

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[Floats]:
        for piece in text:
            # What engines are warmed up with nobody has recorded.
            name = named.get(piece.strip())
            yield (
                np.zeros(rate, np.float32)
                if name is None
                else read_recording(Path(folder), name, rate)
            )

    return {"rate": rate}, speak


def recordings() -> Engine:
    """Runs in the evaluation: the recordings, at the voices' rate."""
    options = {"folder": os.environ["SAYAHEAD_MA_RECORDINGS"], "rate": 24000}
    return Engine("recordings", f"{__file__}:load_recordings", "whole", options)


def truth() -> Engine:
    """Runs in the evaluation: the ground truth."""
    return Engine(
        "ground truth", f"{__file__}:load", options={"vocode": False, "teacher": teacher()}
    )


def vocoded() -> Engine:
    """Runs in the evaluation: the ground truth's mel through the vocoder."""
    return through("ground truth mel", os.environ.get("SAYAHEAD_MA_VOICE", "ma-lj"))


def beside() -> Engine:
    """Runs in the evaluation: the ground truth's mel through the vocoder of a second voice."""
    return through("ground truth mel, beside", os.environ["SAYAHEAD_MA_BESIDE"])


def __getattr__(voice: str) -> Callable[[], Engine]:
    """Runs in the evaluation: the ground truth's mel through the vocoder of the voice of that name
    or folder."""
    if voice.startswith("_"):
        raise AttributeError(voice)
    return lambda: through(f"ground truth mel, {voice.rpartition('/')[2]}", voice)


def through(name: str, voice: str) -> Engine:
    """The ground truth's mel through a voice's vocoder."""
    return Engine(
        name, f"{__file__}:load", options={"vocode": True, "voice": voice, "teacher": teacher()}
    )
