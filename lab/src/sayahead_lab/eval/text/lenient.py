"""Two readings as one: without what no listener would call another reading.

Case, marks, accents, hyphens and spaces do not count, nor does "and"; "oh" is zero, "negative" is
minus. Numbers are told by their figures, however these are grouped ("twenty twelve", "two oh one
two"), and dates have any order."""

from __future__ import annotations

import re
import unicodedata

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {word: value for value, word in enumerate(_ONES)} | {
    word: 10 * n for n, word in enumerate(_TENS, 2)
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {
    "first": "one",
    "second": "two",
    "third": "three",
    "fifth": "five",
    "eighth": "eight",
    "ninth": "nine",
}
_ORDINALS |= {"twelfth": "twelve"} | {word[:-1] + "ieth": word for word in _TENS}
_MONTHS = {
    "en": "january february march april may june july august september october november december",
    "de": "januar februar marz april mai juni juli august september oktober november dezember",
    "es": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    ),
    "fr": "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "it": (
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
        " dicembre"
    ),
    "pt": (
        "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro"
    ),
}
_SAME = {
    "oh": "zero",
    "o": "zero",
    "negative": "minus",
    "oclock": "",
    "and": "",
    "us": "",
    "okay": "ok",
}
_LINKS = {"de": "und", "es": "y", "fr": "et", "it": "e", "pt": "e"}


def canonical(text: str, language: str) -> str:
    """What of a reading counts."""
    text = unicodedata.normalize("NFD", text.lower().replace("ß", "ss"))
    text = "".join(char for char in text if not unicodedata.combining(char))
    text = re.sub(r"['’.]", "", text)
    words = re.findall(r"[^\W_]+", text)
    if language == "en":
        words = _numbers([word for word in (_SAME.get(word, word) for word in words) if word])
    else:
        link = _LINKS[language]
        words = [word for word in words if word != link]
    if any(word in _MONTHS[language].split() for word in words) and len(words) < 9:
        words = sorted(
            word for word in words if word not in ("the", "of", "de", "del", "do", "den", "der")
        )
    joined = "".join(words)
    if language == "de":
        joined = re.sub("ein(?:e[nmrs]?|s)?(?=hundert|tausend|und|$)", "ein", joined)
        joined = re.sub(
            "(?<=[a-z])und(?=zwanz|dreiss|vierz|funfz|sechz|siebz|achtz|neunz)", "", joined
        )
    return joined


def alike(one: str, other: str, language: str) -> bool:
    """Whether two readings are one."""
    return canonical(one, language) == canonical(other, language)


def _numbers(words: list[str]) -> list[str]:
    """Words with figures for numbers; those that follow each other touch."""
    out: list[str] = []
    # ``last``: what the last word added, so that "twenty twelve" is two numbers.
    total = 0
    part = -1
    last = 0

    def close() -> None:
        nonlocal total, part, last
        if part >= 0 or total:
            before = out.pop() if out and out[-1].isdigit() else ""
            out.append(before + str(total + max(part, 0)))
        total = 0
        part = -1
        last = 0

    for word in words:
        plain, ending = _cardinal(word)
        if plain in _SCALES:
            scale = _SCALES[plain]
            if scale == 100:
                part = max(part, 1) * 100
                last = 100
            else:
                total = total + max(part, 1) * scale
                part = -1
                last = scale
        elif plain in _VALUES:
            value = _VALUES[plain]
            fits = part < 0 or last == 100 or (20 <= last <= 90 and 0 < value < 10)
            if not fits or (total and part < 0 and value == 0):
                close()
            part = max(part, 0) + value
            last = value
        else:
            close()
            out.append(word)
            continue
        if ending:
            close()
            out.append(ending)
    close()
    return out


def _cardinal(word: str) -> tuple[str, str]:
    """A number word, and what makes it an ordinal or a plural."""
    if word in _ORDINALS:
        return _ORDINALS[word], "th"
    for ending, made in (("ths", "th"), ("th", "th"), ("ies", "s"), ("s", "s")):
        stem = word.removesuffix(ending) + ("y" if ending == "ies" else "")
        if word.endswith(ending) and (stem in _VALUES or stem in _SCALES):
            return stem, made
    return word, ""
