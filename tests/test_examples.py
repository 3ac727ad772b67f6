"""The examples do what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_custom_policy() -> None:
    phrases = example("custom_policy").main("When the rain stops, and it will, we go out.")
    words = [word for phrase in phrases for word in phrase]
    assert words == ["When", "the", "rain", "stops,", "and", "it", "will,", "we", "go", "out."]
    assert len(phrases) == 3


def test_custom_context() -> None:
    with_script, without = example("custom_context").main()
    assert with_script != without


def test_voice_agent() -> None:
    heard = example("voice_agent").main()
    assert heard.startswith("Sure! The museum opens")
    assert len(heard) < 80


def test_custom_peer() -> None:
    made = example("custom_peer").main("One sentence. And another.")
    assert [chunk.samples for chunk in made.chunks] == [800 * 13, 800 * 12]
    assert [chunk.read for chunk in made.chunks] == [15, 26]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_tested(path: Path) -> None:
    assert f"def test_{path.stem}(" in Path(__file__).read_text(encoding="utf-8")
