"""Markdown, tags and formulas: what is silent, what ends a sentence, where it stands, however it is
cut."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.other_readings import LANGUAGES

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader
from sayahead.types import Word

CASES = [
    # lines
    ("# Aaaaaaa\n\nBabbaba", "Aaaaaaa| Babbaba|"),
    ("Aaaaaaa\n### Babbaba\ncaccaca", "Aaaaaaa| Babbaba| caccaca|"),
    (
        "Aaaaaaa\n- babbaba\n* caccaca\n+ daddada\n• eeeeeee\n→ faffafa",
        "Aaaaaaa| babbaba| caccaca| daddada| eeeeeee| faffafa|",
    ),
    ("- [x] aaaaaaa\n- [ ] babbaba", "aaaaaaa| babbaba|"),
    ("a) babbaba\n(c) daddada", "A. babbaba| C. daddada|"),
    ("> Aaaaaaa\n> babbaba\n\ncaccaca", "Aaaaaaa babbaba| caccaca|"),
    (
        "| Aaaaaaa | babbaba |\n|---|:--|\n| caccaca | daddada |\n",
        "Aaaaaaa , babbaba .| caccaca , daddada .|",
    ),
    ("Aaaaaaa\n---\nbabbaba\n***\ncaccaca\n====\ndaddada", "Aaaaaaa| babbaba| caccaca| daddada|"),
    ("Aaaaaaa\nbabbaba.\ncaccaca", "Aaaaaaa babbaba.| caccaca|"),
    ("```py\naaaaaaa\nbabbaba\n```\ncaccaca", "aaaaaaa| babbaba| caccaca|"),
    ("✅ aaaaaaa\n🚀 babbaba", "aaaaaaa| babbaba|"),
    # within a line
    (
        "aaaaaaa **babbaba *caccaca*** __daddada__ ~~eeeeeee~~ `faffafa`",
        "aaaaaaa babbaba caccaca daddada eeeeeee faffafa|",
    ),
    ("aaa**aaaa** (*babbaba*), _caccaca_!", "aaaaaaa (babbaba), caccaca!|"),
    ('[aaaaaaa](https://ex.com/a_(b) "Ccc ccc"), babbaba', "aaaaaaa, babbaba|"),
    ("[aaaaaaa](<https://ex.com/a b>) ![babbaba](c.png 'ddd')", "aaaaaaa babbaba|"),
    ("[aaaaaaa][bb] caccaca\n\n[bb]: https://ex.com/guide\n\ndaddada", "aaaaaaa caccaca| daddada|"),
    (
        "aaaaaaa[^1] [[Bbbb|babbaba]] [[caccaca]] [@doe99] daddada",
        "aaaaaaa babbaba caccaca daddada|",
    ),
    # tags
    (
        "aa<em>aaa</em>aa <b class='x y'>babbaba</b> <custom-tag a=\"1\">caccaca</custom-tag>",
        "aaaaaaa babbaba caccaca|",
    ),
    ("<answer>aaaaaaa</answer> <|im_end|> <reasoning>babbaba</reasoning>", "aaaaaaa babbaba|"),
    (
        "<p>Aaaaaaa</p><p>babbaba</p><ul><li>caccaca</li><li>daddada</li></ul>",
        "Aaaaaaa| babbaba| caccaca| daddada|",
    ),
    (
        "aaaaaaa <!-- babbaba --> caccaca <img src='a b.png' alt=\"x\"> daddada",
        "aaaaaaa caccaca daddada|",
    ),
    (
        "aaaaaaa&nbsp;babbaba &lt;caccaca&gt; &quot;daddada&quot;",
        "aaaaaaa babbaba caccaca daddada|",
    ),
    ("`<aaaaaaa>` <babbaba> caccaca", "aaaaaaa babbaba caccaca|"),
    ("a<span>aaaaaa</span> bab<em>bab</em>a, <b>c</b>accaca", "aaaaaaa babbaba, caccaca|"),
    # formulas
    (r"\textbf{aaaaaaa} \emph{babbaba} \cite{doe} caccaca", "aaaaaaa babbaba caccaca|"),
]


def read(language: str, *fragments: str) -> list[Word]:
    reader = TokenReader(language_of(language))
    words = [word for fragment in fragments for word in reader.push(fragment)]
    return words + reader.flush()


def shown(words: list[Word]) -> str:
    return " ".join(word.text + "|" * word.ends for word in words)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("text", "expected"), CASES)
def test_markup_is_heard_as_pauses_and_ends_alone(language: str, text: str, expected: str) -> None:
    words = read(language, text)
    assert shown(words) == expected
    assert read(language, *text) == words


@pytest.mark.parametrize("language", LANGUAGES)
def test_formulas_are_said_with_the_words_of_the_language(language: str) -> None:
    record = language_of(language).record
    said = shown(read(language, r"aaaaaaa $\alpha \le \frac{b}{c}$ und $x$ kostet"))
    assert record.greek[0] in said
    assert record.sign("≤") in said
    assert record.over("÷") in said
    assert "\\" not in said
    assert "$" not in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_that_opens_a_line_is_an_items(language: str) -> None:
    record = language_of(language).record
    one, two = (record.numbers.cardinal(n, "") for n in (1, 2))  # type: ignore[union-attr]
    said = shown(read(language, "1. Aaaaaaa\n2) Babbaba"))
    assert said == f"{one}. Aaaaaaa| {two}. Babbaba|"


def test_a_date_that_opens_a_line_is_none() -> None:
    assert shown(read("de", "Aaaaaaa\n3. Mai")) == "Aaaaaaa dritter Mai|"


@pytest.mark.parametrize("tag", ["think", "thinking", "script", "style"])
def test_what_is_for_nobodys_ears_is_told(tag: str) -> None:
    reader = TokenReader(language_of("de"))
    text = f"Aaa <{tag}>bbb ccc</{tag}>ddd"
    assert shown(reader.push(text) + reader.flush()) == "Aaa ddd|"
    assert [text[start:end] for start, end, _ in reader.skipped] == ["bbb ccc"]


def test_words_go_from_their_markup_to_their_markup() -> None:
    text = "ab **cd** [ef](x) <b>gh</b>, ij"
    spans = [text[word.start : word.end] for word in read("de", text)]
    assert spans == ["ab", "**cd**", "[ef](x)", "<b>gh</b>,", "ij"]


def test_a_word_before_a_line_break_waits_only_where_the_next_line_may_end_it() -> None:
    reader = TokenReader(language_of("de"))
    assert [word.text for word in reader.push("Ja, das.\n")] == ["Ja,", "das."]
    assert reader.push("Und\n") == []
    assert [(word.text, word.ends) for word in reader.push("x")] == [("Und", False)]
    assert [(word.text, word.ends) for word in reader.push("y\n- ")] == []
    assert [(word.text, word.ends) for word in reader.push("z")] == [("xy", True)]


MARKS = [
    *"*_`~#>|[]()<>&$\\{}-+=!:.",
    *(
        "**",
        "](",
        "<b>",
        "</b>",
        "<br/>",
        "<think>",
        "</think>",
        "&amp;",
        "&lt;",
        "\n",
        "\n\n",
        "\n- ",
        "\n1. ",
        "```\n",
    ),
    *(
        "\\frac{",
        "$x",
        "\\(",
        "\\)",
        "[^1]",
        "[[",
        "| ",
        "<!--",
        "-->",
        "](http://x.org)",
        "aa",
        "Bb",
        "5",
        " ",
        " ",
    ),
]
MIXED = st.lists(st.sampled_from(MARKS), max_size=20).map("".join)


@settings(max_examples=examples(120))
@given(MIXED, st.lists(st.integers(0, 60), max_size=5))
def test_any_split_gives_the_same_words(text: str, cuts: list[int]) -> None:
    whole = read("de", text)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    assert read("de", *[text[start:end] for start, end in itertools.pairwise(places)]) == whole
    assert read("de", *text) == whole
    assert all(0 <= word.start <= word.end <= len(text) for word in whole)
    assert all(one.end <= other.start for one, other in itertools.pairwise(whole))


@settings(max_examples=examples(200))
@given(MIXED, st.integers(0, 60))
def test_a_breath_within_markup_loses_nothing_before_it(text: str, cut: int) -> None:
    reader = TokenReader(language_of("de"))
    words = reader.push(text[:cut]) + reader.breathe()
    assert reader.breathe() == []
    words += reader.push(text[cut:]) + reader.flush()
    assert all(one.end <= other.start for one, other in itertools.pairwise(words))


@pytest.mark.parametrize("tag", ["<b>", "</b>", "<br/>", "<https://x.org>", "&lt;b&gt;"])
@pytest.mark.parametrize("behind", [")", ").", ", aa", ":", ") aa", "!", "aa"])
def test_a_mark_behind_a_tag_that_is_shown_belongs_to_it(tag: str, behind: str) -> None:
    """It was lost where it came by itself: "`<b>)", letter by letter."""
    for language in LANGUAGES:
        for text in (f"`{tag}{behind}", f"aa (`{tag}{behind}` bb", f"aa {tag}{behind}"):
            assert read(language, *text) == read(language, text)


DOLLARS = st.from_regex(r"\$(?:[0-9]{1,3}|[a-z]{1,2})[=+<>][a-z0-9]{1,3}", fullmatch=True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_dollar_sign_that_closes_no_formula_is_said(language: str) -> None:
    """It opened a formula that nothing closed, and was lost in silence: "$0=0"."""

    @settings(max_examples=examples(100))
    @given(DOLLARS)
    def check(token: str) -> None:
        kept = shown(read(language, f"xx {token} yy"))
        assert kept != shown(read(language, f"xx {token[1:]} yy"))
        assert re.search("d[oó]l|dal|美元|ドル|डॉलर", kept.lower())

    check()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("see $0=0 now", "see zero dollars equals zero now|"),
        ("so $x = 5$ is", "so x equals five is|"),
        ("$$x = 5$$", "x equals five|"),
        ("echo $x and $y", "echo dollar x and dollar y|"),
        ("Is $x = 3. Then $y", "Is dollar x equals three.| Then dollar y|"),
        ("costs $$ and more x-y", "costs dollars dollars and more x-y|"),
    ],
)
def test_dollar_signs_open_what_others_close(text: str, said: str) -> None:
    assert shown(read("en", text)) == said
