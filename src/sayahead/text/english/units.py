"""Units and currencies, and how they compose: ``km/h``, ``W/m²``, ``kWh``, ``US$``."""

from __future__ import annotations

import functools
import itertools
import re

from sayahead.text.english.tables import table


def _pairs(text: str) -> dict[str, tuple[str, str]]:
    """One and many of each entry, told apart by a slash where they differ."""
    return {key: (one, many or one) for key, said in table(text).items() for one, _, many in [said.partition("/")]}


_PREFIXED = table("""
    m meter  g gram  L liter  l liter  s second  W watt  Wh watt hour  V volt  A amp  Ah amp hour  Hz hertz  J joule
    Pa pascal  bit bit  bps bit per second  Bps byte per second  Ω ohm  eV electronvolt  T tesla  B byte  b bit
    F farad  N newton  mol mole  cal calorie  Sv sievert  ohm ohm
""")
_ONLY_PREFIXED = frozenset("B b F N T J".split())
"""Bare they are mostly letters of a name: ``221B``."""
_PREFIXES = table("""
    k kilo  c centi  m milli  M mega  G giga  T tera  P peta  E exa  μ micro  u micro  n nano  p pico  d deci
    h hecto  K kilo  Ki kibi  Mi mebi  Gi gibi  Ti tebi
""")
_KNOWN = frozenset(
    "km cm mm μm um nm dm kg mg μg ug ng kL mL ml dL dl cL cl μL hL ms μs us ns ps kW MW GW TW mW μW kWh MWh GWh "
    "TWh kV mV μV MV mA μA kA mAh kHz MHz GHz THz kJ MJ GJ mJ kPa MPa hPa GPa KB kB MB GB TB PB EB Kb kb Mb Gb Tb kbit "
    "Kbit Mbit Gbit Tbit kbps Kbps Mbps Gbps Tbps MBps GBps KiB MiB GiB TiB kΩ MΩ mΩ kohm μF nF pF mF kN mN keV MeV "
    "GeV TeV mmol μmol nmol kcal mSv μSv mT μT".split()
)
_ONES = table("""
    lb pound  lbs pound  oz ounce  mi mile  yd yard  yds yard  hr hour  hrs hour  h hour  min minute  mins minute
    sec second  secs second  mcg microgram  tbsp tablespoon  Tbsp tablespoon  tbsps tablespoon  tsp teaspoon
    tsps teaspoon  pt pint  qt quart  qts quart  gal gallon  cc cubic centimeter  ha hectare  nmi nautical mile  yr year
    yrs year  wk week  wks week  mo month  mos month  kgs kilogram  kms kilometer  cms centimeter  ltr liter
    atm atmosphere  mbar millibar  ly light year  hp horsepower  ° degree  deg degree  ¢ cent  ct carat  μ micron
    acre acre  rad radian  pts point  pp percentage point  lm lumen  fl fluid
""")
_IRREGULAR = _pairs("""
    ft foot/feet  in inch/inches  ins inch/inches  lx lux  kph kilometer per hour/kilometers per hour
    kmh kilometer per hour/kilometers per hour  mph mile per hour/miles per hour  MPH mile per hour/miles per hour
    mpg mile per gallon/miles per gallon  bpm beat per minute/beats per minute  BPM beat per minute/beats per minute
    rpm R.P.M.  RPM R.P.M.  psi P.S.I.  ppm part per million/parts per million  dpi D.P.I.
    ppb part per billion/parts per billion  fps frame per second/frames per second  knots knot/knots  sq square
    cu cubic  dB decibel/decibels  pct percent  % percent  ‰ per mille  °C degree Celsius/degrees Celsius
    °F degree Fahrenheit/degrees Fahrenheit  ℃ degree Celsius/degrees Celsius
    ℉ degree Fahrenheit/degrees Fahrenheit  °K kelvin  mmHg millimeter of mercury/millimeters of mercury  pH P.H.
    kt knot/knots  kts knot/knots  MP megapixel/megapixels  x x  k thousand  K thousand  M million  bn billion
    mn million  tn trillion  bps basis point/basis points  lbf pound force/pounds force  IU I.U.  RPMs R.P.M.
    mM millimolar  μM micromolar  uM micromolar  nM nanomolar  inHg inch of mercury/inches of mercury
    lb-ft pound-foot/pound-feet  ft-lb foot-pound/foot-pounds  ft-lbs foot-pound/foot-pounds
    doz dozen  BR bedroom/bedrooms  BA bath/baths
""")
GLUED_ONLY = frozenset("k K M x s A V W J N F T B b d BR BA".split())
"""Letters that are a unit only where they touch the number."""
SPACED_IF_SURE = frozenset("in ins mo pt ct ly rad deg MP pH us um ps ug".split())
"""Also ordinary words or other abbreviations: behind a space a unit only where what is to the left says so."""
_PER = {"mo": "month", "yr": "year", "hr": "hour", "wk": "week", "h": "hour", "s": "second", "d": "day", "mi": "mile"}
_PER |= {word: word for word in "second minute hour day night week month year person user capita".split()}

BIG = {word: word for word in "hundred thousand million billion trillion".split()}
BIG |= {"k": "thousand", "K": "thousand", "m": "million", "M": "million", "b": "billion", "B": "billion"}
BIG |= {"mn": "million", "bn": "billion", "tn": "trillion", "T": "trillion", "Bn": "billion", "MM": "million"}
BIG_PREFIXES = frozenset(name[:n] for name in BIG if len(name) > 1 for n in range(1, len(name) + 1))
INDIAN = {word: word for word in "lakh lakhs crore crores".split()}
INDIAN_PREFIXES = frozenset(name[:n] for name in INDIAN for n in range(1, len(name) + 1))

CURRENCIES = _pairs("""
    $ dollar/dollars  £ pound/pounds  € euro/euros  ¥ yen  ₹ rupee/rupees  ₩ won  ₽ ruble/rubles  ₺ lira
    ₪ shekel/shekels  ₿ bitcoin/bitcoins  ¢ cent/cents  ₫ dong  ₦ naira  ₱ peso/pesos  ₴ hryvnia/hryvnias  ฿ baht
""")
NOUNS = frozenset(noun for names in CURRENCIES.values() for noun in names)
CENTS = {"$": ("cent", "cents"), "£": ("penny", "pence"), "€": ("cent", "cents")}
COUNTRIES = table("""
    US U.S.  C Canadian  CA Canadian  A Australian  AU Australian  NZ New Zealand  HK Hong Kong  S Singapore
    NT Taiwan  MX Mexican  R  CN Chinese  RMB
""")
"""What stands before ``$`` or ``¥``: whose it is. ``R$`` is the real."""
CURRENCY_CODES = table("""
    USD US$  EUR €  GBP £  JPY ¥  INR ₹  Rs ₹  CAD C$  AUD A$  NZD NZ$  HKD HK$  SGD S$  CHF CHF  SEK SEK  NOK NOK
    DKK DKK  kr kr  CNY CNY  RMB CNY  BRL R$  MXN MX$  PLN PLN  KRW ₩  ZAR ZAR  BTC ₿  RUB ₽
""")
_OTHER = _pairs("""
    CHF Swiss franc/Swiss francs  SEK Swedish krona/Swedish kronor  kr krone/kroner
    NOK Norwegian krone/Norwegian kroner  DKK Danish krone/Danish kroner  CNY yuan  PLN zloty/zlotys  ZAR rand
    R$ real/reais
""")


def currency(sign: str) -> tuple[str, str]:
    """One and many of a currency's name by its sign: ``$``, ``C$``, ``CHF``; a plain ``$`` is a dollar."""
    if sign in _OTHER:
        return _OTHER[sign]
    country, (one, many) = COUNTRIES.get(sign[:-1], ""), CURRENCIES[sign[-1]]
    return f"{country} {one}".lstrip(), f"{country} {many}".lstrip()


@functools.lru_cache(maxsize=1024)
def unit(text: str) -> tuple[str, str] | None:
    """One and many of a unit, composed of what is known: ``kg/m³`` kilogram(s) per cubic meter; None if it is none."""
    if text in _IRREGULAR:
        return _IRREGULAR[text]
    if one := _ONES.get(text):
        return one, one + ("" if one in ("horsepower", "fluid") else "s")
    if text in _KNOWN or (text in _PREFIXED and text not in _ONLY_PREFIXED):
        return _metric(text)
    above, slash, below = text.partition("/")
    if slash:
        first = ("time", "times") if above == "x" else unit(above)
        second = per(below) or (below if re.fullmatch("[a-z]{4,}", below) else "")
        return (f"{first[0]} per {second}", f"{first[1]} per {second}") if first and second else None
    if power := re.fullmatch(r"(\D+?)\^?([23])", text):
        base = None if power[1] in _IRREGULAR and power[1] not in ("ft", "in") else unit(power[1])
        name = "square" if power[2] == "2" else "cubic"
        return (f"{name} {base[0]}", f"{name} {base[1]}") if base and base[0] != "degree" else None
    return None


def unit_of(amount: str, text: str) -> tuple[str, str] | None:
    """A unit behind an amount: ``12 pt`` are points and ``2 pt`` pints, ``25 bps`` basis points, ``9600 bps`` bits."""
    much = int("0" + "".join(itertools.takewhile(str.isdigit, amount.replace(",", "").lstrip("-−"))))
    if text == "pt" and much > 4:
        return "point", "points"
    return _metric(text) if text == "bps" and much >= 300 else unit(text)


def per(text: str) -> str:
    """What an amount or a unit is divided by, in words: ``h`` hour, ``s^2`` second squared; nothing if unknown."""
    if power := re.fullmatch(r"s\^?([23])", text):
        return "second " + ("squared" if power[1] == "2" else "cubed")
    above, slash, below = text.partition("/")
    if slash:
        return f"{per(above)} per {per(below)}" if per(above) and per(below) else ""
    if text in _PER:
        return _PER[text]
    known = unit(text)
    return known[0] if known else ""


def _metric(text: str) -> tuple[str, str]:
    for size in (len(text), *range(min(3, len(text)), 0, -1)):
        base, prefix = _PREFIXED.get(text[-size:]), text[:-size]
        if base and (not prefix or prefix in _PREFIXES):
            one = (_PREFIXES.get(prefix, "") + base).replace("oohm", "ohm").replace("aohm", "ohm")
            head, link, tail = one.partition(" per ")
            return one, head + ("" if head.endswith(("hertz", "s")) else "s") + link + tail
    raise KeyError(text)
