"""Cutting text for engines that speak whole pieces, as a caller would who receives it letter by
letter."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sayahead.text.languages import record_of


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a text that an engine gets at once."""

    start: int
    """Its start, in characters."""
    end: int
    """Its end (exclusive)."""
    read: int
    """Characters of text that must have arrived before the fragment's end is known."""


_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s+(\S))|\n[^\S\n]*\n")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")


def by_sentence(text: str) -> list[Fragment]:
    """Sentences, each complete when the first character of the next arrives, the last when the text
    ends.

    So do Piper's Wyoming server (sentence-stream 1.3) and hibari's own split: end punctuation,
    closing quotes, white space, no lower-case letter; not after a title, an initial or letters with
    dots. A blank line ends one too."""
    ends = sentence_ends(text, 0, len(text))
    starts = [0, *(end for end, _ in ends)]
    ends.append((len(text), len(text)))
    return [
        Fragment(a, b, read) for a, (b, read) in zip(starts, ends, strict=True) if text[a:b].strip()
    ]


def is_short(word: str) -> bool:
    """Whether a word before a full stop is a short form that ends no sentence."""
    record = record_of("en")
    return f"{word}." in record.table("never_ends") or word in record.vocabularies["titles"]


def sentence_ends(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    """Sentence ends between two indices, each with the characters it takes to know; without the
    last index itself."""
    out = list[tuple[int, int]]()
    for match in _END.finditer(text, start, stop):
        sentence = text[start : match.start()]
        following = match[1]
        # A single letter is an initial; after letters with dots a name may go on, as in "U.S.
        # Army".
        word = (
            sentence.split()[-1].lstrip("(\"'“‘«[")
            if match[0][0] == "." and sentence.strip()
            else "other"
        )
        abbreviated = is_short(word) or _INITIALS.fullmatch(word) is not None
        if sentence.strip() and (following is None or not (following.islower() or abbreviated)):
            out.append((match.end(), match.end() if following is None else match.end(1)))
            start = match.end()
    return out


CLAUSE_MARKS = ".?!;:,\n…。—"
SENTENCE_MARKS = ".?!\n…。"
LEAST = 10
CONTEXT = 12
MAX_MARKS = 30


def first_fragment_early(text: str) -> list[Fragment]:
    """Each sentence's first clause as early as possible, then the rest of the sentence: as
    RealtimeTTS cuts.

    Written after the behaviour of stream2sentence 1.1 with the defaults of RealtimeTTS 0.8's
    ``play_async`` (``fast_sentence_fragment``, ``fast_sentence_fragment_allsentences``):

    - A first fragment, of more than 10 characters, ends at the first clause punctuation: at once,
      or with the next character where a number or an address may go on ("1,000", "3:30"), and at
      the end of a sentence with the first character of the next. Without any, it ends at the space
      where 30 spaces and marks have been counted.
    - What is left of a sentence goes out when at least 12 characters follow its end, the last end
      punctuation not more than 24, with all sentences that are complete by then; one below 10
      characters goes with the next.
    - When a first fragment was a whole sentence, the next sentence is taken for its rest, as it is
      there.

    Where sentences end is judged as in ``by_sentence``; its long lists of abbreviations are left
    out."""
    out = list[Fragment]()
    start = 0
    first = True
    marks = 0
    for at, char in enumerate(text):
        start += start == at and char.isspace()
        marks += char.isspace() or char in CLAUSE_MARKS
        cuts = list[tuple[int, int]]()
        if first:
            end = clause_end(text, start, at)
            if end is None and char.isspace() and marks >= MAX_MARKS and at - start >= LEAST:
                end = at + 1
            cuts = [] if end is None else [(start, end)]
        elif at - start >= LEAST + CONTEXT:
            cuts = rest_of_sentence(text, start, at)
        if cuts:
            out += [Fragment(a, b, at + 1) for a, b in cuts]
            first = not first
            marks = 0
            start = cuts[-1][1]
            start += len(text[start : at + 1]) - len(text[start : at + 1].lstrip())
    return out + [Fragment(a, b, len(text)) for a, b in sentences(text, start, len(text))]


def rest_of_sentence(text: str, start: int, at: int) -> list[tuple[int, int]]:
    """The sentences from ``start`` that go out with the character at ``at``."""
    complete = sentences(text, start, at + 1)[:-1]
    last = max(text.rfind(mark, start, at + 1) for mark in SENTENCE_MARKS)
    near = last >= start and CONTEXT <= at - last <= 2 * CONTEXT
    return complete if near or len(complete) > 1 else []


def clause_end(text: str, start: int, at: int) -> int | None:
    """End of the first fragment of the sentence from ``start``, if the character at ``at`` decides
    it."""
    char = text[at]
    before = text[at - 1 : at]
    earlier = text[at - 2 : at - 1]
    # A comma continues what it follows: "Inc., and", "so?", he asked.
    ended = text[start:at].rstrip("\"'”’)]}»")[-1:] in (".", "?", "!")
    number_over = before == "," and earlier.isdigit() and not char.isdigit()
    name_over = before == ":" and earlier.isalnum() and char.isspace()
    complete = sentence_ends(text, start, at + 1) if before.isspace() else ()
    ends = [end for end, read in complete if read == at + 1]
    over = char in ";…\n—" or (char == "," and not (before.isdigit() or ended))
    ends += [at + 1] * over + [at] * (number_over or name_over)
    return ends[0] if ends and ends[0] - start > LEAST else None


def sentences(text: str, start: int, stop: int) -> list[tuple[int, int]]:
    """The sentences between two indices, short ones joined to the next; the last may be
    incomplete."""
    out = list[tuple[int, int]]()
    for end in [*(end for end, _ in sentence_ends(text, start, stop)), stop]:
        if len(text[start:end].strip()) >= LEAST or (end == stop and text[start:end].strip()):
            out.append((start, end))
            start = end
    return out
