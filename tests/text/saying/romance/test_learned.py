"""Languages that are read by a tree: stress and vowels that spelling does not tell, liaison, ends
that adapt."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayahead.errors import VoiceError
from sayahead.text.saying.romance import orthography, sounds_of
from sayahead.text.saying.romance.portuguese import weighed
from sayahead.text.saying.romance.rules import fitted, prefixed
from sayahead.text.saying.romance.tree import Tree, read_tree


def said(voice: str, text: str, *, closed: bool = True) -> str:
    return " ".join(sounds_of(voice, "").clause(text.split(), closed=closed))


@pytest.mark.parametrize(
    ("voice", "text", "sounds"),
    [
        ("it", "la casella di testo", "la kazˈɛlla dɪ tˈɛsto"),
        ("it", "gli amici dell'albergo", "ʎɪ amˈitʃɪ dellalbˈɛrɡo"),
        ("it", "è possibile scegliere", "e possˈibile ʃˈeʎere"),
        ("it", "selezionare l'opzione", "seletsjonˈare loptsiˈone"),
        ("it", "CSV", "tʃˌiˌɛssevˈu"),
        ("fr", "la fonction", "la- fɔ̃ksjˈɔ̃"),
        ("fr", "un fichier", "œ̃ fiʃjˈe"),
        ("pt-br", "o documento", "ʊ dˌokumˈeɪŋtʊ"),
        ("pt-br", "a implementação", "a ˌimplemˌeɪŋtasˈɐ̃ʊ̃"),
        ("pt-br", "o utilizador", "u ˌutʃilˌizadˈor"),
    ],
)
def test_words_and_sentences(voice: str, text: str, sounds: str) -> None:
    assert said(voice, text) == sounds


def test_french_liaison_is_said_before_vowels_alone() -> None:
    assert said("fr", "les objets").startswith("le-z ")
    assert said("fr", "les fichiers").startswith("le- ")
    assert said("fr", "un objet").startswith("œ̃n ")
    assert said("fr", "ils sont actifs").split()[1].endswith("t")
    assert said("fr", "les haricots").startswith("le- ")
    assert [said("fr", text).split()[0] for text in ("six", "six fichiers", "six objets")] == [
        "sˈis",
        "sˈi",
        "sˈiz",
    ]


def test_elided_words_are_read_with_what_follows() -> None:
    assert said("fr", "l'objet") == "l" + said("fr", "objet")
    assert said("it", "dell'amico") == "dell" + said("it", "amico")


def test_the_ends_of_portuguese_words_adapt() -> None:
    assert said("pt-br", "os arquivos").split()[0] == "ʊz"
    assert said("pt-br", "os pontos").split()[0] == "ʊs"
    assert said("pt-br", "documento atual").split()[0].endswith("tw")


@pytest.mark.parametrize(
    ("text", "sounds"),
    [
        ("o sistema", "ʊ"),
        ("o usuário", "u"),
        ("o homem", "ʊ"),
        ("o LVM", "ʊ"),
        ("pode usar", "pˌɔdʒj"),
        ("pode ser", "pˌɔdʒy"),
        ("ele usa", "ˌely"),
        ("sobre o", "sˈobri"),
        ("como uma", "kˌomʊ"),
        ("rio e", "xˈiʊ"),
        ("os homens", "ʊs"),
        ("os dados", "ʊz"),
        ("Windows e", "wˈiŋdows"),
        ("servidor de", "sˌeɾəvidˈor"),
        ("servidor e", "sˌeɾəvidˈoɾ"),
        ("servidor NFS", "sˌeɾəvidˈoɹ"),
    ],
)
def test_portuguese_words_before_others(text: str, sounds: str) -> None:
    assert said("pt-br", text).split()[0] == sounds


def test_what_a_list_has_fits_what_follows() -> None:
    assert [fitted("a‿b", following) for following in ("ˈɛ", "t", "")] == ["b", "a", "a"]
    assert fitted("a‿", "e") == fitted("a", "e") == "a"
    assert prefixed("l", "a‿b|c") == "la‿lb|lc"
    assert prefixed("l", "a‿|c") == "la‿|lc"
    assert prefixed("l", "") == "l"


def test_words_may_sound_otherwise_after_another_one() -> None:
    assert said("pt-br", "por que não").split()[1] == "ke"
    assert said("pt-br", "o que não").split()[1] == "ky"


def test_the_end_of_a_clause_is_in_the_list_where_rules_do_not_tell() -> None:
    assert said("pt-br", "isto é") == "ˈistw ɛ"
    assert said("pt-br", "para que") == "pˌaɾæ ky"


@pytest.mark.parametrize(
    ("plain", "stressed"),
    [
        ("limpˈar", "limpˈar"),
        ("pakˈɔtʃys", "pˌakˈɔtʃys"),
        ("utʃilizˈar", "ˌutʃilizˈar"),
        ("utʃilizadˈor", "ˌutʃilˌizadˈor"),
        ("kompatʃibilidˈadʒy", "kˌompatʃˌibilidˈadʒy"),
        ("deteɾəminˈar", "dˌeteɾəminˈar"),
        ("xeɪnisiˈar", "xˌeɪnisiˈar"),
        ("sesˈɐ̃ʊ̃", "sesˈɐ̃ʊ̃"),
        ("", ""),
    ],
)
def test_secondary_stress_of_portuguese_follows_syllables(plain: str, stressed: str) -> None:
    assert weighed(plain) == stressed


@pytest.mark.parametrize("voice", ["it", "fr", "pt-br"])
def test_an_unknown_word_has_one_main_stress(voice: str) -> None:
    language = orthography(voice)
    for word in ("blandirosa", "trovelina", "mastrupo", "ga", "o", "strombolando", "quefa"):
        assert language.word(word).count("ˈ") == 1, word


def test_a_tree_asks_as_far_as_it_has_to() -> None:
    tree = Tree(
        {"<": "1", "<a": "3", "a": "a", "A": "ˈa", "b": "b", "ba": "β", "c": "k", "cA#": "tʃ"}, "a"
    )
    assert tree("baba") == "bˈaβa"
    assert tree("ca") == "tʃˈa"
    assert tree("") == ""
    assert tree("bcb") == "bkb"


def test_accents_tell_where_the_stress_is() -> None:
    leaves = {"<": "1", "a": "a", "A": "ˈa", "á": "a", "Á": "ˈa", "b": "b"}
    assert Tree(leaves, "aá")("bába") == "babˈa"
    assert Tree(leaves, "aá", "á")("bába") == "bˈaba"


def test_a_damaged_tree_is_told(tmp_path: Path) -> None:
    file = tmp_path / "x.tree"
    with pytest.raises(VoiceError, match="cannot be read"):
        read_tree(file, "a")
    file.write_text("?a\ta\n")
    with pytest.raises(VoiceError, match="cannot be read"):
        read_tree(file, "a")
    file.write_text("// made\n0a\ta\n1b\tx\n")
    assert read_tree(file, "")("a") == "a"
