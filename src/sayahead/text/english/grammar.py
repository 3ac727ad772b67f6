"""How one trimmed token is read aloud: a grammar that composes.

An atom is a number, an amount of money, a measure, a time, an ordinal or a fraction (``amounts``). Compounds are made
of atoms and words: ranges (``10%-20%``, ``Mon-Fri``), counted words (``1.5-inch``, ``$20-a-month``), numbered names
(``COVID-19``). Some tokens are one thing as a whole (``rules``). What none of them knows is read piece by piece
(``pieces``). Every reading depends on the token and on what stands to its left, never on what follows.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sayahead.text.english import tables
from sayahead.text.english.amounts import CUR, MONEY_SCALED, NUM, NUMBER, TIME, atom, counted, money
from sayahead.text.english.fallback import code, formula, name, pieces, powers
from sayahead.text.english.left_context import NOTHING, Left
from sayahead.text.english.numbers import cardinal, each, grouped, initials, label, number, ordinal, plural, year
from sayahead.text.english.units import BIG, CURRENCIES, GLUED_ONLY, NOUNS, per, unit
from sayahead.text.english.whole_tokens import fixed
from sayahead.text.english.words import HALF, shouted, spaced_unit, word

_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_DASHES = re.compile(r"[-–—]")
_COUNTED_WORDS = re.compile(r"[-–]((?:[A-Za-z][A-Za-z']*\.?|[0-9]{1,2})(?:[-–](?:[A-Za-z][A-Za-z']*|[0-9]{1,2}))*)")
_CODES = re.compile(r"([A-Z])([1-9][0-9]{0,2})[-–]\1([1-9][0-9]{0,2})")
_LETTERED = re.compile("[0-9]{1,3}[A-HJ]")
_PRICED = re.compile(rf"([^\W\d_]+)[:=]({CUR}{NUM}\S*)")
_SIGNED = re.compile(r"(\+/-|[<>=]=|[+~<>±=≈≤≥≠#])(.*[0-9].*)")
_BOUND = re.compile(r"([<>=~!]=|[<>])([0-9][0-9.]*)")
_REQUIRED = re.compile(rf"([A-Za-z][\w-]*)({_BOUND.pattern}(?:,{_BOUND.pattern})*)")
_COMPARED = frozenset("and or to through not but - – > < >= <= == = ≥ ≤ version versions".split())
"""What links a version to another."""
_POSSESSIVE = re.compile(r"(.*[^A-Za-z'.-].*[^.]|[IVXL]+|[^'.]*[^A-Za-z'.-])'s")
_EACH = re.compile(rf"({NUM})/([A-Za-z]+)")
_POWER_OF_TEN = re.compile(r"[x×](10)\^([-−]?[0-9]+)(?:/([A-Za-zμ]+))?")
_DECADE = re.compile(r"'?(?:[0-9]{3}|[0-9])0'?s")
_PLURALS = re.compile("[0-9]{1,3}s")
_PLURAL = re.compile(r"([A-Z][A-Za-z]{0,3}-?[0-9]+|[A-Za-z]+-[0-9]+)s")
_HOURS = ("noon", "midnight", "now")
_AIRLINER = re.compile("7[0-9]7-([0-9]{3}|[89]|10)")
_PREFIXES = frozenset("mid pre post sub non over under top early late Mid Pre Top".split())
_RATE = re.compile(r"([a-z]{2,}s|once|twice|[0-9]+(?:\.[0-9]+)?x)/([A-Za-zμ]+[23]?)")
_VULGAR = re.compile(r"(?:[0-9]+ and a|one|two|three|four|five|seven) (?:half|(?:third|quarter|fifth|sixth|eighth)s?)")
"""What a sign such as ``½`` is folded into."""
_REGNAL = re.compile("([IVX]+)(?:--+|[—–])([A-Za-z]+)")
_CONSUMED = frozenset("L l gal kWh Wh g kg".split())
"""Units that are counted for each hundred of others: ``5 L/100 km``."""
_NUMBERED = re.compile(r"^[vV]\.?(?=[0-9])")
_SERIAL = re.compile(r"(?=.*[0-9])[A-Z0-9][A-Z0-9-]*")


def read(text: str, left: Left = NOTHING) -> str:
    """The spoken form of a trimmed token (ASCII punctuation, nothing before or after the word), or an empty string."""
    if left.kind == "label" and re.match(r"\W?[0-9]", left.word) and text.isalpha() and unit(text):
        left = replace(left, kind="one" if left.word == "1" else "number")
    if left.word.lower() in ("version", "versions"):
        text = _NUMBERED.sub("", text) or text
    if left.kind == "per" and not text.isalpha() and (below := per(text)):
        return below
    if left.kind in ("money", "percent", "time") and _repeated(text, left):
        return ""
    if text.isalpha() or text in tables.PLAIN:
        return word(text, left)
    if left.kind in ("number", "one", "feet", "hours") and (words := spaced_unit(text, left)):
        return words
    if left.kind == "number" and (m := re.fullmatch(r"([^\d–-]+)([/–-])([0-9].*)", text)) and (counted := unit(m[1])):
        each = (m[1] in _CONSUMED and (m[3].startswith("100") or m[1] not in ("g", "kg"))) or m[1].endswith("g")
        link = "to" if m[2] != "/" else "per" if each or "/" in m[1] else "slash"
        return f"{counted[1]} {link} {read(m[3])}"
    if HALF.fullmatch(text):
        return text[0].upper() + ".M."
    if words := _inflected(text, left):
        return words
    if _WORD.fullmatch(text):
        return _words(text, left)
    if (m := _REGNAL.fullmatch(text)) and left.word in tables.ROMAN_ORDINAL:
        return f"{word(m[1], replace(left, role='regnal'))} — {read(m[2])}"
    if not any(map(str.isalnum, text)):
        return "" if text in ("#", "*") else tables.SYMBOLS.get(text) or pieces(text)
    if left.kind == "sign" and (m := re.fullmatch("([0-9]+)(?!st|nd|rd|th|ish)([a-z]{2,3})", text)) and not unit(m[2]):
        return f"{number(m[1])} {initials(m[2])}"
    if text.replace("–", "-").isascii() or "@" in text or not text[0].isalpha():
        serial = left.kind == "code" and _SERIAL.fullmatch(text) and not text.isdigit()
        if left.kind == "month" and (words := _compound(text, left)):
            return words
        words = (
            code(text) if serial else atom(text, left) or fixed(text) or _priced(text, left) or _compound(text, left)
        )
        if words:
            return words
    return formula(text) or pieces(powers(text))


def _inflected(text: str, left: Left) -> str:
    """``VIII's`` the eighth's, ``GPT-4's`` G.P.T. four's, ``F-16s`` F sixteens; else nothing."""
    if (m := _POSSESSIVE.fullmatch(text)) and not _DECADE.fullmatch(text):
        words = "the first" if m[1] == "I" and left.word in tables.ROMAN_ORDINAL else read(m[1], left)
        counts = words.endswith("s") and (m[1][0] in CURRENCIES or m[1][0].isdigit())
        return "" if m[1].isalpha() and words == m[1] else words + ("'" if counts else "'s")
    if (m := re.fullmatch("x([0-9]+)", text)) and re.fullmatch(r".*[0-9]{3}-[0-9]{4}", left.word):
        return f"extension {each(m[1])}"
    if m := re.fullmatch("([0-9]+)ers", text):
        words = number(m[1])
        return f"{words}{'rs' if words.endswith('e') else 'ers'}"
    if m := re.fullmatch("([A-Za-z]+n't)'ve", text):
        return f"{m[1]} have"
    if m := _PLURAL.fullmatch(text):
        return plural(read(m[1], left))
    return ""


def _priced(text: str, left: Left) -> str:
    """A number or an amount with something beside it: ``$9/month``, ``$5-million``, ``>90%``, ``#5``, ``Total:$5``."""
    if m := MONEY_SCALED.fullmatch(text):
        return money(m[1], left, big=m[6]) or ""
    amount, _, each_ = text.rpartition("/")
    if "-" in each_ and amount and (words := money(amount)) and all(map(str.isalpha, each_.split("-"))):
        return f"{words} per {' '.join(per(part) or part for part in each_.split('-'))}"
    if each_.isalpha() and amount and amount[-1].isalnum() and (words := money(amount)):
        return f"{words} per {per(each_) or each_}"
    if (m := _RATE.fullmatch(text.lower() if text.istitle() else text)) and (below := per(m[2])):
        often = f"{number(m[1][:-1])} times" if m[1][0].isdecimal() else m[1]
        return f"{often} per {below}"
    if m := _SIGNED.fullmatch(text):
        figures = m[1] == "#" and re.fullmatch("[0-9]+(-[0-9]+)*", m[2])
        role = "version" if left.versioned and m[1][0] in "<>=≤≥" else ""
        numbered = Left("label", before="#") if figures else Left(role=role, before=m[1])
        return f"{tables.SYMBOLS[m[1]]} {read(m[2], numbered)}"
    if (m := _REQUIRED.fullmatch(text)) and (version := Left(word=m[1])).versioned:
        bounds = (f"{tables.SYMBOLS[sign]} {read(number_, version)}" for sign, number_ in _BOUND.findall(m[2]))
        return f"{read(m[1])} {', '.join(bounds)}"
    if (m := _EACH.fullmatch(text)) and len(m[2]) > 1 and (below := per(m[2])):
        return f"{number(m[1])} per {below}"
    if (m := _POWER_OF_TEN.fullmatch(text)) and left.kind in ("one", "number"):
        below = f" per {per(m[3]) or initials(m[3])}" if m[3] else ""
        return f"times ten to the power of {number(m[2])}{below}"
    if m := _PRICED.fullmatch(text):
        return f"{m[1]} {read(m[2])}"
    return ""


# ---- compounds -----------------------------------------------------------------------------------------------------


def _compound(text: str, left: Left) -> str:
    """A range, a counted word, a numbered name; nothing if the token is not made of two parts that are known."""
    if m := re.fullmatch("([0-9]{4})-([A-Z]{1,4})", text):
        return f"{label(m[1])} {initials(m[2])}"
    if m := re.fullmatch("(0[0-9]+(?:-[0-9]+)+)-([A-Z]{1,4})", text):
        return f"{grouped(m[1])}, {initials(m[2])}"
    sides = text.split("/")
    if (
        len(sides) > 1
        and any(s in tables.PLAIN for s in sides)
        and all(s in tables.PLAIN or s.isalpha() for s in sides)
    ):
        return " ".join(tables.PLAIN.get(side) or read(side) for side in sides)
    if len(sides) > 1 and all(side.rstrip(".") in tables.WEEKDAYS for side in sides):
        return " ".join(tables.WEEKDAYS[side.rstrip(".")] for side in sides)
    for m in _DASHES.finditer(text):
        first, last = text[: m.start()], text[m.end() :]
        if first and last and (words := _range(first, last, text, left)):
            return words
    first, slash, last = text.partition("/")
    if first.isdigit() and last[-2:] in ("°F", "°C") and (words := atom(last, left)):
        return f"{number(first)} over {words}"
    if first and slash and last[:1].isdigit() and not (last.isdigit() or first.isdigit()):
        one, other = atom(first, left), atom(last, left)
        if one and other:
            each = first[0] in CURRENCIES or (first[-1].isalpha() and re.match("10+[a-z]", last))
            return f"{one} {'per' if each else 'slash'} {other}"
    for m in _COUNTED_WORDS.finditer(text):
        first = text[: m.start()]
        parts = _DASHES.split(m[1])
        counted_on = parts[0] in ("a", "an", "per") and not left.each
        counted_on = counted_on or re.fullmatch("'?[0-9]0'?s", first) is not None
        article = left if left.kind == "label" else NOTHING if counted_on else Left(word="a", before="a")
        if m.end() == len(text) and first and (words := atom(first, article) or fixed(first)):
            return f"{words} {' '.join(map(_counted_word, parts, [*parts[1:], '']))}"
    named = re.fullmatch(r"([^\W\d_][\w.']*?)[-–](.*[0-9].*)", text)
    return _numbered(named[1], named[2], left) if named else ""


def _counted_word(text: str, following: str) -> str:
    """A word after a number's hyphen: a unit in the singular, but not the "in" of ``2-in-1``."""
    if text.isdigit():
        return number(text)
    names = "" if following.isdigit() else unit(text)
    return names[0] if names and text not in GLUED_ONLY and text != "a" else read(text, Left(word="-", before="-"))


def _range(first: str, last: str, text: str, left: Left) -> str:
    """``A to B`` of two numbers, amounts, times, weekdays or months."""
    if re.fullmatch(r"[0-9–-]+", text):
        return _figures(text.replace("–", "-"), left)
    weekday, month = tables.WEEKDAYS, tables.MONTHS
    low, high = first.rstrip("."), last.rstrip(".")
    for names in (weekday, month):
        both = {*names, *names.values()}
        if low in both and high in both:
            return f"{names.get(low, low)} to {names.get(high, high)}"
    if left.kind == "month" and high in month and re.fullmatch("[0-9]{4}", first):
        return f"{year(int(first))} to {month[high]}"
    if left.kind == "month" and high in month and (m := re.fullmatch(r"([0-9]{1,2})(?:st|nd|rd|th)?", first)):
        return f"{ordinal(int(m[1]))} to {month[high]}"
    if (m := _CODES.fullmatch(text)) and int(m[2]) < int(m[3]):
        return f"{initials(m[1])} {number(m[2])} to {initials(m[1])} {number(m[3])}"
    if _LETTERED.fullmatch(first) and _LETTERED.fullmatch(last):
        one, other = (f"{label(side[:-1])} {initials(side[-1])}" for side in (first, last))
        return f"{one} to {other}"
    if HALF.fullmatch(first) and (words := atom(last)):
        return f"{first[0].upper()}.M. to {words}"
    if first.isdigit() and (m := re.fullmatch("([0-9]{2,3})([FC])", last)):
        return f"{number(first)} to {number(m[1])} {m[2]}"
    if NUMBER.fullmatch(first) and (m := re.fullmatch(rf"({NUM})[x×]", last)):
        return f"{number(first)} to {number(m[1])} times"
    if not (last[:1].isdigit() or last[:1] in CURRENCIES or last in _HOURS):
        return ""
    beside = replace(left, word="") if left.each or (TIME.fullmatch(first) and TIME.fullmatch(last)) else left
    end = last if last in _HOURS else atom(last, replace(left, kind="", word="-", before="-"))
    begin = first if first in _HOURS else atom(first, beside)
    return f"{begin} to {end}".replace(" o'clock", "") if begin and end else ""


def _figures(text: str, left: Left) -> str:
    """Figures and hyphens alone: a range, a score of three, or a number that is said figure by figure."""
    parts = text.split("-")
    if any(not part for part in parts):
        return ""
    singly = left.kind == "code" or (left.kind in ("label", "dial") and len(parts[0]) > 2)
    if singly or (text[0] == "0" and len(parts[0]) > 3):
        return grouped(text)
    if len(parts) > 2:
        return grouped(text) if max(map(len, parts)) > 2 else " ".join(cardinal(int(part)) for part in parts)
    first, last = parts
    if left.kind == "month" and len(first) < 3 and len(last) < 3:
        return f"{ordinal(int(first))} to {ordinal(int(last))}"
    if len(last) > 1 and last[0] == "0" and len(first) != len(last) - 1:
        code_like = len(first) == 4 and len(last) == 2
        return f"{label(first)} {'to' if code_like else 'dash'} {each(last)}"
    if max(len(first), len(last)) > 6 or (len(last) > 3 and len(first) < len(last) - 1):
        return f"{each(first) if len(first) > 4 else label(first)} dash {each(last)}"
    if (len(first), len(last)) == (5, 4):  # A ZIP code.
        return grouped(text)
    if _AIRLINER.fullmatch(text) and (left.word in ("Boeing", "the", "The", "a") or text.endswith("00")):
        return f"{label(first)} {label(last)}"
    if int(first) >= int(last) and int(first) + int(last) == 100 and text.endswith(("0", "5")):
        return f"{number(first)} {number(last)}"
    begin = year(int(first)) if len(first) == 4 else number(first)
    end = year(int(last)) if len(last) == 4 else number(last)
    return f"{begin} to {end}"


def _numbered(first: str, last: str, left: Left) -> str:
    """A word with a number after its hyphen: ``COVID-19``, ``UTC-5``, ``mid-1990s``, ``May-3``."""
    if first in ("UTC", "GMT"):
        return f"{first} minus {atom(last) or pieces(last)}"
    if first in tables.MONTHS and last.isdigit():
        return f"{tables.MONTHS[first]} {counted(last, Left('month'))}"
    if len(first) == 1 and first.lower() in "ijknpqxyz" and first.islower():
        return ""
    if any(map(str.isdigit, first)):
        start = name(first) if first.isalnum() else ""
    else:
        start = read(first, replace(left, kind=""))
    lettered = first.isupper() or (first[0].isupper() and len(first) > 1)
    if last.isdigit():
        plain = first in _PREFIXES
        end = counted(last, Left(before=first)) if plain and len(last) == 4 else number(last) if plain else label(last)
    elif first.isupper() and re.fullmatch("[0-9]+(?:-[0-9]+)+", last):  # The groups of a code: no range.
        end = ", ".join(each(part) if part[0] == "0" else label(part) for part in last.split("-"))
    else:
        lettered = lettered or any(map(str.isdigit, first))
        named = lettered and re.fullmatch(r"[0-9]+[A-Za-z]+", last)
        sized = re.fullmatch(r"([0-9.]+)-([0-9.]+[BMKk])", last)  # Llama-3.1-70B
        if sized:
            return f"{start} {number(sized[1])} {name(sized[2])}"
        end = name(last) if named else read(last, Left(word="-", before="-"))
    return f"{start} {end}" if start and end else ""


def _words(text: str, left: Left) -> str:
    """Words with hyphens or apostrophes: ``Jan-Mar``, ``Mon-Fri``, ``UTF-encoded``, ``DON'T``."""
    if text == "A-Z":
        return "A to Z"
    first, dash, last = text.partition("-")
    if dash and (words := _range(first, last, text, left)):
        return words
    if "-" in text:
        parts = [tables.SAID.get(part, part) for part in text.split("-")]
        if parts[0].lower() in _PREFIXES and parts[-1] in tables.MONTHS:
            parts[-1] = tables.MONTHS[parts[-1]]
        return " ".join(parts) if parts != text.split("-") else text
    return text.lower() if text.isupper() and shouted(text.replace("'", ""), left) else text


# ---- what a token is for the next ----------------------------------------------------------------------------------


def after(text: str, left: Left, words: str, *, named: bool) -> Left:
    """What a token is for the one to its right."""
    kind, role = _carried(text, left, words)
    kind = kind or _kind(text, left, words)
    if kind in ("one", "number", "feet", "hours"):
        summed = not left.before or left.kind == "sign" or left.word.lower() in tables.SUMS
        plain = text.isdigit() and len(text) != 4
        role = "each" if left.each else "sum" if plain and summed else ""
        if len(left.word) == 1 and left.word.isupper() and left.word not in "AI":
            role = "lettered"
        role += " feet" if left.kind == "feet" else ""
        role = "each" if text in ("sq", "cu") and left.kind == "per" else role
        role += " inches" if text[-1].isdigit() and words.endswith(" inches") else ""
        if left.versioned and "." in text:
            role = "version"
        if left.kind == "month" and text.isdigit() and len(text) < 3:
            role = text
    if kind in ("one", "number") and left.word in ("by", "x", "×"):
        role += " by"
    if not kind and text.isalpha() and left.kind in ("one", "number") and left.word.isdigit():
        role = "house"
    if left.role.isdigit() and text.lower() in tables.DAY_LINKS:
        kind, role = "days", left.role
    return Left(kind, text, named, role, text)


def _carried(text: str, left: Left, words: str) -> tuple[str, str]:
    """Kind and role of what is said of the next word already, or goes for it too: ``$5``, ``50%``, ``9s and 10s``."""
    noun = words.rpartition(" ")[2]
    if text[0] in CURRENCIES or (text in BIG and noun in NOUNS):
        unsaid = m[0] if (m := re.match(CUR, text)) else ""
        return "money", f"{'each ' * left.each}{noun if noun in NOUNS else unsaid}"
    if left.kind in ("money", "plural") and text in ("to", "or", "and", "-", "–"):
        return left.kind, left.role if left.unsaid else "each" * ("each" in left.role)
    if text[-1] == "%":
        return "percent", "percent"
    if left.versioned and text.lower() in _COMPARED:
        return "", "version"
    return ("plural", "") if _PLURALS.fullmatch(text) and not noun.startswith("second") else ("", "")


def _repeated(text: str, left: Left) -> bool:
    """Whether a word is said already by what stands before it: ``$5 dollars``, ``50% percent``, ``5:00 o'clock``."""
    if left.kind == "time":
        return text == "o'clock" and left.word.endswith(":00")
    noun = left.role.rpartition(" ")[2] if left.kind in ("money", "percent") else ""
    return noun != "" and (text.rstrip("s") == noun.rstrip("s") or (noun.startswith("dollar") and text == "bucks"))


def _kind(text: str, left: Left, words: str) -> str:
    low, text = text.lower(), text.lstrip("+~<>±=≈≤≥≠#") or text
    if re.fullmatch("[0-9]{1,2}(?:st|nd|rd|th)", text):
        return "ordinal"
    if left.kind in ("code", "dial") and low in tables.LINKS:
        return left.kind
    if text in tables.ANY_MONTHS or _DASHES.split(text)[-1] in tables.MONTHS:
        return "month"
    if low in tables.CUES:
        return tables.CUES[low]
    if low == "no" and words.lower() == "number":
        return "label"
    if re.fullmatch("0[0-9]{2,4}", text) and left.kind in ("", "label"):
        return "phone"
    if left.kind in ("code", "dial", "label"):
        keyword = text.isupper() and (left.kind == "dial" or (left.kind == "label" and len(text) < 4))
        return left.kind if low in tables.LINKS or keyword or any(map(str.isdigit, text)) else ""
    if HALF.fullmatch(text) or re.fullmatch(r"[0-9:]+[ap]\.?m\.?", low):
        return "half"
    if text in tables.STATES and words == tables.STATES[text]:
        return "code"
    if not any(map(str.isalnum, text)):
        return "sign" if words else ""
    if text[-1] == "°" or (left.kind == "degree" and words.endswith((" minute", " minutes", " second", " seconds"))):
        return "degree"
    measured = left.kind in ("one", "number", "feet", "hours")
    if measured and low in ("ft", "feet", "foot"):
        return "feet"
    if (measured and low in ("h", "hr", "hrs", "hour", "hours")) or re.fullmatch(r"[0-9]+(?:h|hr|hrs)", low):
        return "hours"
    if words.rpartition(" ")[2] in ("square", "cubic", "fluid"):
        return "number"
    if re.fullmatch(r"[0-9][0-9,.]*\+|'[0-9]{2}", text):
        return "number"
    if _VULGAR.fullmatch(text):
        return "number" if text[0].isdigit() else "one"
    if not text[-1].isdigit():
        scaled = text in BIG if left.kind else text[0].isdigit() and words.rpartition(" ")[2] in BIG
        return "number" if scaled else ""
    if re.fullmatch(r"\+[0-9]{1,3}", low) or (left.kind == "phone" and text[0].isdigit()):
        return "phone"
    above, slash, below = text.partition("/")
    if slash and above.isdigit() and below.isdigit() and int(above) < int(below) and left.kind in ("", "sign"):
        return "one"
    if re.fullmatch(r"[0-9.]+(?:[x×][0-9.]+){1,2}", text):
        return "number"
    if NUMBER.fullmatch(text) or slash or re.search("[-–^]", text):
        return "one" if text.lstrip("-−") == "1" else "number"
    return "time" if TIME.fullmatch(text) else ""
