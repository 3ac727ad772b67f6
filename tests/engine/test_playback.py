"""How far a listener is, by the best that is known of it."""

from __future__ import annotations

import pytest

from sayahead import ConfigError
from sayahead.engine.playback import Playback


def test_a_player_that_tells_nothing_plays_in_real_time_from_the_first_sound_on() -> None:
    playback = Playback()
    assert playback.played_s(3.0) == playback.left_s(3.0) == 0.0
    playback.give(1.0, 5.0)
    assert playback.played_s(5.25) == pytest.approx(0.25)
    assert playback.left_s(5.25) == pytest.approx(0.75)
    assert playback.played_s(9.0) == 1.0


def test_a_gap_moves_all_that_follows_and_what_is_not_heard_is_none() -> None:
    playback = Playback()
    assert not playback.give(1.0, 0.0)
    assert not playback.give(1.0, 1.004)
    assert playback.dry_at == pytest.approx(2.0)
    assert playback.give(1.0, 2.5)
    assert playback.dry_at == pytest.approx(3.5)


def test_a_report_counts_and_the_listener_goes_on_for_a_while() -> None:
    playback = Playback(extrapolate_s=0.5)
    playback.give(4.0, 0.0)
    playback.report(1.0, 3.0)
    assert playback.known_s == 1.0
    assert playback.played_s(3.2) == pytest.approx(1.2)
    assert playback.played_s(9.0) == pytest.approx(1.5)
    assert playback.left_s(9.0) == pytest.approx(2.5)
    # A player in real time has nothing left.
    assert playback.buffered_s(9.0) == 0.0


def test_a_report_that_cannot_be_changes_nothing() -> None:
    playback = Playback()
    playback.give(2.0)
    playback.report(1.0)
    for played_s, message in ((2.2, "but only 2.000 s"), (0.5, "but was 1.000 before: count on")):
        with pytest.raises(ConfigError, match=message):
            playback.report(played_s)
    assert playback.known_s == 1.0
    # A clock may be a little ahead.
    playback.report(2.01)
    assert playback.known_s == 2.0


def test_a_device_is_asked_for_what_it_was_given() -> None:
    playback = Playback(extrapolate_s=0.5)
    playback.give(1.0)
    played_s = 0.0
    playback.follow(lambda: played_s)
    playback.give(2.0)
    assert playback.played_s(99.0) == 1.0
    played_s = 0.5
    assert playback.left_s(99.0) == pytest.approx(1.5)
    played_s = 9.0
    assert playback.played_s(0.0) == 3.0


def test_samples_become_seconds_exactly() -> None:
    playback = Playback(24000)
    for _ in range(1000):
        playback.give(7)
    assert playback.given_s == 7000 / 24000
    playback.follow(lambda: 11)
    playback.give(100)
    assert playback.known_s == 7011 / 24000
