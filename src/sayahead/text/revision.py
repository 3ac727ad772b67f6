"""Revisions of text of which a part was spoken: which words of the new text stand for those."""

from __future__ import annotations

import itertools
import re

WORD = re.compile(r"(?:(?!(?<=[^\W\d_])[,;!?])[^\s—])*(?:—|(?<=[^\W\d_])[,;!?])[^\w\s]*|[^\s—]+")
"""A word as normalizers end them: at white space, a dash, or a mark after a letter."""
MARKED = re.compile(r"[^\W\d_][,;!?]$")
"""A word that is over at its mark, whatever touches it."""
MAX_ALIGNED = 200
"""Words that differ and are aligned, which takes the square of them; of more, as many are left out
as were spoken."""
AHEAD = 8
"""Words of the new text that are looked at beyond twice as many as were spoken."""
LONGEST_LINE = 1000
"""Characters of a line before its open sentence that are read again where text is revised."""
_OPENING = re.compile(r"(?:(?:[>#|*+•‣◦▪-]{1,6}|\d{1,3}[.)])?[ \t])+")
"""What may make a line a list's item, a heading, a quote or a table's row."""
_FENCE = re.compile(r"^[ \t]*```[^`\n]*$", re.MULTILINE)
_GAP = re.compile(r"\s+(?=\S)")


def reread(source: str, begin: int) -> tuple[str, int]:
    """What a fresh normalizer reads to go on where a sentence begins: an opening, then the source
    from a place on.

    What opens a list or a heading is read where it does not begin a line, so the line is read
    again; of a long one the last part, after what opens the line, or a word. So is the fence of
    code that the line stands in."""
    line = source.rfind("\n", 0, begin) + 1
    opening = "```\n" if sum(1 for _ in _FENCE.finditer(source, 0, max(0, line - 1))) % 2 else ""
    if begin - line <= LONGEST_LINE:
        return opening, line
    match = _OPENING.match(source, line, line + 16)
    opening += match[0] if match else "x "
    for gap in _GAP.finditer(source, begin - LONGEST_LINE, begin):
        # A tag that ends within the opening's room would be known and read again.
        if ">" not in source[gap.end() - len(opening) : gap.end()]:
            return opening, gap.end()
    return opening, begin


def unspoken(before: str, spoken: str, text: str) -> str:
    """What is left to speak of a new text, where after ``before`` the old one went on with
    ``spoken``.

    The words left out are those nearest to the spoken ones in edit distance; of equally near ones,
    as many as were spoken. A word that goes on after ``before`` was spoken with its beginning: its
    rest is left out, too."""
    words = WORD.findall(spoken)
    # No more than these can stand for them, however long the text is.
    found = [*itertools.islice(WORD.finditer(text), 2 * len(words) + AHEAD + 1)]
    new = [match[0] for match in found]
    ends = [match.end() for match in found]
    glued = bool(before) and not before[-1].isspace() and MARKED.search(before) is None
    rest_spoken, rest_new = (
        int(bool(part) and glued and not part[0].isspace()) for part in (spoken, text)
    )
    left_out = rest_new + counterparts(words[rest_spoken:], new[rest_new:])
    return text[ends[min(left_out, len(ends)) - 1] :] if left_out and ends else text


def counterparts(spoken: list[str], new: list[str]) -> int:
    """How many words at the beginning of ``new`` stand for the spoken ones."""
    one, other = ([re.sub(r"\W", "", word).casefold() for word in words] for words in (spoken, new))
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    one, other = one[same:], other[same : 2 * len(one) + AHEAD]
    if len(one) > MAX_ALIGNED:
        return len(spoken)
    row = list(range(len(other) + 1))
    for count, word in enumerate(one, 1):
        above = row
        row = [count]
        for place, candidate in enumerate(other):
            row.append(
                min(above[place] + (word != candidate), above[place + 1] + 1, row[place] + 1)
            )
    return same + min(range(len(row)), key=lambda place: (row[place], abs(place - len(one))))
