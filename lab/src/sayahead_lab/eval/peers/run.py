"""A peer beside an experiment's conditions: its texts measured once each, and timed on the same
clocks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sayahead.errors import ConfigError
from sayahead.sound.files import write_wav

from sayahead_lab.eval.experiment.conditions import Matrix
from sayahead_lab.eval.experiment.folder import keep, recorded, unmeasured, wav_path
from sayahead_lab.eval.experiment.run import Countdown, Progress, on_clocks, silent
from sayahead_lab.eval.peers.peer import PeerError, WorkerPeer
from sayahead_lab.eval.peers.timing import Locate, measured, nowhere
from sayahead_lab.scripts import ScriptLine


def run_peer(
    peer: WorkerPeer,
    matrix: Matrix,
    texts: Sequence[ScriptLine],
    out: Path,
    *,
    locate: Locate = nowhere,
    progress: Progress = silent,
) -> None:
    """All texts by one peer, measured and timed on the matrix's clocks, in files as ``run.run``
    writes: OUT/<peer>/."""
    if any(condition.name == peer.name for condition in matrix.conditions):
        raise ConfigError(
            f"Peer {peer.name} has the name of a condition: rename that in the matrix."
        )
    folder = out / peer.name
    settings = {"name": peer.name}
    tasks = unmeasured(folder, texts, settings)
    countdown = Countdown(len(tasks), progress)
    try:
        if tasks:
            peer.start()
            if not peer.about.get("simulates", True):
                raise PeerError(
                    f"Peer {peer.name} can be timed on the wall clock alone: put it into a field's"
                    " file."
                )
            with recorded(folder, settings, 1):
                for number, text in tasks:
                    trace, samples = measured(
                        peer, text.text, locate=locate, index=number, name=text.name
                    )
                    write_wav(wav_path(folder, text.name), samples, trace.sample_rate)
                    keep(trace, folder)
                    countdown.done(peer.name)
    finally:
        peer.close()
    on_clocks(matrix, texts, folder)
