"""Readings of all kinds of text against those a person accepts, and two properties that no rule may
break."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from support import readings
from support.effort import examples
from support.readings import Case, right, right_alone, sound

from sayahead.text.languages import record_of
from sayahead.text.reading.stream import normalize
from sayahead.text.saying.english.homographs import ADDED
from sayahead.text.saying.english.phonemizer import NAMES, names

CASES = readings.cases(
    Path(os.environ.get("SAYAHEAD_READINGS") or Path(__file__).with_name("readings.tsv"))
)
OWN = "SAYAHEAD_READINGS" not in os.environ


def spoken(text: str) -> str:
    return " ".join(word.text for word in normalize(text))


def test_readings_by_category() -> None:
    """All of our own; 95 of 100 of anybody's, and 85 of each kind."""
    wrong = defaultdict[str, list[Case]](list)
    count = defaultdict[str, int](int)
    for case in CASES:
        count[case.category] += 1
        if not right(case):
            wrong[case.category].append(case)
    told = "\n".join(
        f"{case.text!r}: {spoken(case.text)}" for cases in wrong.values() for case in cases
    )
    assert sum(map(len, wrong.values())) <= (0 if OWN else 0.05 * len(CASES)), told
    assert all(len(cases) <= 0.15 * count[category] for category, cases in wrong.items()), told


def test_no_text_is_read_worse_than_with_no_normalizer() -> None:
    words = [case for case in CASES if case.category != "sentence ends"]
    fine = [case for case in words if right_alone(case)]
    assert len(fine) > len(words) / 5
    assert [case.text for case in fine if not right(case)] == []


@settings(max_examples=examples(300))
@given(
    st.integers(0, 999) | st.integers(1100, 10**9).map(lambda n: f"{n:,}"),
    st.sampled_from(["{}", "{}-word", "{}-year-old", "{}-page,"]),
)
def test_plain_numbers_sound_as_the_lexicon_reads_them(number: int | str, form: str) -> None:
    """Numbers in words must not sound worse than the figures do where hibari reads these well."""
    text = form.format(number)
    if "-" in text and isinstance(number, str):
        # Behind a comma number hibari drops the word's hyphen: compare its parts.
        text = text
        figures = str(number)
        assert sound(spoken(f"see {text}")) == sound(
            f"see {figures} {text[len(figures) + 1 :].replace('-', ' ')}"
        )
    else:
        assert sound(spoken(f"see {text}")) == sound(f"see {text.replace('-', ' ')}")


@pytest.mark.parametrize(
    "text", ["1st", "2nd", "1,000th", "0.75", "3.14159", "21st-century", "5%", "'90s", "1/2"]
)
def test_what_the_lexicon_reads_well_sounds_the_same(text: str) -> None:
    alone = {"0.75": "zero point seven five", "1/2": "one half", "'90s": "nineties"}
    assert sound(spoken(f"see {text}")) == sound(f"see {alone.get(text, text.replace('-', ' '))}")


SAID = "€£¥%°+=<>@&×÷±≤≥≠"
"""Said wherever they stand, as is ``$`` before figures; ``pieces.SILENT`` and ``pieces.PAUSES``
name what is not."""
TOKENS = st.one_of(
    st.from_regex(
        r"[1-9][0-9]{0,5}(,[0-9]{3})?(\.[0-9]{1,4})?(st|nd|rd|th|s|k|M|km|kg|%|°C|x|K)?",
        fullmatch=True,
    ),
    st.from_regex(
        r"[$€£][1-9][0-9]{0,4}(\.[0-9]{1,3})?(k|M|bn)?([-–/][1-9][0-9]{0,3})?", fullmatch=True
    ),
    st.from_regex(r"[1-9][0-9]{0,3}([-–/:.x][1-9][0-9]{0,3}){1,4}", fullmatch=True),
    st.from_regex(r"[A-Za-z]{1,6}[-/:._=+]?[1-9][0-9]{0,5}[A-Za-z]{0,3}", fullmatch=True),
    st.from_regex(r"[1-9][0-9]{0,4}(\.[1-9])?-[a-z]{2,8}(-[a-z]{2,6})?", fullmatch=True),
    st.from_regex(r"[a-z0-9(]{1,4}[+=<>×÷±≤≥%&@][a-z0-9)]{1,4}", fullmatch=True),
    st.text("0123456789abxAB.,-–/:+=%$()^*_#'", min_size=2, max_size=12),
)


@settings(max_examples=examples(1500))
@given(TOKENS)
@example("2,500-word")
@example("1.0.0-rc.1")
@example("10.0.0.0/8")
@example("7ABC123")
@example("10^-3")
@example(">90%")
@example("C$40")
def test_no_figure_and_no_sign_goes_unsaid(token: str) -> None:
    """What is said changes with every figure that is taken out, and with every sign that is always
    said.

    A zero before or behind other figures may be silent (03/05, $5.00): it counts only in other
    places. So may ``<`` and ``>`` at the ends of a token, where they are a tag's. Faces made of
    signs are silent."""
    assume(not token.startswith(tuple(record_of("en").vocabularies["emoticons"])))
    whole = spoken(f"see {token} now")
    for i in range(len(token)):
        if counts(token, i):
            assert spoken(f"see {token[:i]}{token[i + 1 :]} now") != whole, (token, token[i])


def counts(token: str, i: int) -> bool:
    """Whether the character is one that must be heard where it stands."""
    char = token[i]
    before = token[:i]
    behind = token[i + 1 :]
    if behind[:1] == char or re.search(r"[-=<>!&+|*:/]{2}", before[-1:] + char + behind[:1]):
        # Of two equal ones it is the same which is taken out; a sign of several characters is one.
        return False
    if char.isascii() and char.isdigit():
        return char != "0" or re.search(r"(^|\D)0*$", before) is None
    if char == "$":
        return (
            re.match(r"[0-9]+(?!\w)", behind) is not None and before[-1:] != "$"
        )  # "$2x" is LaTeX.
    inside = re.search(r"\w", before) and re.search(r"\w", behind)
    return char in SAID and (char not in "<>" or inside is not None)


@settings(max_examples=examples(500))
@given(TOKENS)
def test_no_figure_is_left_to_the_voice(token: str) -> None:
    assert not re.search(r"[0-9]", spoken(f"see {token} now"))


def test_names_have_phonemes_that_voices_know() -> None:
    table = names()
    assert len(table) > 1000
    assert len(table) == sum(
        line[:2] != "//" for line in NAMES.read_text(encoding="utf-8").splitlines()
    )
    for name, phonemes in table.items():
        assert set(phonemes) <= set(readings.SYMBOLS), name
        assert re.search("[AIOWYaiuæɑɔəɛɜɪʊʌ]", phonemes), name
        assert "ˈ" in phonemes, name
        assert not re.search("[ˈˌ](?![AIOWYiuæɑɔəɛɜɪʊʌ])", phonemes), name


def test_names_and_homographs_add_to_the_lexicon() -> None:
    golds = readings.lexicon().lexicon.golds.d
    repeated = {word: phonemes for word, phonemes in names().items() if word in golds}
    assert all(
        isinstance(golds[word], str) and golds[word] != phonemes
        for word, phonemes in repeated.items()
    )
    assert all(not isinstance(golds[word], dict) for word in ADDED if word in golds)
