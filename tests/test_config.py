"""Strict reading of configuration: what is unknown, missing or of the wrong kind is named with its
path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from sayahead import ConfigError
from sayahead.config import from_mapping, nearest

pytestmark = pytest.mark.smoke


@dataclass(frozen=True)
class Inner:
    rate: float
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner
    steps: int | None = None
    table: dict[str, int] = field(default_factory=dict)


def test_a_whole_configuration() -> None:
    data = {"name": "x", "inner": {"rate": 2, "tags": ["a", "b"]}, "table": {"k": 1}}
    assert from_mapping(Outer, data, where="f") == Outer(
        "x", Inner(2.0, ("a", "b")), None, {"k": 1}
    )
    assert from_mapping(Outer, {**data, "steps": 3}, where="f").steps == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "f: expected a table with keys, found list"),
        ({"inner": {"rate": 1}}, "f: the key 'name' is missing"),
        ({"name": "x", "inner": {}}, "f: inner: the key 'rate' is missing"),
        (
            {"name": "x", "inner": {"rate": 1, "tag": 1}},
            r"f: inner: unknown key 'tag' \(did you mean 'tags'\?\)",
        ),
        ({"name": 1, "inner": {"rate": 1}}, "f: name: expected str, found int 1"),
        ({"name": "x", "inner": {"rate": True}}, "f: inner: rate: expected float, found bool True"),
        ({"name": "x", "inner": {"rate": 1, "tags": "ab"}}, "f: inner: tags: expected"),
        ({"name": "x", "inner": {"rate": 1}, "steps": 1.5}, "f: steps: expected int, found float"),
        (
            {"name": "x", "inner": {"rate": 1}, "table": {"k": "v"}},
            "f: table.k: expected int, found str 'v'",
        ),
    ],
)
def test_what_is_wrong_is_named(data: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_mapping(Outer, data, where="f")


def test_numpys_numbers_are_read() -> None:
    made = from_mapping(
        Outer, {"name": "x", "inner": {"rate": np.float32(2)}, "steps": np.int64(3)}, where="f"
    )
    assert made == Outer("x", Inner(2.0), 3)
    assert (type(made.inner.rate), type(made.steps)) == (float, int)


def test_the_nearest_known_word() -> None:
    assert nearest("lokahead", ["lookahead", "wait-all"]) == " (did you mean 'lookahead'?)"
    assert nearest("zzz", ["b", "a"]) == " (known: a, b)"
    assert nearest("zzz", [f"a{number}" for number in range(100)]) == ""
    assert nearest("zzz", []) == ""
