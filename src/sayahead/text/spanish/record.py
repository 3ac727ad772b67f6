"""What is read how in Spanish."""

from __future__ import annotations

from dataclasses import replace

from sayahead.text.shared.record import Currency
from sayahead.text.shared.tables import cues, nouns, record
from sayahead.text.spanish import numbers

SPANISH = record(
    numbers,
    months_short="setiembre:9 ene:1 feb:2 abr:4 jun:6 jul:7 ago:8 sept:9 sep:9 oct:10 nov:11 dic:12",
    tag="es",
    date_of="de",
    every="cada",
    keys="tecla",
    articles={"la": "f", "el": "m", "del": "m"},
    molar="molar",
    stand_in="casa",
    point="coma",
    dot="punto",
    until="a",
    per="por",
    weekdays="""
lun = lunes
mar = martes
mié = miércoles
jue = jueves
vie = viernes
sáb = sábado
dom = domingo
""",
    of=numbers.of,
    units="""
km = m kilómetro/kilómetros
m = m metro/metros
dm = m decímetro/decímetros
cm = m centímetro/centímetros
mm = m milímetro/milímetros
µm μm = m micrómetro/micrómetros
nm = m nanómetro/nanómetros
m² m2 = m metro cuadrado/metros cuadrados
km² km2 = m kilómetro cuadrado/kilómetros cuadrados
cm² cm2 = m centímetro cuadrado/centímetros cuadrados
m³ m3 = m metro cúbico/metros cúbicos
cm³ cm3 = m centímetro cúbico/centímetros cúbicos
ha = f hectárea/hectáreas
km/h kmh = m kilómetro por hora/kilómetros por hora
m/s = m metro por segundo/metros por segundo
m/s² = m metro por segundo al cuadrado/metros por segundo al cuadrado
kg = m kilogramo/kilogramos
g = m gramo/gramos
mg = m miligramo/miligramos
µg μg = m microgramo/microgramos
t = f tonelada/toneladas
l L = m litro/litros
ml mL = m mililitro/mililitros
cl = m centilitro/centilitros
dl = m decilitro/decilitros
h hs h. = f hora/horas
min = m minuto/minutos
s seg = m segundo/segundos
ms = m milisegundo/milisegundos
°C ℃ ºC = m grado Celsius/grados Celsius
°F ℉ = m grado Fahrenheit/grados Fahrenheit
° º = m grado/grados
K = m kelvin/kelvins
% = - por ciento
‰ = - por mil
V = m voltio/voltios
A = m amperio/amperios
W = m vatio/vatios
kW = m kilovatio/kilovatios
MW = m megavatio/megavatios
GW = m gigavatio/gigavatios
Wh = m vatio hora/vatios hora
kWh = m kilovatio hora/kilovatios hora
Hz = m hercio/hercios
kHz = m kilohercio/kilohercios
MHz = m megahercio/megahercios
GHz = m gigahercio/gigahercios
CV = m caballo/caballos
J = m julio/julios
kJ = m kilojulio/kilojulios
kcal = f kilocaloría/kilocalorías
Pa = m pascal/pascales
hPa = m hectopascal/hectopascales
bar = m bar/bares
N = m newton/newtons
Ω = m ohmio/ohmios
dB = m decibelio/decibelios
B = m byte/bytes
kB KB = m kilobyte/kilobytes
MB = m megabyte/megabytes
GB = m gigabyte/gigabytes
TB = m terabyte/terabytes
Mbit/s Mbps = m megabit por segundo/megabits por segundo
Gbit/s Gbps = m gigabit por segundo/gigabits por segundo
px = m píxel/píxeles
cda. cdas. = f cucharada/cucharadas
cdta. cdtas. cdita. cditas. = f cucharadita/cucharaditas
mol = m mol/moles
""",
    currencies="""
€ EUR = m euro/euros, m céntimo/céntimos
$ = m dólar/dólares, m centavo/centavos
US$ USD U$S = m dólar/dólares, m centavo/centavos
£ GBP = f libra/libras, m penique/peniques
¥ JPY = m yen/yenes
CHF = m franco suizo/francos suizos, m céntimo/céntimos
MXN MX$ = m peso mexicano/pesos mexicanos, m centavo/centavos
₱ PHP = m peso/pesos, m centavo/centavos
ARS = m peso argentino/pesos argentinos, m centavo/centavos
CLP = m peso chileno/pesos chilenos
COP = m peso colombiano/pesos colombianos
₹ INR = f rupia/rupias
₽ RUB = m rublo/rublos
₩ KRW = m won/wones
₿ BTC = m bitcoin/bitcoines
R$ BRL = m real/reales
Pts ptas = f peseta/pesetas
¢ = m centavo/centavos
""",
    money="{main} con {n}",
    scales="""
millón millones M mill. = m millón/millones
millardo millardos = m millardo/millardos
mil = - mil
""",
    signs="""
+ = más
- − = menos
± = más menos
× = por
÷ = entre
≠ = distinto de
≈ ~ = aproximadamente
< = menor que
> = mayor que
≤ = menor o igual que
≥ = mayor o igual que
& = y
@ = arroba
# = almohadilla
% = por ciento
‰ = por mil
§ = párrafo
° = grados
/ = barra
_ = guion bajo
* = asterisco
^ = elevado a
² = al cuadrado
³ = al cubo
| = barra vertical
€ = euros
$ = dólares
£ = libras
¥ = yenes
¢ = centavos
→ = flecha
√ = raíz de
∞ = infinito
\\ = barra invertida
½ = un medio
¼ = un cuarto
¾ = tres cuartos
⅓ = un tercio
⅔ = dos tercios
Ω = ohmios
µ μ = micro
№ = número
and = y
= = igual a
""",
    between="""
x X * · = por
: = a
/ = entre
""",
    address={".": "punto", "/": "barra", "-": "guion", "_": "guion bajo", "@": "arroba", ":": "dos puntos"},
    never_ends="""
s. = siglo
ss. = siglos
Sr. = señor
Sra. = señora
Srta. = señorita
Sres. = señores
Dr. = doctor
Dra. = doctora
D. = don
Dña. = doña
Prof. = profesor
Profa. = profesora
Ing. = ingeniero
Lic. = licenciado
Gral. = general
Sto. = santo
Sta. = santa
Ud. Vd. = usted
Uds. Vds. = ustedes
p.ej. = por ejemplo
aprox. = aproximadamente
tel. Tel. teléf. = teléfono
Ref. ref. = referencia
Avda. Av. = avenida
avda. av. = avenida
C. = C
cf. = cónfer
máx. = máximo
mín. = mínimo
""",
    may_end="""
ene. = enero
feb. = febrero
abr. = abril
jun. = junio
jul. = julio
ago. = agosto
sept. sep. = septiembre
oct. = octubre
nov. = noviembre
dic. = diciembre
etc. = etcétera
lun. = lunes
mié. = miércoles
jue. = jueves
vie. = viernes
sáb. = sábado
dom. = domingo
a.m. = a eme
p.m. = pe eme
a.C. = antes de Cristo
d.C. = después de Cristo
EE.UU. EEUU. = Estados Unidos
S.A. = sociedad anónima
izq. izda. = izquierda
dcha. = derecha
pág. = página
""",
    before_number="""
pág. p. Pág. = página
págs. pp. = páginas
n.º N.º nº Nº n° N° núm. Núm. No. = número
art. Art. = artículo
cap. Cap. = capítulo
fig. Fig. = figura
vol. Vol. = volumen
t. = tomo
plta. Plta. = planta
§ = párrafo
c/ C/ = calle
lun. Lun. = lunes
mar. Mar. = martes
mié. Mié. = miércoles
jue. Jue. = jueves
vie. Vie. = viernes
sáb. Sáb. = sábado
dom. Dom. = domingo
""",
    phrases="""
p. ej. = por ejemplo
a. m. = a eme
p. m. = pe eme
a. C. = antes de Cristo
d. C. = después de Cristo
EE. UU. = Estados Unidos
S. A. = sociedad anónima
""",
    half="""
m = medio
f = media
""",
    plain="""
ene = enero
dic = diciembre
c/ C/ = calle
nº Nº n° N° = número
Sr = señor
Sra = señora
Dr = doctor
Dra = doctora
EEUU = Estados Unidos
""",
    starters="""
    El La Los Las Un Una Unos Unas Yo Tú Él Ella Ellos Nosotros Usted Este Esta Esto Ese Esa Eso Mi Mis Su Sus
    Pero Y O Pues Luego Después Antes Entonces Cuando Si Como Que Qué Quién Dónde Cómo Por Para Con Sin En De
    Desde Hasta Hoy Ayer Mañana Aquí Allí Sí No Ya También Además Así Se Me Te Le Nos
    """,
    openers="""
    y e o u pero sino porque que quien cuando si como aunque mientras donde para por con sin en de a sobre desde
    hasta entre según
    """,
    cues=cues(
        day="el día del al desde lunes martes miércoles jueves viernes sábado domingo lun mar mié jue vie sáb dom",
        phone="teléfono tel tel. móvil celular fax llame llama marque whatsapp",
        code="código pin isbn iban contraseña clave",
        label="página capítulo número nº pág. n.º habitación sala andén vía línea autobús artículo",
        roman="siglo siglos s ss capítulo tomo acto volumen",
        hour="las",
    ),
    ordinal_suffixes=cues(m="º ° .º ro do to mo vo no os o", f="ª ra da ta ma va na a", s="er"),
    hour_words="h h. hs horas",
    names="""
    Felipe Carlos Alfonso Fernando Juan Pedro Isabel Enrique Luis Jaime Pablo Pío Benedicto Napoleón Sancho
    Francisco
    """,
)
"""Spanish of Spain."""

AMERICAN = replace(
    SPANISH,
    tag="es-419",
    decimal=".",
    groups=",'’",
    point="punto",
    currencies={**SPANISH.currencies, "$": Currency(*nouns("a = m peso/pesos\nb = m centavo/centavos").values())},
)
"""Spanish of Mexico and its neighbours: a decimal point, and pesos."""
