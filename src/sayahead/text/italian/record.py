"""What is read how in Italian."""

from __future__ import annotations

from sayahead.text.italian import numbers
from sayahead.text.shared.tables import cues, record

ITALIAN = record(
    numbers,
    months_short="""
    gen:1 gen.:1 feb:2 feb.:2 apr:4 apr.:4 mag:5 mag.:5 giu:6 lug:7 lug.:7 ago:8 sett:9 set:9 ott:10 nov:11 dic:12
    """,
    tag="it",
    molar="molare",
    stand_in="casa",
    point="virgola",
    dot="punto",
    until="a",
    per="al",
    per_vowel="all'",
    weekdays="""
lun = lunedì
mar = martedì
mer = mercoledì
gio = giovedì
ven = venerdì
sab = sabato
dom = domenica
""",
    of=numbers.of,
    units="""
km = m chilometro/chilometri
m = m metro/metri
dm = m decimetro/decimetri
cm = m centimetro/centimetri
mm = m millimetro/millimetri
µm μm = m micrometro/micrometri
nm = m nanometro/nanometri
m² m2 mq = m metro quadrato/metri quadrati
km² km2 kmq = m chilometro quadrato/chilometri quadrati
cm² cm2 = m centimetro quadrato/centimetri quadrati
m³ m3 mc = m metro cubo/metri cubi
cm³ cm3 = m centimetro cubo/centimetri cubi
ha = m ettaro/ettari
km/h kmh = m chilometro all'ora/chilometri all'ora
m/s = m metro al secondo/metri al secondo
m/s² = m metro al secondo quadrato/metri al secondo quadrato
kg = m chilogrammo/chilogrammi
g = m grammo/grammi
mg = m milligrammo/milligrammi
µg μg = m microgrammo/microgrammi
t = f tonnellata/tonnellate
l L = m litro/litri
ml mL = m millilitro/millilitri
cl = m centilitro/centilitri
dl = m decilitro/decilitri
h = e ora/ore
min = m minuto/minuti
s sec = m secondo/secondi
ms = m millisecondo/millisecondi
°C ℃ = m grado Celsius/gradi Celsius
°F ℉ = m grado Fahrenheit/gradi Fahrenheit
° = m grado/gradi
K = m kelvin
% = - per cento
‰ = - per mille
V = m volt
A = m ampere
W = m watt
kW = m chilowatt
MW = m megawatt
GW = m gigawatt
Wh = m wattora
kWh = m chilowattora
Hz = m hertz
kHz = m chilohertz
MHz = m megahertz
GHz = m gigahertz
CV = m cavallo/cavalli
J = m joule
kJ = m chilojoule
kcal = f chilocaloria/chilocalorie
Pa = m pascal
hPa = m ettopascal
bar = m bar
N = m newton
Ω = m ohm
dB = m decibel
B = m byte
kB KB = m kilobyte
MB = m megabyte
GB = m gigabyte
TB = m terabyte
Mbit/s Mbps = m megabit al secondo
Gbit/s Gbps = m gigabit al secondo
px = m pixel
gg = m giorno/giorni
mol = f mole/moli
""",
    currencies="""
€ EUR euro = m euro, m centesimo/centesimi
$ US$ USD = m dollaro/dollari, m centesimo/centesimi
£ GBP = f sterlina/sterline, m penny/penny
¥ JPY = s yen
CHF = m franco svizzero/franchi svizzeri, m centesimo/centesimi
₤ = f lira/lire
₹ INR = f rupia/rupie
₽ RUB = m rublo/rubli
₩ KRW = m won
₿ BTC = m bitcoin
C$ CAD = m dollaro canadese/dollari canadesi
A$ AUD = m dollaro australiano/dollari australiani
R$ BRL = m real
¢ = m centesimo/centesimi
""",
    money="{main} e {n}",
    scales="""
milione milioni mln M Mio = m milione/milioni
miliardo miliardi mld Mld Mrd = m miliardo/miliardi
mila = - mila
""",
    signs="""
+ = più
- − = meno
± = più o meno
× = per
÷ = diviso
≠ = diverso da
≈ ~ = circa
< = minore di
> = maggiore di
≤ = minore o uguale a
≥ = maggiore o uguale a
& = e
@ = chiocciola
# = cancelletto
% = per cento
‰ = per mille
§ = paragrafo
° = gradi
/ = barra
_ = trattino basso
* = asterisco
^ = elevato a
² = al quadrato
³ = al cubo
| = barra verticale
€ = euro
$ = dollari
£ = sterline
¥ = yen
¢ = centesimi
→ = freccia
√ = radice di
∞ = infinito
\\ = barra rovesciata
½ = un mezzo
¼ = un quarto
¾ = tre quarti
⅓ = un terzo
⅔ = due terzi
Ω = ohm
µ μ = micro
№ = numero
and = e
= = uguale
""",
    between="""
x X * · = per
: = a
/ = diviso
""",
    address={".": "punto", "/": "barra", "-": "trattino", "_": "trattino basso", "@": "chiocciola", ":": "due punti"},
    never_ends="""
sec. = secolo
Sig. = signor
sig. = signor
Sig.ra = signora
Sig.na = signorina
Sigg. = signori
Dott. dott. = dottor
Dott.ssa dott.ssa = dottoressa
Dr. = dottor
Prof. prof. = professor
Prof.ssa prof.ssa = professoressa
Ing. ing. = ingegner
Avv. avv. = avvocato
Arch. = architetto
Geom. = geometra
On. = onorevole
S. = San
p.es. = per esempio
es. = esempio
cfr. Cfr. = confronta
ca. = circa
tel. Tel. = telefono
Rif. rif. = riferimento
D.Lgs. = decreto legislativo
D.L. = decreto legge
max. = massimo
min. = minimo
gen. = gennaio
feb. = febbraio
ott. = ottobre
dic. = dicembre
""",
    may_end="""
ecc. = eccetera
lun. = lunedì
gio. = giovedì
ven. = venerdì
sab. = sabato
dom. = domenica
a.C. = avanti Cristo
d.C. = dopo Cristo
S.p.A. = esse pi a
S.r.l. = esse erre elle
Spa. = esse pi a
""",
    before_number="""
p. pag. Pag. = pagina
pp. pagg. = pagine
n. N. nr. n° N° nº = numero
art. Art. = articolo
cap. Cap. = capitolo
bin. Bin. = binario
int. Int. = interno
co. = comma
lun. Lun. = lunedì
mar. Mar. = martedì
mer. Mer. = mercoledì
gio. Gio. = giovedì
ven. Ven. = venerdì
sab. Sab. = sabato
dom. Dom. = domenica
fig. Fig. = figura
vol. Vol. = volume
§ = paragrafo
""",
    phrases="""
p. es. = per esempio
ad es. = ad esempio
n. verde = numero verde
a. C. = avanti Cristo
d. C. = dopo Cristo
""",
    half="""
m = mezzo
f = mezza
""",
    plain="""
V.le v.le = viale
P.zza p.zza = piazza
C.so c.so = corso
n° N° nº = numero
Dott = dottor
Sig = signor
SpA SPA = esse pi a
Sig.ra sig.ra = signora
Sig.na = signorina
Dott.ssa dott.ssa = dottoressa
Prof.ssa prof.ssa = professoressa
Srl SRL = esse erre elle
""",
    starters="""
    Il Lo La I Gli Le Un Una Uno Io Tu Lui Lei Noi Voi Loro Egli Essa Questo Questa Quello Quella Mio Mia Suo
    Sua Ma E O Poi Dopo Prima Allora Quando Se Come Che Chi Dove Perché Per Con Senza In Di Da Oggi Ieri Domani
    Qui Lì Sì No Anche Inoltre Così Si Mi Ti Ci Nel Nella Al Alla Dal Dalla Del Della
    """,
    openers="""
    e ed o ma perché che chi quando se come mentre dove per con senza in di a da su tra fra dopo prima
    """,
    genders=dict.fromkeys("mano notte classe parte voce volta persona pagina chiave legge".split(), "f")
    | {"ora": "e", "euro": "m", "auto": "e"},
    cues=cues(
        day="il lo al dal del giorno l' lunedì martedì mercoledì giovedì venerdì sabato domenica lun mar mer gio ven "
        "sab dom",
        phone="telefono tel tel. cellulare cell. fax chiama chiamare chiami chiamate telefoni contatti numero-verde",
        code="codice pin isbn iban password cap",
        label="pagina capitolo numero n. pag. stanza sala binario linea autobus articolo",
        roman="secolo secoli sec capitolo tomo atto volume",
        hour="ore alle dalle le all'una",
    ),
    ordinal_suffixes=cues(m="º ° o esimo mo", f="ª a esima ma"),
    centuries="secolo Secolo sec.",
    keys="tasto",
    articles={"la": "f", "il": "m", "della": "f", "del": "m", "nella": "f", "nel": "m", "alla": "f", "al": "m"},
    names="""
    Luigi Vittorio Umberto Carlo Enrico Filippo Giovanni Paolo Pio Benedetto Napoleone Elisabetta Federico
    Francesco Leone
    """,
)
"""Italian."""
