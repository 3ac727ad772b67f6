"""Lexicons: what files and tables may say, which words they change, and that any split of a text
gives the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.readings import SYMBOLS

from sayahead import ConfigError, Lexicon, Voice
from sayahead.text.reading.stream import new_reader
from sayahead.text.saying.pronouncing import Pronouncing, Pronunciations
from sayahead.text.saying.transcription import Transcriber
from sayahead.types import Word

TABLE = {symbol: number for number, symbol in enumerate(SYMBOLS)}
LEXICON = Lexicon.of(
    {
        "Nguyen": "/ˈwɪn/",
        "SQL": "sequel",
        "new york": "Noo Yawk",
        "new york city": "the Big Apple",
        "New Orleans": "[nˌuˈɔɹlənz]",
        "C++": "see plus",
        "U.S.": "/juː ˈɛs/",
        "Polish": "[pˈOlɪʃ]",
        "polish": "[pˈɑlɪʃ]",
        "St. Louis": "saint louie",
        "gif": "{JH IH1 F}",
        "k8s": "K 8 s",
    }
)
KNOWN = Pronunciations(LEXICON, normalizer=new_reader, symbols=TABLE, language="en-US")


def feed(fragments: list[str] | str, known: Pronunciations = KNOWN) -> list[Word]:
    normalizer = Pronouncing(new_reader(), known)
    words = list[Word]()
    for fragment in fragments:
        words += normalizer.push(fragment)
    return words + normalizer.flush()


def said(text: str) -> str:
    return " ".join(
        f"/{word.phonemes}/{word.text[-1:]}" if word.phonemes else word.text
        for word in feed([text])
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ask Nguyen, nguyen.", "Ask /wˈɪn/, nguyen."),
        ("“Nguyen’s” (SQL)!", "/wˈɪnz/s (sequel)!"),
        ("New York, new york. NEW YORK City", "Noo Yawk, Noo Yawk. the Big Apple"),
        ("New, York; in new **york**", "New, York; in new york"),
        ("new Orleans, New Orleans", "new Orleans, /nˌuˈɔɹlənz/s"),
        ("C++, or C.", "see plus, or C."),
        ("the U.S. law. In the U.S.", "the /ju ˈɛs/. law. In the /ju ˈɛs/."),
        ("Polish POLISH polish", "/pˈOlɪʃ/h /pˈɑlɪʃ/h /pˈɑlɪʃ/h"),
        ("in St. Louis. St. Paul", "in saint louie. Saint Paul"),
        ("a gif's k8s.", "a /ʤˈɪfs/s K eight s."),
        ("NGUYEN. The Nguyens, NEW ORLEANS", "/wˈɪn/. The /wˈɪnz/, /nˌuˈɔɹlənz/S"),
        ("SQL\u200f, \ufeffSQL New\u200b York", "sequel, sequel Noo Yawk"),
        ("Nguyen-led, SQL-like", "/wˈɪn/n led, sequel like"),
        ("New York-based, (new york-SQL)", "Noo Yawk based, (Noo Yawk sequel)"),
        ("New York City-wide. New Jersey-based", "the Big Apple wide. New Jersey-based"),
        ("St. Louis-style New Orleans-born", "saint louie style /nˌuˈɔɹlənz/s born"),
        (
            "New York\u2011based, Nguyen\u2010led SQL–gif Nguyen--so",
            "Noo Yawk based, /wˈɪn/n led sequel— /ʤˈɪf/f /wˈɪn/— so",
        ),
        ("SQL-92, a New York-23 bus", "sequel ninety-two, a Noo Yawk twenty-three bus"),
        ("[Kokoro](/kˈOkəɹO/), [docs](/guide/)", "/kˈOkəɹO/, docs"),
        (
            "[Kokoro](/kˈOkəɹO/)-style, x=[Kokoro](/kˈOkəɹO/)'s.",
            "/kˈOkəɹO/o style, x equals /kˈOkəɹOz/.",
        ),
    ],
)
def test_words_and_phrases(text: str, expected: str) -> None:
    assert said(text) == expected


def test_spans_stay_those_of_the_source() -> None:
    text = "See (New York), Nguyen--led. New York-based."
    expected = ["See", "(New York),", "Nguyen--", "led.", "New York-", "based."]
    assert [text[word.start : word.end] for word in feed([text])] == expected
    assert [word.ends for word in feed([text])] == [False, False, False, True, False, True]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Nguyen,", 1),
        ("SQL ", 1),
        ("New ", 0),
        ("New p", 1),
        ("new y", 0),
        ("new york ", 0),
        ("new york c", 0),
        ("new york ca", 1),
        ("new york,", 1),
        ("the ", 1),
        ("new. y", 1),
    ],
)
def test_only_what_may_be_a_phrase_waits_and_no_longer_than_that(text: str, words: int) -> None:
    assert len(Pronouncing(new_reader(), KNOWN).push(text)) == words


PIECES = (
    "Nguyen Nguyen's, new New york York City. city york-based New-York St. Louis U.S. polish C++"
    " SQL-based (gif) the 5 😀 \n, Café"
).split(" ")


@settings(max_examples=examples(300))
@given(
    st.lists(
        st.tuples(st.sampled_from(PIECES), st.sampled_from([" ", " ", "\n", "  ", ""])), max_size=9
    ),
    st.lists(st.integers(0, 80), max_size=5),
)
def test_any_split_gives_the_same(pieces: list[tuple[str, str]], cuts: list[int]) -> None:
    text = "".join(a + b for a, b in pieces)
    places = sorted(min(cut, len(text)) for cut in cuts)
    whole = feed([text])
    assert (
        feed([text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]) == whole
    )
    assert feed(text) == whole
    ends = [0, *(word.end for word in whole)]
    assert all(
        end <= word.start <= word.end <= len(text) for end, word in zip(ends, whole, strict=False)
    )


def test_an_empty_lexicon_changes_nothing() -> None:
    known = Pronunciations(None, normalizer=new_reader, symbols=TABLE)
    text = "Dr. Lee paid $5 million on 3 March. New York!\n- one\n- two"
    plain = new_reader()
    assert feed(text, known) == [*plain.push(text), *plain.flush()]


FILE = "# names\n\nNguyen = /ˈwɪn/\nSQL\tsequel\n  New York = noo yawk  \n"
PLS = """<?xml version="1.0"?>
<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa">
<lexeme><grapheme>Nguyen</grapheme><grapheme>Nguyễn</grapheme><phoneme>ˈwɪn</phoneme></lexeme>
<lexeme><grapheme>SQL</grapheme><alias>sequel</alias></lexeme></lexicon>"""


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(FILE, encoding="utf-8")
    (tmp_path / "a.pls").write_text(PLS, encoding="utf-8")
    lines = Lexicon.of(tmp_path / "a.txt")
    pls = Lexicon.of(str(tmp_path / "a.pls"))
    assert {word: (entry.said, entry.alphabet) for word, entry in lines.entries.items()} == {
        "Nguyen": ("ˈwɪn", "ipa"),
        "SQL": ("sequel", ""),
        "New York": ("noo yawk", ""),
    }
    assert list(pls.entries) == ["Nguyen", "Nguyễn", "SQL"]
    both = lines | Lexicon.of({"SQL": "S Q L"})
    assert both.entries["SQL"].said == "S Q L"
    assert len(both) == 3


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Nguyen", "line 1: expected WORD = PRONUNCIATION, found 'Nguyen'"),
        ("a = b\n\nNguyen =", "line 3: expected WORD"),
        (
            "Nguyen = /win",
            "line 1: the pronunciation '/win' of 'Nguyen' begins with /: end it with /",
        ),
        ("a = b\na = c", "line 2: 'a' stands in line 1, too"),
        ("++ = b", r"line 1: '\+\+' is no word"),
        ("a b c d e f g h i = b", "line 1: .* more than 8 words"),
        ("a = /w6n/", "line 1: 'a': the voice has no phoneme '6'; it has A"),
        ("a = {W IX1}", "line 1: 'a': 'IX1' is no sound of ARPAbet"),
        ("a = /ˈ/", "line 1: 'a': there is no sound in the pronunciation"),
        ("a = 你好", "line 1: 'a': nothing of '你好' can be read"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "names.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"names\.txt, {why}"):
        Pronunciations(Lexicon.of(tmp_path / "names.txt"), normalizer=new_reader, symbols=TABLE)


def test_what_is_no_lexicon(tmp_path: Path) -> None:
    (tmp_path / "a.pls").write_text("<lexicon", encoding="utf-8")
    (tmp_path / "b.pls").write_text('<!DOCTYPE x [<!ENTITY a "a">]><lexicon/>', encoding="utf-8")
    (tmp_path / "c.pls").write_text(
        "<lexicon><lexeme><grapheme>a</grapheme></lexeme></lexicon>", encoding="utf-8"
    )
    (tmp_path / "d.txt").write_bytes(b"\xff")
    for name, why in {
        "a.pls": "no PLS",
        "b.pls": "DOCTYPE",
        "c.pls": "lexeme 1",
        "d.txt": "UTF-8",
        "e": "read",
    }.items():
        with pytest.raises(ConfigError, match=why):
            Lexicon.of(tmp_path / name)
    for wrong in (5, {"a": 5}, {5: "a"}, ["a"]):
        with pytest.raises(ConfigError, match="lexicon"):
            Lexicon.of(wrong)


@pytest.mark.parametrize(
    ("alphabet", "text", "own"),
    [
        ("ipa", "ˈwɪn", "wˈɪn"),
        ("ipa", "ˈstriːmɪŋ", "stɹˈimɪŋ"),
        ("ipa", "dʒəʊˈkiːn", "ʤOkˈin"),
        ("ipa", "t͡ʃaɪˈkɒfski", "ʧIkˈɑfski"),
        ("ipa", "ɡøːtə", "ɡɜtə"),
        ("cmu-arpabet", "S IY1 K W AH0 L", "sˈikwəl"),
        ("cmu-arpabet", "D EY1 T AH2", "dˈAtˌʌ"),
        ("voice", "kˈOkəɹO", "kˈOkəɹO"),
    ],
)
def test_notations(alphabet: str, text: str, own: str) -> None:
    assert Transcriber(TABLE).read(text, alphabet) == own


@pytest.mark.parametrize(
    ("alphabet", "text", "own"),
    [
        ("ipa", "ɡəʊ", "ɡQ"),
        ("ipa", "bɑːθ", "bɑːθ"),
        ("ipa", "ˈtræp lɒt", "tɹˈap lɒt"),
        ("ipa", "nɜːs skweə", "nɜːs skwɛː"),
        ("ipa", "ˈfɪə", "fˈɪə"),
        ("cmu-arpabet", "G OW1 AE2 T", "ɡˈQˌat"),
        ("voice", "kˈQkəɹQ", "kˈQkəɹQ"),
    ],
)
def test_a_british_voice_gets_british_symbols(alphabet: str, text: str, own: str) -> None:
    assert Transcriber({**TABLE, "Q": 1000, "ɒ": 1001}, british=True).read(text, alphabet) == own


def test_a_voice_of_other_symbols_gets_ipa_as_it_is() -> None:
    assert (
        Transcriber({s: i for i, s in enumerate("ˈˌːeɪoʊaɹrtdʒʃɡwn")}).read("ˈreɪtʃ", "ipa")
        == "ɹˈeɪtʃ"
    )


def test_a_voice_speaks_as_its_lexicon_says(heart: Voice) -> None:
    as_win = heart.synthesize("Ask Win today.")
    for lexicon in (
        {"Nguyen": "Win"},
        {"Nguyen": "[wˈɪn]"},
        {"nguyen": "/ˈwɪn/"},
        Lexicon.of({"Nguyen": "{W IH1 N}"}),
    ):
        assert (heart.synthesize("Ask Nguyen today.", lexicon=lexicon) == as_win).all()
    with pytest.raises(ConfigError, match="'Nguyen': the voice has no phoneme"):
        heart.session(lexicon={"Nguyen": "/w6n/"})
