"""Adapters that are files of their own, each written from the documentation alone."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest
from support.servers import serving

from sayahead_lab.eval.experiment.clock import RecordedTokens
from sayahead_lab.eval.experiment.frozen import frozen
from sayahead_lab.eval.measures.latency import first_heard_s
from sayahead_lab.eval.peers.catalogue import SERVER, make_peer
from sayahead_lab.eval.peers.peer import WorkerPeer
from sayahead_lab.eval.peers.timing import cancelled_s, live, measured

FOLDER = Path(__file__).parents[3] / "benchmarks" / "field"
FILES = ("elevenlabs_multi", "festival", "livekit_plugin")
TEXT = min((line.text for line in frozen("answers")), key=len)


def one_of(file: str) -> WorkerPeer:
    return make_peer(f"{FOLDER / file}.py:peer")


@pytest.mark.parametrize("file", FILES)
def test_an_adapter_is_short(file: str) -> None:
    tree = ast.parse((FOLDER / f"{file}.py").read_text(encoding="utf-8"))
    assert sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) < 40


@pytest.mark.parametrize("file", FILES)
def test_what_an_adapter_lacks_is_named(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("LIVEKIT_PYTHON", "none")
    monkeypatch.delenv(SERVER, raising=False)
    assert any(word in (one_of(file).missing() or "") for word in ("install", "set"))


def spoken(peer: WorkerPeer) -> tuple[float, float]:
    """First sound in s, and the length of a text's sound, on the wall clock; a cancelled one before
    leaves nothing."""
    peer.start()
    try:
        assert cancelled_s(peer, TEXT) < 5
        trace, sound, _ = live(peer, RecordedTokens(50).arrivals(TEXT))
        return first_heard_s(trace), len(sound) / peer.rate
    finally:
        peer.close()


def test_a_context_of_elevenlabs(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        monkeypatch.setenv(SERVER, server.ws)
        peer = one_of("elevenlabs_multi")
        first_s, lasts_s = spoken(peer)
        assert peer.about["simulates"] is False
    assert 0 < first_s < 5
    assert 0.3 < lasts_s < 10


@pytest.mark.skipif(shutil.which("festival") is None, reason="needs festival")
def test_festival() -> None:
    peer = one_of("festival")
    peer.start()
    try:
        trace, sound = measured(peer, 'He said "no\\yes", and left. So did I.')
    finally:
        peer.close()
    assert [chunk.read for chunk in trace.chunks] == [29, 37]
    assert len(sound) / peer.rate > 1.5


def test_a_plugin_of_livekit() -> None:
    peer = one_of("livekit_plugin")
    if why := peer.missing():
        pytest.skip(why)
    first_s, lasts_s = spoken(peer)
    assert 0 < first_s < 5
    assert 0.3 < lasts_s < 10
