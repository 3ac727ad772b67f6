"""Word tables of the English text normalizer: plain data, nothing computed beyond joining and splitting."""

from __future__ import annotations

MONTHS = dict(
    pair.split(":")
    for pair in (
        "January:January February:February March:March April:April May:May June:June July:July August:August "
        "September:September October:October November:November December:December Jan:January Feb:February Mar:March "
        "Apr:April Jun:June Jul:July Aug:August Sep:September Sept:September Oct:October Nov:November Dec:December"
    ).split()
)
MONTH_NAMES = list(dict.fromkeys(MONTHS.values()))
MONTH_PREFIXES = frozenset(name[:n] for name in MONTHS for n in range(1, len(name) + 1))

BIG = {"hundred": "hundred", "thousand": "thousand", "million": "million", "billion": "billion", "trillion": "trillion"}
BIG |= {"k": "thousand", "K": "thousand", "m": "million", "M": "million", "b": "billion", "B": "billion"}
BIG |= {"mn": "million", "bn": "billion", "tn": "trillion", "T": "trillion"}
BIG_PREFIXES = frozenset(name[:n] for name in BIG if len(name) > 1 for n in range(1, len(name) + 1))

CURRENCIES = {
    "$": ("dollar", "dollars"), "£": ("pound", "pounds"), "€": ("euro", "euros"), "¥": ("yen", "yen"),
    "₹": ("rupee", "rupees"), "₩": ("won", "won"), "₽": ("ruble", "rubles"), "₺": ("lira", "lira"),
    "₪": ("shekel", "shekels"), "₿": ("bitcoin", "bitcoins"), "¢": ("cent", "cents"),
}  # fmt: skip
CURRENCY_CODES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "Rs": "₹"}

_UNITS = (
    "km:kilometer cm:centimeter mm:millimeter kg:kilogram mg:milligram lb:pound lbs:pound oz:ounce mi:mile "
    "ml:milliliter "
    "mL:milliliter KB:kilobyte kB:kilobyte MB:megabyte GB:gigabyte TB:terabyte hr:hour hrs:hour min:minute mins:minute "
    "sec:second secs:second ms:millisecond yd:yard yds:yard kW:kilowatt MW:megawatt GW:gigawatt mcg:microgram "
    "μg:microgram nm:nanometer μm:micrometer m:meter g:gram h:hour kcal:kilocalorie kJ:kilojoule"
)
UNITS = {u: (one, one + "s") for u, one in (pair.split(":") for pair in _UNITS.split())} | {
    "ft": ("foot", "feet"), "kph": ("kilometer per hour", "kilometers per hour"), "sq": ("square", "square"),
    "km/h": ("kilometer per hour", "kilometers per hour"), "mph": ("mile per hour", "miles per hour"),
    "m/s": ("meter per second", "meters per second"), "Hz": ("hertz", "hertz"), "kHz": ("kilohertz", "kilohertz"),
    "MHz": ("megahertz", "megahertz"), "GHz": ("gigahertz", "gigahertz"), "dB": ("decibel", "decibels"),
    "Mbps": ("megabit per second", "megabits per second"), "Gbps": ("gigabit per second", "gigabits per second"),
    "kWh": ("kilowatt hour", "kilowatt hours"), "mAh": ("milliamp hour", "milliamp hours"),
    "fps": ("frame per second", "frames per second"), "pct": ("percent", "percent"), "%": ("percent", "percent"),
    "°": ("degree", "degrees"), "°C": ("degree Celsius", "degrees Celsius"), "¢": ("cent", "cents"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"), "°K": ("kelvin", "kelvin"),
    "m^2": ("square meter", "square meters"), "km^2": ("square kilometer", "square kilometers"),
    "cm^2": ("square centimeter", "square centimeters"), "m^3": ("cubic meter", "cubic meters"),
    "ft^2": ("square foot", "square feet"), "cm^3": ("cubic centimeter", "cubic centimeters"),
    "k": ("thousand", "thousand"), "K": ("thousand", "thousand"), "M": ("million", "million"),
    "bn": ("billion", "billion"), "x": ("x", "x"),
}  # fmt: skip
GLUED_ONLY_UNITS = frozenset({"k", "K", "M", "x"})

# Read out with the dot gone; a sentence never ends after these.
NEVER_ENDS = {
    "Mr": "Mr", "Mrs": "Mrs", "Ms": "Miz", "Prof": "Professor", "Gen": "General", "Gov": "Governor", "Sen": "Senator",
    "Rep": "Representative", "Capt": "Captain", "Lt": "Lieutenant", "Col": "Colonel", "Sgt": "Sergeant",
    "Cmdr": "Commander", "Rev": "Reverend", "Hon": "Honorable", "Pres": "President", "Supt": "Superintendent",
    "Cpl": "Corporal", "Maj": "Major", "Adm": "Admiral", "Fr": "Father", "Msgr": "Monsignor", "Mt": "Mount",
    "Ft": "Fort", "Atty": "Attorney", "e.g": "for example", "i.e": "that is", "vs": "versus", "cf": "compare",
    "approx": "approximately", "E.g": "For example", "I.e": "That is", "eg": "for example", "Approx": "Approximately",
}  # fmt: skip
TITLES = {k: v for k, v in NEVER_ENDS.items() if k[0].isupper() and k.isalpha() and k not in ("Gen", "Mr", "Mrs")}
TITLES |= {"St": "Saint", "Dr": "Doctor"}

# Read out with the dot gone; the first character of what follows tells whether the sentence ends.
MAY_END = {
    "Jr": "Junior", "Sr": "Senior", "Ave": "Avenue", "Blvd": "Boulevard", "Rd": "Road", "Ln": "Lane", "Hwy": "Highway",
    "Pkwy": "Parkway", "Ste": "Suite", "Apt": "Apartment", "Bldg": "Building", "Ltd": "Limited", "Inc": "Incorporated",
    "Corp": "Corporation", "Co": "Company", "Bros": "Brothers", "Dept": "Department", "Univ": "University",
    "Assn": "Association", "Govt": "Government", "etc": "etc", "al": "al", "Mon": "Monday", "Tue": "Tuesday",
    "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Thurs": "Thursday", "Fri": "Friday", "Sat": "Saturday",
    "a.m": "A.M.", "p.m": "P.M.", "A.M": "A.M.", "P.M": "P.M.", "Ph.D": "PhD", "ph.d": "PhD",
} | {k: v for k, v in MONTHS.items() if len(k) < 5 and k not in ("May", "June", "July")}  # fmt: skip
SPELLED_MAY_END = frozenset("B.A M.A M.D B.C A.D B.S M.S J.D R.I.P B.C.E C.E M.B.A".split())
# Far more often followed by a name than by a new sentence: they end one only before a word that starts sentences.
PLACES = frozenset("U.S U.S.A U.K U.N E.U D.C L.A N.Y U.S.S.R U.A.E".split())
STARTERS = frozenset(
    "The A An It Its He She They We You I This That These Those There Here In On At By But And So Or If When While "
    "As Then Now However Although After Before Since Because For From To What Who Why How Where My Our Your His Her "
    "Their Yes No Not Nobody Some Many Most All".split()
)
STARTER_PREFIXES = frozenset(word[:n] for word in STARTERS for n in range(1, len(word) + 1))

# An abbreviation only before a number: "No. 5", "Jan 5"; an ordinary word otherwise.
BEFORE_NUMBER = {
    "No.": "Number", "Nos.": "Numbers", "no.": "number", "nos.": "numbers", "Fig.": "Figure", "fig.": "figure",
    "Vol.": "Volume", "vol.": "volume", "Ch.": "Chapter", "ch.": "chapter", "p.": "page", "pp.": "pages",
    "Sec.": "Section", "sec.": "section", "Eq.": "Equation", "eq.": "equation", "Jan": "January", "Mar": "March",
    "Art.": "Article",
}  # fmt: skip

PLAIN = {
    "vs": "versus", "aka": "also known as", "AKA": "also known as", "BTW": "by the way", "IMO": "in my opinion",
    "TBD": "to be determined", "w/": "with", "w/o": "without", "24/7": "twenty-four seven", "9/11": "nine eleven",
    "50/50": "fifty fifty", "C++": "C plus plus", "C#": "C sharp", "F#": "F sharp", "c++": "C plus plus",
    "c#": "C sharp", "'n'": "and", "'n": "and", "n'": "and", "'em": "'em", "b/c": "because", "n/a": "not applicable",
    "N/A": "not applicable", "c/o": "care of", "PhD": "PhD", "Ms": "Miz", "Sept": "September", "Feb": "February",
    "Aug": "August", "Oct": "October", "Nov": "November", "Dec": "December", ".NET": "dot net", "e.g": "for example",
    "i.e": "that is",
}  # fmt: skip

ROMAN_CARDINAL = frozenset(
    "chapter part act scene section volume book phase article war mark type level stage class grade bowl apollo gemini "
    "fantasy episode round rocky title appendix figure table step".split()
)
ROMAN_ORDINAL = frozenset(
    "Pope King Queen Henry Louis Edward George William Charles James Richard Elizabeth Napoleon Pius Benedict Leo Paul "
    "Ramses Frederick Philip Alexander Nicholas Peter Catherine Ivan Umberto Emmanuel Gustav Christian Ferdinand "
    "Innocent Gregory Clement Mehmed Wilhelm Otto Juan Felipe Haakon Olav Carl".split()
)

SYMBOLS = {
    "&": "and", "@": "at", "%": "percent", "+": "plus", "=": "equals", "<": "less than", ">": "greater than",
    "/": "slash", "\\": "backslash", "#": "number", "^": "caret", "~": "about", "°": "degrees", "±": "plus or minus",
    "×": "times", "÷": "divided by", "→": "to", "->": "to", "=>": "to", "<=": "less than or equal to", "⇒": "to",
    ">=": "greater than or equal to", "==": "equals", "!=": "is not equal to", "≠": "is not equal to", "−": "minus",
    "≤": "less than or equal to", "≥": "greater than or equal to", "≈": "about", "§": "section", "¶": "paragraph",
    "µ": "micro", "√": "square root of", "∞": "infinity", "$": "dollars", "€": "euros", "£": "pounds", "¥": "yen",
    "¢": "cents", "++": "plus plus", "&&": "and", "||": "or", "===": "equals", "+/-": "plus or minus", "∑": "sum",
    "<-": "from", "←": "from", "↔": "to", "†": "", "‡": "",
}  # fmt: skip
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega").split(), strict=True))  # fmt: skip

SUFFIX_WORDS = {"com": "com", "org": "org", "net": "net", "gov": "gov", "info": "info", "biz": "biz", "edu": "E D U"}
SUFFIX_WORDS |= {"json": "jason", "toml": "tommel", "yaml": "yammel", "wav": "wave", "bin": "bin", "zip": "zip"}
SUFFIX_WORDS |= {"log": "log", "jpeg": "jay peg", "app": "app", "dev": "dev", "bat": "bat", "conf": "conf"}
SUFFIX_WORDS |= {"ai": "A.I."}
SUFFIX_WORDS |= {"lock": "lock", "text": "text", "onion": "onion", "blog": "blog", "shop": "shop", "online": "online"}
DOMAINS = frozenset(
    "com org net edu gov io co uk de fr info biz us ca au tv me ly ai app dev ch at nl be es it jp cn in ru eu".split()
)
EXTENSIONS = frozenset(
    "py js ts tsx jsx txt md json toml yaml yml html htm css csv tsv xml pdf doc docx xls xlsx ppt pptx png jpg jpeg "
    "gif "
    "svg mp3 mp4 wav ogg flac avi mov zip tar gz bz2 exe dll so sh bat ps1 c h cpp hpp rs go java rb php sql log cfg "
    "ini "
    "conf lock onnx bin ipynb toml env pyc whl".split()
)
