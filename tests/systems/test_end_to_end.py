"""A voice that is one network, brings its own front end, and speaks a language of which the package
knows nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.whistled import NOTE, whistled

from sayahead import ConfigError, load_voice
from sayahead.cli import main
from sayahead.research import LookaheadK, RandomWords
from sayahead.text import front_end

TEXT = "ao·uea·io/eu·o"


def test_it_speaks_word_by_word_under_any_policy(tmp_path: Path) -> None:
    voice = load_voice(whistled(tmp_path / "silbo"))
    chunks = list(voice.stream(list(TEXT)))
    words = [word for chunk in chunks for word in chunk.words]
    assert [(word.text, TEXT[word.start : word.end]) for word in words] == [
        (w, w) for w in TEXT.replace("/", "·").split("·")
    ]
    assert [word.onset_samples for word in words] == list(np.cumsum([0, 2, 3, 2, 2]) * NOTE)
    whole = voice.synthesize(TEXT, policy="wait-all")
    assert len(whole) == 10 * NOTE
    for policy in (LookaheadK(0), "lookahead:k=2", {"name": "independent", "words": 1}):
        samples = [chunk.samples for chunk in voice.stream(TEXT, policy=policy)]
        assert np.array_equal(voice.synthesize(TEXT, policy=policy), np.concatenate(samples))
    assert len(voice.synthesize(TEXT, context=RandomWords())) == len(whole)
    with pytest.raises(ConfigError, match="'silbo' has no policy 'learned'"):
        voice.session(policy="learned")


def test_every_command_takes_it(tmp_path: Path) -> None:
    folder = whistled(tmp_path / "silbo")
    assert main(["say", "-q", "--voice", str(folder), "-o", str(tmp_path / "a.wav"), TEXT]) == 0
    assert (tmp_path / "a.wav").stat().st_size == 44 + 2 * 10 * NOTE


def test_it_needs_no_english_front_end(tmp_path: Path) -> None:
    code = (
        "from support.whistled import whistled; from pathlib import Path; from sayahead import"
        f" load_voice; load_voice(whistled(Path({str(tmp_path)!r}))).synthesize('ao·io/');"
        " sys.exit(any(name.startswith(('hibari', 'sayahead.text.saying.english')) for name in"
        " sys.modules))"
    )
    tests = str(Path(__file__).parents[1])
    assert (
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r}); {code}"]
        ).returncode
        == 0
    )


def test_a_language_without_a_front_end_is_named() -> None:
    assert front_end("en-GB").normalizer().push("One two ")
    with pytest.raises(ConfigError, match="no text front end for the language 'x-silbo'"):
        front_end("x-silbo")
