"""What is read how in Portuguese: of Portugal, and of Brazil."""

from __future__ import annotations

from dataclasses import replace

from sayahead.text.portuguese import numbers
from sayahead.text.shared.record import Numbers
from sayahead.text.shared.tables import cues, currencies, nouns, record

_UNITS = """
km = m quilómetro/quilómetros
m = m metro/metros
dm = m decímetro/decímetros
cm = m centímetro/centímetros
mm = m milímetro/milímetros
µm μm = m micrómetro/micrómetros
nm = m nanómetro/nanómetros
m² m2 = m metro quadrado/metros quadrados
km² km2 = m quilómetro quadrado/quilómetros quadrados
cm² cm2 = m centímetro quadrado/centímetros quadrados
m³ m3 = m metro cúbico/metros cúbicos
cm³ cm3 = m centímetro cúbico/centímetros cúbicos
ha = m hectare/hectares
km/h kmh = m quilómetro por hora/quilómetros por hora
m/s = m metro por segundo/metros por segundo
m/s² = m metro por segundo ao quadrado/metros por segundo ao quadrado
kg = m quilograma/quilogramas
g = m grama/gramas
mg = m miligrama/miligramas
µg μg = m micrograma/microgramas
t = f tonelada/toneladas
l L = m litro/litros
ml mL = m mililitro/mililitros
cl = m centilitro/centilitros
dl = m decilitro/decilitros
h hs = f hora/horas
min = m minuto/minutos
s seg = m segundo/segundos
ms = m milissegundo/milissegundos
°C ℃ ºC = m grau Celsius/graus Celsius
°F ℉ = m grau Fahrenheit/graus Fahrenheit
° º = m grau/graus
K = m kelvin/kelvins
% = m por cento
‰ = m por mil
V = m volt/volts
A = m ampere/amperes
W = m watt/watts
kW = m quilowatt/quilowatts
MW = m megawatt/megawatts
GW = m gigawatt/gigawatts
Wh = m watt-hora/watts-hora
kWh = m quilowatt-hora/quilowatts-hora
Hz = m hertz
kHz = m quilohertz
MHz = m megahertz
GHz = m gigahertz
cv = m cavalo/cavalos
J = m joule/joules
kJ = m quilojoule/quilojoules
kcal = f quilocaloria/quilocalorias
Pa = m pascal/pascais
hPa = m hectopascal/hectopascais
bar = m bar/bares
N = m newton/newtons
Ω = m ohm/ohms
dB = m decibel/decibéis
B = m byte/bytes
kB KB = m kilobyte/kilobytes
MB = m megabyte/megabytes
GB = m gigabyte/gigabytes
TB = m terabyte/terabytes
Mbit/s Mbps = m megabit por segundo/megabits por segundo
Gbit/s Gbps = m gigabit por segundo/gigabits por segundo
px = m píxel/píxeis
mol = f mole/moles
"""
_CURRENCIES = """
€ EUR = m euro/euros, m cêntimo/cêntimos
$ US$ USD = m dólar/dólares, m cêntimo/cêntimos
£ GBP = f libra/libras, m péni/pence
¥ JPY = m iene/ienes
CHF = m franco suíço/francos suíços, m cêntimo/cêntimos
R$ BRL = m real/reais, m centavo/centavos
₹ INR = f rupia/rupias
₽ RUB = m rublo/rublos
₩ KRW = m won/wons
₿ BTC = m bitcoin/bitcoins
C$ CAD = m dólar canadiano/dólares canadianos
A$ AUD = m dólar australiano/dólares australianos
AOA Kz = m kwanza/kwanzas
¢ = m cêntimo/cêntimos
"""
_SCALES = """
milhão milhões M mi = m milhão/milhões
mil = - mil
bilião biliões = m bilião/biliões
"""

PORTUGUESE = record(
    numbers,
    months_short="jan:1 fev:2 mar:3 abr:4 jun:6 jul:7 ago:8 set:9 out:10 nov:11 dez:12",
    tag="pt",
    date_of="de",
    each_in="em",
    keys="tecla",
    articles={"a": "f", "o": "m", "da": "f", "do": "m", "na": "f", "no": "m", "à": "f", "ao": "m"},
    molar="molar",
    stand_in="casa",
    point="vírgula",
    dot="ponto",
    until="a",
    per="por",
    weekdays="""
seg = segunda
ter = terça
qua = quarta
qui = quinta
sex = sexta
sáb = sábado
dom = domingo
""",
    of=numbers.of,
    units=_UNITS,
    currencies=_CURRENCIES,
    money="{main} e {cents}",
    scales=_SCALES,
    signs="""
+ = mais
- − = menos
± = mais ou menos
× = vezes
÷ = dividido por
≠ = diferente de
≈ ~ = cerca de
< = menor que
> = maior que
≤ = menor ou igual a
≥ = maior ou igual a
& = e
@ = arroba
# = cardinal
% = por cento
‰ = por mil
§ = parágrafo
° = graus
/ = barra
_ = sublinhado
* = asterisco
^ = elevado a
² = ao quadrado
³ = ao cubo
| = barra vertical
€ = euros
$ = dólares
£ = libras
¥ = ienes
¢ = cêntimos
→ = seta
√ = raiz de
∞ = infinito
\\ = barra invertida
½ = um meio
¼ = um quarto
¾ = três quartos
⅓ = um terço
⅔ = dois terços
Ω = ohms
µ μ = micro
№ = número
and = e
= = igual a
""",
    between="""
x X * · = vezes
: = a
/ = dividido por
""",
    address={".": "ponto", "/": "barra", "-": "hífen", "_": "sublinhado", "@": "arroba", ":": "dois pontos"},
    never_ends="""
séc. = século
Sr. = senhor
Sra. = senhora
Sr.ª Sr.a = senhora
Srs. = senhores
Dr. = doutor
Dra. = doutora
Dr.ª = doutora
D. = Dom
Prof. = professor
Profa. = professora
Prof.ª = professora
Eng. = engenheiro
Exmo. = excelentíssimo
Exma. = excelentíssima
Sto. = santo
Sta. = santa
p.ex. = por exemplo
aprox. = aproximadamente
tel. Tel. telef. = telefone
Ref. ref. = referência
Av. av. = avenida
R. = rua
cf. = confira
máx. = máximo
mín. = mínimo
V.Exa. = vossa excelência
""",
    may_end="""
seg. = segunda
qui. = quinta
sex. = sexta
sáb. = sábado
jan. = janeiro
fev. = fevereiro
abr. = abril
jun. = junho
jul. = julho
ago. = agosto
set. = setembro
out. = outubro
nov. = novembro
dez. = dezembro
etc. = et cetera
a.C. = antes de Cristo
d.C. = depois de Cristo
E.U.A. = Estados Unidos da América
S.A. = sociedade anónima
Lda. = limitada
Esq. = esquerdo
Dto. = direito
Ltda. = limitada
""",
    before_number="""
p. pág. Pág. = página
pp. págs. = páginas
n.º N.º nº Nº n° N° n. = número
art. Art. = artigo
cap. Cap. = capítulo
seg. Seg. = segunda
ter. Ter. = terça
qua. Qua. = quarta
qui. Qui. = quinta
sex. Sex. = sexta
sáb. Sáb. = sábado
dom. Dom. = domingo
fig. Fig. = figura
vol. Vol. = volume
§ = parágrafo
""",
    phrases="""
p. ex. = por exemplo
c. sopa = colher de sopa/colheres de sopa
c. chá = colher de chá/colheres de chá
a. C. = antes de Cristo
d. C. = depois de Cristo
S. A. = sociedade anónima
""",
    half="""
m = meio
f = meia
""",
    plain="""
nº Nº n° N° = número
Sr = senhor
Sra = senhora
Dr = doutor
Dra = doutora
EUA = Estados Unidos da América
""",
    starters="""
    O A Os As Um Uma Uns Umas Eu Tu Ele Ela Eles Elas Nós Vós Você Vocês Este Esta Isto Esse Essa Isso Aquele
    Aquela Meu Minha Seu Sua Mas E Ou Pois Depois Antes Então Quando Se Como Que Quem Onde Porque Por Para Com
    Sem Em De Desde Até Hoje Ontem Amanhã Aqui Ali Sim Não Já Também Além Assim No Na Nos Nas Ao À Do Da Logo
    """,
    openers="""
    e ou mas porque que quem quando se como enquanto onde embora para por com sem em de a sobre desde até entre
    após
    """,
    cues=cues(
        day="dia o em de segunda terça quarta quinta sexta sábado domingo segunda-feira terça-feira quarta-feira "
        "quinta-feira sexta-feira seg ter qua qui sex sáb dom",
        phone="telefone tel tel. telemóvel celular fax ligue ligar whatsapp",
        code="código pin isbn iban senha cep nif cpf",
        label="página capítulo número nº pág. n.º quarto sala cais linha autocarro ônibus artigo",
        roman="século séculos séc capítulo tomo ato volume",
        hour="às",
    ),
    ordinal_suffixes=cues(m="º ° o .º", f="ª a"),
    genders={"c": "f"},
    hour_signs=("h", "H"),
    hour_words="h horas",
    names="""
    João Pedro Manuel José Maria Afonso Dinis Sebastião Filipe Carlos Luís Henrique Pio Bento Paulo Napoleão
    Francisco
    """,
)
"""Portuguese of Portugal."""

BRAZILIAN = replace(
    PORTUGUESE,
    tag="pt-br",
    numbers=Numbers.of(
        numbers,
        cardinal=numbers.brazilian,
        fraction=numbers.brazilian_fraction,
        clock=numbers.brazilian_clock,
        date=numbers.brazilian_date,
    ),
    units=nouns(_UNITS.replace("quilóm", "quilôm").replace("microm", "micrôm").replace("micróm", "micrôm")),
    currencies=currencies(_CURRENCIES.replace("cêntimo", "centavo").replace("canadiano", "canadense")),
    scales=nouns(_SCALES.replace("ili", "ilh").replace("bilhão bilhões", "bilhão bilhões bi")),
)
"""Portuguese of Brazil."""
