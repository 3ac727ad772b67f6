"""Words to phonemes by espeak-ng: in their clause, one for one, laid out as the voice wants
them."""

from __future__ import annotations

import unicodedata

import pytest

from sayahead.errors import ConfigError
from sayahead.text import front_end
from sayahead.text.languages.espeak_voices import VOICES, voice_of
from sayahead.text.saying.espeak.phonemizer import EspeakPhonemizer, aligned
from sayahead.text.saying.layout import Layout
from sayahead.types import Word

SYMBOLS = "_^$ .,;:!?-ˈˌː" + "abdefhijklmnoprstuvwxyzæçðøŋœɐɑɒɔəɚɛɜɡɪɲɹɾʁʃʊʌʏʒθ̧̃" + "˨˩"
TABLE = {symbol: number for number, symbol in enumerate(dict.fromkeys(SYMBOLS))}
NAMES = {number: symbol for symbol, number in TABLE.items()}


def phonemizer(
    voice: str, stand_in: str, layout: Layout | None = None, **settings: bool
) -> EspeakPhonemizer:
    return EspeakPhonemizer(voice, TABLE, stand_in=stand_in, layout=layout, **settings)


def spelled(ids: object) -> str:
    return "".join(NAMES[int(number)] for number in ids)  # type: ignore[attr-defined]


def words(text: str, *, ends: bool = True) -> list[Word]:
    texts = text.split()
    return [Word(one, 0, 1, ends and i == len(texts) - 1) for i, one in enumerate(texts)]


def test_words_are_not_merged_and_liaison_survives() -> None:
    assert [sound for sound, _ in phonemizer("en-us", "people").read("out of the box".split())] == [
        "ˈaʊt",
        "ʌv",
        "ðə",
        "bˈɑːks",
    ]
    assert phonemizer("fr", "ami").read("les amis".split())[0][0].startswith("le-z")


def test_words_assimilate_as_in_running_text() -> None:
    portuguese = phonemizer("pt", "casa")
    assert [sound[-1] for sound, _ in portuguese.read("nós amamos os amigos".split())][:3] == [
        "z",
        "z",
        "z",
    ]
    assert phonemizer("es", "casa").read("un barco".split())[0][0] == "ˈum"


@pytest.mark.parametrize(
    ("running", "apart", "found"),
    [
        ("a b c", "a b c", "a b c"),
        ("nˈɔz ɐmˈuz", "nˈɔʃ ɐmˈuʃ", "nˈɔz ɐmˈuz"),
        ("ˈaʊt ʌvðə bˈɑːks", "ˈaʊt ʌv ðə bˈɑːk", "ˈaʊt ʌv ðə bˈɑːks"),
        ("ʌvðə", "ʌv ðə", "ʌv ðə"),
        ("x y", "a b c", "a b c"),
        ("ʊ kˈɛr ʊz dˈadʊz", "o kˈɛr ʊs dˈadʊs", "ʊ kˈɛr ʊz dˈadʊz"),
        ("pˌaɾækj ʊ kˈustw", "pˌaɾæ ky o kˈustʊ", "pˌaɾæ ky ʊ kˈustw"),
        ("ðə ˈɛnd ʌvðə lˈaɪn", "ðə ˈɛnd ʌv ðə lˈaɪn", "ðə ˈɛnd ʌv ðə lˈaɪn"),
        ("", "a", "a"),
        ("ʊ pˈoɾtʊ", "u pˈoɾtu", "ʊ pˈoɾtʊ"),
    ],
)
def test_running_text_is_brought_to_its_words(running: str, apart: str, found: str) -> None:
    assert aligned(running.split(), apart.split()) == found.split()


def test_function_words_are_unstressed_while_the_sentence_goes_on() -> None:
    english = phonemizer("en-us", "people")
    [found] = english.phonemize([Word("in", 0, 2)], left=["She", "lives"])
    assert spelled(found.ids) == " ɪn"
    [without] = phonemizer("en-us", "").phonemize([Word("in", 0, 2)], left=["She", "lives"])
    assert spelled(without.ids) == " ˈɪn"


def test_one_word_of_lookahead_gives_the_sentences_phonemes() -> None:
    german = phonemizer("de", "Haus")
    sentence = words("Das Mädchen ging, weil es regnete, mit dem Hund in den alten Wald hinaus.")
    whole = german.phonemize(sentence, left=[])
    for i in range(len(sentence)):
        left = [word.text for word in sentence[:i]]
        [one, *_] = german.phonemize(sentence[i : i + 2], left=left)
        assert (spelled(one.ids), one.first, one.end) == (
            spelled(whole[i].ids),
            whole[i].first,
            whole[i].end,
        )


def test_ids_say_where_the_sounding_ones_are() -> None:
    first, second = phonemizer("de", "Haus").phonemize(words("Guten Tag!"), left=[])
    assert (spelled(first.ids), first.first, first.end) == ("ɡˈuːtən", 0, 7)
    assert (spelled(second.ids), second.first, second.end) == (" tˈɑːk!", 1, 6)


def test_pipers_layout() -> None:
    layout = Layout(pad="_", begin="^", end="$")
    first, second = phonemizer("de", "Haus", layout).phonemize(words("du da."), left=[])
    assert spelled(first.ids) == "^_d_u_ː_"
    assert spelled(first.ids[first.first : first.end]) == "d_u_ː_"
    assert spelled(second.ids) == " _d_ˈ_ɑ_ː_._$"
    assert spelled(second.ids[second.first : second.end]) == "d_ˈ_ɑ_ː_"
    [going_on] = phonemizer("de", "Haus", layout).phonemize([Word("da", 0, 1)], left=[])
    assert spelled(going_on.ids).startswith("^_")
    assert "$" not in spelled(going_on.ids)


def test_marks_close_clauses_and_become_those_that_the_voice_has() -> None:
    german = phonemizer("de", "Haus")
    found = german.phonemize(words("»Nein« — ja… wohl; na: so, (gut) 'ja'?"), left=[])
    signs = [sign for _, sign in german.read("»Nein« — ja… wohl; na: so, (gut) 'ja'?".split())]
    assert signs == ["", "—", "…", ";", ":", ",", ",", "?"]
    assert [spelled(one.ids)[-1:] for one in found] == ["n", ";", ".", ";", ":", ",", ",", "?"]
    # Round brackets are pauses, where both their words are in sight.
    signs = [
        sign
        for _, sign in german.read(
            "Das Haus (das alte) ist (sehr) weg (ja!) und Datei(en).".split()
        )
    ]
    assert signs == ["", ",", "", ",", ",", ",", ",", "!", "", "."]
    assert german.read(["Haus"], ends=False)[0][1] == ""


def test_without_inner_punctuation_only_the_last_mark_stays() -> None:
    found = phonemizer("de", "Haus", inner_punctuation=False).phonemize(words("ja, ja."), left=[])
    assert [spelled(one.ids)[-1] for one in found] == ["ː", "."]


def test_words_that_espeak_makes_several_of_are_read_by_themselves() -> None:
    german = phonemizer("de", "Haus")
    figures = german.read(["1999", "Hunde", "da"])
    assert len(figures) == 3
    assert figures[1][0] == "hˈʊndə"
    assert len(figures[0][0].split()) > 1
    assert all(
        sound for sound, _ in german.read("A|B x [[y]] <b> 3/4 🙂 ok".split()) if sound != ""
    )


def test_switches_of_language_are_dropped() -> None:
    [(sound, _)] = phonemizer("fr", "ami").read(["shopping"])
    assert "(" not in sound
    assert sound


def test_phonemes_are_decomposed() -> None:
    sounds = [sound for sound, _ in phonemizer("de", "Haus").read("ich möchte nicht".split())]
    assert all(unicodedata.normalize("NFD", sound) == sound for sound in sounds)
    assert unicodedata.normalize("NFD", "ç") in sounds[0]


def test_phonemes_of_a_word_by_itself_are_counted() -> None:
    assert phonemizer("de", "Haus").phonemes(Word("Haus,", 0, 5)) == len("haʊs")


@pytest.mark.parametrize(
    ("language", "voice"),
    [
        ("de-DE", "de"),
        ("pt_BR", "pt-br"),
        ("pt-PT", "pt"),
        ("en-GB", "en"),
        ("en-US", "en-us"),
        ("zh-CN", "cmn"),
        ("es-MX", "es-419"),
        ("es-ES", "es"),
        ("nb-NO", "nb"),
        ("fr-CA", "fr"),
        ("sr-Latn-RS", "sr"),
        ("fr-fr", "fr"),
    ],
)
def test_languages_have_voices(language: str, voice: str) -> None:
    assert voice_of(language) == voice


def test_every_voice_is_there() -> None:
    """In whichever of the two versions that we know of is installed."""
    assert [voice for voice in sorted(VOICES) if not phonemizer(voice, "").read(["a"])[0][0]] == []


def test_a_language_that_nobody_reads_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no text front end for the language 'xx-YY'"):
        front_end("xx-YY")
    with pytest.raises(ConfigError, match="do not know those of the language"):
        front_end("cs-CZ").speller()


def test_english_has_its_own_reading_before_phonemes_of_espeak() -> None:
    front = front_end("en-US", espeak="en-us", layout=Layout(pad="_"))
    normalizer = front.normalizer()
    found = normalizer.push("Dr. Lee paid $5.50.") + normalizer.flush()
    assert [word.text for word in found] == [
        "Doctor",
        "Lee",
        "paid",
        "five dollars and fifty cents.",
    ]
    spoken = front.phonemizer(TABLE).phonemize(found, left=[])
    assert spelled(spoken[0].ids).replace("_", "") == "dˈɑːktɚ"
