"""``sayahead read``: what a voice makes of a text, as a table and as JSON."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from support.command import Command
from support.toy_voices import TOYS

from sayahead.text.saying.espeak.client import Espeak

TEXT = "Dr. Lee paid $5.50. I read it"


def rows(output: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.decode().splitlines()]


def test_one_line_a_word_with_spans_words_phonemes_ends_and_lateness(sayahead: Command) -> None:
    words = rows(sayahead("read", "--json", TEXT)[0])
    assert [row["words"] for row in words] == [
        "Doctor",
        "Lee",
        "paid",
        "five dollars and fifty cents.",
        "I",
        "read",
        "it",
    ]
    assert [TEXT[row["start"] : row["end"]] for row in words] == [row["source"] for row in words]
    assert [row["ends"] for row in words] == [False, False, False, True, False, False, True]
    assert words[0]["sound"] == "dˈɑktəɹ"
    # "Dr." waits for the letter behind its space; the last word for the end of the text.
    assert [row["late"] for row in words] == [2, 1, 1, 1, 1, 1, None]


def test_words_in_sight_change_the_phonemes(sayahead: Command) -> None:
    def lead(*options: str) -> str:
        return str(rows(sayahead("read", "--json", "Lead pipes burst.", *options)[0])[0]["sound"])

    assert lead("-k", "1") == "lˈɛd"
    assert lead("-k", "0") == "lˈid"


def test_the_table_shows_the_same(sayahead: Command) -> None:
    lines = sayahead("read", TEXT)[0].decode().splitlines()
    assert lines[0].split() == ["0", "3", "'Dr.'", "Doctor", "dˈɑktəɹ", "+2"]
    assert lines[3].split()[-2:] == ["|", "+1"]
    assert lines[6].split()[-2:] == ["|", "end"]


@pytest.mark.parametrize("voice", ["heart", *(str(TOYS / name) for name in ("ma", "mohan"))])
def test_any_voice_reads_and_those_of_letters_spell(sayahead: Command, voice: str) -> None:
    words = rows(sayahead("read", "--json", "--voice", voice, "In 1984?")[0])
    assert [row["words"] for row in words] == ["In", "nineteen eighty-four?"]
    assert all(row["sound"] for row in words)
    assert (words[1]["sound"] == "nineteen eighty-four?") == voice.endswith("mohan")


def test_any_language_reads_without_a_voice(sayahead: Command) -> None:
    words = rows(sayahead("read", "--json", "--language", "de-DE", "Am 3. Mai, 14:30 Uhr. Ja")[0])
    assert [row["words"] for row in words] == [
        "Am",
        "dritten",
        "Mai,",
        "vierzehn Uhr dreißig.",
        "Ja",
    ]
    assert [row["source"] for row in words] == ["Am", "3.", "Mai,", "14:30 Uhr.", "Ja"]
    assert [row["sound"] for row in words][2:] == [
        "mˈaɪ,",
        unicodedata.normalize("NFD", "fˈiːɾtseːn ˈuːɾ dɾˈaɪsɪç."),
        "jˈɑː",
    ]
    assert [row["ends"] for row in words] == [False, False, False, True, True]
    english = rows(sayahead("read", "--json", "--language", "en", "$5 now")[0])
    assert [row["words"] for row in english] == ["five dollars", "now"]


def test_reading_needs_no_espeak_but_for_phonemes(
    sayahead: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended with an error that named six libraries."""
    monkeypatch.setattr("sayahead.text.saying.espeak.client.candidates", lambda: ["none.so", ""])
    monkeypatch.setattr("sayahead.text.saying.espeak.phonemizer.ESPEAK", Espeak())
    stdout, stderr = sayahead("read", "--json", "--language", "pl", "Ma 5 lat.")
    words = rows(stdout)
    assert [row["words"] for row in words] == ["Ma", "pięć", "lat."]
    assert [row["sound"] for row in words] == ["", "", ""]
    assert stderr.count("\n") == 1
    assert "No phonemes of pl are shown: espeak-ng makes them: install it" in stderr
    assert "none.so" not in stderr


def test_a_lexicon_works_in_any_language(sayahead: Command, tmp_path: Path) -> None:
    file = tmp_path / "lexicon.txt"
    file.write_text("Nguyen = /ŋwiən/\nSQL = Sequel\n3 km = drei Kilometerchen\n", encoding="utf-8")
    words = rows(
        sayahead(
            "read", "--json", "--language", "de", "--lexicon", str(file), "Frau Nguyen, 3 km SQL."
        )[0]
    )
    assert [row["words"] for row in words] == ["Frau", "Nguyen,", "drei Kilometerchen", "Sequel."]
    assert words[1]["sound"] == "ŋwiən,"


def test_files_and_standard_input(sayahead: Command, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text("5 km", encoding="utf-8")
    assert [row["words"] for row in rows(sayahead("read", "--json", "-f", str(file))[0])] == [
        "five",
        "kilometers",
    ]
    assert [row["words"] for row in rows(sayahead("read", "--json", stdin=b"5 kg")[0])] == [
        "five",
        "kilograms",
    ]


def test_what_cannot_be_read_is_reported(sayahead: Command) -> None:
    stdout, stderr = sayahead("read", "yes 你好")
    assert b"yes" in stdout
    assert "Skipped '你好' (characters 4 to 6): this voice cannot read it." in stderr
    assert "Nothing to read: the text is empty." in sayahead("read", stdin=b"")[1]
    assert (
        "Nothing to read: the text has no words that can be spoken."
        in sayahead("read", stdin=b" ... ")[1]
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--voice", "hart", "hi"), "There is no voice 'hart'"),
        (("-f", "/there/is/none.txt"), "/there/is/none.txt cannot be read"),
        (("-f", "a.txt", "hi"), "Give TEXT or --file, not both."),
        (("-k", "-1", "hi"), "must be a whole number of at least 0"),
        (("--jsn", "hi"), "--json"),
        (("--language", "xx", "hi"), "There is no text front end for the language 'xx'"),
        (("--voice", "heart", "--language", "de", "hi"), "leave out --voice or --language"),
        (("--language", "de", "--lexicon", "/there/is/none.txt", "hi"), "/there/is/none.txt"),
    ],
)
def test_wrong_calls_are_told_in_a_sentence(
    sayahead: Command, arguments: tuple[str, ...], sentence: str
) -> None:
    stdout, stderr = sayahead("read", *arguments, code=2)
    assert stdout == b""
    assert sentence in stderr


def test_lexicons_and_tags_show_in_what_is_read(sayahead: Command, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    text = "Ask <b>Nguyen</b>. <break time='2s'/> <prosody rate='fast'>SQL</prosody>"
    names.write_text("Nguyen = /ˈwɪn/\nSQL = sequel\n", encoding="utf-8")
    options = ("--ssml", "--lexicon", str(names), text)
    words = rows(sayahead("read", "--json", *options)[0])
    assert [row["words"] for row in words] == ["Ask", "Nguyen.", "", "sequel"]
    assert [row["source"] for row in words] == ["Ask", "Nguyen</b>.", "<break time='2s'/>", "SQL"]
    assert words[1]["sound"] == "wˈɪn."
    assert (words[2]["silence_s"], words[3]["speed"]) == (2.0, 1.25)
    lines = sayahead("read", *options)[0].decode().splitlines()
    assert "(silence, 2 s)" in lines[2]
    assert "sequel (speed 1.25)" in lines[3]


def test_a_bad_line_of_a_lexicon_is_named(sayahead: Command, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("SQL = sequel\nNguyen /ˈwɪn/\n", encoding="utf-8")
    error = sayahead("read", "--lexicon", str(names), "hi", code=2)[1]
    assert f"{names}, line 2: expected WORD = PRONUNCIATION, found 'Nguyen /ˈwɪn/'." in error


def test_why_names_the_rule_and_the_line_of_the_table(sayahead: Command) -> None:
    words = {
        row["source"]: row
        for row in rows(sayahead("read", "--json", "--why", "He ran 5 km at 7:30.")[0])
    }
    assert "rule" not in words["ran"]
    assert words["7:30."]["kind"] == "clock"
    assert "{h:hh}:{m:mm}" in words["7:30."]["rule"]
    assert words["7:30."]["where"].startswith("time.rules:")
    german = rows(sayahead("read", "--json", "--why", "--language", "de", "Es sind 5 ha, Nr. 7")[0])
    lines = {row["source"]: row.get("lines", []) for row in german}
    assert any(line.startswith("de.txt:") and "Nummer" in line for line in lines["Nr."])


def test_a_table_with_reasons(sayahead: Command) -> None:
    lines = sayahead("read", "--why", "At 7:30.")[0].decode().splitlines()
    assert lines[2].strip().startswith("clock: ")
    assert lines[3].strip().startswith("captured: h = 7, m = 30")
    assert lines[4].strip().startswith("rather than: ")


def test_why_tells_what_spoke_for_each_pronunciation(sayahead: Command) -> None:
    lines = sayahead("read", "--why", "I have read it, they read to us.")[0].decode().splitlines()
    past, present = (line.split() for line in lines[4:6])
    assert lines[3].strip().startswith("homograph: ")
    assert past[0] == "past"
    assert "near=have" in past[3]
    assert float(past[2].rstrip(":")) > 0 > float(present[2].rstrip(":"))
    assert [line.split()[0] for line in lines if "ɹˈid: " in line] == ["present", "present"]


def test_a_report_is_an_issue_that_can_be_filed(sayahead: Command) -> None:
    text = sayahead("read", "--report", "At 7:30.")[0].decode()
    assert "> At seven thirty." in text
    assert "- `7:30.`: seven thirty." in text
    assert (
        "To file it: https://github.com/sayahead/sayahead/issues/new?title=Reading%3A+At+7%3A30.&body="
        in text
    )
