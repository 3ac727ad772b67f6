"""The voice ma-lj: Deep Voice 3 and the mel vocoder, as they are shipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sayahead import Voice
from sayahead.research import Independent, LookaheadK, Policy, WaitAll
from support.command import Command, kept
from support.pitch import pitch_of
from support.splits import joined, same_by_letters

TEXT = "Nobody had told them, so they came too late. We knew."


@pytest.fixture(scope="module")
def voice() -> Voice:
    return kept("ma-lj")


@pytest.mark.parametrize(
    "options",
    [{}, {"research": {"k2": 0, "delta": 0}}, {"research": {"k2": 1}}],
    ids=["own", "lookahead-1", "lookahead-2"],
)
@pytest.mark.parametrize("policy", [LookaheadK(1), LookaheadK(1, 18, 6), LookaheadK(0)], ids=str)
def test_any_split_gives_the_same_sound(
    voice: Voice, policy: Policy, options: dict[str, Any]
) -> None:
    same_by_letters(voice, TEXT, policy=policy, **options)


def test_words_of_their_own_take_longer_than_a_sentence(voice: Voice) -> None:
    sentence, _ = joined(voice, [TEXT], policy=WaitAll())
    apart, _ = joined(voice, [TEXT], policy=Independent(1))
    assert 2 < len(sentence) / 24000 < 8
    assert len(apart) > 1.5 * len(sentence)


def test_incremental_speech_is_as_long_as_the_whole_sentence(voice: Voice) -> None:
    whole, _ = joined(voice, [TEXT], policy=WaitAll())
    for k in (1, 2):
        made, _ = joined(voice, [TEXT], policy=LookaheadK(k))
        assert len(made) == pytest.approx(len(whole), rel=0.15)


def test_the_papers_settings_on_the_command_line(sayahead: Command, tmp_path: Path) -> None:
    path = tmp_path / "one.wav"
    settings = "--k1 1 --k2 0 --delta 0 --policy lookahead:first_chunk=18,chunk=6"
    sayahead("say", "--voice", "ma-lj", *settings.split(), "-q", "-o", str(path), TEXT)
    assert path.stat().st_size > 2 * 24000


def test_it_can_be_shaped(voice: Voice) -> None:
    low = voice.synthesize("Hello there.", pitch=-7.0)
    plain = voice.synthesize("Hello there.")
    assert pitch_of(low, 24000) < 0.8 * pitch_of(plain, 24000)
