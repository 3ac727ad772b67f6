"""Kinds that were read wrongly at first sight (``tests/text/sight``), each as a whole."""

from __future__ import annotations

import pytest
from support.spoken import ends, read_as, words_of

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader

LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "pt", "pt-br", "pl", "sv", "da")


@pytest.mark.parametrize("cue", ["arr.", "dep.", "Arr.", "platform 4, arr.", "train 12 dep."])
@pytest.mark.parametrize("time", ["10:05", "12:30", "23:59", "06:48", "19:15"])
def test_a_time_behind_a_label_is_a_time(cue: str, time: str) -> None:
    assert read_as("en", f"{cue} {time} today").endswith(read_as("en", f"at {time} today")[2:])


@pytest.mark.parametrize("ports", ["8080:80", "80:8080", "443:443", "80:80", "5432:5432"])
def test_ports_keep_their_colon(ports: str) -> None:
    assert " colon " in read_as("en", f"Map port {ports} now")


@pytest.mark.parametrize("start", ["Mon.-Fri. except", "daily except", "Mon", "Sat.", "excluding"])
@pytest.mark.parametrize("day", ["7/4", "12/24", "1/2", "5/6", "10/3"])
def test_a_day_that_weekdays_or_an_exception_announce_is_a_date(start: str, day: str) -> None:
    month, number = day.split("/")
    said = read_as("en", f"Open {start} {day}.")
    assert language_of("en").record.month_names[int(month) - 1] in said
    assert ends("en", f"Open {start} {day}.") == 1
    assert said.endswith(read_as("en", f"March {number}.").removeprefix("March"))


@pytest.mark.parametrize("days", ["7/4-7/8", "1/2-1/9", "3/5–4/6", "10/1-10/2", "5/6-6/7"])
def test_american_days_from_one_to_another_have_their_month_first(days: str) -> None:
    months = [int(day.split("/")[0]) - 1 for day in days.replace("–", "-").split("-")]
    names = [language_of("en").record.month_names[month] for month in months]
    said = read_as("en", f"Open on {days} only").split()
    assert [word for word in said if word in language_of("en").record.month_names] == names


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("part", ["1", "25", "5", "05", "125"])
def test_a_part_of_one_before_a_mark_is_molar(tag: str, part: str) -> None:
    record = language_of(tag).record
    amount = f"0{record.decimal}{part}"
    for text in (f"xa {amount} M, xo", f"xa {amount} M.", f"(xa {amount} M) xo"):
        assert record.molar in read_as(tag, text), text


@pytest.mark.parametrize("solute", ["urea", "glucose", "ethanol", "NaCl", "Tris"])
@pytest.mark.parametrize("amount", ["3 M", "6 M", "0.5 M", "2M", "12 M"])
def test_what_is_dissolved_is_molar(amount: str, solute: str) -> None:
    assert " molar " in read_as("en", f"Add {amount} {solute} slowly")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("torque", ["180 Nm", "5 Nm", "22 N·m", "350 Nm", "90 N⋅m"])
def test_torque_is_in_newton_metres(tag: str, torque: str) -> None:
    said = read_as(tag, f"xa {torque} xo").lower()
    assert "nm" not in said.split()
    assert "newton" in said or "niuton" in said


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("formula", ["$x_1$", "$y_{2}$", "$v_0 = 3$", "$a_{ij}$", r"\(z_{12}\)"])
def test_a_subscript_has_no_underscore(tag: str, formula: str) -> None:
    underscore = language_of(tag).record.sign("_")
    assert underscore not in read_as(tag, f"xa {formula} xo")


@pytest.mark.parametrize("name", ["my_var", "max_len", "user_id", "foo_bar_1", "is_x_ok"])
def test_a_name_of_a_program_keeps_its_underscores(name: str) -> None:
    assert read_as("en", f"Set {name} now").count("underscore") == name.count("_")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("path", ["**/*.js", "**/*.test.ts", "**/*", "**/*.md", "**/*_spec.rb"])
def test_stars_that_begin_a_path_are_said(tag: str, path: str) -> None:
    star = language_of(tag).record.sign("*").split()[0]
    for text in (f"xa {path} xo", f"{path} xa", f"xa {path} zo src/{path}"):
        assert read_as(tag, text).split().count(star) == text.count("*")
        letters = TokenReader(language_of(tag))
        alike = [word for char in text for word in letters.push(char)] + letters.flush()
        assert alike == words_of(tag, text)


@pytest.mark.parametrize("path", ["/etc/hosts", "/usr/bin", "/var/log/x", "/tmp/a", "/opt/b"])
def test_a_path_between_stars_is_emphasized(path: str) -> None:
    assert "star" not in read_as("en", f"Edit **{path}** now")


@pytest.mark.parametrize("move", ["O-O", "O-O-O", "0-0", "e4", "Nf3"])
@pytest.mark.parametrize("number", ["1.", "13.", "13...", "40.", "7."])
def test_a_move_belongs_to_its_number(number: str, move: str) -> None:
    assert ends("en", f"After {number} {move} it is over") == 1


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        ("3,50,000", "three lakh fifty thousand"),
        ("12,34,567", "twelve lakh thirty-four thousand five hundred sixty-seven"),
        ("1,00,000", "one lakh"),
        ("2,00,00,000", "two crore"),
        ("1,25,00,000", "one crore twenty-five lakh"),
    ],
)
def test_indian_groups_are_lakhs_and_crores(amount: str, said: str) -> None:
    assert read_as("en", f"It has {amount} users") == f"It has {said} users"
    for sign in ("₹", "Rs ", "Rs. ", "INR "):
        assert read_as("en", f"Pay {sign}{amount} now") == f"Pay {said} rupees now"
    assert read_as("en", f"Pay ₹{amount}/- now") == f"Pay {said} rupees now"


@pytest.mark.parametrize(
    "number",
    ["+1 555 010 9999", "+44 20 7946 0958", "+49 30 901820", "555 010 9999", "+1-555-010-9999"],
)
def test_groups_of_a_telephone_number_are_parted(number: str) -> None:
    groups = number.replace("-", " ").split()
    parted = len(groups) - 1 - number.startswith("+")
    assert read_as("en", f"Call {number}, please").count(",") == parted + 1


LABELS = {
    "en": "invoice no.",
    "de": "Rechnung Nr.",
    "fr": "facture n°",
    "es": "factura n.º",
    "it": "fattura n.",
    "nl": "factuur nr.",
    "pt": "fatura n.º",
}


@pytest.mark.parametrize("tag", LABELS)
@pytest.mark.parametrize("number", ["2024-117", "2023-0081", "2024-9", "2025-00042", "2024-12"])
def test_a_year_and_a_number_are_no_range(tag: str, number: str) -> None:
    said = read_as(tag, f"{LABELS[tag]} {number}: xo")
    assert f" {language_of(tag).record.until} " not in said


@pytest.mark.parametrize("law", ["Abs.", "§ 3 Abs.", "Art.", "Artikel", "Absatz"])
@pytest.mark.parametrize("numbers", [(1, 2), (2, 1), (3, 4), (1, 1), (10, 2)])
def test_sentences_of_a_law(law: str, numbers: tuple[int, int]) -> None:
    part, sentence = numbers
    said = read_as("de", f"Nach {law} {part} S. {sentence} gilt es").replace("eine ", "?? ")
    cardinals = language_of("de").record.numbers
    assert cardinals is not None
    assert f"{cardinals.cardinal(part)} Satz {cardinals.cardinal(sentence)} gilt" in said


@pytest.mark.parametrize("cue", ["um", "gegen", "gg.", "ab", "bis"])
@pytest.mark.parametrize("hour", [7, 12, 19, 22, 24])
def test_an_hour_behind_a_word_for_times(cue: str, hour: int) -> None:
    numbers = language_of("de").record.numbers
    assert numbers is not None
    assert f"{numbers.cardinal(hour)} Uhr" in read_as("de", f"Bin {cue} {hour}h da")


@pytest.mark.parametrize("tag", ["de", "nl"])
@pytest.mark.parametrize("times", [("10.00", "16.30"), ("9.15", "11.45"), ("8.00", "9.00")])
def test_a_time_before_and_has_the_word_of_the_next(tag: str, times: tuple[str, str]) -> None:
    word = {"de": "Uhr", "nl": "uur"}[tag]
    link = language_of(tag).record.and_word
    first, last = times
    said = read_as(tag, f"xa {first} {link} {last} {word} xo")
    alone = read_as(tag, f"xa {first} {word} xo").removesuffix(" xo")
    assert said.startswith(f"{alone} {link} ")


@pytest.mark.parametrize("series", ["1-0-1", "1-1-1", "2-0-1", "0-0-1", "1-0-0-1"])
def test_how_many_tablets_at_a_time(series: str) -> None:
    assert "Tablette" in read_as("de", f"nimmt {series} Tbl. ein")


@pytest.mark.parametrize("stem", ["Factuur", "Order", "Klant", "Dossier", "Lidmaatschaps"])
def test_numbers_joined_to_their_noun(stem: str) -> None:
    assert read_as("nl", f"{stem}nr. 45 xo").startswith(f"{stem}nummer ")
    assert ends("nl", f"{stem}nr. 45 xo") == 1


@pytest.mark.parametrize("article", ["6:162", "3:40", "7:658", "2:9", "10:1"])
def test_articles_of_a_law_with_their_book(article: str) -> None:
    numbers = language_of("nl").record.numbers
    assert numbers is not None
    book, number = (numbers.cardinal(int(part)) for part in article.split(":"))
    assert read_as("nl", f"op grond van art. {article} BW").endswith(f"artikel {book} {number} BW")


@pytest.mark.parametrize("start", ["as of", "at the time of", "instead of", "of"])
@pytest.mark.parametrize("time", ["3:45 PM", "9:10 a.m.", "12:30 pm", "1:05 p.m.", "7:20 AM"])
def test_a_time_with_its_half_of_the_day_is_no_length(start: str, time: str) -> None:
    assert "minute" not in read_as("en", f"The price {start} {time} was low")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("month", ["2020-12", "2024-03", "2019-07", "2031-10", "2025-01"])
def test_a_year_and_a_month_in_figures(tag: str, month: str) -> None:
    names = language_of(tag).record.month_names
    said = read_as(tag, f"xa {month} xo").lower()
    assert names[int(month[5:]) - 1].lower() in said
    assert f" {language_of(tag).record.until} " not in said


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("formula", ["E = mc²", "E = mc^2", "U = gh²", "p = ab³", "v = at²"])
def test_two_variables_with_a_power_are_letters(tag: str, formula: str) -> None:
    record = language_of(tag).record
    power = record.signs["³" if "³" in formula else "²"]
    said = read_as(tag, f"xa {formula} xo").lower()
    assert power.lower() in said
    assert formula[4:6] not in said.split()


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("units", ["J·s", "kJ·kg⁻¹", "m·s⁻²", "kJ·kg⁻¹·K⁻¹", "mol·L⁻¹"])
def test_products_of_units_are_said_in_full(tag: str, units: str) -> None:
    per = language_of(tag).record.per
    said = read_as(tag, f"xa 4 {units} xo")
    assert not any(mark in said for mark in "·⁻¹²")
    assert said.split().count(per) >= units.count("⁻") * (tag not in ("pl", "es"))


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("mark", ["=", "≥", "≤"])
@pytest.mark.parametrize("amount", ["65W", "230V", "50Hz", "24kHz", "5GHz"])
def test_units_right_behind_a_sign(tag: str, mark: str, amount: str) -> None:
    alone = read_as(tag, f"xa {amount} xo").removeprefix("xa ")
    assert read_as(tag, f"xa {mark}{amount} xo").endswith(alone)


@pytest.mark.parametrize("word", ["pt", "reb", "ast", "spd", "dr"])
@pytest.mark.parametrize("text", ["a 28-{}. game", "an 11-{}., slow one", "a 5-{} car"])
def test_short_nouns_behind_a_hyphen(text: str, word: str) -> None:
    full = language_of("en").meaning("counted_short", word)
    said = read_as("en", f"It was {text.format(word)} today")
    assert full in said.replace(",", "").split()
    assert ends("en", f"It was {text.format(word)} today") == 1


@pytest.mark.parametrize("minute", ["67'", "45+2'", "90+4'", "12’", "8'"])
def test_the_minute_of_a_goal_is_no_foot(minute: str) -> None:
    said = read_as("en", f"Goals by Kane {minute}, Salah {minute}.")
    assert said.count("minutes") == 2
    assert "feet" not in said


@pytest.mark.parametrize("parts", ["(1)–(4)", "(a)-(c)", "(2)–(3)", "(i)–(iv)", "(5)-(9)"])
@pytest.mark.parametrize("tag", LANGUAGES)
def test_brackets_from_one_to_another(tag: str, parts: str) -> None:
    assert language_of(tag).record.until in read_as(tag, f"xa § 5{parts} xo").split()


@pytest.mark.parametrize("life", ["b. 1480", "b. ca. 1480", "d. Aug. 3, 1541", "d. 1541", "b. May"])
def test_who_was_born_and_died(life: str) -> None:
    said = {"b": "born", "d": "died"}[life[0]]
    assert f" {said} " in read_as("en", f"Ann Lee ({life} 5) wrote it").replace("(", " ")


@pytest.mark.parametrize("tag", ["es", "it"])
@pytest.mark.parametrize("cue", ["máx.", "min.", "mín.", "max."])
@pytest.mark.parametrize("degrees", [8, 9, 3, 12, 10])
def test_degrees_of_the_weather_are_no_ordinals(tag: str, cue: str, degrees: int) -> None:
    if cue.rstrip(".") in language_of(tag).record.vocabularies["extremes"]:
        numbers = language_of(tag).record.numbers
        assert numbers is not None
        said = read_as(tag, f"xa: {cue} {degrees}°, xo")
        assert f"{numbers.cardinal(degrees)} grad" in said


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("es", "900 123 456"),
        ("es", "902 555 010"),
        ("it", "800.123.456"),
        ("it", "800 900 100"),
        ("it", "333.1234567"),
    ],
)
def test_free_numbers_are_dialled(tag: str, text: str) -> None:
    numbers = language_of(tag).record.numbers
    assert numbers is not None
    figures = [numbers.cardinal(int(figure)) for figure in text if figure.isdecimal()]
    assert " ".join(figures) in read_as(tag, f"xa: {text}, xo")


@pytest.mark.parametrize("month", ["out.", "jan.", "fev.", "ago.", "dez."])
def test_a_month_in_short_and_its_year_behind_a_stroke(month: str) -> None:
    said = read_as("pt", f"subiu em {month}/2024 de novo")
    assert said.endswith(" de dois mil e vinte e quatro de novo")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2ª-feira", "segunda feira"),
        ("3ª f.", "terça feira"),
        ("4ª-feira", "quarta feira"),
        ("5ª feira", "quinta feira"),
        ("6ª f.", "sexta feira"),
    ],
)
def test_portuguese_weekdays_by_their_number(text: str, said: str) -> None:
    assert read_as("pt", f"vem na {text} cedo") == f"vem na {said} cedo"
    assert ends("pt", f"vem na {text} cedo") == 1


SHORT_FORMS = {
    "en": "exc.=except Wm.=William Bn.=Battalion idx.=index execs.=executives Gm._5=Game_five",
    "fr": "v._1412=vers moy.=moyen div.=dividende sf=sauf prox.=proximité art._L._121-1=article",
    "es": "Precal.=precalienta asto.=asiento cám.=cámaras bat.=batería IVA_inc.=incluido",
    "it": "rig.=rigore esc.=escluso p._3°=piano um._78%=umidità "
    "cl._en.=classe_energetica cmq=comunque",
    "pt": "inc._LXXIV=setenta_e_quatro arts._98=artigos e_segs.=seguintes ped._nº_3=pedido "
    "leite_cond.=condensado 4,8x=vírgula_oito_vezes",
}


@pytest.mark.parametrize("tag", SHORT_FORMS)
def test_short_forms_of_small_print(tag: str) -> None:
    for pair in SHORT_FORMS[tag].split():
        form, said = pair.replace("_", " ").split("=")
        assert said.lower() in read_as(tag, f"xa {form} xo").lower()
        assert ends(tag, f"xa {form} xo") == 1


CARDS = [
    "4111 1111 1111 1111",
    "4111-1111-1111-1111",
    "5500 0000 0000 0004",
    "6011 0009 9013 9424",
    "3530 1113 3330 0000",
]


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("card", CARDS)
def test_the_number_of_a_card_is_said_figure_by_figure(tag: str, card: str) -> None:
    numbers = language_of(tag).record.numbers
    assert numbers is not None
    figures = [numbers.cardinal(int(figure)) for figure in card if figure.isdecimal()]
    said = read_as(tag, f"xa {card} xo").replace(",", "")
    assert said.lower() == f"xa {' '.join(figures)} xo"


@pytest.mark.parametrize("number", ["1.5e-3", "2e-9", "6.63E-34", "1e−6", "9.1e-31"])
def test_a_negative_power_of_ten_keeps_its_sign(number: str) -> None:
    assert " E minus " in read_as("en", f"about {number} of it")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("unit", ["kg", "l", "km", "h", "m"])
def test_parts_keep_the_unit_that_touches_them(tag: str, unit: str) -> None:
    for amount in ("½", "2½", "¾", "1¼", "12½"):
        assert read_as(tag, f"xa {amount}{unit}, xo") == read_as(tag, f"xa {amount} {unit}, xo")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize(
    "address", ["::1", "fe80::1", "2001:db8::8a2e:370:7334", "::a:1", "a1::/64"]
)
def test_groups_of_nothing_in_an_address_are_said(tag: str, address: str) -> None:
    colon = language_of(tag).record.address[":"]
    assert read_as(tag, f"xa {address} xo").count(colon) == address.count(":")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("scheme", ["ftp", "sftp", "ssh", "redis", "s3"])
def test_what_an_address_begins_with_is_no_colon(tag: str, scheme: str) -> None:
    assert read_as(tag, f"xa {scheme}://example.com xo").endswith(
        read_as(tag, "xa example.com xo")[3:]
    )


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("formula", ["H~2~O", "CO~2~", "H~2~SO~4~", "C~6~H~12~O~6~", "NH~3~"])
def test_figures_between_tildes_are_lowered(tag: str, formula: str) -> None:
    said = read_as(tag, f"xa {formula} xo")
    assert said == read_as(tag, f"xa {formula.replace('~', '')} xo") or "~" not in said
    assert language_of(tag).record.sign("~") not in said.split()


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("change", ["+2.1%", "-3%", "−0.4%", "+1.25 %", "1%"])
def test_a_currency_that_moves_is_no_amount(tag: str, change: str) -> None:
    change = change.replace(".", language_of(tag).record.decimal)
    name = language_of(tag).record.currencies["CHF"].main.one
    assert read_as(tag, f"xa CHF {change} xo") == read_as(tag, f"xa {name} {change} xo")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("stars", ["★★★★☆", "★★★☆☆", "★☆☆☆☆", "★★★", "★★★★★"])
def test_stars_that_rate_are_counted(tag: str, stars: str) -> None:
    said = read_as(tag, f"xa {stars} xo")
    assert said == f"xa {language_of(tag).meaning('ratings', stars)} xo"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a 9×13-in. pan", "a nine by thirteen inch pan"),
        ("a 4x8-ft. sheet", "a four by eight foot sheet"),
        ("an 8 x 10-in photo", "an eight by ten inch photo"),
        ("a 12-pk. of pens", "a twelve pack of pens"),
        ("a 20-ct. box", "a twenty count box"),
        ("a 6-pc. set", "a six piece set"),
        ("turn it ½-way", "turn it half way"),
        ("at ½ price", "at half price"),
        ("1/2 price today", "half price today"),
        ("at ½-time", "at half time"),
        ("open 9a-5p", "open nine A.M. to five P.M."),
        ("open 5:30a–11p", "open five thirty A.M. to eleven P.M."),
        ("from 5:30a to 11p", "from five thirty A.M. to eleven P.M."),
        ("limit 3/customer", "limit three per customer"),
        ("$5/child", "five dollars per child"),
        ("2/household only", "two per household only"),
        ("sizes S–XXL", "sizes small to double X.L."),
        ("sizes XS-3XL", "sizes extra small to three X.L."),
        ("an MTU of 1,500 B", "an MTU of one thousand five hundred bytes"),
        ("a 64 B packet", "a sixty-four byte packet"),
        ("the 2d Cir. in 2008", "the second Circuit in two thousand eight"),
        ("a 3d ed. of it", "a third edition of it"),
        ("rare (< 1/1,000)", "rare (less than one in one thousand)"),
        ("in 1/10,000 users", "in one in ten thousand users"),
        ("all n! orders", "all N factorial orders"),
        ("1.22λ/D of it", "one point two two lambda over D of it"),
    ],
)
def test_forms_of_the_fourth_round_in_english(text: str, said: str) -> None:
    assert read_as("en", text) == said


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("number", ["5", "10", "0", "30", "12"])
def test_more_or_less_is_one_sign(tag: str, number: str) -> None:
    assert read_as(tag, f"xa +/- {number} xo") == read_as(tag, f"xa ± {number} xo")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("day", ["12-03-2024", "01-11-2023", "30-12-1999", "05-06-2020"])
def test_a_date_before_a_time_is_no_telephone_number(tag: str, day: str) -> None:
    year = int(day[-4:])
    numbers = language_of(tag).record.numbers
    assert numbers is not None
    words = (numbers.year(year), numbers.cardinal(year))
    said = read_as(tag, f"xa {day} 14:05:33 xo").lower()
    assert any(word.lower() in said for word in words) or tag in ("pl", "sv", "da")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("start", ["00:01:12,480", "01:20:05,000", "00:00:00.500", "00:59:59,999"])
def test_when_a_subtitle_is_shown(tag: str, start: str) -> None:
    said = read_as(tag, f"{start} --> 01:21:15,000 xo")
    assert f" {language_of(tag).record.until} " in said
    assert language_of(tag).record.sign(">") not in said


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("points", ["5/7", "3/7", "10/12", "7/4", "8/6"])
def test_points_behind_a_set_are_no_fraction(tag: str, points: str) -> None:
    numbers = language_of(tag).record.numbers
    assert numbers is not None
    first, last = (numbers.cardinal(int(point)) for point in points.split("/"))
    assert f"{first} {last}" in read_as(tag, f"xa 6-7 ({points}) xo").lower()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,5-l-Fl. Wasser", "eins Komma fünf Liter Flasche Wasser"),
        ("0,33-l-Ds. Cola", "null Komma drei drei Liter Dose Cola"),
        ("500-g-Pck. Mehl", "fünfhundert Gramm Packung Mehl"),
        ("Max. 9 °C", "maximal neun Grad Celsius"),
        ("Böen aus SW", "Böen aus Südwest"),
        ("Abs. 2 S. 1 Nr. 3", "Absatz zwei Satz eins Nummer drei"),
        ("20 min Versp. heute", "zwanzig Minuten Verspätung heute"),
        ("außer an Feiert.", "außer an Feiertagen."),
        ("Ø 4,3 von 5", "durchschnittlich vier Komma drei von fünf"),
        ("Ø 30 mm", "Durchmesser dreißig Millimeter"),
        ("vllt. morgen", "vielleicht morgen"),
    ],
)
def test_forms_of_the_fourth_round_in_german(text: str, said: str) -> None:
    assert read_as("de", text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bloeddruk 125/75 nu", "bloeddruk honderdvijfentwintig op vijfenzeventig nu"),
        ("RR 135/85 mmHg", "RR honderdvijfendertig op vijfentachtig millimeter kwik"),
        ("wind ZW 5-6 Bft", "wind zuidwest vijf tot zes beaufort"),
        ("za./zo. dicht", "zaterdag zondag dicht"),
        ("van sp. 5b nu", "van spoor vijf b nu"),
        ("12 min. vertr. nu", "twaalf minuten vertraging nu"),
        ("Kerkstr. 12-hs nu", "Kerkstraat twaalf huis nu"),
        ("3 pers. en 2 st. nu", "drie personen en twee stuks nu"),
        ("€ 50 p.p. nu", "vijftig euro per persoon nu"),
        ("54.000 toesch. nu", "vierenvijftigduizend toeschouwers nu"),
    ],
)
def test_forms_of_the_fourth_round_in_dutch(text: str, said: str) -> None:
    assert read_as("nl", text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("31-R. Mostert ran", "thirty-one R Mostert ran"),
        ("2-T.Morgan fell", "two T Morgan fell"),
        ("about $16.47 bln now", "about sixteen point four seven billion dollars now"),
        ("706 F.Supp. 958", "seven hundred six F supplement nine hundred fifty-eight"),
        ("12 N.E.2d 4", "twelve N E second four"),
        ("3 T butter", "three tablespoons butter"),
        ("a 3 T magnet", "a three tesla magnet"),
        ("3 bd, 2 ba", "three beds, two baths"),
        ("4,000 SF of it", "four thousand square feet of it"),
        ("fell year/year", "fell year over year"),
        ("at 298 K, it is", "at two hundred ninety-eight kelvin, it is"),
        ("Ø 2.4 m wide", "diameter two point four meters wide"),
    ],
)
def test_forms_of_real_pages_in_english(text: str, said: str) -> None:
    assert read_as("en", text) == said


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("number", ["170", "20", "10", "37", "100"])
def test_a_degree_apart_from_its_letter_is_of_celsius(tag: str, number: str) -> None:
    said = read_as(tag, f"xa {number}° C xo").lower()
    assert "celsius" in said or "celsjusza" in said
    assert said == read_as(tag, f"xa {number} ° C xo").lower()


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("size", ["200x120cm", "30x20mm", "5x4m", "1920x1080px", "30x20x10cm"])
def test_a_unit_that_touches_the_last_side_is_said(tag: str, size: str) -> None:
    unit = size.lstrip("0123456789x")
    noun = language_of(tag).record.units[unit]
    assert any(form in read_as(tag, f"xa {size} xo") for form in noun.forms)
    letters = TokenReader(language_of(tag))
    alike = [word for char in f"xa {size} xo" for word in letters.push(char)] + letters.flush()
    assert alike == words_of(tag, f"xa {size} xo")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize(
    "decision",
    ["NL:HR:2020:1234", "EU:C:2014:317", "DE:BGH:2019:12", "EU:T:2021:9", "NL:RBAMS:2022:77"],
)
def test_the_number_of_a_decision_has_no_colons(tag: str, decision: str) -> None:
    said = read_as(tag, f"xa ECLI:{decision} xo")
    assert ":" not in said
    between = language_of(tag).record.over(":")
    assert between not in said.split()


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("de", "Korwitz (48./FE) traf", "Korwitz (achtundvierzigste Minute FE) traf"),
        ("de", "in der 72.Minute", "in der zweiundsiebzigsten Minute"),
        ("de", "am 1.Mai", "am ersten Mai"),
        ("de", "die 3.Klasse", "die dritte Klasse"),
        ("de", "Rn. 14 f. gilt", "Randnummer vierzehn folgende gilt"),
        ("nl", "op zon-/feestdagen", "op zon en feestdagen"),
        ("nl", "in-/verkoop nu", "in en verkoop nu"),
        (
            "en",
            "v24.7...v24.9",
            "version twenty-four point seven to version twenty-four point nine",
        ),
        ("en", "click ~=8.1.7", "click compatible with eight point one point seven"),
        ("en", "192 +- 7.9%", "one hundred ninety-two plus or minus seven point nine percent"),
        ("en", "at 16:26:17 -0500", "at sixteen twenty-six and seventeen seconds UTC minus five"),
        ("en", "Sep 17 00:00:00 it", "September seventeenth midnight it"),
    ],
)
def test_forms_of_real_pages_in_three_languages(tag: str, text: str, said: str) -> None:
    assert read_as(tag, text) == said


@pytest.mark.parametrize("cue", ["at", "Doors", "opens", "dep.", "arr.", "dep. Crewe", "leaves"])
@pytest.mark.parametrize("time", ["6.30", "7.15", "10.45", "9.20", "8.05"])
def test_a_british_time_is_read_like_one_with_a_colon(cue: str, time: str) -> None:
    colon = time.replace(".", ":")
    assert read_as("en", f"{cue} {time}, xo") == read_as("en", f"{cue} {colon}, xo")


@pytest.mark.parametrize("cue", ["at", "opens", "leaves", "by"])
@pytest.mark.parametrize("behind", [" m", "%", " kg", " million", "x"])
def test_a_decimal_that_measures_is_no_time(cue: str, behind: str) -> None:
    assert " point three zero" in read_as("en", f"{cue} 6.30{behind} here")


@pytest.mark.parametrize("letter", "ABKMT")
@pytest.mark.parametrize("sign", "$£€")
def test_a_letter_before_a_price_is_no_scale(letter: str, sign: str) -> None:
    said = read_as("en", f"Plan {letter} {sign}3,000 a year")
    assert said.startswith(f"Plan {letter} three thousand ")


@pytest.mark.parametrize("number", range(1, 32))
def test_a_weight_in_stone_is_told_from_an_ordinal(number: int) -> None:
    is_ordinal = number % 10 == 1 and number != 11
    assert ("stone" in read_as("en", f"xa {number}st xo")) is not is_ordinal
    assert " stone seven pounds" in read_as("en", f"weighs {number}st 7lb now")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("see it on Ch. 7 tonight", "Channel seven tonight"),
        ("as ch. 7 tells", "chapter seven tells"),
        ("airs at 8:30/7:30c", "eight thirty, seven thirty central"),
        ("S3, ep. 4/6 is on", "season three, episode four of six is on"),
        ("land on runway 27L now", "runway two seven left now"),
        ("won at 33/1 today", "thirty-three to one today"),
        ("all out, 245-6 dec. today", "two hundred forty-five for six declared today"),
        ("over 1m 4f today", "one mile four furlongs today"),
        ("CO 88 sts. Then knit", "cast on eighty-eight stitches. Then knit"),
        ("then dec. 1 st. at each end", "decrease one stitch at each end"),
        ("due on dec. 1 at noon", "December first at noon"),
        ("3 t/ac of lime", "three tons per acre of lime"),
        ("5 bu./ac. of oats", "five bushels per acre of oats"),
        ("140g/5oz flour", "one hundred forty grams five ounces flour"),
        ("with A♠ and 10♦ left", "ace of spades and ten of diamonds left"),
        ("a pH 6.0–6.8 soil", "pH six point zero to six point eight soil"),
        ("at f/2.8 and 1/250 s", "F two point eight and one two hundred fiftieth of a second"),
        ("a charger (5V/3A)", "five volts three amps"),
        ("see No. 22-451 here", "Number twenty-two four fifty-one here"),
        ("under s. 21 of it", "section twenty-one of it"),
        ("on line 12b of it", "line twelve B of it"),
        ("born in Co. Cork then", "County Cork then"),
        ("in 2:58:14 again", "two hours fifty-eight minutes fourteen seconds again"),
    ],
)
def test_short_forms_of_everyday_english(text: str, said: str) -> None:
    assert said in read_as("en", text)


@pytest.mark.parametrize("tag", ["en", "en-gb", "en-in", "en-au"])
@pytest.mark.parametrize("price", ["$75.20", "£6.40", "€19.99", "C$40.50", "75.20 USD", "$250.05"])
def test_an_amount_with_cents_before_its_noun_keeps_its_plural(tag: str, price: str) -> None:
    alone = read_as(tag, f"paid {price}, xo").removeprefix("paid ").removesuffix(", xo")
    assert read_as(tag, f"a {price} charge xo") == f"a {alone} charge xo"
    assert read_as(tag, f"a {price[:-2]}00 charge xo") != f"a {alone} charge xo"


@pytest.mark.parametrize("tag", ["en", "en-gb"])
@pytest.mark.parametrize("price", ["$75", "$75.00", "£20", "€5", "$2.5 million"])
def test_a_round_amount_before_its_noun_has_no_plural(tag: str, price: str) -> None:
    assert not any(f"{noun}s " in read_as(tag, f"a {price} charge") for noun in ("dollar", "euro"))
    assert "pounds" not in read_as(tag, f"a {price} charge")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize(("hours", "minutes"), [(1, 50), (2, 5), (10, 30), (3, 45), (4, 15)])
def test_minutes_apart_from_their_hours_are_no_meters(tag: str, hours: int, minutes: int) -> None:
    apart = read_as(tag, f"{hours}h {minutes}m, x")
    together = read_as(tag, f"{hours}h {minutes}min, x")
    assert apart == together


@pytest.mark.parametrize("tag", ["en", "de", "es", "fr", "it", "nl", "pt"])
@pytest.mark.parametrize("initials", ["J.-B.", "J.-P.", "A.-M.", "V.-L.", "M.-C."])
def test_joined_initials_are_no_units_and_no_titles(tag: str, initials: str) -> None:
    letters = initials.replace(".", "").replace("-", " ")
    said = read_as(tag, f"x 1803 {initials} Perrin").replace(".", "")
    assert said.endswith(f" {letters} Perrin")


@pytest.mark.parametrize("article", ["l'", "dell'", "nell'", "all'", "sull'"])
def test_an_exercise_with_an_article_is_no_example(article: str) -> None:
    assert read_as("it", f"{article}es. 5 ") == f"{article}esercizio cinque"


@pytest.mark.parametrize(
    "goals",
    ["Saka (23', 67' pen.)", "Rice (45'+2')", "Kane 34' (pen)", "Son (12', 88')", "Foden (71')"],
)
def test_goals_have_minutes_not_feet(goals: str) -> None:
    said = read_as("en", f"Goals: {goals}, and it ended")
    assert "minutes" in said
    assert "feet" not in said


@pytest.mark.parametrize("length", ["8', 10' or 12'", "12' high", "16' long", "6', 8' and 10'"])
def test_boards_and_walls_have_feet(length: str) -> None:
    said = read_as("en", f"The wall ({length}) is new and {length} too")
    assert "feet" in said
    assert "minutes" not in said


@pytest.mark.parametrize("tag", ["en", "en-gb"])
@pytest.mark.parametrize("inward", ["2TN", "4PF", "1PT", "8TH", "6XH", "5AB", "7LT"])
@pytest.mark.parametrize("outward", ["S10", "M1", "SW1A", "EC1A", "B33", "CR2", "DN55"])
def test_a_postcode_is_letters_and_figures(tag: str, outward: str, inward: str) -> None:
    figures = read_as(tag, f"xa {inward[0]}").removeprefix("xa ")
    letters = " ".join("A." if letter == "A" else letter for letter in inward[1:])
    assert f" {figures} {letters}, xo" in read_as(tag, f"xa {outward} {inward}, xo")


@pytest.mark.parametrize("text", ["a Galaxy S23 8GB RAM", "an M4 2 Nm bolt", "M8 2kg screws"])
def test_a_unit_behind_a_model_is_no_postcode(text: str) -> None:
    said = read_as("en", text)
    assert any(unit in said for unit in ("gigabyte", "newton", "kilogram"))


@pytest.mark.parametrize("number", ["1805.7", "1987,0312.4", "GR 22", "Ma 399"])
def test_a_museum_has_an_inventory_number(number: str) -> None:
    assert "(inventory " in read_as("en", f"bust (inv. no. {number}) of it")


@pytest.mark.parametrize("number", ["2231", "22", "A-1022", "4410-2"])
def test_a_bill_has_an_invoice_number(number: str) -> None:
    assert "nvoice" in read_as("en", f"Inv. No. {number} is due")


@pytest.mark.parametrize("parts", ["10-10-10", "20-5-10", "5-10-5", "12-4-8", "16-16-16"])
@pytest.mark.parametrize("tag", ["en", "en-gb"])
def test_a_fertilizer_has_three_numbers(tag: str, parts: str) -> None:
    said = read_as(tag, f"xa {parts.replace('-', ', ')}").removeprefix("xa ").replace(",", "")
    for text in ("{} fertilizer", "{} plant food", "{} slow-release fertiliser", "NPK {} now"):
        assert said in read_as(tag, f"Apply {text.format(parts)} soon"), text
    assert said in read_as(tag, f"a fertilizer ({parts}) helps")


@pytest.mark.parametrize("number", ["3", "12", "1.5", "200"])
def test_ships_have_nautical_miles_and_light_has_nanometers(number: str) -> None:
    for sea in ("visibility under {} nm.", "{} nm offshore", "sailed {} nm", "{} nm north of it"):
        assert "nautical miles" in read_as("en", sea.format(number)), sea
    for light in ("a {} nm process", "wavelength of {} nm", "{} nm light", "about {} nm thick"):
        assert "nanometer" in read_as("en", light.format(number)), light


@pytest.mark.parametrize("weight", ["3 st", "11 st 4 lb", "11 st. 4 lb", "9.5 st"])
def test_a_weight_is_in_stone_and_wool_in_stitches(weight: str) -> None:
    assert " stone" in read_as("en", f"it is about {weight}.")
    for wool in ("Cast on 40 st, knit", "the last 3 st, turn", "K3, 2 st. left", "3 st from each"):
        assert "stitches" in read_as("en", wool), wool


@pytest.mark.parametrize("far", ["5K", "10K", "15K"])
def test_a_run_is_so_many_k_and_else_thousands(far: str) -> None:
    number = read_as("en", f"xa {far[:-1]}").removeprefix("xa ")
    for text in ("{} in 52:18", "ran a {}.", "a {} race", "my first {} was", "{} PB"):
        assert f"{number} K" in read_as("en", f"Yes, {text.format(far)} here"), text
    assert "ten thousand" in read_as("en", "sold 10K copies")


@pytest.mark.parametrize("score", ["287–6", "187-4", "312-8"])
def test_a_score_of_cricket_is_runs_for_wickets(score: str) -> None:
    runs = read_as("en", f"xa {score[:3]}").removeprefix("xa ")
    for text in ("closed on {} then", "{} at stumps", "England {} and", "reached {}, then"):
        assert f"{runs} for " in read_as("en", f"They {text.format(score)} so"), text
    assert " to one" in read_as("en", "won at 100-1 today")
    assert " for " not in read_as("en", f"passed by {score} votes")


@pytest.mark.parametrize("first", ["10-10-10", "5-10-5", "12-4-8", "20-5-10", "6-6-6"])
@pytest.mark.parametrize("kind", ["fertilizer", "water-soluble fertilizer", "plant food"])
def test_one_of_two_fertilizers_is_no_date(first: str, kind: str) -> None:
    numbers = " ".join(read_as("en", number) for number in first.split("-"))
    assert read_as("en", f"Use {first} or 20-20-20 {kind}").startswith(f"Use {numbers} or twenty")


@pytest.mark.parametrize("number", [9, 10, 12, 14, 15])
def test_a_weight_that_goes_down_is_in_stone(number: int) -> None:
    assert " stone to nine stone" in read_as("en", f"She went from {number} st to 9 st 6 lb")


@pytest.mark.parametrize("tag", ["nl", "fr", "it", "de", "es", "pt"])
@pytest.mark.parametrize("number", [34, 37, 22, 59, 38])
def test_a_seat_with_a_k_is_no_thousand(tag: str, number: int) -> None:
    label = {"nl": "kamer", "fr": "siège", "it": "posto", "de": "Platz", "es": "asiento"}
    seat = f"{label.get(tag, 'assento')} {number}K"
    assert read_as(tag, f"{seat} xoxo").startswith(read_as(tag, f"{seat}, xoxo").split(",")[0])
