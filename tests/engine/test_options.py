"""The record of a session's options, and what is made from it."""

from __future__ import annotations

import runpy
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.servers import toy_voice

from sayahead import ConfigError, Options
from sayahead.config import documented
from sayahead.engine.options import ResearchOptions
from sayahead.research import SessionOptions


def test_keyword_arguments_have_the_fields_of_the_record() -> None:
    hints = typing.get_type_hints(Options) | typing.get_type_hints(ResearchOptions)
    del hints["research"]
    assert hints == typing.get_type_hints(SessionOptions)
    assert documented(SessionOptions).keys() == hints.keys()


def test_help_has_each_option_with_its_range_and_unit() -> None:
    text = str(Options.__doc__)
    assert "hold_back_s (0 to 2 s): Seconds of sound" in text
    assert "research['k2'] (0 to 16 chunks; default 0): Chunks that" in text
    assert "seed (0 and above; default 0): " in text
    assert all(f"\n{name}" in text for name in Options.__annotations__)


def test_what_papers_vary_is_apart_and_its_old_place_warns() -> None:
    voice = toy_voice()
    old: Any = {"k2": 1}
    with pytest.warns(DeprecationWarning, match=r"k2=... is research={'k2': ...} now") as caught:
        samples = voice.synthesize("Hello there, you.", **old)
    assert [warning.filename for warning in caught] == [__file__]
    assert np.array_equal(samples, voice.synthesize("Hello there, you.", research={"k2": 1}))


@pytest.mark.parametrize(
    ("research", "message"),
    [
        ({"k3": 1}, "research: unknown option 'k3'"),
        (2, "research is int 2, but must be a table"),
        ({"k2": 17}, "k2 is 17, but must be a whole number from 0 to 16"),
    ],
)
def test_wrong_research_options_are_refused(research: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        toy_voice().session(research=research)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pitch": 13}, "pitch is 13, but must be a number from -12 to 12"),
        ({"speed": None}, "speed is None, but must be a number"),
        ({"seed": 0.5}, "seed is 0.5, but must be a whole number"),
        ({"keep_up": "lag=2"}, "unknown option 'lag'"),
        ({"markup": "html"}, "markup is 'html' .known: none, ssml"),
    ],
)
def test_what_is_out_of_bounds_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SessionOptions(**options)


def test_the_document_has_the_options_of_the_record() -> None:
    script = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "options.py"))
    assert script["main"](["--check"]) == 0
