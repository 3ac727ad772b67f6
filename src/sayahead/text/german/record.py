"""What is read how in German."""

from __future__ import annotations

from sayahead.text.german import numbers
from sayahead.text.shared.tables import cues, record

GERMAN = record(
    numbers,
    months_short="""
    jan:1 jan.:1 jän:1 jänner:1 feb:2 feb.:2 feber:2 mär:3 mrz:3 mrz.:3 apr:4 apr.:4 jun:6 jul:7 aug:8 aug.:8 sep:9
    sept:9 sept.:9 sep.:9 okt:10 okt.:10 nov:11 nov.:11 dez:12 dez.:12
    """,
    tag="de",
    stand_in="Haus",
    molar="molar",
    dot_ordinals=True,
    capital_nouns=True,
    point="Komma",
    dot="Punkt",
    until="bis",
    per="pro",
    and_a_half="{n}einhalb",
    weekdays="""
Mo = Montag
Di = Dienstag
Mi = Mittwoch
Do = Donnerstag
Fr = Freitag
Sa = Samstag
So = Sonntag
""",
    units="""
km = m Kilometer
m = m Meter
dm = m Dezimeter
cm = m Zentimeter
mm = m Millimeter
µm μm = m Mikrometer
nm = m Nanometer
m² m2 qm = m Quadratmeter
km² km2 qkm = m Quadratkilometer
cm² cm2 = m Quadratzentimeter
m³ m3 cbm = m Kubikmeter
cm³ cm3 ccm = m Kubikzentimeter
ha = m Hektar
km/h kmh = m Kilometer pro Stunde
m/s = m Meter pro Sekunde
m/s² = m Meter pro Quadratsekunde
kg = n Kilogramm
g = n Gramm
mg = n Milligramm
µg μg = n Mikrogramm
t = f Tonne/Tonnen
l L = m Liter
ml mL = m Milliliter
cl = m Zentiliter
dl = m Deziliter
hl = m Hektoliter
J. = n Jahr/Jahre
h Std Std. = f Stunde/Stunden
min Min Min. = f Minute/Minuten
s sec Sek Sek. = f Sekunde/Sekunden
ms = f Millisekunde/Millisekunden
°C ℃ = n Grad Celsius
°F ℉ = n Grad Fahrenheit
° = n Grad
K = n Kelvin
% = n Prozent
‰ = n Promille
V = n Volt
A = n Ampere
W = n Watt
kW = n Kilowatt
MW = n Megawatt
GW = n Gigawatt
Wh = f Wattstunde/Wattstunden
kWh = f Kilowattstunde/Kilowattstunden
MWh = f Megawattstunde/Megawattstunden
Hz = n Hertz
kHz = n Kilohertz
MHz = n Megahertz
GHz = n Gigahertz
PS = f Pferdestärke/PS
J = n Joule
kJ = n Kilojoule
kcal = f Kilokalorie/Kilokalorien
Pa = n Pascal
hPa = n Hektopascal
bar = n Bar
N = n Newton
Ω = n Ohm
dB = n Dezibel
lm = n Lumen
B = n Byte
kB KB = n Kilobyte
MB = n Megabyte
GB = n Gigabyte
TB = n Terabyte
Mbit/s MBit/s = n Megabit pro Sekunde
Gbit/s = n Gigabit pro Sekunde
px = n Pixel
mol = n Mol
Zoll = m Zoll
EL = m Esslöffel
TL = m Teelöffel
""",
    glued_only="B J L N",
    currencies="""
€ EUR Euro = m Euro, m Cent
$ US$ USD = m Dollar, m Cent
£ GBP = n Pfund, m Penny/Pence
¥ JPY = m Yen
CHF Fr. SFr. = m Franken, m Rappen
₹ INR = f Rupie/Rupien
₽ RUB = m Rubel, f Kopeke/Kopeken
₺ TRY = f Lira/Lira
zł PLN = m Złoty
₩ KRW = m Won
₿ BTC = m Bitcoin/Bitcoins
C$ CAD = m kanadischer Dollar/kanadische Dollar, m Cent
A$ AUD = m australischer Dollar/australische Dollar, m Cent
R$ BRL = m Real
¢ ct Ct = m Cent
""",
    money="{main} {n}",
    scales="""
Tsd Tsd. = - tausend
Mio Mio. Million Millionen M = f Million/Millionen
Mrd Mrd. Milliarde Milliarden = f Milliarde/Milliarden
""",
    signs="""
+ = plus
- − = minus
± = plus minus
× = mal
÷ = geteilt durch
= = gleich
≠ = ungleich
≈ ~ = ungefähr
< = kleiner als
> = größer als
≤ = kleiner gleich
≥ = größer gleich
& = und
@ = at
# = Raute
% = Prozent
‰ = Promille
§ = Paragraf
° = Grad
/ = Schrägstrich
_ = Unterstrich
* = Stern
^ = hoch
² = Quadrat
³ = hoch drei
| = senkrechter Strich
€ = Euro
$ = Dollar
£ = Pfund
¥ = Yen
¢ = Cent
→ = Pfeil
√ = Wurzel
∞ = unendlich
\\ = Backslash
½ = ein halb
¼ = ein Viertel
¾ = drei Viertel
⅓ = ein Drittel
⅔ = zwei Drittel
Ω = Ohm
µ μ = Mikro
№ = Nummer
and = und
""",
    between="""
x X * · = mal
: = zu
/ = durch
""",
    address={".": "Punkt", "/": "Schrägstrich", "-": "Bindestrich", "_": "Unterstrich", "@": "at", ":": "Doppelpunkt"},
    never_ends="""
z.B. = zum Beispiel
z.T. = zum Teil
z.Z. z.Zt. = zurzeit
d.h. = das heißt
i.d.R. = in der Regel
u.a. = unter anderem
u.U. = unter Umständen
v.a. = vor allem
o.g. = oben genannte
s.o. = siehe oben
s.u. = siehe unten
i.A. = im Auftrag
bzw. = beziehungsweise
ca. = circa
Dr. = Doktor
Prof. = Professor
Hr. = Herr
Hrn. = Herrn
Fr. = Frau
Dipl.-Ing. = Diplomingenieur
Ing. = Ingenieur
St. = Sankt
geb. = geboren
Fa. = Firma
Abt. = Abteilung
bzgl. = bezüglich
s. = siehe
gem. = gemäß
lt. = laut
tgl. = täglich
rd. = rund
lfd. = laufende
tägl. = täglich
wöchentl. = wöchentlich
gest. = gestorben
ggf. = gegebenenfalls
evtl. = eventuell
vgl. = vergleiche
inkl. = inklusive
exkl. = exklusive
zzgl. = zuzüglich
sog. = sogenannte
zw. = zwischen
u. = und
i.V.m. = in Verbindung mit
max. = maximal
min. = minimal
mind. = mindestens
Tel. = Telefon
bspw. = beispielsweise
insb. = insbesondere
allg. = allgemein
Mo. = Montag
Di. = Dienstag
Mi. = Mittwoch
Do. = Donnerstag
Sa. = Samstag
So. = Sonntag
Jan. = Januar
Feb. = Februar
Apr. = April
Aug. = August
Sept. Sep. = September
Okt. = Oktober
Nov. = November
Dez. = Dezember
Jh. Jhdt. Jhd. = Jahrhundert
Mio. = Millionen
Mrd. = Milliarden
Tsd. = Tausend
""",
    may_end="""
Pers. = Personen
ff. = folgende
Nr. = Nummer
Hbf. = Hauptbahnhof
Bhf. = Bahnhof
Stk. = Stück
MwSt. = Mehrwertsteuer
Pkt. = Punkte
usw. = und so weiter
etc. = et cetera
u.v.m. = und vieles mehr
u.Ä. u.ä. = und Ähnliches
o.Ä. o.ä. = oder Ähnliches
Str. = Straße
str. = Straße
GmbH. = GmbH
Co. = Co
Jr. = Junior
v.Chr. = vor Christus
n.Chr. = nach Christus
""",
    before_number="""
Kl. = Klasse
Zi. = Zimmer
Gl. = Gleis
Vers. = Version
Nr. = Nummer
S. = Seite
Abb. = Abbildung
Kap. = Kapitel
Art. = Artikel
Abs. = Absatz
Bd. = Band
Tab. = Tabelle
Jg. = Jahrgang
Anm. = Anmerkung
Hs. = Haus
Tel = Telefon
§ = Paragraf
§§ = Paragrafen
""",
    phrases="""
z. B. = zum Beispiel
z. T. = zum Teil
d. h. = das heißt
u. a. = unter anderem
v. a. = vor allem
s. o. = siehe oben
s. u. = siehe unten
u. U. = unter Umständen
i. A. = im Auftrag
o. Ä. = oder Ähnliches
u. Ä. = und Ähnliches
i. V. m. = in Verbindung mit
v. Chr. = vor Christus
n. Chr. = nach Christus
""",
    starters="""
    Der Die Das Er Sie Es Wir Ich Ihr Du Man Dann Danach Da Dort Hier Heute Gestern Morgen Nun Jetzt Aber Und
    Oder Doch Denn Wenn Als Ob Weil Obwohl Während Nach Nachdem Vor Seit Bei Mit Ohne Für Gegen In Im Am An Auf
    Aus Von Vom Zu Zum Zur Um Über Unter Durch Ein Eine Einer Einem Einen Kein Keine Mein Meine Sein Seine Ihre
    Unser Unsere Diese Dieser Dieses Diesen Diesem Jeder Jede Jedes Alle Viele Manche Einige Was Wer Wie Wo Wann
    Warum Wieso Welche Welcher Ja Nein Nicht Nur Auch Schon Noch So Damit Dabei Dafür Daher Deshalb Trotzdem
    Später Zuerst Zudem Außerdem Allerdings Jedoch Leider Bitte Danke Somit Sonst Beide Laut
    """,
    openers="""
    und oder aber denn sondern weil dass wenn als ob obwohl während bevor nachdem damit sodass wie wo der die
    das dessen deren mit in auf für von zu nach bei über unter durch ohne gegen um seit bis
    """,
    genders=dict.fromkeys(
        """
    kilo kind jahr mal stück prozent gramm bier brot
    """.split(),
        "n",
    )
    | dict.fromkeys("tag monat mann euro punkt schritt liter meter löffel teelöffel esslöffel cent".split(), "m")
    | dict.fromkeys(
        """
    person frau woche stunde minute sekunde tonne uhr-f seite nacht million milliarde stimme hand idee zeit
    """.split(),
        "f",
    )
    | {"uhr": "n", **dict.fromkeys("von bis zu oder und ist sind für in auf mit drücken wählen".split(), "")},
    suffixes={"str.": "straße"},
    cues=cues(
        ordinal="der die das am im vom zum beim dem den des zur seinem seinen seiner ihrem ihren ihrer meinem meinen "
        "meiner unserem unseren diesem diesen dieser jedem jeden jeder einem einen eines eine ab",
        noun="ein kein sein ihr mein",
        phone="telefon tel tel. telefonnummer rufnummer handy mobil fax ruf hotline durchwahl wählen anrufen",
        code="code pin plz konto kontonummer kundennummer isbn iban tan bestellnummer seriennummer passwort",
        label="kapitel seite nummer nr nr. s. abb. zimmer raum platz gleis linie band teil artikel absatz paragraf",
        hour="um gegen",
        roman="",
    ),
    clubs="FC FSV FFC BC SC SV VfL TSV HFC CfR VC",
    linking="lautet heißt",
    names="""
    Karl Ludwig Friedrich Wilhelm Heinrich Otto Franz Joseph Leopold Philipp Napoleon Papst Johannes Paul
    Benedikt Elisabeth Katharina Georg August Maximilian Ferdinand Rudolf Konrad
    """,
    hour_words="Uhr",
    lasting="Minuten Stunden Min Std",
    half="""
m = ein halber
f = eine halbe
n = ein halbes
""",
    number_suffixes="ern? fache?[nrsm]? mal [a-zäöü]{2,}(?:ig|lich)(?:e[nrsm]?)? %ige?[nrsm]?",
)
"""German. Swiss readers find their own grouping of figures ("1'000") understood."""
