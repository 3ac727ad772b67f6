"""What is short for something only beside something else: prices, sizes, steps of menus, months,
nouns behind it."""

from __future__ import annotations

import pytest
from support.spoken import read_as

from sayahead.text.reading.language import Language, language_of
from sayahead.text.reading.stream import TokenReader

LANGUAGES = ("de", "es", "fr", "it", "nl", "pt", "pt-br", "pl", "sv")


def meanings(language: Language, table: str) -> list[tuple[str, str]]:
    """The forms of a table [vocabulary NAME] and what it says of them."""
    return list(language.record.vocabularies.get(table, {}).items())


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("price", ["5 €", "119,00 €", "12€", "€ 7", "1.204 €"])
def test_what_a_price_is_of_is_read_before_it(tag: str, price: str) -> None:
    for form, meaning in meanings(language_of(tag), "before_price"):
        for short, full in ((form, meaning), (form.capitalize(), meaning.capitalize())):
            said = read_as(tag, f"Xa, {short} {price}.")
            assert said == read_as(tag, f"Xa, {full} {price}.")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("size", ["30 x 20 x 12 cm", "30x20 cm", "9 × 4", "2,5 x 3 m", "10x10x10"])
def test_sizes_are_read_before_their_numbers(tag: str, size: str) -> None:
    for form, meaning in meanings(language_of(tag), "before_size"):
        assert f" {meaning} " in read_as(tag, f"xa, {form} {size}.")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("gap", [" > ", "> ", " → ", " >", ">"])
def test_steps_of_a_menu_are_read_in_full_and_end_nothing(tag: str, gap: str) -> None:
    for form, meaning in meanings(language_of(tag), "menu"):
        reader = TokenReader(language_of(tag))
        words = reader.push(f"Xa {form}{gap}Xo.") + reader.flush()
        assert [word.ends for word in words] == [False] * (len(words) - 1) + [True]
        assert f" {meaning}" in " ".join(word.text for word in words)


@pytest.mark.parametrize("tag", ["es", "pt", "fr"])
def test_a_metre_with_a_full_stop_is_a_month_after_what_lasts(tag: str) -> None:
    language = language_of(tag)
    months = language.record.units["mois" if tag == "fr" else "mes"]
    metres = language.record.units["m"].many
    for cue in language.vocabularies["before_months"]:
        if "-" not in cue and not cue.endswith("."):
            assert f" {months.many}" in read_as(tag, f"xa {cue} 2 m., xo")
            assert f" {months.one}" in read_as(tag, f"xa {cue} 1 m., xo")
            assert f" {metres}" in read_as(tag, f"xa {cue} 2 m, xo")


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("es", "Bus 7, próx. salida a las 8", "próxima salida"),
        ("es", "Bus 7, próx. tren a las 8", "próximo tren"),
        ("es", "en las últ. semanas", "últimas semanas"),
        ("pt", "Linha 7, próx. saída às 8", "próxima saída"),
        ("pt", "as últ. horas", "últimas horas"),
        ("it", "Linea 7, pross. fermata", "prossima fermata"),
        ("it", "il pross. treno", "prossimo treno"),
        ("fr", "Bus 7, proch. station", "prochaine station"),
        ("fr", "le proch. train", "prochain train"),
        ("fr", "une arr. prév. à Nice", "arrivée prévue"),
        ("fr", "129 € (taxes compr.)", "taxes comprises"),
        ("fr", "le repas compr. et", "repas compris"),
        ("fr", "2 fichiers modif. et", "fichiers modifiés"),
        ("es", "Rec. de ibuprofeno", "receta de"),
        ("es", "Rec. de basura", "recogida de"),
    ],
)
def test_an_adjective_before_its_noun_agrees_with_it(tag: str, text: str, said: str) -> None:
    assert said in read_as(tag, text)


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("es", "Las tarifas mín. y máx. son", "mínimas y máximas"),
        ("es", "El valor mín. y máx. es", "mínimo y máximo"),
        ("es", "La temperatura mín. y máx. es", "mínima y máxima"),
        ("pt", "As tarifas mín. e máx. são", "mínimas e máximas"),
        ("pt", "A temperatura mín. e máx. é", "mínima e máxima"),
    ],
)
def test_two_adjectives_of_one_noun_agree_with_it(tag: str, text: str, said: str) -> None:
    assert said in read_as(tag, text)


@pytest.mark.parametrize("tag", [*LANGUAGES, "en"])
@pytest.mark.parametrize("mask", ["••", "•••• ", "**** ", "****", "xxxx ", "XXXX-", "•••• •••• "])
def test_the_last_figures_of_a_card_are_no_number(tag: str, mask: str) -> None:
    language = language_of(tag)
    assert language.record.numbers is not None
    said = read_as(tag, f"xa {mask}4471 xo")
    number = language.record.numbers.cardinal(4471)
    assert number not in said
    assert said.startswith("xa ")
    assert said.endswith(" xo")


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("letters", ["q.z.", "x.k.w.", "b.q.", "j.w.z.", "k.k.z."])
def test_small_letters_with_full_stops_are_letters(tag: str, letters: str) -> None:
    """They were read with the name of the full stop between them."""
    spelled = letters.replace(".", " ").strip()
    assert read_as(tag, f"xa {letters} yyyyyyy.").lower().rstrip(".") == f"xa {spelled} yyyyyyy"


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize(
    "path", ["~/.ssh/config", "./.env/x", "../.git/hooks/x", "~/.a", "./.b/c/d"]
)
def test_each_stroke_of_a_path_has_its_name(tag: str, path: str) -> None:
    names = language_of(tag).record.address
    words = read_as(tag, f"xa {path} xo").split()
    assert words.count(names["/"].split()[0]) == path.count("/")


@pytest.mark.parametrize(
    ("tag", "word"), [("de", "oder"), ("es", "o"), ("fr", "ou"), ("it", "o"), ("pt", "ou")]
)
def test_the_second_of_two_telephone_numbers_is_one_too(tag: str, word: str) -> None:
    cue = next(cue for cue in language_of(tag).vocabularies["cues.phone"] if cue.isalpha())
    first, _, second = read_as(tag, f"{cue} 0171 {word} 800 123 456 xo").partition(f" {word} ")
    assert second == read_as(tag, f"{cue} 800 123 456 xo").removeprefix(f"{cue} ")
    assert first


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("es", "cifras en mill. €", "en millones de euros"),
        ("it", "dati in mln. €", "in milioni di euro"),
        ("it", "dati in mln €", "in milioni di euro"),
        ("pt", "valores em mi. R$", "em milhões de reais"),
        ("de", "Zahlen in Mio. €", "in Millionen Euro"),
        ("de", "Zahlen in Tsd. €", "in tausend Euro"),
        ("fr", "chiffres en M€", "en millions d'euros"),
    ],
)
def test_a_currency_by_the_million_without_a_number(tag: str, text: str, said: str) -> None:
    assert said in read_as(tag, text)


@pytest.mark.parametrize("tag", ["de", "es", "fr", "it", "pt"])
@pytest.mark.parametrize("rate", ["1,08", "0,85", "5,42", "157,25", "1,10"])
def test_a_rate_of_exchange_has_no_cents(tag: str, rate: str) -> None:
    language = language_of(tag)
    dollar = language.record.currency_words["$"].main
    assert language.record.numbers is not None
    noun = (
        dollar.one
        if language.record.numbers.singular(float(rate.replace(",", ".")))
        else dollar.many
    )
    for cue in language.vocabularies["exchange"]:
        said = read_as(tag, f"xa {cue} {rate} {dollar.many} xo")
        assert said == f"xa {cue} {read_as(tag, rate)} {noun} xo"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Chiami l'800 330 123.", "l'ottocento trecentotrenta centoventitré"),
        ("all'803 116 200", "all'ottocentotré centosedici duecento"),
        ("dell'800 111 222", "dell'ottocento centoundici duecentoventidue"),
        (
            "L'abbiamo chiesto: l'804 550 660",
            "l'ottocentoquattro cinquecentocinquanta seicentosessanta",
        ),
        ("Il numero verde è 800 123 456.", "otto zero zero uno due tre quattro cinque sei"),
    ],
)
def test_a_free_number_of_italy_is_read_by_its_groups_after_an_article(
    text: str, said: str
) -> None:
    assert said in read_as("it", text)


@pytest.mark.parametrize(
    ("tag", "text", "said"),
    [
        ("fr", "dép. de gar. 2 m., réf.", "dépôt de garantie deux mois"),
        ("fr", "dép. de gar. 1 m., réf.", "dépôt de garantie un mois"),
        ("fr", "garantie 3 m., réf.", "garantie trois mois"),
        ("es", "depósito 2 m., ref.", "depósito dos meses"),
        ("it", "Arr. prev. a Mi. C.le 18.05, rit.", "Milano centrale diciotto e zero cinque"),
    ],
)
def test_a_phrase_in_short_announces_what_its_last_word_does(
    tag: str, text: str, said: str
) -> None:
    assert said in read_as(tag, text)
