"""Tags and entities of HTML and XML, and the tags that language models write."""

from __future__ import annotations

import html
import re

from sayahead.text import Skipped, skip
from sayahead.text.markup import SENTENCE_END, Rewriter, Text

MAX_TAG = 400
"""Characters of a tag, beyond which its end is not awaited."""
MAX_COMMENT = 2000
MAX_WORD = 40
COMMENT = "<!--"

_NAME = r"[A-Za-z_:@][\w:.@-]*"
_FLAGS = (
    "allowfullscreen|async|autofocus|autoplay|checked|controls|default|defer|disabled|download|hidden|loop|multiple|"
    "muted|open|readonly|required|reversed|selected"
)
"""Attributes that stand without a value; no others do, since words would."""
_VALUE = r"(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=]+)"
_ATTRIBUTE = rf"(?:{_NAME}\s*=\s*{_VALUE}|(?:{_FLAGS})(?=[\s/>]))"
_TAG = re.compile(
    rf"<(/?)({_NAME})((?:\s+{_ATTRIBUTE})*)\s*/?>|<\|[\w ]{{1,30}}\|>|<[?!][^<>]{{0,200}}>"
)
_BEGUN = re.compile(
    rf"<(?:/?(?:{_NAME}(?:\s+{_ATTRIBUTE})*"
    rf"(?:\s+(?:{_NAME}\s*(?:=\s*(?:\"[^\"<]*|'[^'<]*|{_VALUE})?)?)?)?\s*/?)?|\|[\w"
    r" ]{0,30}\|?|[?!][^<>]{0,200})"
)
"""What may still become a tag."""
_BROKEN = re.compile(
    rf"<{_NAME}(?:\s+{_ATTRIBUTE})*(?:\s+{_NAME}\s*=\s*[\"']?[^\s\"'<>]*)?[\"']?\s*/?"
)
_ADDRESS = re.compile(r"<((?:https?:|www\.|mailto:)[^\s<>]*)>")
_ADDRESS_BEGUN = re.compile(r"<(?:https?:|www\.|mailto:)[^\s<>]*")
_ENTITY = re.compile(r"&(?:amp;)?(?:[A-Za-z]{2,8}|#[0-9]{2,6}|#x[0-9A-Fa-f]{2,6});")
_ENTITY_BEGUN = re.compile(
    r"&(?:[A-Za-z]{0,8}|#[0-9]{0,6}|#x[0-9A-Fa-f]{0,6}|amp;(?:[A-Za-z]{0,8}))"
)
_SHOWN = re.compile(r"&(?:amp;)?lt;(/?[A-Za-z][\w-]{0,30}/?)&(?:amp;)?gt;")
_SHOWN_BEGUN = re.compile(
    r"&(?:amp;)?lt;(?:/?(?:[A-Za-z][\w-]{0,30}/?(?:&(?:[a-z]{0,4};?){0,2})?)?)?"
)

INLINE = frozenset(
    "html head body a abbr b button center code details div emphasis figure font form i iframe "
    "img input kbd label lang link mark meta em option phoneme prosody s say-as select small "
    "source span speak strong sub summary sup svg tbody thead u video voice w audio break del "
    "ins q cite var samp time wbr picture colgroup col tfoot nav main".split()
)
"""Tags that are silent and part nothing."""
BLOCKS = frozenset(
    "article blockquote dd dl dt footer h1 h2 h3 h4 h5 h6 header hr li ol p paragraph pre section"
    " sentence table title tr ul".split()
)
"""Tags that end a sentence."""
CELLS = frozenset(("td", "th"))
HIDDEN = frozenset(("script", "style", "think", "thinking"))
"""Tags whose contents are for nobody's ears."""
MODELS = frozenset(
    "answer response reasoning reflection output result context tool_call tool_response".split()
)
"""Tags that language models write around what they say."""
KNOWN = INLINE | BLOCKS | CELLS | HIDDEN | MODELS | {"br"}
_RAISED = str.maketrans("0123456789+-−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")
_LOWERED = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
SHIFTED = {"sup": _RAISED, "sub": _LOWERED}
"""Tags whose figures are raised or lowered."""


class TagFilter(Rewriter):
    """Text without its tags; what a hidden element holds is told as skipped."""

    OPENERS = re.compile("[<&]")

    def __init__(self, skipped: Skipped, before_names: frozenset[str] = frozenset()) -> None:
        """``before_names``: words after which a lone tag is spoken of: "use a <div>"."""
        super().__init__()
        self._skipped = skipped
        self._before_names = before_names
        self._before = ""
        """The last characters before those that are held."""
        self._is_broken = False
        """Whether a tag goes on that a breath broke off."""
        self._rest = Text()
        self._hidden = ""
        self._shift: dict[int, int] = {}

    def _pass_on(self, text: Text) -> Text:
        """Pass on what is certain, and keep its last characters for ``_word_before``."""
        if self._is_broken:
            text = self._behind_tag(text)
        whole = self._held.chars + text.chars
        out = super()._pass_on(text)
        passed = whole[: len(whole) - len(self._held.chars)]
        self._before = (self._before + passed)[-MAX_WORD:]
        return out

    def _behind_tag(self, text: Text) -> Text:
        """What stands behind the rest of a tag that was broken off; nothing until its end has
        come."""
        self._rest += text
        rest = self._rest.chars
        end = rest.find(">")
        may_go_on = len(rest) < MAX_TAG and "<" not in rest and "\n" not in rest
        if end < 0 and may_go_on and not (self._is_over and rest):
            return Text()
        behind = self._rest[end + 1 :]
        self._rest = Text()
        self._is_broken = False
        return behind

    def _word_before(self, at: int) -> str:
        """The last word before a place of what is held, in small letters."""
        before = self._before + self._held.chars[max(0, at - MAX_WORD) : at]
        words = before[-MAX_WORD:].split()
        return words[-1].lower() if words else ""

    @property
    def is_idle(self) -> bool:
        return not (self._hidden or self._shift or self._is_broken) and super().is_idle

    def let(self, chars: str) -> None:
        super().let(chars)
        self._before = (self._before + chars)[-MAX_WORD:]

    def _copy(self, start: int, end: int) -> None:
        """Copy what is held to the output: raised or lowered, or skipped, as open tags want it."""
        if self._hidden:
            if start < end:
                self._hide(start, end)
            return
        if self._shift:
            chars = self._held.chars
            self._held.chars = chars[:start] + chars[start:end].translate(self._shift) + chars[end:]
        super()._copy(start, end)

    def _hide(self, start: int, end: int) -> None:
        places = self._held.places
        skip(self._skipped, places[start][0], places[end - 1][1], self._held.chars[start:end])

    def _rewrite(self, at: int) -> int | None:
        rest = self._held.chars[at : at + MAX_COMMENT]
        return self._entity(at, rest) if rest[0] == "&" else self._angle(at, rest)

    def _entity(self, at: int, rest: str) -> int | None:
        """An entity's character, also where the entity was escaped twice; the name of a tag that is
        written with entities, which is spoken of."""
        if shown := _SHOWN.match(rest):
            return self._copy_name(at, shown)
        if not self._is_over and (_ENTITY_BEGUN.fullmatch(rest) or _SHOWN_BEGUN.fullmatch(rest)):
            return None
        entity = _ENTITY.match(rest)
        char = html.unescape(html.unescape(entity[0])) if entity else ""
        if entity is None or char == entity[0]:
            return 0
        if not self._hidden:
            self._put(char, at, entity.end())
        return entity.end()

    def _angle(self, at: int, rest: str) -> int | None:
        """A comment, an address in brackets or a tag; one that the text breaks off is silent, too,
        where it has an attribute."""
        if rest.startswith(COMMENT) or COMMENT.startswith(rest):
            return self._comment(at, rest)
        if address := _ADDRESS.match(rest):
            return self._copy_name(at, address)
        # No tag goes over the end of a line: the next line is not awaited.
        line = rest.partition("\n")[0][:MAX_TAG]
        if (tag := _TAG.match(line)) is not None:
            return self._tag(at, tag, rest)
        may_go_on = len(line) == len(rest) and not self._is_over
        if _BEGUN.fullmatch(line) or _ADDRESS_BEGUN.fullmatch(line):
            if may_go_on:
                return None
            broken = _BROKEN.match(line)
            if broken and "=" in broken[0]:
                self._silence(at)
                self._is_broken = True
                return broken.end()
        return 0

    def _comment(self, at: int, rest: str) -> int | None:
        """A comment, which is silent; one without an end is not awaited for ever."""
        end = rest.find("-->")
        if end < 0 and not self._is_over and len(rest) < MAX_COMMENT:
            return None
        if end < 0 and not rest.startswith(COMMENT):
            return 0
        self._silence(at)
        return end + 3 if end >= 0 else len(rest)

    def _tag(self, at: int, tag: re.Match[str], rest: str) -> int | None:
        """A tag: within a hidden element, spoken of, or one that does something. What touches it
        may decide that, and is awaited."""
        name = (tag[2] or "").lower()
        if self._hidden:
            return self._unhide(tag, name)
        after = rest[tag.end() : tag.end() + 1]
        is_alone = bool(name) and not (tag[1] or tag[3])
        may_be_shown = is_alone and not (name in KNOWN and not self._before_names)
        if may_be_shown and not (after or self._is_over):
            return None
        if (is_alone and self._is_shown(at, name, after)) or (self._last == "`" and name):
            return self._copy_name(at, tag)
        self._part(at, tag, name)
        return tag.end()

    def _is_shown(self, at: int, name: str, after: str) -> bool:
        """Whether a lone tag is spoken of, by the word before it or, where nobody knows it, by what
        touches it."""
        if name not in KNOWN and self._is_placeholder(after):
            return True
        return not after.isalnum() and self._word_before(at) in self._before_names

    def _is_placeholder(self, after: str) -> bool:
        """Whether a tag that nobody knows stands for something, by what touches it."""
        return self._last.isalnum() or not (after.isalnum() or after in tuple("{<"))

    def _unhide(self, tag: re.Match[str], name: str) -> int:
        """The end of what is hidden; another tag in it is hidden, too."""
        if not (tag[1] and name == self._hidden):
            return 0
        self._hidden = ""
        return tag.end()

    def _part(self, at: int, tag: re.Match[str], name: str) -> None:
        """What a tag does: it ends a sentence or a cell, raises figures, hides, or nothing."""
        self._silence(at)
        if name in BLOCKS:
            self._put(SENTENCE_END, at, tag.end())
        elif name == "br":
            self._put("\n", at, tag.end())
        elif name in CELLS and tag[1]:
            self._put(", ", at, tag.end())
        elif name in SHIFTED:
            self._shift = {} if tag[1] else SHIFTED[name]
        elif name in HIDDEN and not (tag[1] or tag[0].endswith("/>")):
            self._hidden = name

    def _copy_name(self, at: int, match: re.Match[str]) -> int | None:
        """Pass on the name of a tag that is shown, or an address, parted from what touches it."""
        after = self._held.chars[at + match.end() :][:1]
        if not (after or self._is_over):
            return None
        name = match[1] + match[2] if match.re is _TAG else match[1].strip("/")
        start = at + match[0].index(name)
        self._out.append(" ", self._held.places[at])
        self._copy(start, start + len(name))
        if after not in tuple(".,;:!?)"):
            self._out.append(" ", self._held.places[at + match.end() - 1])
        return match.end()
