"""Ground truth for the experiments of Ma et al. (2020), as peers: the corpus's own speaker, and its mel vocoded.

    sayahead eval run lab/benchmarks/ma/quality.toml --texts test.csv -o out \
        --peers lab/benchmarks/ma/truth.py:truth,lab/benchmarks/ma/truth.py:vocoded

The speaker is the default voice as teacher, whole sentences without inner punctuation, as in training.
SAYAHEAD_MA_VOICE names the voice whose vocoder is meant (default: ma-lj), SAYAHEAD_MA_BESIDE another for ``beside``;
``shipped`` always means that of ma-lj.
"""

from __future__ import annotations

import os
import sys

import numpy as np
from sayahead import load_voice
from sayahead.engine.synthesizer import TwoStage
from sayahead.types import Floats

from sayahead_lab.eval.experiment.peer_worker import Speak, serve
from sayahead_lab.eval.experiment.peers import Peer, WorkerPeer


def load(vocode: bool, name: str) -> Speak:
    """Runs in the worker: the teacher, and the named voice's vocoder where its mel is to be vocoded."""
    from sayahead_lab.training.corpus.frontend import PRESETS
    from sayahead_lab.training.corpus.teacher import TeacherSpec

    teacher = TeacherSpec(PRESETS["ma"], "final").open()
    voice = load_voice(name)
    synthesizer = voice.synthesizer
    assert isinstance(synthesizer, TwoStage)

    def sound(text: str) -> tuple[Floats, int]:
        made = []
        for item in teacher.items("text", text)[0]:
            assert item.audio is not None
            if vocode:
                made.append(synthesizer.vocode(item.mel.astype(np.float32)))
            else:
                made.append(item.audio.astype(np.float32) / np.float32(32767))
        return np.concatenate(made) if made else np.zeros(0, np.float32), voice.sample_rate

    return sound


def truth() -> Peer:
    """Runs in the evaluation: the ground truth."""
    return WorkerPeer("ground truth", [sys.executable, __file__, "truth"])


def vocoded() -> Peer:
    """Runs in the evaluation: the ground truth's mel through the vocoder."""
    voice = os.environ.get("SAYAHEAD_MA_VOICE", "ma-lj")
    return WorkerPeer("ground truth mel", [sys.executable, __file__, "vocoded", voice])


def beside() -> Peer:
    """Runs in the evaluation: the ground truth's mel through the vocoder of a second voice."""
    return WorkerPeer(
        "ground truth mel, beside", [sys.executable, __file__, "vocoded", os.environ["SAYAHEAD_MA_BESIDE"]]
    )


def shipped() -> Peer:
    """Runs in the evaluation: the ground truth's mel through the vocoder of ma-lj, beside another's."""
    return WorkerPeer("ground truth mel, ma-lj", [sys.executable, __file__, "vocoded", "ma-lj"])


if __name__ == "__main__":
    serve(lambda: load(sys.argv[1] == "vocoded", [*sys.argv, "ma-lj"][2]))
