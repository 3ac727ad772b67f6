"""British English: phonemes in misaki's spelling, the r that links a word to a vowel after it,
figures and dates."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from support.toy_voices import changed

from sayahead.text import front_end, pronounced
from sayahead.text.saying.english.british import from_american
from sayahead.text.saying.english.phonemizer import EnglishPhonemizer, names
from sayahead.types import Word
from sayahead.voices import FOLDER, read_config

WORDS = {
    "go": "ɡˌQ",
    "lot": "lˈɒt",
    "bath": "bˈɑːθ",
    "dance": "dˈɑːns",
    "can't": "kˈɑːnt",
    "nurse": "nˈɜːs",
    "square": "skwˈɛː",
    "north": "nˈɔːθ",
    "thought": "θˈɔːt",
    "comma": "kˈɒmə",
    "happy": "hˈapi",
    "better": "bˈɛtə",
    "water": "wˈɔːtə",
    "wanted": "wˈɒntɪd",
    "news": "njˈuːz",
    "Tuesday": "tjˈuːzdA",
    "schedule": "ʃˈɛdjuːl",
    "tomato": "təmˈɑːtQ",
    "privacy": "pɹˈɪvəsi",
    "leisure": "lˈɛʒə",
    "either": "ˈIðə",
    "vitamin": "vˈɪtəmɪn",
    "missile": "mˈɪsIl",
    "lieutenant": "lɛftˈɛnənt",
    "clerk": "klˈɑːk",
    "herb": "hˈɜːb",
    "vase": "vˈɑːz",
    "laboratory": "ləbˈɒɹətəɹi",
    "colour": "kˈʌlə",
    "color": "kˈʌlə",
    "theatre": "θˈɪətə",
    "idea": "Idˈɪə",
    "Leicester": "lˈɛstə",
    "Birmingham": "bˈɜːmɪŋəm",
    "there'll": "ðɛːɹəl",
    "Z": "zˈɛd",
    "blorping": "blˈɔːpɪŋ",
    "Zelensky": "zəlˈɛnski",
}
LINKED = {
    "The far car is here, and more are there.": "ðə fˈɑː kˈɑːɹ ɪz hˈɪə, and mˈɔːɹ ɑː ðˈɛː.",
    "Look for a theatre in order!": "lˈʊk fɔːɹ ɐ θˈɪətəɹ ɪn ˈɔːdə!",
    "Law and order; never: ever.": "lˈɔː and ˈɔːdə; nˈɛvə: ˈɛvə.",
    "The idea of a macabre opera is there": "ði Idˈɪə ɒv ɐ məkˈɑːbɹə ˈɒpəɹə ɪz ðˈɛː",
    "A terror attack on our “own” far-off shore.": "ɐ tˈɛɹəɹ ətˈak ˌɒn ˌWəɹ ˈQn fˈɑːɹˌɒf ʃˈɔː.",
    "Four apples, R and B too.": "fˈɔːɹ ˈapᵊlz, ˈɑːɹ and bˈiː tˈuː.",
}


@functools.cache
def phonemizer(language: str = "en-GB") -> EnglishPhonemizer:
    made = front_end(language).phonemizer(read_config(FOLDER / "heart").phonemes, stand_in="people")
    assert isinstance(made, EnglishPhonemizer)
    return made


def words(text: str) -> list[Word]:
    normalizer = front_end("en-GB").normalizer()
    return [*normalizer.push(text), *normalizer.flush()]


def said(text: str, language: str = "en-GB", visible: int | None = None) -> list[str]:
    """Symbols of each word; ``visible``: how many words after it are in sight."""
    table = {number: symbol for symbol, number in read_config(FOLDER / "heart").phonemes.items()}
    given = words(text)
    made = list[str]()
    for i in range(len(given)):
        seen = given if visible is None else given[max(0, i - 3) : i + 1 + visible]
        left = [word.text for word in given[: given.index(seen[0])]]
        ids = phonemizer(language).phonemize(seen, left=left)[i - len(left)].ids
        made.append("".join(table[number] for number in ids.tolist()).strip())
    return made


@pytest.mark.parametrize("word", WORDS)
def test_words_are_british(word: str) -> None:
    assert said(f"{word} people")[0] == WORDS[word]


@pytest.mark.parametrize("text", LINKED)
def test_an_r_is_said_before_a_vowel_and_not_across_a_pause(text: str) -> None:
    assert " ".join(said(text)) == LINKED[text]


@pytest.mark.parametrize("text", LINKED)
def test_with_a_word_of_lookahead_all_are_said_as_in_the_whole_sentence(text: str) -> None:
    assert said(text, visible=1) == said(text)


def test_where_nothing_is_known_to_follow_none_is_linked() -> None:
    assert said("Our car is here.", visible=0)[:2] == ["ˌWə", "kˈɑː"]


def test_what_a_text_says_of_a_word_stays() -> None:
    given = [Word("car", 0, 3, phonemes="kˈɑɹ"), Word("here", 4, 8, ends=True, phonemes="hˈɪɹ")]
    made = pronounced(phonemizer(), given, left=[])
    assert [one.ids[one.first : one.end].tolist() for one in made] == [
        phonemizer().ids(word.phonemes).tolist() for word in given
    ]


@pytest.mark.parametrize(
    ("language", "expected"), [("en-GB", "ɡˌQ"), ("en_gb", "ɡˌQ"), ("en-US", "ɡˌO"), ("en", "ɡˌO")]
)
def test_other_english_is_american(language: str, expected: str) -> None:
    assert said("Go people", language)[0] == expected


def test_a_british_voice_that_learned_american_phonemes_reads_these(tmp_path: Path) -> None:
    voice = changed("ma", tmp_path / "voice", language="en-GB", reads="en-US")
    made = voice.phonemizer.phonemize([Word("Go", 0, 2, ends=True)], left=())[0].ids.tolist()
    assert voice.config.phonemes["O"] in made
    assert voice.pronunciations({"sayahead": "/ɡəʊ/"}).transcriber.read("ɡəʊ", "ipa") == "ɡO"  # type: ignore[union-attr]
    own = changed("ma", tmp_path / "other", language="en-GB")
    assert (
        own.config.phonemes["Q"]
        in own.phonemizer.phonemize([Word("Go", 0, 2, ends=True)], left=())[0].ids
    )
    assert own.pronunciations({"sayahead": "/ɡəʊ/"}).transcriber.read("ɡəʊ", "ipa") == "ɡQ"  # type: ignore[union-attr]


SPELLED = [
    ("bˈOstən", "Boston", "bˈQstən"),
    ("hˈɛɹɪs", "Harris", "hˈaɹɪs"),
    ("klˈɛɹə", "Clara", "klˈɑːɹə"),
    ("mˈɜɹi", "Murray", "mˈʌɹi"),
    ("flˈɔɹəns", "Florrance", "flˈɒɹəns"),
    ("kˈɑlɪn", "Colin", "kˈɒlɪn"),
    ("jˈAhɑn", "Jahan", "jˈAhɑːn"),
    ("fɹɑnswˈɑ", "François", "fɹɑːnswˈɑː"),
    ("bˈIɹən", "Byron", "bˈIɹən"),
    ("kˈIɹ", "Kyre", "kˈIə"),
    ("lˈɪɹ", "Lear", "lˈɪə"),
    ("nˈusəm", "Newsom", "njˈuːsəm"),
    ("kˈɜɹTɪs", "Curtis", "kˈɜːtɪs"),
    ("mədˈɑɹTO", "Madardo", "mədˈɑːdQ"),
]


@pytest.mark.parametrize(("american", "spelling", "expected"), SPELLED)
def test_names_are_said_by_their_spelling(american: str, spelling: str, expected: str) -> None:
    assert from_american(american, spelling) == expected


def test_no_name_keeps_what_is_american_alone() -> None:
    made = {name: from_american(phonemes, name) for name, phonemes in names().items()}
    assert not {name: one for name, one in made.items() if set(one) & set("æOTᵻ")}
    known = read_config(FOLDER / "heart").phonemes
    assert not {name: one for name, one in made.items() if not set(one) <= known.keys()}


READINGS = {
    "On 3/4/2026": "On the third of April, twenty twenty-six",
    "(31/12/99)": "(the thirty-first of December, nineteen ninety-nine)",
    "by 1/13/26": "by January thirteenth, twenty twenty-six",
    "31.12.2026": "the thirty-first of December, twenty twenty-six",
    "version 3.4.12": "version three point four point twelve",
    "on 5/11": "on the fifth of November",
    "3/4 of it": "three quarters of it",
    "1,205": "one thousand two hundred and five",
    "1,005,300": "one million five thousand three hundred",
    "2,001st": "two thousand and first",
    "205,115": "two hundred and five thousand one hundred and fifteen",
    "£205.50": "two hundred and five pounds and fifty pence",
    "in 1905": "in nineteen oh five",
    "3,000,000,017": "three billion and seventeen",
    "120 million": "one hundred and twenty million",
}


@pytest.mark.parametrize("text", READINGS)
def test_figures_and_dates_are_read_as_in_britain(text: str) -> None:
    def read(fragments: list[str], tag: str = "en-GB") -> str:
        normalizer = front_end(tag).normalizer(0)
        words = [
            word for fragment in fragments for word in normalizer.push(fragment)
        ] + normalizer.flush()
        return " ".join(word.text for word in words)

    assert read([text]) == READINGS[text]
    assert read(list(text)) == read([text])
    assert read([text], "en-AU") == read([text])


def test_americans_read_months_first() -> None:
    normalizer = front_end("en-US").normalizer(0)
    words = normalizer.push("On 3/4/2026 ") + normalizer.flush()
    assert " ".join(word.text for word in words) == "On March fourth, twenty twenty-six"
