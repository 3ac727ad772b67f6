"""Sentences of agents that were written before the rules were touched by what they show: how many
are read right."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from support import other_readings, readings

FOLDER = Path(__file__).parent
RIGHT = {"en": 704, "de": 216, "es": 212, "fr": 210, "it": 210, "pt-br": 217}
"""Of 720 in English, of 220 in each of the others; at first sight 625, and 159, 151, 170, 155, 151.

The last 300 and forty: 278, and 39, 36, 39, 36, 40. The sixty before: in English 36, in the others
31, 33, 34, 34, 30 of 36 everyday ones, and 2, 1, 3, 0, 1 of 24 that are full of abbreviations. """

LAST = {"en": 176, "de": 81, "es": 86, "fr": 74, "it": 82, "pt-br": 89}
"""Of the last sets, 180 in English, 100 in each other; at first sight 172, and 57, 62, 53, 58, 60.

The last 60 in English, by which no rule was touched: 57. The 60 before and the last twenty,
everyday ones: 56, and 16, 19, 19, 19, 19. The sixty before in each of the others: 20, 20, 20, 19,
19 of 20 everyday ones; of 20 that are full of abbreviations 6, 4, 2, 5, 4, and of 20 more after
some hundred words were added 5, 6, 2, 5, 8.
"""


def wrong_of(name: str, language: str) -> tuple[int, list[str]]:
    """How many sentences of a language a file has, and which are not read right."""
    cases = readings.cases(FOLDER / name, language)
    judge = (
        readings.right if language == "en" else functools.partial(other_readings.right, language)
    )
    return len(cases), [case.text for case in cases if not judge(case)]


@pytest.mark.parametrize("language", RIGHT)
def test_fresh_sentences(language: str) -> None:
    count, wrong = wrong_of("fresh.tsv", language)
    assert count - len(wrong) >= RIGHT[language], "\n".join(wrong)


@pytest.mark.parametrize("language", LAST)
def test_last_sentences(language: str) -> None:
    count, wrong = wrong_of("last.tsv", language)
    assert count - len(wrong) >= LAST[language], "\n".join(wrong)
