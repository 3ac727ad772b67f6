"""What all languages by rules have in common: voices speak without espeak-ng, alike in pieces and
whole."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest

from sayahead.errors import ConfigError
from sayahead.text import front_end
from sayahead.text.saying.espeak.client import ESPEAK, LIBRARY
from sayahead.text.saying.espeak.front_end import PHONEMES
from sayahead.text.saying.espeak.misaki import Misaki
from sayahead.text.saying.romance import LANGUAGES, sounds_of, words
from sayahead.text.saying.romance.reading import RomanceSounds
from sayahead.text.saying.romance.spanish import Spanish
from sayahead.types import Word

SYMBOLS = (
    ';:,.!?—…"()'
    " abcdefhijklmnopqrstuvwxyzɑɐɒæβɔɕçɖðʤəɚɛɜɟɡɥɨɪʝɯɰŋɳɲɴøɸθœɹɾɻʁɽʂʃʈʧʊʋʌɣɤχʎʒʔˈˌːʰʲ→↗↘ᵻʣʥʦʨᵝꭧ̃"
)
TABLE = {symbol: number for number, symbol in enumerate(SYMBOLS)}
TEXTS = {
    "it": (
        "Quando gli amici arrivarono all'albergo, questo è vero, nessuno c'era: un'altra volta,"
        " strada sbagliata."
    ),
    "fr": (
        "Quand les enfants arrivent en été, six amis ont un petit ordinateur; dans une heure, c'est"
        " autre chose."
    ),
    "pt": "Quando os amigos chegaram à escola, o ônibus estava cheio de alunos: não é verdade?",
    "es": (
        "Cuando los niños llegaron a un pueblo vacío, ¿quién les abrió la puerta? Nadie: en verdad,"
        " nadie."
    ),
}
UNSAID = "-\u032a"
"""What Kokoro leaves out: a dash between words, and a sign for where a d is spoken."""
MODELS = {voice: voice.split("-")[0] for voice in LANGUAGES}


@pytest.fixture(params=sorted(LANGUAGES))
def voice(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def without_espeak(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(LIBRARY, str(tmp_path / "nothing.so"))
    ESPEAK.close()
    ESPEAK.forget_answers()


def sentence(text: str) -> list[Word]:
    made = [Word(one, 0, 1) for one in text.split()]
    return [*made[:-1], Word(made[-1].text, 0, 1, True)]


@pytest.mark.usefixtures("without_espeak")
def test_a_language_is_spoken_without_espeak(voice: str) -> None:
    found = front_end(voice, espeak=voice, layout=Misaki(language=voice)).phonemizer(TABLE)
    spoken = found.phonemize(sentence(TEXTS[MODELS[voice]]), left=[])
    assert all(word.end > word.first for word in spoken)
    with pytest.raises(ConfigError, match="espeak-ng"):
        front_end("de", espeak="de").phonemizer(TABLE)


def test_espeak_makes_the_phonemes_by_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Mock(return_value=("a",))
    monkeypatch.setattr(ESPEAK, "clauses", asked)
    monkeypatch.setenv(PHONEMES, "espeak")
    front_end("es-ES").phonemizer(TABLE)
    asked.assert_called_with("es", "a")
    monkeypatch.setenv(PHONEMES, "espeek")
    with pytest.raises(ConfigError, match="must be rules or espeak"):
        front_end("es-ES").phonemizer(TABLE)


def test_one_word_of_lookahead_gives_the_sentences_phonemes(voice: str) -> None:
    sounds = front_end(voice).phonemizer(TABLE)
    words_ = sentence(TEXTS[MODELS[voice]])
    whole = sounds.phonemize(words_, left=[])
    for i in range(len(words_)):
        [one, *_] = sounds.phonemize(words_[i : i + 2], left=[word.text for word in words_[:i]])
        assert (list(one.ids), one.first, one.end) == (
            list(whole[i].ids),
            whole[i].first,
            whole[i].end,
        )


def test_every_sound_is_one_that_voices_have(voice: str) -> None:
    sounds = sounds_of(voice, "")
    listed = [word for name in words(LANGUAGES[voice]) for word in name.split()]
    heard = "".join(map(sounds.alone, [*listed, *TEXTS[MODELS[voice]].split()]))
    assert not set(heard) - set(SYMBOLS) - set(UNSAID)


def test_anything_is_read_and_nothing_raises(voice: str) -> None:
    sounds = sounds_of(voice, "")
    odd = [
        "",
        "x",
        "ß",
        "日本",
        "é",
        "A|B",
        "ŒUVRE",
        "çà",
        "l'",
        "''",
        "3",
        "½",
        "zzz",
        "ÑANDÚ",
        "a" * 300,
        "hhh",
        "y",
        "q",
        "ﬁn",
    ]
    assert len(sounds.clause(odd, closed=True)) == len(odd)
    assert len(sounds.clause(odd, closed=False)) == len(odd)
    assert sounds.clause([], closed=True) == []
    assert all(sounds.alone(letter) for letter in "abcdefghijklmnopqrstuvwxyz")


def test_the_tables_are_read_when_a_language_is_first_spoken() -> None:
    script = (
        "from sayahead.text import front_end\nfrom sayahead.text.saying import romance\n"
        "sounds = front_end('pt-BR')\n"
        "assert not romance.words.cache_info().currsize + romance.learned.cache_info().currsize\n"
        "sounds.phonemizer({})\n"
        "assert romance.words.cache_info().currsize == romance.learned.cache_info().currsize == 1\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_lists_and_marks_of_context() -> None:
    class Plain(Spanish):
        def word(self, text: str) -> str:
            return text

        def running(self, sounds: Sequence[str], words: Sequence[str]) -> list[str]:
            return list(sounds)

    sounds = RomanceSounds(Plain(), {"que": "ke|kˈE", "por que": "kI", "fin": "fˌin"}, "casa")
    assert sounds.clause(["que", "que"], closed=True) == ["ke", "kˈE"]
    assert sounds.clause(["Por", "Que", "que"], closed=False) == ["por", "kI", "ke"]
    assert sounds.clause(["fin"], closed=True) == ["fˈin"]
