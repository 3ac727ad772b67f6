"""How texts in other languages should be read: a judge of words alone, for files like those of
``readings``."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from sayahead.text import front_end
from sayahead.text.languages import READ, record_of
from sayahead.types import Word
from support.readings import Case, cases

FOLDER = Path(__file__).parents[1] / "text" / "readings"
LANGUAGES = READ
SPACED = tuple(
    tag for tag in READ if record_of(tag).spaced and record_of(tag).scripts == ("LATIN",)
)
"""Languages whose words are Latin letters with spaces between them, and abbreviations have a full
stop."""


def cases_of(language: str) -> list[Case]:
    """The cases of a language."""
    return cases(FOLDER / f"{language}.tsv")


def words_of(language: str, text: str) -> list[Word]:
    """The words of a whole text."""
    normalizer = front_end(language).normalizer()
    return normalizer.push(text) + normalizer.flush()


LETTER = "(?:[^\\W_]|[\u0900-\u0963\u0971-\u097f])"
"""A letter or a figure, or a mark that Devanagari writes beside one."""


def canonical(text: str) -> str:
    """A reading without case, marks, hyphens, spaces between characters that have none, and the
    optional one of German hundreds."""
    text = unicodedata.normalize("NFC", text.lower()).replace("’", "'").replace("' ", "'")
    text = re.sub(r"\bein(hundert|tausend)", r"\1", text)
    words = " ".join(re.findall(rf"{LETTER}+(?:'{LETTER}+)*|[+<>=%€$&@§°]", text))
    return _UNSPACED.sub("", words)


_UNSPACED = re.compile(r"(?<=[\u3040-\u9fff]) | (?=[\u3040-\u9fff])")


def sentences(words: list[Word]) -> list[str]:
    """The texts of the sentences."""
    out = [""]
    for word in words:
        out[-1] = f"{out[-1]} {word.text}".strip()
        if word.ends:
            out.append("")
    return [canonical(text) for text in out if canonical(text)]


def right(language: str, case: Case) -> bool:
    """Whether a case is read as one of its readings."""
    return accepts(case, words_of(language, case.text))


def accepts(case: Case, words: list[Word]) -> bool:
    """Whether these words are one of a case's readings; sentence ends count where the category is
    theirs."""
    said = sentences(words)
    accepted = [[canonical(part) for part in reading.split(" / ")] for reading in case.accepted]
    if case.category == "sentence ends":
        return said in accepted
    return " ".join(said) in [" ".join(parts) for parts in accepted]
