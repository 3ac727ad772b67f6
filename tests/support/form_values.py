"""Values of every kind in six languages, made at random: what ``support.forms`` puts into texts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "es": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    ),
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "it": (
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
        " dicembre"
    ),
    "pt": (
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
    ),
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
}
_SHORT_MONTHS = {
    "en": ("Oct {}", "{} Nov", "Sept {}"),
    "de": ("{}. Okt", "{}. Nov", "{}. Feb"),
    "es": ("{} oct", "{} nov", "{} de feb"),
    "fr": ("{} oct", "{} nov", "{} janv"),
    "it": ("{} ott", "{} nov", "{} gen"),
    "pt": ("{} out", "{} nov", "{} fev"),
    "nl": ("{} okt", "{} nov", "{} feb"),
}
_UNITS = "km m cm mm kg g mg µg μg ml mL L l kW kWh MHz GB MB kΩ Ω °C km/h m² m³ mg/kg mg/dL mmHg %".split()  # noqa: E501


def digits(random: Random, least: int, most: int) -> str:
    """A whole number."""
    return str(random.randint(least, most))


def _date(language: str, random: Random) -> str:
    day = digits(random, 2, 28)
    month = random.choice(_MONTHS[language].split())
    year = digits(random, 1950, 2039)
    if language == "en":
        forms = (
            f"{month} {day}, {year}",
            f"{day} {month} {year}",
            f"{month[:3]} {day}",
            f"{month.upper()} {day}, {year}",
        )
        return random.choice(forms)
    if language == "de":
        return random.choice((f"{day}. {month} {year}", f"{day}.{random.randint(1, 12)}.{year}"))
    link = " de " if language in ("es", "pt") else " "
    return random.choice(
        (f"{day}{link}{month}{link}{year}", f"{day}/{random.randint(1, 12)}/{year}")
    )


def _decimal(language: str, random: Random) -> str:
    return f"{random.randint(0, 99)}{'.' if language == 'en' else ','}{random.randint(1, 9)}{random.choice(('', '5'))}"  # noqa: E501


def _large(language: str, random: Random) -> str:
    mark = {"en": ",", "fr": " "}.get(language, ".")
    return f"{random.randint(1, 999)}{mark}{random.randint(0, 999):03}"


def _money(language: str, random: Random) -> str:
    sign = random.choice("$€£")
    amount = f"{random.randint(2, 999)}"
    cents = (
        f"{'.' if language == 'en' else ','}{random.randint(11, 99)}"
        if random.random() < 0.5
        else ""
    )
    return f"{sign}{amount}{cents}" if language == "en" else f"{amount}{cents} {sign}"


def _measure(language: str, random: Random) -> str:
    amount = random.choice((digits(random, 2, 900), _decimal(language, random)))
    return f"{amount} {random.choice(_UNITS)}"


_MILLIONS = {
    "en": "million",
    "de": "Mio.",
    "es": "millones",
    "fr": "millions",
    "it": "milioni",
    "pt": "milhões",
    "nl": "miljoen",
}
_MARKS = {"en": "th", "de": ".", "es": ".º", "fr": "e", "it": "º", "pt": "º", "nl": "e"}


_SHORT_UNITS = {
    "en": ("hrs.", "lbs.", "oz."),
    "de": ("Tr.", "Std.", "Tbl.", "Pers.", "Zi.", "Wo."),
    "es": ("hab.", "comp.", "gts.", "pers.", "arch.", "a."),
    "fr": ("cp.", "gél.", "pers.", "ch.", "pl.", "sem."),
    "it": ("cpr.", "gtt.", "pers.", "loc.", "gg.", "cucch."),
    "pt": ("comp.", "gts.", "pess.", "dorms.", "vgs.", "sem."),
    "nl": ("min.", "sec.", "mln.", "tabl.", "caps."),
}
_DAYS = {"en": "day", "de": "d", "es": "día", "fr": "j", "it": "giorno", "pt": "dia", "nl": "dag"}
_NAMED = {
    "de": "Feb Okt Nov",
    "es": "feb oct nov",
    "fr": "déc oct nov",
    "it": "feb ott nov",
    "pt": "fev out nov",
    "nl": "feb okt nov",
}


def _period(language: str, random: Random) -> str:
    """From one day to another of a month, in figures."""
    first = random.randint(1, 9)
    last = random.randint(10, 28)
    month = random.randint(1, 9)
    if language == "en":
        return f"{random.choice(_MONTHS['en'].split())} {first}–{last}"
    if language == "de":
        return random.choice(
            (
                f"{first}.–{last}.{month}.20{random.randint(10, 39)}",
                f"{first}.{month}.–{last}.{month + 1}.",
            )
        )
    if random.random() < 0.5:
        return f"{first + 12}/{month}–{last}/0{month + 1}"
    return f"{first}–{last}/0{month}/20{random.randint(10, 39)}"


def _named_day(language: str, random: Random) -> str:
    """A day and a month in short, in one."""
    if language == "en":
        return f"{random.randint(2, 28)}-{random.choice('Feb Oct Nov'.split())}-20{random.randint(10, 39)}"  # noqa: E501
    return f"{random.randint(2, 28)}/{random.choice(_NAMED[language].split())}/20{random.randint(10, 39)}"  # noqa: E501


def _ordinal(language: str, random: Random) -> str:
    return f"{random.randint(4, 20)}{_MARKS[language]}"


_SEATS = {
    "en": "seat",
    "de": "Platz",
    "es": "asiento",
    "fr": "siège",
    "it": "posto",
    "pt": "assento",
    "nl": "kamer",
}
_MINUTES = {
    "en": "minute {}",
    "de": "{}. Minute",
    "es": "minuto {}",
    "fr": "{}e minute",
    "it": "{}º minuto",
    "pt": "minuto {}",
    "nl": "minuut {}",
}


Maker = Callable[[str, Random], str]
KINDS: dict[str, Maker] = {
    "number": lambda language, random: random.choice(
        (digits(random, 32, 999), _large(language, random))
    ),
    "decimal": _decimal,
    "date": _date,
    "time": lambda language, random: f"{random.randint(1, 12)}:{random.randint(10, 59)}",
    "money": _money,
    "measure": _measure,
    "glued": lambda language, random: (
        digits(random, 2, 900) + random.choice("km kg mg ml GB % °C".split())
    ),
    "percent": lambda language, random: _decimal(language, random) + "%",
    "range": lambda language, random: f"{random.randint(2, 40)}–{random.randint(41, 99)}",
    "fraction": lambda language, random: random.choice(
        ("3/4", "2/3", "1/4", "¾", "⅖", "2 3/4", "1 1/4")
    ),
    "version": lambda language, random: (
        f"{random.randint(1, 20)}.{random.randint(13, 40)}.{random.randint(1, 20)}"
    ),
    "code": lambda language, random: f"{random.choice('ABDEFGHKPRST')}{random.randint(2, 99)}",
    "file": lambda language, random: (
        f"report{random.randint(1, 99)}.{random.choice('pdf txt html'.split())}"
    ),
    "mail": lambda language, random: (
        f"anna{random.randint(1, 99)}@example.{random.choice('com org de'.split())}"
    ),
    "url": lambda language, random: f"https://example.com/page{random.randint(1, 99)}",
    "ratio": lambda language, random: f"1:{random.choice((75, 100, 250, 500))}",
    "formula": lambda language, random: random.choice(
        ("x² = 9", "$y = 7$", "E = 5", "$z < 8$", "2 + 2 = 4", "π ≈ 3")
    ),
    "greek": lambda language, random: random.choice("α β γ Δ θ λ π σ ω".split()),
    "zone": lambda language, random: f"UTC{random.choice('+-')}{random.randint(1, 12)}",
    "rate": lambda language, random: (
        digits(random, 2, 200) + random.choice(("/h", " km/h", " mg/ml", " m/s"))
    ),
    "ordinal": _ordinal,
    "telephone": lambda language, random: (
        f"+{random.randint(30, 59)} {random.randint(100, 999)} {random.randint(1000, 9999)}"
    ),
    "debt": lambda language, random: "-" + _money(language, random),
    "sizes": lambda language, random: (
        random.choice(("x", "×")).join(digits(random, 2, 300) for _ in range(random.choice((2, 3))))
        + " cm"
    ),
    "short": lambda language, random: (
        f"{random.randint(2, 60)} {random.choice(_SHORT_UNITS[language])}"
    ),
    "added": lambda language, random: f"{random.choice((45, 90))}+{random.randint(2, 9)}",
    "period": _period,
    "named day": _named_day,
    "daily": lambda language, random: f"{random.randint(2, 40)} mg/kg/{_DAYS[language]}",
    "heat": lambda language, random: (
        f"{random.choice(('-', '−', ''))}{random.randint(2, 40)} {random.choice(('°C', '°F'))}"
    ),
    "size": lambda language, random: f"{random.randint(2, 90)} x {random.randint(2, 90)} cm",
    "each": lambda language, random: (
        _money(language, random).replace(" ", "") + random.choice(("/kg", "/h"))
    ),
    "chemistry": lambda language, random: random.choice("H₂O CO₂ NaCl Ca²⁺ C₆H₁₂O₆".split()),
    "place": lambda language, random: (
        f"{random.randint(11, 80)}°{'.' if language == 'en' else ','}{random.randint(1, 9)}".replace(  # noqa: E501
            "°", ""
        )
        + "°"
    ),
    "power": lambda language, random: random.choice(
        ("10⁶", "10⁻³", "2⁸", "x³", "5 × 10⁶", "3.2 × 10⁴" if language == "en" else "3,2 × 10⁴")
    ),
    "latex": lambda language, random: random.choice(
        (r"$\alpha$", r"$x \le 5$", r"$\frac{a}{b}$", r"$\sqrt{2}$", "$2^{10}$", r"$5 \times 7$")
    ),
    "currency": lambda language, random: (
        f"{random.randint(2, 99)} {random.choice('USD EUR GBP CHF MXN SEK JPY'.split())}"
    ),
    "scaled": lambda language, random: f"{random.randint(2, 99)} {_MILLIONS[language]}",
    "position": lambda language, random: (
        f"{random.randint(2, 89)}°{random.randint(2, 59)}′{random.randint(2, 59)}″{random.choice('NSE')}"  # noqa: E501
    ),
    "prime": lambda language, random: f"{random.randint(2, 99)}{random.choice('′″')}",
    "operator": lambda language, random: (
        f"n {random.choice('!= >= <= == ≠ ≥ ≤'.split())} {random.randint(2, 99)}"
    ),
    "path": (
        lambda language, random: random.choice(
            (
                "/etc/hosts",
                "./src/main{}.rs",
                r"C:\Temp\a{}.txt",
                "src/app{}.py",
                "~/notes{}.md",
                ".env",
                "lib.run()",
            )
        ).format(random.randint(2, 99))
    ),
    "codes": lambda language, random: (
        f"{(letter := random.choice('ABCDFGHK'))}{random.randint(2, 19)}-{letter}{random.randint(20, 40)}"  # noqa: E501
    ),
    "multiple": lambda language, random: f"{random.randint(2, 20)}x",
    "seat": lambda language, random: (
        f"{_SEATS[language]} {random.randint(1, 60)}{random.choice('ABCDEFHJK')}"
    ),
    "line of a file": lambda language, random: (
        f"{random.choice('app models utils'.split())}.{random.choice('py ts js'.split())}:{random.randint(2, 400)}"  # noqa: E501
    ),
    "minute of play": lambda language, random: _MINUTES[language].format(random.randint(32, 90)),
    "account": lambda language, random: (
        f"{random.choice('DE ES FR PT CH'.split())}{random.randint(11, 99)} "
        + " ".join(f"{random.randint(0, 9999):04}" for _ in range(random.randint(2, 4)))
    ),
    "port": lambda language, random: f"localhost:{random.randint(3000, 9999)}",
    "each100": lambda language, random: f"{_decimal(language, random)} l/100 km",
    "month": (
        lambda language, random: random.choice(_SHORT_MONTHS[language]).format(
            random.randint(2, 28)
        )
    ),
    "dose": lambda language, random: (
        digits(random, 2, 900) + random.choice((" μg", " µg", "μg", " mg", " ml", " mg/kg"))
    ),
}
