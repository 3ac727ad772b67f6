"""Why a text is read as it is: the rule that made each reading, and the lines of the language's tables it drew on.

Readings are watched from outside while they are made, so the rules know nothing of it, and it costs nothing elsewhere.
"""

from __future__ import annotations

import functools
import linecache
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from sayahead.text.reading.trace import TokenTrace, traced
from sayahead.types import Word

_FOLDER = Path(__file__).parent
_LONGEST = 120
"""Most characters of a rule or of a table's line that are shown."""


@dataclass(frozen=True, slots=True)
class Why:
    """Why a word is read as it is."""

    kind: str
    """What it was taken for: the name of the rule."""
    rule: str
    """What the rule does, in its own words."""
    where: str
    """Where the rule stands, in ``sayahead/text``."""
    lines: tuple[str, ...]
    """Lines of the language's tables with what the source has and what is said."""


class Watch:
    """Sees which functions make the readings of a normalizer."""

    def __init__(self, language: str) -> None:
        """``language``: the tag whose tables are named."""
        self._language = language
        self._made: list[tuple[CodeType, str]] = []
        self._tokens: list[TokenTrace] = []
        self._end = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While a normalizer is given text."""
        before = sys.getprofile()
        sys.setprofile(self._profile)
        try:
            with traced() as tokens:
                yield
            self._tokens += tokens
        finally:
            sys.setprofile(before)

    def _profile(self, frame: FrameType, event: str, value: Any) -> None:
        if event != "return" or not frame.f_code.co_filename.startswith(str(_FOLDER)):
            return
        said = value if isinstance(value, str) else getattr(value, "text", getattr(value, "said", None))
        said = getattr(said, "text", said)
        if isinstance(said, str) and said and not isinstance(value, Word):
            self._made.append((frame.f_code, said))

    def why(self, word: Word, source: str) -> Why | None:
        """Why a word was read otherwise than it is written; None where it was not, or where nothing tells."""
        self._end = word.end
        made, wanted = self._made, _bare(word.text)
        if wanted == _bare(source):
            return None
        if token := self._token(word):
            kind = token.rule.name.rpartition(".")[2].replace("_", " ")
            lines = _lines(self._language, source, word.text)
            return Why(kind, token.rule.source, token.rule.place, lines)
        codes = [code for code, said in made if _bare(said) == wanted and said != source]
        told = [code for code in codes if _described(code)]
        best = [code for code in told if "numbers.py" not in code.co_filename]
        code = next(iter(best or told or codes), None)
        lines = _lines(self._language, source, word.text)
        if code is None:
            return Why("table", "A table says it.", "", lines) if lines else None
        place = f"{Path(code.co_filename).relative_to(_FOLDER).as_posix()}:{code.co_firstlineno}"
        return Why(code.co_name.strip("_<>").replace("_", " "), _rule(code), place, lines)

    def _token(self, word: Word) -> TokenTrace | None:
        """The token of a word that is read otherwise than it is written."""
        own = [token for token in self._tokens if word.start <= token.start < word.end]
        return next((token for token in own if _bare(token.said) in _bare(word.text)), None)

    def forget(self) -> None:
        """Forget what was made for words that are out."""
        self._made.clear()
        self._tokens = [token for token in self._tokens if token.end > self._end]


def _bare(text: str) -> str:
    return re.sub(r"[^\w%$€£&@+=<>°-]+", " ", text).strip()


def _described(code: CodeType) -> str:
    """The first line of a function's description; nothing where it has none."""
    document = code.co_consts[0] if code.co_consts else None
    sentence = isinstance(document, str) and document.partition("\n")[0].endswith((".", ":"))
    return str(document).partition("\n")[0] if sentence else ""


def _rule(code: CodeType) -> str:
    """A function's description, or the line on which it stands."""
    return (_described(code) or linecache.getline(code.co_filename, code.co_firstlineno).strip())[:_LONGEST]


@functools.cache
def _tables(language: str) -> tuple[tuple[str, str, str], ...]:
    """The lines of a language's tables: file and number, keys, what they say."""
    tag = language.lower().replace("_", "-")
    data = [_FOLDER / "languages" / "data" / f"{name}.txt" for name in dict.fromkeys((tag, tag.partition("-")[0]))]
    files = [path for path in data if path.exists()] if tag.partition("-")[0] != "en" else []
    rows = []
    for path in files or [_FOLDER / "english" / "tables.txt"]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            keys, mark, says = line.partition(" = ")
            if mark and not line.startswith("//"):
                rows.append((f"{path.name}:{number}", keys, says))
    return tuple(rows)


def _lines(language: str, source: str, said: str) -> tuple[str, ...]:
    """The lines of the tables that have a piece of the source as a key and say a word of the reading."""
    pieces = set(re.findall(r"[^\W\d_]+\.?|[^\w\s]+", source)) | set(source.split())
    words = {word for word in re.findall(r"[^\W\d_]{2,}", said.lower()) if word not in source.lower().split()}
    found = [
        f"{place}: {keys} = {says}"[:_LONGEST]
        for place, keys, says in _tables(language)
        if pieces & set(keys.split()) and words & set(re.findall(r"[^\W\d_]{2,}", says.lower()))
    ]
    return tuple(found[:3])
