"""What is read how in French."""

from __future__ import annotations

from sayahead.text.french import numbers
from sayahead.text.shared.tables import cues, pairs, record

FRENCH = record(
    numbers,
    months_short="""
    janv:1 janv.:1 févr:2 févr.:2 fév:2 fév.:2 avr:4 avr.:4 juil:7 juil.:7 sept:9 sept.:9 oct:10 oct.:10 nov:11
    nov.:11 déc:12 déc.:12
    """,
    tag="fr",
    molar="molaire",
    stand_in="ami",
    groups=".'’",
    point="virgule",
    dot="point",
    until="à",
    per="par",
    weekdays="""
lun = lundi
mar = mardi
mer = mercredi
jeu = jeudi
ven = vendredi
sam = samedi
dim = dimanche
""",
    of=numbers.of,
    units="""
km = m kilomètre/kilomètres
m = m mètre/mètres
dm = m décimètre/décimètres
cm = m centimètre/centimètres
mm = m millimètre/millimètres
µm μm = m micromètre/micromètres
nm = m nanomètre/nanomètres
m² m2 = m mètre carré/mètres carrés
km² km2 = m kilomètre carré/kilomètres carrés
cm² cm2 = m centimètre carré/centimètres carrés
m³ m3 = m mètre cube/mètres cubes
cm³ cm3 = m centimètre cube/centimètres cubes
ha = m hectare/hectares
km/h kmh = m kilomètre à l'heure/kilomètres à l'heure
m/s = m mètre par seconde/mètres par seconde
m/s² = m mètre par seconde au carré/mètres par seconde au carré
kg = m kilogramme/kilogrammes
g = m gramme/grammes
mg = m milligramme/milligrammes
µg μg = m microgramme/microgrammes
t = f tonne/tonnes
l L = m litre/litres
ml mL = m millilitre/millilitres
cl cL = m centilitre/centilitres
dl dL = m décilitre/décilitres
hl = m hectolitre/hectolitres
h = f heure/heures
j = m jour/jours
pts = m point/points
min mn = f minute/minutes
s sec = f seconde/secondes
ms = f milliseconde/millisecondes
°C ℃ = m degré Celsius/degrés Celsius
°F ℉ = m degré Fahrenheit/degrés Fahrenheit
° = m degré/degrés
K = m kelvin/kelvins
% = - pour cent
‰ = - pour mille
V = m volt/volts
A = m ampère/ampères
W = m watt/watts
kW = m kilowatt/kilowatts
MW = m mégawatt/mégawatts
GW = m gigawatt/gigawatts
Wh = m wattheure/wattheures
kWh = m kilowattheure/kilowattheures
Hz = m hertz
kHz = m kilohertz
MHz = m mégahertz
GHz = m gigahertz
ch = m cheval/chevaux
J = m joule/joules
kJ = m kilojoule/kilojoules
kcal = f kilocalorie/kilocalories
Pa = m pascal/pascals
hPa = m hectopascal/hectopascals
bar = m bar/bars
N = m newton/newtons
Ω = m ohm/ohms
dB = m décibel/décibels
o = m octet/octets
ko Ko kB = m kilooctet/kilooctets
Mo MB = m mégaoctet/mégaoctets
Go GB = m gigaoctet/gigaoctets
To TB = m téraoctet/téraoctets
Mbit/s = m mégabit par seconde/mégabits par seconde
Gbit/s = m gigabit par seconde/gigabits par seconde
px = m pixel/pixels
mol = f mole/moles
""",
    glued_only="o",
    currencies="""
€ EUR = m euro/euros, m centime/centimes
$ US$ USD = m dollar/dollars, m cent/cents
£ GBP = f livre/livres, m penny/pence
¥ JPY = m yen/yens
CHF = m franc suisse/francs suisses, m centime/centimes
FF = m franc/francs, m centime/centimes
₹ INR = f roupie/roupies
₽ RUB = m rouble/roubles
₩ KRW = m won/wons
₿ BTC = m bitcoin/bitcoins
C$ CAD $CA = m dollar canadien/dollars canadiens, m cent/cents
A$ AUD = m dollar australien/dollars australiens
R$ BRL = m réal/réaux
FCFA XOF XAF = m franc CFA/francs CFA
¢ = m cent/cents
""",
    scales="""
million millions M Mio = m million/millions
milliard milliards Md Mds Mrd = m milliard/milliards
""",
    signs="""
+ = plus
- − = moins
± = plus ou moins
× = fois
÷ = divisé par
≠ = différent de
≈ ~ = environ
< = inférieur à
> = supérieur à
≤ = inférieur ou égal à
≥ = supérieur ou égal à
& = et
@ = arobase
# = dièse
% = pour cent
‰ = pour mille
§ = paragraphe
° = degrés
/ = sur
_ = tiret bas
* = étoile
^ = puissance
² = au carré
³ = au cube
| = barre
€ = euros
$ = dollars
£ = livres
¥ = yens
¢ = cents
→ = flèche
√ = racine de
∞ = infini
\\ = antislash
½ = un demi
¼ = un quart
¾ = trois quarts
⅓ = un tiers
⅔ = deux tiers
Ω = ohms
µ μ = micro
№ = numéro
and = et
= = égal
""",
    between="""
x X * · = fois
: = à
/ = sur
""",
    address={".": "point", "/": "barre oblique", "-": "tiret", "_": "tiret bas", "@": "arobase", ":": "deux-points"},
    never_ends="""
s. = siècle
M. = Monsieur
MM. = Messieurs
Dr. = Docteur
Pr. = Professeur
Me. = Maître
St. = Saint
Ste. = Sainte
p.ex. = par exemple
c.-à-d. = c'est-à-dire
cf. = confer
env. = environ
av. = avenue
apr. = après
tél. Tél. = téléphone
boul. = boulevard
bd. Bd. = boulevard
J.-C. = Jésus-Christ
janv. = janvier
févr. fév. = février
Réf. réf. = référence
avr. = avril
juil. = juillet
sept. = septembre
oct. = octobre
nov. = novembre
déc. = décembre
""",
    may_end="""
etc. = et cetera
lun. = lundi
jeu. = jeudi
ven. = vendredi
sam. = samedi
dim. = dimanche
ex. = exemple
c. = centimes
arr. = arrondissement
""",
    before_number="""
p. = page
pp. = pages
n° N° nº Nº no no. No. = numéro
nos n°s = numéros
art. Art. = article
chap. Chap. = chapitre
fig. Fig. = figure
t. = tome
vol. Vol. = volume
al. = alinéa
lun. Lun. = lundi
mar. Mar. = mardi
mer. Mer. = mercredi
jeu. Jeu. = jeudi
ven. Ven. = vendredi
sam. Sam. = samedi
dim. Dim. = dimanche
§ = paragraphe
Tél = téléphone
tél = téléphone
""",
    phrases="""
p. ex. = par exemple
c. à = c'est à
c. à d. = c'est-à-dire
c. à s. = cuillère à soupe/cuillères à soupe
c. à c. = cuillère à café/cuillères à café
av. J.-C. = avant Jésus-Christ
apr. J.-C. = après Jésus-Christ
J.-C. = Jésus-Christ
""",
    lasting="minutes",
    keys="touche",
    half="""
m = un demi
f = une demi
""",
    plain="""
N° n° nº = numéro
Mme = Madame
Mmes = Mesdames
Mlle = Mademoiselle
Mgr = Monseigneur
Dr = Docteur
Me = Maître
St = Saint
Ste = Sainte
bd = boulevard
Bd = Boulevard
""",
    starters="""
    Le La Les Un Une Des Il Elle Ils Elles Je Tu Nous Vous On Ce Cette Ces Cet Mon Ma Mes Son Sa Ses Leur Leurs
    Notre Mais Et Ou Donc Or Car Puis Ensuite Alors Après Avant Pendant Depuis Dans En Sur Sous Avec Sans Pour
    Par Quand Si Comme Que Qui Quoi Où Comment Pourquoi Oui Non Ainsi Enfin Aujourd'hui Hier Demain Ici Là C'est
    """,
    openers="""
    et ou mais donc car parce que qui quand si comme lorsque puisque pour dans avec sans sur sous par de à en
    chez après avant pendant depuis
    """,
    genders=dict.fromkeys(
        """
    heure heures minute minutes seconde secondes tonne tonnes fois année années semaine semaines
    page pages personne personnes femme femmes fille filles maison maisons table tables place places nuit nuits
    voiture voitures main ville villes chose choses idée idées tasse tasses bouteille bouteilles voix question
    questions chambre chambres
    """.split(),
        "f",
    )
    | {"livre": "m", "livres": "m", "c": "f"}
    | dict.fromkeys("et ou à de des est sont sur pour dans par du la le les que qui".split(), "m"),
    cues=cues(
        day="le du au dès lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim",
        phone="téléphone tél tél. portable mobile appelez composez fax numéro-vert",
        code="code pin isbn iban mot-de-passe",
        label="page chapitre numéro n° nº p. chambre salle quai voie ligne bus article",
        roman="siècle chapitre tome acte livre louis",
        hour="",
    ),
    ordinal_suffixes=pairs("ᵉ e ème ième eme = o")
    | cues(m="er ᵉʳ", f="re ère", dm="nd d", df="nde", mp="es èmes ers", fp="ères"),
    pairs=True,
    hour_signs=("h", "H"),
    names="""
    Louis François Henri Charles Napoléon Philippe Jean Paul Pie Benoît Élisabeth Léopold Albert Guillaume
    Catherine
    """,
)
"""French of France."""
