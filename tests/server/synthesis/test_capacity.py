"""How many conversations a server takes."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.servers import serving, toy_voice

from sayahead.client import AsyncClient, ServerError
from sayahead.server.hub import PLACES_PER_CORE, Hub, Lease, RefusedError
from sayahead.server.operation.settings import settings_of
from sayahead.server.operation.siblings import Siblings
from sayahead.server.synthesis.capacity import (
    CHUNKS,
    FADING_S,
    HELD,
    LATE_S,
    MOST,
    SOON_S,
    Lateness,
    ProcessorShare,
    cost_of,
    granted,
    places_for,
)
from sayahead.server.voices import Voices


def test_speech_that_costs_twice_as_much_leaves_half_of_the_places() -> None:
    assert places_for(0.01, 2.0) == 2 * places_for(0.02, 2.0) == 100
    assert places_for(0.01, 4.0) == 2 * places_for(0.01, 2.0)
    assert places_for(100.0, 1.0) == 1
    # Speech that another process makes.
    assert places_for(0.0, 2.0) == places_for(1e-9, 2.0) == 2 * MOST


def test_a_container_has_no_more_processors_than_it_may_have(tmp_path: Path) -> None:
    quota = tmp_path / "cpu.max"
    assert granted(4, quota) == 4.0
    for text, most in (("max 100000", 4.0), ("50000 100000", 0.5), ("1600000 100000", 4.0)):
        quota.write_text(text + "\n", encoding="ascii")
        assert granted(4, quota) == most


def test_a_voice_is_measured_by_what_it_computes() -> None:
    begun = time.monotonic()
    spent = time.thread_time()
    cost = cost_of(toy_voice(), 0.2)
    assert 0.2 <= time.monotonic() - begun < 20
    assert 0 < cost < (time.thread_time() - spent) / 0.5
    # Waiting is no computing: it takes no processor from others.
    assert cost_of(toy_voice(0.005), 0.2) < 10 * cost


def test_a_server_takes_what_it_has_measured_unless_it_is_told() -> None:
    with serving(limits={"sessions": 0}, measure_s=0.1) as server:
        measured = server.hub.places
        assert 1 <= server.metric("tts_sessions_limit") <= measured
        # Once: the command starts it before it listens, to tell of what is wrong, and the
        # application again.
        began = time.monotonic()
        server.hub.settings = replace(server.hub.settings, measure_s=30.0)
        server.hub.start()
        assert time.monotonic() < began + 20
    with serving(limits={"sessions": 3}, measure_s=0.1) as server:
        assert server.hub.places == 3
    with serving(limits={"sessions": 0}) as server:
        assert server.hub.places % PLACES_PER_CORE == 0
    assert measured % PLACES_PER_CORE or measured != server.hub.places


def test_a_server_takes_fewer_where_other_programs_have_the_processor() -> None:
    share = ProcessorShare()
    share.add(0.0, 5.0)
    assert share.part == 1.0
    for _ in range(200):
        share.add(0.005, 0.02)
    assert share.part == pytest.approx(0.25, abs=0.03)
    for _ in range(2000):
        share.add(0.005, 0.005)
    assert share.part > 0.95
    with serving(limits={"sessions": 0}, measure_s=0.1) as server:
        hub = server.hub
        hub.pool.share = share
        for _ in range(200):
            share.add(0.005, 0.02)
        assert (
            hub.capacity
            == server.metric("tts_sessions_limit")
            == round(hub.places * share.part)
            < hub.places / 2
        )
    with serving(limits={"sessions": 8}) as server:
        server.hub.pool.share = share
        assert server.hub.capacity == 8


def test_sound_that_is_late_on_average_is_too_late_until_it_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lateness = Lateness()
    now = time.monotonic()

    def after(times: int, late_s: float) -> bool:
        for _ in range(times):
            lateness.add(late_s)
        return lateness.too_late

    assert not after(1, 10 * LATE_S)
    assert after(CHUNKS, 3 * LATE_S)
    # Sound for later.
    assert after(3 * CHUNKS, -2 * SOON_S)
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: now + 20 * FADING_S)
        assert not lateness.too_late
    assert not after(3 * CHUNKS, 0.0)


def crowd(number: int, **limits: int) -> tuple[Hub, list[Lease]]:
    """A server that was measured to have 60 places, unless its limits say, and so many connections
    of one key."""
    voices = Voices(("heart",))
    voices.put(toy_voice())
    settings = settings_of({"keys": ["a:first-key"], "limits": limits, "workers": 1})
    hub = Hub(settings, voices=voices, siblings=Siblings(measured=60))
    return hub, [entered(hub) for _ in range(number)]


def entered(hub: Hub) -> Lease:
    """Another connection. RefusedError where there is no place."""
    caller = hub.access.caller("first-key")
    assert caller is not None
    return hub.enter("native", caller)


def test_an_overload_is_over_once_many_have_left() -> None:
    """Who came next was refused for half a minute, while the processor had nothing to do."""
    hub, leases = crowd(120, sessions=4000)
    for _ in range(4 * CHUNKS):
        hub.lateness.add(0.3)
    with pytest.raises(RefusedError):
        entered(hub)
    for lease in leases[3:]:
        hub.leave(lease)
    # Others come in the same second, fewer than there were, and so far nothing shows that the
    # machine holds all of them.
    while not hub.late:
        entered(hub)
    assert hub.taken == pytest.approx(HELD * 120, abs=1)
    with pytest.raises(RefusedError):
        entered(hub)
    # Their sound is in time.
    for _ in range(4 * CHUNKS):
        hub.lateness.add(0.0)
    entered(hub)
    hub.close()


def test_who_is_served_in_time_is_held_however_long_threads_wait_for_each_other() -> None:
    """A third of the places was left under a server's own load, with most of the processor idle."""
    hub, _ = crowd(0)
    for _ in range(200):
        hub.pool.share.add(0.005, 0.02)
    assert hub.capacity == pytest.approx(15, abs=3)
    while hub.taken < 60:
        entered(hub)
    assert hub.capacity == 60
    with pytest.raises(RefusedError):
        entered(hub)
    # Their sound is late: there were too many.
    for _ in range(4 * CHUNKS):
        hub.lateness.add(0.3)
    assert hub.capacity == pytest.approx(15, abs=3)
    hub.close()


def test_an_overload_fades_within_seconds_however_seldom_somebody_speaks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    lateness = Lateness()
    for _ in range(4 * CHUNKS):
        lateness.add(0.3)
    assert lateness.too_late
    for _ in range(4):
        now += 1.5
        lateness.add(0.0)
    assert not lateness.too_late


def test_who_comes_where_others_wait_too_long_is_refused_at_once() -> None:
    async def speak(url: str) -> float:
        begun = time.monotonic()
        try:
            async with AsyncClient(url) as client:
                async for _ in client.stream(["Hello there. "]):
                    pass
        except ServerError:
            return time.monotonic() - begun
        return -1.0

    with serving(workers=1) as server:
        for _ in range(4 * CHUNKS):
            server.hub.lateness.add(1.0)
        # A server that speaks to nobody is not late, whatever was a moment ago.
        assert server.hub.ready
        assert asyncio.run(speak(server.ws)) == -1.0
        server.settle()
        for _ in range(4 * CHUNKS):
            server.hub.lateness.add(1.0)

        async def third() -> float:
            async with AsyncClient(server.ws), AsyncClient(server.ws):
                assert not server.hub.ready
                return await speak(server.ws)

        assert 0 <= asyncio.run(third()) < 10
        assert server.metric("tts_rejected_total", reason="overloaded") == 1
        server.settle()
