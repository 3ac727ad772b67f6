"""Lexicons: words and phrases with the pronunciations that a user gives them, for any language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from sayahead.config import describe
from sayahead.errors import ConfigError

MAX_WORDS = 8
"""Longest phrase."""
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
"""Soft hyphens, joiners, marks of direction."""
_BRACKETS = {"/": ("/", "ipa"), "[": ("]", "voice"), "{": ("}", "cmu-arpabet")}


@dataclass(frozen=True, slots=True)
class Entry:
    """How one word or phrase is said."""

    said: str
    """Words that are read in its place, or a pronunciation."""
    alphabet: str = ""
    """What the pronunciation is written in, one of ``transcription.ALPHABETS``; empty: it is
    words."""
    where: str = "lexicon"
    """Where it stands, for errors."""


class Lexicon:
    """Words and phrases, and how they are said.

    A word in small letters stands for any spelling of it; one with capitals only for itself, and
    before the other. The longest phrase wins. ``lexicon | other`` has the entries of both, the
    other's where they differ."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        """ConfigError for a word without letters or figures, a phrase that is too long, or nothing
        to say."""
        self.entries = {spaced(word): entry for word, entry in entries.items()}
        for word, entry in self.entries.items():
            if not any(map(str.isalnum, word)):
                raise ConfigError(
                    f"{entry.where}: {word!r} is no word: it has neither letters nor figures."
                )
            if len(word.split()) > MAX_WORDS:
                raise ConfigError(f"{entry.where}: {word!r} has more than {MAX_WORDS} words.")
            if not entry.said.strip():
                raise ConfigError(
                    f"{entry.where}: {word!r} has no pronunciation: give words, or IPA as in"
                    " /ˈwɪn/."
                )

    def __or__(self, other: Lexicon) -> Lexicon:
        both = Lexicon({})
        both.entries = {**self.entries, **other.entries}
        return both

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"<Lexicon: {len(self)} entries>"

    @classmethod
    def of(cls, source: object) -> Lexicon:
        """A lexicon from itself, from the path of a file, or from a mapping of words to words to be
        read instead, IPA in slashes, ARPAbet in braces or the voice's own symbols in brackets.
        ConfigError for anything else."""
        if isinstance(source, Lexicon):
            return source
        if isinstance(source, str | Path):
            return read_lexicon(Path(source))
        if isinstance(source, Mapping):
            return cls(
                {word_of(key): pronunciation(value, word=str(key)) for key, value in source.items()}
            )
        raise ConfigError(
            f"lexicon is {describe(source)}, but must be a table of words, or a file's path."
        )


def word_of(key: object) -> str:
    """A key of a mapping. ConfigError if it is no text."""
    if not isinstance(key, str):
        raise ConfigError(f"lexicon: {describe(key)} is no word.")
    return key


def spaced(word: str) -> str:
    """A word or phrase with single spaces and one kind of apostrophe, and without characters that
    nobody sees."""
    if word.isascii():
        return " ".join(word.split())
    return " ".join(_HIDDEN.sub("", unicodedata.normalize("NFC", word)).replace("’", "'").split())


def pronunciation(value: object, *, word: str, where: str = "lexicon") -> Entry:
    """An entry from its written form, see ``Lexicon.of``. ConfigError for one that is no text or
    lacks a bracket."""
    if not isinstance(value, str):
        raise ConfigError(
            f"{where}: the pronunciation of {word!r} is {describe(value)}, but must be text."
        )
    text = value.strip()
    if text[:1] not in _BRACKETS:
        return Entry(text, where=where)
    close, alphabet = _BRACKETS[text[0]]
    if len(text) < 2 or not text.endswith(close):
        raise ConfigError(
            f"{where}: the pronunciation {text!r} of {word!r} begins with {text[0]}: end it with"
            f" {close}."
        )
    return Entry(text[1:-1], alphabet, where)


def read_lexicon(path: Path) -> Lexicon:
    """A lexicon from a file: lines ``word = pronunciation``, or W3C's PLS where it ends with
    ``.pls`` or ``.xml``.

    Empty lines and lines that begin with ``#`` are skipped. ConfigError with file and line for a
    bad one, a word that comes twice, and a file that cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} cannot be read as UTF-8 text: {error}.") from error
    items = (
        pls(text, str(path)) if path.suffix.lower() in (".pls", ".xml") else lines(text, str(path))
    )
    entries = dict[str, Entry]()
    for word, entry in items:
        if (earlier := entries.get(word)) is not None:
            raise ConfigError(
                f"{entry.where}: {word!r} stands in {earlier.where.rpartition(', ')[2]}, too."
            )
        entries[word] = entry
    return Lexicon(entries)


def lines(text: str, name: str) -> Iterator[tuple[str, Entry]]:
    """Words and entries of lines ``word = pronunciation``."""
    for number, line in enumerate(text.splitlines(), start=1):
        where = f"{name}, line {number}"
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        word, separator, reading = line.partition(
            "\t" if "\t" in line.strip() and "=" not in line else "="
        )
        if not (separator and word.strip() and reading.strip()):
            raise ConfigError(
                f"{where}: expected WORD = PRONUNCIATION, found {line.strip()[:60]!r}."
            )
        yield spaced(word), pronunciation(reading, word=word.strip(), where=where)


def pls(text: str, name: str) -> Iterator[tuple[str, Entry]]:
    """Words and entries of W3C's Pronunciation Lexicon Specification."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ConfigError(f"{name}: a PLS file must have no DOCTYPE.")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ConfigError(f"{name} is no PLS file: {error}.") from error
    alphabet = root.get("alphabet", "ipa")
    lexemes = [element for element in root if local(element) == "lexeme"]
    for number, lexeme in enumerate(lexemes, start=1):
        where = f"{name}, lexeme {number}"
        parts: dict[str, list[ElementTree.Element]] = {}
        for element in lexeme:
            parts.setdefault(local(element), []).append(element)
        graphemes = parts.get("grapheme")
        is_alias = "alias" in parts
        reading = next(iter(parts.get("alias", ()) or parts.get("phoneme", ())), None)
        if not graphemes or reading is None or not reading.text:
            raise ConfigError(f"{where}: expected a grapheme, and an alias or a phoneme.")
        written = "" if is_alias else reading.get("alphabet", alphabet)
        for grapheme in graphemes:
            yield spaced(grapheme.text or ""), Entry(reading.text, written, where)


def local(element: ElementTree.Element) -> str:
    """An element's name without its namespace."""
    return element.tag.rpartition("}")[2]
