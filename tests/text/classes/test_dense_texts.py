"""Kinds read wrongly in dense texts (``tests/text/sight/fourth.tsv``), each as a whole."""

from __future__ import annotations

import pytest
from support.spoken import ends, read_as

from sayahead.text.reading.language import language_of

ROMANCE = ("fr", "es", "it", "pt", "pt-br")
LANGUAGES = ("de", *ROMANCE, "nl", "pl", "sv", "da")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("date", ["2024-11-09", "09/11/2024", "09-11-2024", "19.11.2024", "1/2/24"])
@pytest.mark.parametrize("time", ["03:14:07", "02:10", "23:59:59"])
def test_a_date_and_a_time_are_no_telephone_number(tag: str, date: str, time: str) -> None:
    said = read_as(tag, f"{date} {time} xo")
    for part in (date, time):
        assert read_as(tag, f"{part} xo").removesuffix(" xo").rstrip(",") in said.replace(",", "")


@pytest.mark.parametrize("tag", ROMANCE)
@pytest.mark.parametrize("day", ["9/11", "16/11", "1/2", "31/12", "03/05"])
def test_a_date_in_brackets_behind_a_weekday(tag: str, day: str) -> None:
    record = language_of(tag).record
    month = record.month_names[int(day.split("/")[1]) - 1]
    for weekday in sorted({*record.table("weekdays"), *record.days_of_week}):
        for form in (weekday, f"{weekday}."[: len(weekday) + (len(weekday) < 4)]):
            assert month in read_as(tag, f"xa {form} ({day}), xo"), form


@pytest.mark.parametrize("tag", ["de", *ROMANCE, "nl", "sv", "da"])
@pytest.mark.parametrize("lap", ["1:54,30", "1:23,405", "2:05.3", "12:07.45", "0:59,99"])
def test_the_time_of_a_race_is_in_minutes_and_seconds(tag: str, lap: str) -> None:
    units = language_of(tag).record.units
    said = read_as(tag, f"xa {lap} xo")
    for name in ("min", "s"):
        assert {units[name].one, units[name].many} & set(said.split()), said


@pytest.mark.parametrize("tag", ["de", *ROMANCE])
@pytest.mark.parametrize("count", ["12", "24", "150", "7", "99"])
def test_what_is_counted_behind_a_telephone_number_is_no_part_of_it(tag: str, count: str) -> None:
    cue = min(word for word, kind in language_of(tag).record.cues.items() if kind == "phone")
    for text in (f"{cue} 0800 722 0011, {count} xas", f"{cue} 0800 722 0011 ({count} xas)"):
        counted = read_as(tag, f"xa {count} xas").removeprefix("xa ").removesuffix(".")
        assert counted in read_as(tag, text), text


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("seat", ["12A", "3C", "24B", "7F", "16D"])
def test_a_seat_is_no_cue_for_codes(tag: str, seat: str) -> None:
    label = next(w for w, kind in language_of(tag).record.cues.items() if kind == "label")
    number = read_as(tag, "xa 250 xas").split()[1:-1]
    said = read_as(tag, f"{label} {seat}, 250 xas").split()
    assert said[-1 - len(number) : -1] == number


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("fr", "12e j. {}", "douzième journée"),
        ("fr", "en 2de cl. {}", "en seconde classe"),
        ("fr", "au 3e dr. {}", "au troisième droite"),
        ("fr", "le 12e arr. {}", "le douzième arrondissement"),
        ("it", "la 12ª g. {}", "la dodicesima giornata"),
        ("it", "in 2ª cl. {}", "in seconda classe"),
        ("pt", "na 33ª rod. {}", "na trigésima terceira rodada"),
    ],
)
@pytest.mark.parametrize("after", [", xa", "; xa", ") xa", "de xa", ": xa"])
def test_what_an_ordinal_counts(tag: str, text: str, said: str, after: str) -> None:
    text = text.replace(" {}", after if after[0] in ",;):" else f" {after}")
    assert read_as(tag, f"xa {text}").lower().startswith(f"xa {said}")


@pytest.mark.parametrize("tag", ["fr", "it"])
@pytest.mark.parametrize("city", ["Marseille", "Milano", "Roma", "Nice", "Bari"])
def test_an_arrival_is_no_district_and_ends_nothing(tag: str, city: str) -> None:
    word = {"fr": "arrivée", "it": "arrivo"}[tag]
    assert f"{word} {city}" in read_as(tag, f"xa, arr. {city} 10, xo")
    assert ends(tag, f"xa, arr. {city} 10, xo") == 1


@pytest.mark.parametrize("count", ["2 pers", "4 persone", "6 pers.", "10 porzioni", "3 giorni"])
def test_a_cross_before_what_is_counted_is_for(count: str) -> None:
    assert read_as("it", f"Dosi x {count}").startswith("Dosi per ")


@pytest.mark.parametrize("count", ["4 pers", "6 personas", "2 raciones", "3 días", "5 euros"])
def test_a_cross_before_what_is_counted_is_by_in_spanish(count: str) -> None:
    assert read_as("es", f"Total x {count}").startswith("Total por ")


@pytest.mark.parametrize("time", ["8.00", "9.30", "12.30", "23.00", "7.00"])
def test_a_round_time_with_a_full_stop(time: str) -> None:
    said = read_as("it", f"alle {time}").removeprefix("alle ").rstrip(".")
    for text in (f"Roma {time}, xo", f"(Roma {time})", f"Roma {time}; xo"):
        assert said in read_as("it", text)
    assert "punto" in read_as("it", f"versione {time}, xo")


@pytest.mark.parametrize("hours", ["4/4 h", "6/6 h", "8/8h", "12/12 h", "5/5 dias"])
def test_how_often_by_the_hours_between(hours: str) -> None:
    number = read_as("pt", f"{hours.split('/')[0]} horas").split()[0]
    assert f"{number} em {number}" in read_as("pt", f"xa 750 mg {hours}, xo")


@pytest.mark.parametrize("name", ["Lúcia", "Ana", "Maria I", "Clara", "Benedita"])
def test_a_lady_is_no_lord(name: str) -> None:
    assert read_as("pt", f"com D. {name}, xa").startswith("com Dona ")
    assert read_as("pt", "com D. Pedro II, xa").startswith("com Dom ")


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("fr", "un appt meub., 2 ch.", "meublé"),
        ("fr", "7 900 € à déb. Tél.", "à débattre"),
        ("fr", "auj. à 14h", "aujourd'hui"),
        ("fr", "art. 1240 C. com. et", "Code de commerce"),
        ("fr", "diff. +3", "différence"),
        ("fr", "M° Cluny", "métro"),
        ("fr", "je viens bcp pdt", "beaucoup pendant"),
        ("es", "cal. ind.", "calefacción individual"),
        ("es", "85 m², 2 b., ascensor", "dos baños"),
        ("es", "J. 13: xa", "jornada trece"),
        ("es", "R. Sociedad 1-0", "Real Sociedad"),
        ("es", "disp. adic. 1.ª", "disposición adicional primera"),
        ("es", "el RD 8/2020", "Real Decreto ocho"),
        ("es", "prob. de lluvia", "probabilidad"),
        ("es", "te llamo tb xq", "también porque"),
        ("it", "Le invio in all. il prev. n. 4", "allegato il preventivo numero"),
        ("it", "La prego di risp. entro", "rispondere"),
        ("it", "sconto per pag. entro", "per pagamento"),
        ("it", "Cord. saluti", "Cordiali"),
        ("it", "Gent.mo Dott. Neri", "gentilissimo dottor"),
        ("it", "mare m. mosso", "molto mosso"),
        ("it", "no ag.; xa", "no agenzie"),
        ("pt", "rel. Min. Gonçalves, j. 25/4/2018", "relator Ministro Gonçalves, julgado vinte"),
        ("pt", "CF/88 c/c o art. 300", "combinado com"),
        ("pt", "Alugo kit. mob. c/ ar", "quitinete mobiliado"),
        ("pt", "tr. c/ Ana, cel. (11) 98765", "tratar com Ana, celular"),
        ("pt", "inflação em 12 m.), xa", "doze meses"),
        ("pt", "Serve 4p.; xa", "quatro pessoas"),
        ("pt", "vc vem hj? mto", "você vem hoje? muito"),
    ],
)
def test_short_forms_with_another_meaning(tag: str, text: str, said: str) -> None:
    assert said in read_as(tag, f"xa {text}")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("time", ["1′49″", "2’45’’", "3h04′17″", "1h42′53″", "17′16″"])
def test_primes_of_a_race_are_minutes_and_seconds(tag: str, time: str) -> None:
    units = language_of(tag).record.units
    said = read_as(tag, f"xa {time} xo")
    for name in ("min", "s"):
        noun = units[name]
        assert any(form in said for form in (noun.one, noun.many, *noun.forms)), said


@pytest.mark.parametrize("tag", ROMANCE)
@pytest.mark.parametrize("gap", [7, 27, 53, 12, 30])
def test_a_gap_of_a_race_is_in_seconds(tag: str, gap: int) -> None:
    word = {"fr": "à", "es": "a", "it": "a"}.get(tag, "a")
    for mark in ("″", "''", '"'):
        assert "second" in read_as(tag, f"{word} {gap}{mark} xo").replace("segundo", "second")


@pytest.mark.parametrize("tag", ["de", *ROMANCE])
@pytest.mark.parametrize("numeral", ["III", "VIII", "XXX", "XIII", "XXXIII", "xviii", "viii"])
def test_a_numeral_is_no_stretched_word(tag: str, numeral: str) -> None:
    said = {*read_as(tag, f"xa {numeral} xo").split(), *read_as(tag, f"{numeral}. Xo").split()}
    assert not said & {numeral[1:], numeral[:-1], f"{numeral[:-1]}."}


@pytest.mark.parametrize("tag", ROMANCE)
@pytest.mark.parametrize("amount", ["230º C", "200 °C", "37,5º C", "180° C", "20 ° C"])
def test_degrees_apart_from_their_letter(tag: str, amount: str) -> None:
    assert "Celsius" in read_as(tag, f"xa {amount} xo")


@pytest.mark.parametrize("tag", ROMANCE)
@pytest.mark.parametrize("amounts", ["18/20°C", "4/7 °C", "21/24°C", "2/8 °C", "15/25°C"])
def test_degrees_from_one_to_another_with_a_stroke(tag: str, amounts: str) -> None:
    until = language_of(tag).record.until
    said = read_as(tag, f"xa {amounts} xo")
    assert f" {until} " in said
    assert "Celsius" in said


@pytest.mark.parametrize("tag", ROMANCE)
@pytest.mark.parametrize("relay", ["4x100m", "4×400m", "4x200m", "8x50m", "10x100m"])
def test_a_relay_has_metres(tag: str, relay: str) -> None:
    metres = language_of(tag).record.units["m"].many
    assert metres in read_as(tag, f"xa {relay} xo").split()


@pytest.mark.parametrize("tag", ROMANCE)
@pytest.mark.parametrize("height", ["2m14", "15m31", "1m80", "8m05", "5m95"])
def test_metres_and_centimetres(tag: str, height: str) -> None:
    metres = language_of(tag).record.units["m"]
    assert {metres.one, metres.many} & set(read_as(tag, f"xa {height} xo").split())


@pytest.mark.parametrize("tag", ["es", "pt", "pt-br"])
@pytest.mark.parametrize("time", ["12:00", "10:00", "13:30", "08:00", "21:15"])
def test_the_hours_may_touch_their_word(tag: str, time: str) -> None:
    for word in ("h", "hs", " h", " hs"):
        assert read_as(tag, f"xa {time}{word}, xo") == read_as(tag, f"xa {time} h, xo")


@pytest.mark.parametrize("time", ["8.20", "6.40", "22.50", "7.52", "23.27"])
def test_a_time_in_brackets(time: str) -> None:
    said = read_as("it", f"alle {time}").removeprefix("alle ").rstrip(".")
    for text in (f"Osteria ({time}) xo", f"Rogoredo (p. {time}) xo", f"AV (a. {time} – p. 23.29)"):
        assert said in read_as("it", text)


@pytest.mark.parametrize("numeral", ["I", "II", "III", "IV", "VI"])
def test_a_section_is_feminine(numeral: str) -> None:
    for word in ("sez.", "parte", "classe", "serie", "sezione"):
        assert read_as("it", f"xa {word} {numeral}, xo").split(",")[0].endswith(("a", "e"))


@pytest.mark.parametrize("score", ["1 X 0", "2×1", "3 x 2", "0x0", "1X3"])
def test_a_result_between_names_in_capitals(score: str) -> None:
    for names in (("BRAGANTINO", "BOTAFOGO"), ("Atlético-GO", "Red Bull"), ("Oeste", "Cruzeiro")):
        assert "vezes" not in read_as("pt-br", f"{names[0]} {score} {names[1]}")


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("fr", "le 04/05 02:00, xo", "quatre mai"),
        ("es", "el 31/12 23:59, xo", "treinta y uno de diciembre"),
        ("fr", "1/4 c. à thé de sel", "un quart de cuillère"),
        ("fr", "3/4 tasse de lait", "trois quarts de tasse"),
        ("es", "1/4 kilo de pan", "un cuarto de kilo"),
        ("it", "3/4 tazza di latte", "tre quarti di tazza"),
        ("pt", "3/4 xícara de leite", "três quartos de xícara"),
        ("es", "2 g/24 horas", "gramos por veinticuatro horas"),
        ("pt", "CNPJ 17562075000169", "um sete cinco seis dois"),
        ("pt", "64,3 Km/h", "quilómetros por hora"),
        ("it", "38,87 Km/h", "chilometri all'ora"),
        ("it", "Cass. Sez. 2, sent. 29 gennaio", "Cassazione sezione due, sentenza ventinove"),
        ("it", "nn. 3775 e 6342", "numeri"),
        ("it", "al n. 12275/2022 R.G.; xo", "ruolo generale"),
        ("it", "la L. n. 189 del 2012", "legge numero"),
        ("it", "il Vitt. Em. II, xo", "Vittorio Emanuele secondo"),
        ("it", "29° a 30″, xo", "ventinovesimo a trenta secondi"),
        ("pt", "na casa dos 8°, xo", "oito graus"),
    ],
)
def test_forms_of_real_texts(tag: str, text: str, said: str) -> None:
    assert said in read_as(tag, f"xa {text}")


@pytest.mark.parametrize("tag", ROMANCE)
@pytest.mark.parametrize("unit", ["m²", "km²", "m³", "km/h", "cm²"])
def test_a_unit_behind_a_singular_article_is_one(tag: str, unit: str) -> None:
    article = {"fr": "le", "es": "el", "it": "il"}.get(tag, "o")
    assert language_of(tag).record.units[unit].one in read_as(tag, f"xa {article} {unit} xo")


@pytest.mark.parametrize("tag", ["de", *ROMANCE])
@pytest.mark.parametrize("number", ["0987", "00412", "01", "0815", "007"])
def test_a_number_with_a_zero_before_it_announces_no_telephone(tag: str, number: str) -> None:
    counted = read_as(tag, "xa 345 xas").removeprefix("xa ").removesuffix(".")
    assert counted in read_as(tag, f"xa {number}: 345 xas")


@pytest.mark.parametrize(("tag", "link"), [("es", "sobre"), ("it", "su"), ("fr", "sur")])
@pytest.mark.parametrize("mark", ["5/10", "7/10", "14/20", "28/30", "65/100"])
def test_a_mark_is_out_of_the_best(tag: str, link: str, mark: str) -> None:
    for word in {"es": ("nota", "mín."), "it": ("voto", "min."), "fr": ("note",)}[tag]:
        assert f" {link} " in read_as(tag, f"xa {word} {mark}, xo")


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("fr", "je vs envoie", "je vous envoie"),
        ("fr", "ATF 140, consid. 2", "considérant deux"),
        ("fr", "1 inj. IM par an", "injection IM"),
        ("es", "2ª Div.: xo", "segunda División"),
        ("es", "24 ptos. en 13 j.", "trece jornadas"),
        ("es", "(rec. 456/2018)", "recurso"),
        ("es", "1 vac. i.m. al año", "vacuna intramuscular"),
        ("es", "de l. a v., de 9 a 14 h", "lunes a viernes"),
        ("it", "l'art. 1, c. 2, xo", "comma due"),
        ("it", "e s.m.i. e il D.M. 3.4.2020", "decreto ministeriale"),
        ("it", "1 dose al giorno", "una dose"),
        ("it", "il 3/12 h 10.15", "tre dicembre ore dieci"),
        ("it", "vento da NNO 12 nodi", "nord-nord-ovest"),
        ("it", "temp. perc. 8°", "percepita otto gradi"),
        ("pt", "19V 8E 8D", "dezanove vitórias oito empates oito derrotas"),
        ("pt", "a r. sentença", "a respeitável sentença"),
        ("pt", "o n.º de utente 123 456 789", "número de utente um dois três"),
        ("pt", "Consulta: 3/12, 10h15", "três de dezembro"),
    ],
)
def test_more_short_forms_of_real_texts(tag: str, text: str, said: str) -> None:
    assert said in read_as(tag, f"xa {text}")


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("es", "Madrid-Pta. de Atocha", "Madrid Puerta de Atocha"),
        ("es", "Sevilla-Sta. Justa", "Sevilla Santa Justa"),
        ("it", "Roma-S. Pietro", "Roma San Pietro"),
        ("it", "Milano-P.ta Garibaldi", "Milano Porta Garibaldi"),
        ("fr", "Lyon-St. Jean", "Lyon Saint Jean"),
    ],
)
def test_a_short_form_that_a_hyphen_joins_ends_nothing(tag: str, text: str, said: str) -> None:
    assert said in read_as(tag, f"xa {text}, xo")
    assert ends(tag, f"xa {text}, xo") == 1


@pytest.mark.parametrize("tag", ["en", "de", *ROMANCE, "nl"])
@pytest.mark.parametrize("formula", ["v = s/t", "v = d/t", "a = F/m", "p = F/S", "R = U/I"])
def test_a_quotient_of_two_variables(tag: str, formula: str) -> None:
    said = read_as(tag, f"xa {formula}, xo").split()
    assert said[-2].rstrip(",") == formula[-1]
    assert formula[-3] in said


@pytest.mark.parametrize("tag", ROMANCE)
@pytest.mark.parametrize("product", ["4ac", "2ab", "3xy", "12bc", "7pq"])
def test_two_variables_with_a_number_are_letters(tag: str, product: str) -> None:
    assert read_as(tag, f"x = b − {product}, xo").endswith(f" {' '.join(product[-2:].upper())}, xo")


@pytest.mark.parametrize("tag", ROMANCE)
@pytest.mark.parametrize("ports", ["8081:80", "8080:8080", "5432:5432", "27017:27017", "3000:80"])
def test_ports_have_a_colon(tag: str, ports: str) -> None:
    assert {"points", "puntos", "punti", "pontos"} & set(read_as(tag, f"xa {ports} xo").split())


@pytest.mark.parametrize(("tag", "low"), [("es", "mín."), ("it", "min."), ("pt", "mín.")])
@pytest.mark.parametrize("degrees", ["4 °C", "-2°C", "12°C", "7 ºC", "0 °C"])
def test_the_lowest_temperature_is_feminine(tag: str, low: str, degrees: str) -> None:
    assert read_as(tag, f"xa {low} {degrees}, xo").split()[1] in ("mínima", "minima")


@pytest.mark.parametrize("code", ["20-417B", "3-22D", "12-145H", "7-99X", "101-33R"])
def test_a_code_with_a_letter_is_no_range(code: str) -> None:
    for tag in ROMANCE:
        assert read_as(tag, f"xa {code}, xo").split()[-2] == f"{code[-1]},"


@pytest.mark.parametrize("tag", ["de", *ROMANCE])
@pytest.mark.parametrize("gap", [22, 4, 11, 30, 7])
def test_what_is_ahead_in_seconds(tag: str, gap: int) -> None:
    seconds = language_of(tag).record.units["s"].many
    for text in (f"(xa, -{gap}″) xo", f"xa +{gap}'' xo", f"xa −{gap}″, xo"):
        assert seconds in read_as(tag, text), text


@pytest.mark.parametrize("tag", ROMANCE)
@pytest.mark.parametrize("day", ["31/10", "25/12", "13/1", "28/02", "17/9"])
def test_a_day_in_brackets_that_is_no_part_is_a_date(tag: str, day: str) -> None:
    record = language_of(tag).record
    assert record.month_names[int(day.split("/")[1]) - 1] in read_as(tag, f"xa 12 ({day}), xo")


@pytest.mark.parametrize("tag", ROMANCE)
def test_a_short_weekday_before_a_colon_ends_nothing(tag: str) -> None:
    record = language_of(tag).record
    for weekday in list(record.table("weekdays"))[:7]:
        text = f"{weekday.capitalize()}.: xa"
        assert ends(tag, text) == 1
        assert read_as(tag, text).split(":")[0].lower() == record.table("weekdays")[weekday].lower()


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("fr", "6 bout. de vin", "six bouteilles"),
        ("fr", "au 14 r. Pasteur", "quatorze rue Pasteur"),
        ("fr", "sans avis méd.", "avis médical"),
        ("fr", "4e ét. ss asc.", "sans ascenseur"),
        ("es", "disp. 1 dic.", "uno de diciembre"),
        ("es", "cocina equip., xo", "cocina equipada"),
        ("it", "12 h x € 65", "ore per sessantacinque"),
        ("it", "pag. a 30 gg. f.m., xo", "pagamento a trenta giorni fine mese"),
        ("it", "mare p. mosso", "poco mosso"),
        ("it", "lib. 1/12", "primo dicembre"),
        ("it", "lun. 8.45-13", "otto e quarantacinque"),
        ("pt", "desc. de 2 h", "descanso de duas horas"),
        ("pt", "sem orientação méd.", "médica"),
        ("pt", "disp. 1º/12", "primeiro de dezembro"),
        ("pt", "10 gts/kg", "dez gotas por"),
    ],
)
def test_short_forms_of_everyday_texts(tag: str, text: str, said: str) -> None:
    assert said in read_as(tag, f"xa {text}")
