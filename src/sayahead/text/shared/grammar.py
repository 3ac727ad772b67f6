"""How one trimmed token is read aloud, by what stands to its left: a grammar of atoms (``amounts``) and compounds.

What no rule knows is read piece by piece, so that no figure and no sign goes unsaid.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from sayahead.text.shared import addresses, amounts, sizes, slashes
from sayahead.text.shared.amounts import figures, number, numbers_of, signed
from sayahead.text.shared.dates import DAY_AND_MONTH, dated, period, week
from sayahead.text.shared.rates import composed, powered
from sayahead.text.shared.record import SUBTRACTED, Record
from sayahead.text.shared.words import Left, Said

_ELIDED = re.compile(r"([^\W\d_]+')([0-9].*)")
_ELIDED_WORD = re.compile(r"([^\W\d_]+['’])([^\W\d_]\S*)")
_ELIDED_SIGN = re.compile(r"([^\W\d_]+['’])([€$£¥])")
RANGE = re.compile(r"(.+?)(--|[-–—]|/)(.+)")
_DAYS = re.compile(r"([0-9./]+)([-–]|(?<=\.)/)([0-9./]+)")
_CODES = re.compile(r"([A-Z])([1-9][0-9]{0,2})[-–]\1([1-9][0-9]{0,2})")
_LETTERS = re.compile("([A-Z])(?:–|(?<=A)-(?=Z))([A-Z])")
"""``D–F``, ``A-Z``."""
"""``A20-A28``: from one to another."""
_ROMAN = re.compile(r"(?=[IVXLCDM])(M{0,3})(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_LASTING = re.compile("([0-9]{1,3})(?:min|m)([1-9][0-9]?)s")
_HOURS = re.compile("([0-9]{1,2})h([1-5][0-9])")
_PHONE = re.compile(r"\(?\+?[0-9][0-9()/.-]{2,}[0-9]")
_MOBILE = re.compile(
    "[0-9]{5}-[0-9]{4}|[0-9]{3}-[0-9]{3}-[0-9]{3,4}|[0-9]{2}[1-9]-[0-9]{3}[1-46-9]|[0-9]{3}[1-9]-[2-9][0-9]{2}[1-9]"
)
"""Figures and hyphens that are a telephone number by their form; ranges of thousands end in zeros."""
_PIECE = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_WORD = re.compile(r"[¿¡]?[^\W\d_]+(?:['’-][^\W\d_]+)*['’]?")
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def read(core: str, left: Left, record: Record, *, form: str = "", dotted: bool = False) -> Said:
    """The spoken form of a token; ``form`` is the gender of what a number counts.

    A language without numbers leaves everything as it is, for espeak-ng to read.
    """
    if record.numbers is None:
        return Said(core, Left(record.cues.get(core.lower(), ""), core, before=left.word))
    # "Appelez le 01 23", "Die PIN lautet 4711": an article or a verb between what tells of a number and the number.
    short = core.isalpha() and core.islower() and len(core) < 5
    over = core == record.linked and left.word[-1:].isdecimal()  # "01 23 de 9 h"
    linked = left.kind in ("phone", "code", "pressure") and not over and (short or core in record.linking)
    both = f"{left.word}-{core}".lower()
    kind = left.kind if linked else record.cues.get(both, "") or record.cues.get(core.lower(), "")
    if left.kind in ("money", "measure") and core.isalpha() and _repeated(core, left, record):
        return Said("", left)
    if left.kind == "sum" and core in (record.until, record.and_word):
        return Said(core, replace(left, word=core))
    kind = "dates" if left.kind == "date" and core == record.until else kind
    if left.kind == "numeral" and core in (record.and_word, record.until):  # "secoli XVI e XX"
        kind = "roman"
    form_, noun = left.form if left.kind == "day" else "", left.noun if core == record.and_word else ""
    plain = Said(core, Left(kind, core, before=left.word, form=form_, noun=noun))
    if core in record.plain:
        return Said(amounts.agreeing(record.plain[core], left, record), replace(plain.left, form=""))
    if m := _LETTERS.fullmatch(core):
        return Said(f"{m[1]} {record.until} {m[2]}", Left(word=core, before=left.word))
    if ("'" in core or "’" in core) and (elided := _elided(core, plain, left, record)):
        return elided
    day = dotted and record.dot_ordinals and DAY_AND_MONTH.fullmatch(core)
    if day and (reading := dated(core + ".", left, record)):
        return reading
    if left.kind in ("number", "hours") and (reading := _unit(core, left, record)):
        return reading
    if "/" in core and (often := slashes.rate(core, left, record)):
        return often
    if core in ("x", "X", "×") and left.kind == "number":
        return Said(record.over("x"), Left(word=core, before=left.word))
    if left.word == record.linked != "" and core in record.currencies and core.isupper():
        return Said(record.currencies[core].main.many, Left("money"))
    shared = left.word and left.word.lower() in (record.per, record.per_many) and (len(core) > 1 or not record.per_many)
    if shared and core in record.units:
        return Said(record.units[core].one, Left(word=core, before=left.word))
    if core[-1] in amounts.VULGAR and (part := amounts.fraction(core, record)):
        return Said(part, Left("number", core, one=True, before=left.word))
    if days := week(core, record):
        return Said(days, Left(word=core))
    if not core.isascii() and (power := powered(core, left, record, read)):
        return power
    if _WORD.fullmatch(core):
        numeral = core[0] in "IVXLC" and not core.isupper() and _ordinal(core, left, record, form)
        if numeral:
            return numeral
        return _word(core, left, record) or plain
    for rule in (_figures, _addressed, _timed, _dated, _ordinal, _paid, _composed, _ranged, _coded):
        if reading := rule(core, left, record, form):
            return reading
    return Said(
        slashes.either(core, record) or pieces(core, record, singly=left.kind == "code"),
        Left("code" if left.kind == "code" else "", core, before=left.word),
    )


def _elided(core: str, plain: Said, left: Left, record: Record) -> Said | None:
    """``l'80``, ``dell'app.to``, ``d'€``: an article before figures, an abbreviation or a sign."""
    if (m := _ELIDED_WORD.fullmatch(core)) and m[2] in record.plain:
        return Said(m[1] + record.plain[m[2]].partition("/")[0], plain.left)
    if m := _ELIDED.fullmatch(core):
        rest = read(m[2], Left(word=m[1], before=left.word), record)
        return Said(m[1] + rest.text, rest.left)
    if (m := _ELIDED_SIGN.fullmatch(core)) and m[2] in record.currencies:
        return Said(m[1] + record.currencies[m[2]].main.many, Left(word=core, before=left.word))
    return None


def _repeated(core: str, left: Left, record: Record) -> bool:
    """Whether a word is said already by the sign or the code before it: ``5 € Euro``."""
    if left.form:
        return core.lower() == left.form.lower()
    noun = record.units.get(left.word) or (
        record.currencies[left.word].main if left.word in record.currencies else None
    )
    return noun is not None and not left.word.isalpha() and core.lower() in (noun.one.lower(), noun.many.lower())


def _unit(core: str, left: Left, record: Record) -> Said | None:
    """What is counted, after its number: ``km``, ``€``, ``Mio.``"""
    if left.kind == "hours" and core.isdecimal():
        return None
    if core in record.scales:
        words = amounts.noun_after(record.scales[core], replace(left, big=False), record)
        return Said(words, replace(left, word=core, one=False, big=record.scales[core].gender != ""))
    if core in record.glued_only and not left.word[-1:].isdecimal():
        return None
    if core[0] == "/" and (each := amounts.per(core[1:], record)) and core[1:] in record.units:
        return Said(each, Left("measure", core, before=left.word))
    scale = record.scaled_currency.fullmatch(core)
    if scale and scale[2] in record.currencies:
        scale_noun = record.scales.get(scale[1]) or record.scales[f"{scale[1]}."]
        million = amounts.noun_after(scale_noun, replace(left, big=False), record)
        return Said(f"{million} {record.of(record.currencies[scale[2]].main.many)}", Left("money"))
    noun = amounts.unit(core, left.word, record) or amounts.compound(core, record)
    if noun is None and core in record.currencies:
        noun = record.currencies[core].main
    if noun is None:
        return None
    after = Left("hours", core, before=left.word) if core in record.hours else amounts.after_each(core, left)
    return Said(amounts.noun_after(noun, left, record), after)


def _word(core: str, left: Left, record: Record) -> Said | None:
    """A word that is read otherwise than it is written: Roman numerals, abbreviations without a full stop."""
    small = core[0] in "ivx" and len(core) > 1 and set(core) <= set("ivx") and core != "vi"  # "vi" is a word, too.
    if small and record.cues.get(left.word.lower()) == "roman" and (value := roman(core.upper())):
        return Said(numbers_of(record).roman(value, replace(left, kind="roman")), Left(word=core, before=left.word))
    if (value := roman(core)) and _numeral(core, left, record):
        cued = replace(left, kind="roman") if left.kind == "label" else left
        kind = "numeral" if left.kind == "roman" else ""
        return Said(numbers_of(record).roman(value, cued), Left(kind, core, before=left.word))
    parts = core.split("-")
    if len(parts) > 1 and parts[0].istitle() and parts[0] in record.plain:
        return Said("-".join([record.plain[parts[0]], *parts[1:]]), Left(word=core, before=left.word))
    if len(parts) == 2 and parts[0] in record.roads and (value := roman(parts[1])):
        return Said(f"{parts[0]} {number(str(value), record)}", Left(word=core, before=left.word))
    if len(parts) > 1 and all(part[0] in "IVXL" for part in parts):
        ordinals = [_ordinal(part, Left(), record, "") for part in parts]
        if all(ordinals):
            return Said(f" {record.until} ".join(each.text for each in ordinals if each), Left(word=core))
    if len(parts) > 1 and all(part.isupper() and len(part) < 6 for part in parts):
        values = [roman(part) for part in parts]
        if all(values) and record.cues.get(left.word.lower()) == "roman":
            words = [numbers_of(record).roman(value, left) for value in values]
            return Said(f" {record.until} ".join(words), Left("numeral", core))
    return None


def _numeral(core: str, left: Left, record: Record) -> bool:
    """Whether Roman figures are meant as such."""
    small = set(core) <= set("IVX")
    if left.kind == "roman" or (left.kind == "label" and small):
        return small or len(core) > 1
    named = left.word[:1].isupper() and left.word not in record.months
    if len(core) == 1:
        return left.word in record.names
    monarch = left.word.rpartition("-")[2] in record.names
    return monarch or (named and left.before != "" and small)


def roman(core: str) -> int:
    """The value of a Roman numeral, or 0."""
    if not _ROMAN.fullmatch(core):
        return 0
    values = [_VALUES[char] for char in core]
    return sum(-v if v < n else v for v, n in zip(values, [*values[1:], 0], strict=True))


def _figures(core: str, left: Left, record: Record, form: str) -> Said | None:
    """A plain number, as what is to its left says it is meant."""
    text = core.lstrip("+-±")
    if not re.fullmatch(record.number, text) or core[: len(core) - len(text)] not in ("", "+", "-", "±"):
        return None
    if left.kind == "phone" or (left.kind == "code" and text.isdecimal() and len(text) > 2):
        sign = f"{record.sign(core[0])} " if core[0] in "+-" else ""
        words = telephone(text, record) if left.kind == "phone" else figures(text, record)
        return Said(sign + words, Left(left.kind, core, before=left.word))
    if left.kind == "hours" and text.isdecimal() and len(text) == 2:
        return Said(number(text.lstrip("0") or "0", record), amounts.after_number(text, core, left, record))
    day = text.isdecimal() and len(text) == 2 and text[0] == "0" and text != "00"
    if day and record.cues.get(left.word.lower()) in ("ordinal", "day"):
        return Said(number(text[1], record), Left("number", core, before=left.word))
    if text.isdecimal() and text[0] == "0" and len(text) > 1:
        return Said(figures(core, record), Left("phone", core, before=left.word))
    if form == "month":
        return Said(numbers_of(record).ordinal(1, "month"), Left("day", core, before=left.word))
    four = text.isdecimal() and len(text) == 4 and core == text and 1100 <= int(text) <= 1999
    if four and numbers_of(record).has("year"):
        return Said(
            numbers_of(record).year(int(text)), replace(amounts.after_number(text, core, left, record), big=False)
        )
    return Said(signed(core, record, form), amounts.after_number(text, core, left, record))


def telephone(text: str, record: Record) -> str:
    """Figures of a telephone number: in pairs where they are one, otherwise one by one."""
    if record.pairs and len(text) in (2, 3) and text[0] != "0":
        return numbers_of(record).cardinal(int(text), "")
    return figures(text, record)


def _addressed(core: str, left: Left, record: Record, form: str) -> Said | None:
    words = addresses.spelled(core, record)
    return Said(words, Left(word=core, before=left.word)) if words else None


def _timed(core: str, left: Left, record: Record, form: str) -> Said | None:
    """``14:30``, ``14h30``, and ``ore 14.30``."""
    if (m := _LASTING.fullmatch(core)) and {"min", "s"} <= record.units.keys():
        minutes, seconds = (amounts.counted(m[i], record.units[name], record) for i, name in ((1, "min"), (2, "s")))
        return Said(f"{minutes} {seconds}", Left("measure", "s", before=left.word))
    if not record.hour_signs and "h" in record.units and (m := _HOURS.fullmatch(core)):
        hours = amounts.counted(m[1], record.units["h"], record)
        return Said(f"{hours} {number(m[2], record)}".replace("' ", "'"), Left("time", core, before=left.word))
    cued = record.cues.get(left.word.lower()) == "hour"
    time = amounts.time(core, record, dot=cued)
    if time is None or (left.kind == "label" and core[-1] == "H"):  # "siège 24H"
        return None
    return Said(numbers_of(record).clock(*time, left), Left("time", core, before=left.word))


def _dated(core: str, left: Left, record: Record, form: str) -> Said | None:
    return dated(core, left, record)


def _ordinal(core: str, left: Left, record: Record, form: str) -> Said | None:
    """``1er``, ``3ª``, ``XXe``."""
    m = re.fullmatch(r"([0-9]{1,4}|[IVXLC]+)[.-]?([^\W\d]+|[º°ªᵉ]+[.]?)", core)
    m = m or re.fullmatch(rf"([1-9][0-9]{{0,2}}(?:[{record.groups} ][0-9]{{3}})+)[.]?([º°ª]+[.]?|[^\W\d]+)", core)
    suffix = re.fullmatch(rf"({record.number}) ?(%?)-?([^\W\d]+)((?:-[^\W\d]+)*)", core)
    if suffix and any(re.fullmatch(pattern, suffix[2] + suffix[3]) for pattern in record.number_suffixes):
        reading = _figures(suffix[1], Left(), record, "n")
        percent = record.sign("%").lower() if suffix[2] else ""
        rest = f"{percent}{suffix[3]}{suffix[4].replace('-', ' ')}"
        return reading and Said(reading.text + rest, Left(word=core, before=left.word))
    if m is None or m[2] not in record.ordinal_suffixes:
        return None
    value = int(re.sub(r"\D", "", m[1])) if m[1][-1].isdecimal() else roman(m[1])
    if len(m[1]) == 1 and not m[1].isdecimal() and (m[1] not in "IVX" or m[2] not in record.letter_suffixes):
        return None
    if not value or (m[2] == "°" and left.kind == "number"):
        return None
    return Said(
        numbers_of(record).ordinal(value, record.ordinal_suffixes[m[2]]), Left("ordinal", core, before=left.word)
    )


def _paid(core: str, left: Left, record: Record, form: str) -> Said | None:
    """Money, measures, percent, fractions."""
    if price := amounts.prefixed(core, record):
        return amounts.money(price[1], price[0], record)
    if part := amounts.fraction(core.lstrip("+-"), record):
        sign = f"{record.sign(core[0])} " if core[0] in "+-" else ""
        return Said(sign + part, Left("number", core, one=True, before=left.word))
    amount, _, below = core.rpartition("/")
    if amount and (price := amounts.prefixed(amount, record)) and (each := amounts.per(below, record)):
        paid = amounts.money(price[1], price[0], record)
        return replace(paid, text=f"{paid.text} {each}")
    return amounts.measure(core, left, record)


def _composed(core: str, left: Left, record: Record, form: str) -> Said | None:
    return composed(core, left, record, read)


def _ranged(core: str, left: Left, record: Record, form: str) -> Said | None:
    """``5-7``, ``10–15 %``, ``1990/91``, ``Mo-Fr``: two atoms and what is between them."""
    if (m := _CODES.fullmatch(core)) and int(m[2]) < int(m[3]):
        one, other = (f"{m[1]} {number(figures, record)}" for figures in (m[2], m[3]))
        return Said(f"{one} {record.until} {other}", Left(word=core, before=left.word))
    if left.kind == "code" and re.fullmatch("[0-9][0-9./-]*[./-][0-9./-]*[0-9]", core):
        return Said(figures(core, record), Left("code", core, before=left.word))
    if (m := _DAYS.fullmatch(core)) and (days := period(m[1], m[3], left, record, both=m[2] == "/")):
        return days
    m = RANGE.fullmatch(core)
    if m is None or not (m[1][-1].isdecimal() or m[1][0].isdecimal()) or not m[3][0].isdecimal():
        return None
    if m[2] == "/" and slashes.season(m[1], m[3]):  # A season: 2024/25.
        return Said(f"{number(m[1], record)} {number(m[3], record)}", Left("number", core, before=left.word))
    if (account := re.fullmatch(r"([0-9]{4,})-([0-9])", core)) and left.kind != "day":
        words = (figures(account[1], record), record.address.get("-", ""), figures(account[2], record))
        return Said(" ".join(filter(None, words)), Left(word=core))
    parts = core.count("-") + core.count("/")
    dialled = parts > 1 or (core[0] == "0" and len(core) > 6) or left.kind == "phone" or _MOBILE.fullmatch(core)
    if _PHONE.fullmatch(core) and dialled:
        return None
    if core == "24/7":
        return Said(f"{number('24', record)} {number('7', record)}", Left(word=core, before=left.word))
    if m[3][0] == "0" and m[3].isdecimal() and m[1].isdecimal() and len(m[1]) > 3:  # A postal code: 1100-053.
        return Said(f"{figures(m[1], record)} {figures(m[3], record)}", Left(word=core))
    if m[2] != "/" and (times := re.fullmatch(rf"({record.number})[x×]", m[3])) and (low := number(m[1], record)):
        many = record.multiplied or record.over("x")
        return Said(f"{low} {record.until} {amounts.number(times[1], record, 'f')} {many}", Left(word=core))
    first, last = _atom(m[1], left, record), _atom(m[3], Left(), record)
    if m[2] != "/" and (paid := amounts.prefixed_range(m[1], m[3], record)):
        currency, low, high = paid
        money = amounts.money(high, currency, record)
        return replace(money, text=f"{number(low, record)} {record.until} {money.text}")
    if last is None and amounts.prefixed(m[1], record):
        last = _paid(re.sub("[0-9].*", "", m[1]) + m[3], Left(), record, form)
    if first is None or last is None:
        return None
    if m[2] == "/":
        marked = record.decimal in m[1] and m[3] in ("5", "10", "20", "100")  # "7,5/10"
        return Said(f"{first.text} {(marked and record.out_of) or record.sign('/')} {last.text}", last.left)
    return Said(f"{first.text} {record.until} {last.text}", replace(last.left, one=False))


def _atom(text: str, left: Left, record: Record) -> Said | None:
    for rule in (_figures, _timed, _paid, _ordinal):
        if reading := rule(text, left, record, ""):
            return reading
    if record.dot_ordinals and re.fullmatch(r"[0-9]{1,2}\.", text):
        numbers = numbers_of(record)
        return Said(numbers.ordinal(int(text[:-1]), numbers.dotted(left, "")), Left("day"))
    return None


def _coded(core: str, left: Left, record: Record, form: str) -> Said | None:
    """Telephone numbers in one piece, versions, letters with figures, figures with a word after them."""
    dialled = re.match(r"\(?[+0]", core) or left.kind == "phone" or _MOBILE.fullmatch(core)
    if _PHONE.fullmatch(core) and dialled and (left.kind == "phone" or sum(map(str.isdecimal, core)) > 5):
        plus = f"{record.sign('+')} " if "+" in core else ""
        return Said(plus + " ".join(telephone(part, record) for part in re.findall(r"\d+", core)), Left("phone", core))
    if (m := re.fullmatch(r"([^\d\s]+)([0-9][^A-Z]*)", core)) and m[1] in record.before_number:
        rest = read(m[2], Left("label", m[1]), record)
        return Said(f"{record.before_number[m[1]]} {rest.text}", rest.left)
    if m := re.fullmatch(r"([0-9]{1,3})[x×]", core):
        return Said(f"{number(m[1], record, 'f')} {record.over('x')}", Left(word=core, before=left.word))
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)+", core):
        parts = core.split(".")
        long = len(parts) == 2 and len(parts[1]) > 2
        words = [number(part, record) if not long or i == 0 else figures(part, record) for i, part in enumerate(parts)]
        return Said(f" {record.dot} ".join(words), Left("number", core, before=left.word))
    if sized := sizes.glued(core, left, record):
        return sized
    if m := re.fullmatch(rf"({record.number})-([^\W\d_]+(?:-[^\W\d_]+)*)", core):
        return Said(f"{number(m[1], record)} {m[2]}", Left(word=m[2], before=left.word))
    if re.fullmatch(r"[<>≤≥~≈±=×+#&§№-][^<>=]+", core) and core[0] in record.signs:
        rest = read(core[1:], Left(), record)
        return Said(f"{record.signs[core[0]]} {rest.text}", rest.left)
    return None


def pieces(core: str, record: Record, *, singly: bool = False) -> str:
    """Piece by piece: letters as they are, figures as numbers or one by one, signs by name."""
    words, before = list[str](), ""
    for piece in _PIECE.findall(core.translate(_POWERS)):
        if piece[0].isdecimal():
            parts = re.findall(r"[0-9]+|[.,]", piece)
            named = {".": record.dot, ",": record.point}
            words += [named.get(part) or (figures(part, record) if singly else _part(part, record)) for part in parts]
        elif piece[0].isalpha():
            words.append(record.plain.get(piece, piece) if "+" in core else piece)
        elif piece == SUBTRACTED or (
            not (piece == "-" and before and before not in "/=<>([;:,{")
            and (piece in record.signs or unicodedata.category(piece[0])[0] == "S")
        ):
            words.append(record.address.get("/", piece) if piece == "/" else record.sign(piece))
        before = piece
    return " ".join(words)


def _part(text: str, record: Record) -> str:
    long = len(text) > 4 or (text[0] == "0" and len(text) > 1)
    return figures(text, record) if long else number(text, record)
