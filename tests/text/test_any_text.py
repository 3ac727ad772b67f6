"""Whatever a text is made of, reading it raises nothing, at once or character by character."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.effort import examples

from sayahead.text import FrontEnd, front_end

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "da")
FRONTS: dict[str, FrontEnd] = {language: front_end(language) for language in LANGUAGES}
FORMS = (
    "sss ss S. s. sssss. psst. Mr. Dr. z.B. e.g. a.m. 5 3.50 1,85 € $ R$ £ bilhão Mrd. 12:30 30."
    " Mai 1/2 IV XVI km/h x 10^3 <b> </b> http://a.b @me a@b.c ## ** | - \\frac{ } ^{ _ $x $$ &amp;"
    " &#x; [1] ( ) n° º ª ¿ ¡ … -- 's ’s ℃ Ⅷ ① ³ ² ½ ٣ १ Σ ſ ⇌ → ≤ — – · ″ ' \" « » the der la"
    " 06-51 45-1190 14A 3x² \\d+ .*"
).split()
ENDS = ("", ".", ". Then", "., 5", "s.")


def _stretched(letters: str, times: int, end: str) -> str:
    """A sentence that ends with letters again and again."""
    return f"He went {letters * times}{end}"


TEXTS = st.one_of(
    st.text(max_size=20),
    st.text("0123456789abcdsSxX.,;:!?'\"()<>/\\|-–—_*#@%$€+=~^`²³①½٣° \n", max_size=14),
    st.lists(st.sampled_from(FORMS), max_size=6).map(" ".join),
    st.lists(st.sampled_from(FORMS), max_size=4).map("".join),
    st.builds(
        _stretched, st.text("ast", min_size=1, max_size=2), st.integers(1, 5), st.sampled_from(ENDS)
    ),
)


def read(language: str, text: str) -> None:
    """Read a text at once and character by character."""
    whole = FRONTS[language].normalizer()
    piecemeal = FRONTS[language].normalizer()
    words = whole.push(text) + whole.flush()
    cut = [word for char in text for word in piecemeal.push(char)] + piecemeal.flush()
    assert words == cut


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=examples(1000))
@given(TEXTS)
@example("The snake went sss. Then it left.")
@example("Sss.")
@example("e:³1\\d+t")
def test_no_text_raises(language: str, text: str) -> None:
    read(language, text)


@pytest.mark.parametrize("language", ["ru", "ar", "en", "de"])
@pytest.mark.parametrize("text", ["①00", "a①00 b", "①a1", "②②2 x", "①00①"])
def test_a_run_that_no_rule_takes_waits_for_its_end(language: str, text: str) -> None:
    """The second character of such a run ended it, if it came by itself."""
    FRONTS.setdefault(language, front_end(language))
    read(language, text)
