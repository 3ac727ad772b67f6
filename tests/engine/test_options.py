"""The record of a session's options, and what is made from it."""

from __future__ import annotations

import runpy
import typing
from pathlib import Path
from typing import Any

import pytest

from sayahead import ConfigError, Options
from sayahead.config import documented
from sayahead.research import SessionOptions


def test_keyword_arguments_have_the_fields_of_the_record() -> None:
    assert typing.get_type_hints(Options) == typing.get_type_hints(SessionOptions)
    assert documented(SessionOptions).keys() == Options.__annotations__.keys()


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
