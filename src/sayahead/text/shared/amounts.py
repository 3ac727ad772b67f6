"""Numbers, money, measures and times: the atoms of a reading."""

from __future__ import annotations

import re
import unicodedata

from sayahead.text.shared.numbers import Numbers
from sayahead.text.shared.record import CURRENCIES, Record
from sayahead.text.shared.tokens import Right
from sayahead.text.shared.words import Currency, Left, Noun, Said

MILLION = 1_000_000
LARGEST = 10**15
_SCALE_LETTERS = {"k": 10**3, "K": 10**3, "M": 10**6}
_FRACTION = re.compile(r"(?:([0-9]{1,4})[ +])?([0-9]{1,4})/([0-9]{1,4})")
_PART = re.compile(r"[+-]?(?:[0-9]+ )?(?!1/2)[0-9]+/[0-9]+|[0-9]*[⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒]")
"""Parts of a whole, of which units are: "tres cuartos de hora"."""
_ENGLISH_MONEY = re.compile(
    r"([+-]?)([A-Z]{0,3}\$|[A-Z]{3}|£|¥|€)([0-9]+\.[0-9]{2}|[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]{2})?)"
)
_GROUPED_MONEY = re.compile(r"[+-]?[A-Z]{0,3}[$£][1-9][0-9]{0,2},[0-9]{3}")
"""Thousands as English writes them: no price in dollars has three decimals."""
VULGAR = {
    sign: (int(above), int(below))
    for sign in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
    for above, below in [unicodedata.normalize("NFKC", sign).split("⁄")]
}


def numbers_of(record: Record) -> Numbers:
    """The record's numbers; only asked where it has some."""
    assert record.numbers is not None
    return record.numbers


def figures(text: str, record: Record) -> str:
    """Figures one by one."""
    return " ".join(numbers_of(record).cardinal(int(char), "") for char in text if char.isdecimal())


def parse(text: str, record: Record) -> tuple[int, str] | None:
    """A number's whole part and the figures after its decimal mark; None if it is none, or has a leading zero."""
    if not re.fullmatch(record.number, text):
        return None
    english = record.decimal == "," and re.fullmatch(r"[0-9]{1,3}(,[0-9]{3}){2,}", text)
    head, _, tail = (text, "", "") if english else text.partition(record.decimal)
    head = re.sub(r"[^0-9]", "", head)
    if (len(head) > 1 and head[0] == "0") or int(head) >= LARGEST:
        return None
    return int(head), tail


def whole(text: str, record: Record) -> int | None:
    """The value of a whole number as it is written, with its sign left out."""
    parts = parse(text.lstrip("+-"), record)
    return parts[0] if parts and not parts[1] else None


def number(text: str, record: Record, form: str = "") -> str:
    """An unsigned number as it is written, in words; figure by figure where it has a leading zero or no end."""
    parts = parse(text, record)
    if parts is None:
        head, mark, tail = text.partition(record.decimal)
        words = figures(head, record)
        return f"{words} {record.point} {figures(tail, record)}" if mark and tail else words
    value, decimals = parts
    numbers = numbers_of(record)
    if form == "month":
        form = ""
    words = numbers.cardinal(value, "" if decimals else form)
    return f"{words} {record.point} {numbers.fraction(decimals)}" if decimals else words


def signed(text: str, record: Record, form: str = "") -> str:
    """A number with its sign."""
    sign = text[0] if text[0] in "+-±" else ""
    words = number(text[len(sign) :], record, form)
    return f"{record.sign(sign)} {words}" if sign else words


def value_of(text: str, record: Record) -> float:
    """What a number is worth, for the noun after it."""
    parts = parse(text.lstrip("+-±"), record)
    if parts is None:
        return 0.0
    return float(f"{parts[0]}.{parts[1] or 0}")


def round_million(text: str, record: Record) -> bool:
    """Whether it is whole millions: "d'euros"."""
    parts = parse(text.lstrip("+-±"), record)
    return parts is not None and not parts[1] and parts[0] >= MILLION and parts[0] % MILLION == 0


def unit(name: str, amount: str, record: Record) -> Noun | None:
    """What a number is of, in short: some mean another thing by the hundred."""
    many = record.many_units.get(name)
    return many if many and value_of(amount, record) >= 100 else record.units.get(name)


def counted(text: str, noun: Noun, record: Record) -> str:
    """A number and what it counts."""
    one = numbers_of(record).singular(value_of(text, record))
    name = noun.one if one else noun.many
    if round_million(text, record):
        name = record.of(name)
    return f"{signed(text, record, noun.gender)} {name}"


def noun_after(noun: Noun, left: Left, record: Record) -> str:
    """What is counted by the number to the left."""
    name = noun.one if left.one else noun.many
    if name.endswith("e") and " " not in name and not left.one and left.before.lower() in record.datives:
        name += "n"
    part = _PART.fullmatch(left.word) and fraction(left.word.lstrip("+-"), record)
    return record.of(name) if left.big or part else name


def after_number(text: str, core: str, left: Left, record: Record) -> Left:
    """What a number means for what follows."""
    one = numbers_of(record).singular(value_of(text, record)) if any(map(str.isdecimal, text)) else False
    return Left("number", core, one, round_million(text, record), left.word)


def money(text: str, currency: Currency, record: Record) -> Said:
    """An amount, with hundredths after the currency."""
    cents = re.search(r"[,.]([0-9]{2})$", text)
    if not cents or currency.cent is None or (record.decimal not in cents[0] and re.search(r"[,.]", text[:-3])):
        return Said(counted(text, currency.main, record), Left("money", form=currency.main.many))
    head = text[: cents.start()]
    rest, sign = int(cents[1]), ""
    if head[0] in "+-":
        sign, head = record.sign(head[0]) + " ", head[1:]
    if rest == 0:
        return Said(sign + counted(head, currency.main, record), Left("money"))
    small = counted(str(rest), currency.cent, record)
    if not head.strip("0"):
        return Said(sign + small, Left("money"))
    n = small if record.few_cents and rest < 10 else number(str(rest), record)
    main = counted(head, currency.main, record)
    return Said(sign + record.money.format(main=main, n=n, cents=small), Left("money"))


def prefixed(core: str, record: Record) -> tuple[Currency, str] | None:
    """The currency and the number of ``$5``, ``EUR5``, ``R$5``."""
    m = re.fullmatch(rf"([+-]?)([A-Z]{{0,3}}[{CURRENCIES}]|[A-Z]{{3}})({record.number})", core)
    grouped = record.decimal == "," and _GROUPED_MONEY.fullmatch(core)
    if (m is None or grouped) and record.decimal == "," and (m := _ENGLISH_MONEY.fullmatch(core)):
        text = m[3].replace(",", "").replace(".", ",")
        return (record.currencies[m[2]], m[1] + text) if m[2] in record.currencies else None
    return (record.currencies[m[2]], m[1] + m[3]) if m and m[2] in record.currencies else None


def prefixed_range(first: str, last: str, record: Record) -> tuple[Currency, str, str] | None:
    """The currency and the two numbers of ``$3-5``; None for other ranges."""
    price = prefixed(first, record)
    if not price or not re.fullmatch(record.number, last) or re.search(r"[,.][0-9]{2}$", first + last):
        return None
    return (*price, last) if value_of(last, record) > value_of(price[1], record) else None


def scaled(text: str, scale: Noun, currency: Currency | None, record: Record) -> Said:
    """``$5 Mio.``: the number, the million, the currency, unless that is named after it."""
    one = numbers_of(record).singular(value_of(text, record))
    words = f"{signed(text, record, scale.gender)} {scale.one if one else scale.many}"
    if currency is None:
        return Said(words, Left("number", text, big=True))
    name = record.of(currency.main.many) if scale.gender else currency.main.many
    return Said(f"{words} {name}", Left("money", form=currency.main.many))


def time(core: str, record: Record, *, dot: bool = False) -> tuple[int, int | None, int | None] | None:
    """Hours, minutes and seconds of ``14:30``, ``14h30``; ``14.30`` where a word told that it is a time."""
    marks = "".join((":", *record.hour_signs, "." if dot else ""))
    m = re.fullmatch(rf"([0-9]{{1,2}})[{marks}]([0-9]{{2}})(?::([0-9]{{2}}))?(?:min|m)?", core)
    if m is None and record.hour_signs:
        m = re.fullmatch(rf"([0-9]{{1,2}})[{''.join(record.hour_signs)}](?![0-9])()()", core)
    if m is None or int(m[1]) > 24 or int(m[2] or 0) > 59 or int(m[3] or 0) > 59:
        return None
    return int(m[1]), int(m[2]) if m[2] else None, int(m[3]) if m[3] else None


def fraction(core: str, record: Record) -> str:
    """``3/4``, ``1½``; nothing if it is none that has a name."""
    if core and core[-1] in VULGAR and (core[:-1].isdecimal() or len(core) == 1):
        above, below = VULGAR[core[-1]]
        head = core[:-1]
    elif m := _FRACTION.fullmatch(core):
        head, above, below = m[1] or "", int(m[2]), int(m[3])
    else:
        return ""
    if record.and_a_half and head and (above, below) == (1, 2):
        return record.and_a_half.format(n=number(head, record, "n"))
    part = numbers_of(record).part(above, below) if above < below or below < 5 else ""
    if not part:
        return ""
    return f"{number(head, record)} {record.and_word} {part}" if head else part


def measure(core: str, left: Left, record: Record) -> Said | None:
    """A number with a unit, a currency, a percent sign or a scale right after it: ``5km``, ``20€``, ``3M€``."""
    m = re.fullmatch(
        rf"([+±-]?{record.number}|[+-]?[0-9]+[.][0-9]{{1,2}}) ?([^0-9,.][^0-9]*[²³]?|[^0-9,.]*[0-9]?)", core
    )
    if m is None or not m[2]:
        return None
    text, name = m[1], m[2].strip("-")
    if m[2][0] == "-" and len(name) == 1:
        return None
    if record.decimal == "," and parse(text.lstrip("+-±"), record) is None and text.count(".") == 1:
        text = text.replace(".", ",")
    if name in record.currencies:
        return money(text, record.currencies[name], record)
    if scale := record.scaled_currency.fullmatch(name):
        noun = record.scales.get(scale[1]) or record.scales.get(f"{scale[1]}.")
        if noun and scale[2] in record.currencies:
            return scaled(text, noun, record.currencies[scale[2]], record)
    if len(name) == 1 and core == text + name and text.isdecimal() and _lettered(text, name, left):
        return None
    if noun := unit(name, text, record):
        return Said(counted(text, noun, record), Left("hours" if name in record.hours else "measure", name))
    if (each := compound(name, record)) is not None:
        return Said(counted(text, each, record), after_each(name, left))
    if name in record.scales:
        return Said(counted(text, record.scales[name], record), Left("number", name, big=True, before=left.word))
    if name in _SCALE_LETTERS and parse(text, record) and "," not in text:
        total = int(parse(text, record)[0]) * _SCALE_LETTERS[name]  # type: ignore[index]
        return Said(numbers_of(record).cardinal(total, ""), Left("number", core, big=total >= MILLION))
    return None


def _lettered(text: str, letter: str, left: Left) -> bool:
    """Whether a letter right after a number is none of its unit: track 7B, seat 14A, ``4K``."""
    if left.kind == "label":
        return letter.isupper()
    return (letter in "BF" and len(text) < 3) or (letter == "K" and text in ("2", "4", "8", "16"))


def compound(name: str, record: Record) -> Noun | None:
    """``€/Monat``, ``g/cm³``: a unit for each of another."""
    above, slash, below = name.partition("/")
    if not slash:
        return None
    if "/" in below:  # "mg/kg/día"
        inner, _, last = name.rpartition("/")
        noun, each = compound(inner, record), per(last, record)
        return Noun(f"{noun.one} {each}", f"{noun.many} {each}", noun.gender) if noun and each else None
    first = record.units.get(above) or (record.currencies[above].main if above in record.currencies else None)
    if first is None or not below:
        return None
    of = record.over("/") if above in ("h", "j", "d") else record.per_many or record.per  # "24 h/24": no share.
    after = f"{of} {number(below, record)}" if below.isdecimal() else per(below, record)
    return Noun(f"{first.one} {after}", f"{first.many} {after}", first.gender) if after else None


def after_each(name: str, left: Left) -> Left:
    """What a unit means for the next word: ``L/100`` is still a number, of what is to be told."""
    below = name.partition("/")[2]
    return Left("number" if below.isdecimal() else "measure", below if below.isdecimal() else name, before=left.word)


def per(below: str, record: Record) -> str:
    """What an amount is divided by: ``pro Monat``, ``par kilogramme``, ``all'ora``; nothing if it is no word."""
    unit = record.units.get(below) or record.units.get(f"{below}.")
    unit = unit or (record.currencies[below].main if below in record.currencies else None)
    noun = unit.one if unit else below if below.isalpha() else ""
    if record.per_feminine and noun and noun[0] not in "aeiou" and _feminine(noun, below, record):
        return f"{record.per_feminine} {noun}"
    if record.per_vowel and noun and noun[0] in "aeiou":
        return f"{record.per_vowel}{noun}"
    return f"{record.per} {noun}" if noun else ""


def _feminine(noun: str, below: str, record: Record) -> bool:
    """Whether what an amount is divided by is feminine."""
    unit = record.units.get(below) or record.units.get(f"{below}.")
    by_form = numbers_of(record).gender(noun, Left(one=True)) if unit is None else unit.gender
    return (record.genders.get(noun) or by_form) in ("f", "e")


def agreeing(text: str, left: Left, record: Record) -> str:
    """``izquierda/izquierdo``: the second form where the noun before it has its gender."""
    one, _, other = text.partition("/")
    noun = left.noun or left.word
    if not other or not noun.isalpha() or noun.isupper():
        return one
    word = noun.lower()
    gender = record.articles.get(word) or record.genders.get(word)
    gender = gender or numbers_of(record).gender(noun, Left(one=True))
    gender = gender or numbers_of(record).gender(word.removesuffix("s"), Left(one=True))
    wanted = "f" if other.endswith(("a", "in", "e")) else "m"
    said = other if gender.replace("e", "f").replace("s", "m") == wanted else one
    return f"{said}s" if record.plural_s and len(word) > 3 and word[-1] == "s" and said[-1] in "ao" else said


def dot_ordinal(core: str, left: Left, right: Right, record: Record) -> Said:
    """``3.`` as an ordinal, in the form that the words beside it ask for."""
    month = record.months.get(right.body.lower().replace("–", "-").partition("-")[0].rstrip("."))
    named = record.after_ordinal.get(right.body) or record.after_ordinal.get(f"{right.body}.") or right.body
    noun = "" if right.body in record.clubs else record.month_names[month - 1] if month else named
    form = numbers_of(record).dotted(left, noun)
    words = numbers_of(record).ordinal(int(core), form)
    if left.kind == "day" and left.word[:1].isdecimal():  # A month by its number: a noun.
        month_form = numbers_of(record).dotted(Left(word=left.form, before="#"), "")
        words = numbers_of(record).ordinal(int(core), month_form).capitalize()
        return Said(words, Left("month", core + ".", before=left.word))
    return Said(words, Left("day", core + ".", before=left.word, form=form))
