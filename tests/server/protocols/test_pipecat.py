"""Pipecat's services, as they are published, against the protocols that they speak."""

from __future__ import annotations

import asyncio
import warnings

import numpy as np
import pytest
from support.servers import LEAVING_SOCKETS, Running, check_times, toy_voice

pytest.importorskip("pipecat", reason="needs sayahead[compat]")

with warnings.catch_warnings():
    # Pipecat imports what Python and its own next version are to lose.
    warnings.simplefilter("ignore", DeprecationWarning)
    from support.pipecat_run import TOKENS, Heard, services, turn

TEXT = "".join(TOKENS)
pytestmark = [
    LEAVING_SOCKETS,
    pytest.mark.usefixtures("leftovers"),
    pytest.mark.parametrize("protocol", ["cartesia", "deepgram", "flux", "elevenlabs"]),
]


def check(heard: Heard, protocol: str) -> None:
    """The text was heard; Deepgram's protocols have no times of words, and their flush no silence
    at the end."""
    flushed = protocol in ("deepgram", "flux")
    assert heard.errors == []
    wanted = toy_voice().synthesize(TEXT)
    wanted = wanted[:-800] if flushed else wanted
    assert len(heard.samples()) >= len(wanted)
    assert np.abs(heard.samples()[: len(wanted)] - wanted).max() < 1e-4
    if not flushed:
        assert len(heard.samples()) == len(wanted)
        check_times(heard.words, TEXT)


def test_words_are_heard_before_the_last_is_sent(server: Running, protocol: str) -> None:
    heard = asyncio.run(turn(services(server)[protocol](), TOKENS))
    assert 0 < heard.tokens_before_sound < len(TOKENS)
    check(heard, protocol)
    server.settle()


def test_an_interruption_is_silent_and_the_next_turn_speaks(server: Running, protocol: str) -> None:
    heard = asyncio.run(
        turn(services(server)[protocol](), [" word"] * 60, interrupt=True, more=TOKENS)
    )
    assert heard.sound_after_interruption == 0
    check(heard, protocol)
    server.settle()
