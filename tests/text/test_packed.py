"""The packed tables of the English front end have hibari's entries, all of them and no others."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hibari.g2p import ASSETS, G2P

from sayahead.text.english import packed


@functools.cache
def hibari() -> G2P:
    return G2P()


@functools.cache
def tables() -> dict[str, Any]:
    found = packed.opened(Path(ASSETS))
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["gold", "silver", "tagdict", "weights"])
def test_every_entry_is_there(name: str) -> None:
    own, tagger = hibari(), hibari().tagger
    lexicon = {"gold": own.lexicon.golds.d, "silver": own.lexicon.silvers.d}
    expected = lexicon[name] if name in lexicon else getattr(tagger, name)
    table = tables()[name]
    assert all(table.get(key) == value for key, value in expected.items())
    assert len(table) == len(expected)
    assert set(table) == set(expected)


def test_tags_and_vocabulary_are_there() -> None:
    assert tables()["tags"] == hibari().tagger.tags
    assert set(tables()["vocab"]) == hibari().tagger.vocab
    assert all(word in tables()["vocab"] for word in hibari().tagger.vocab)


@pytest.mark.parametrize("key", ["", " ", "\n", "\t", "\ud800", "hello\tthere", "zzyzx", "Ω"])
def test_what_is_not_there_is_absent(key: str) -> None:
    for name in ("gold", "silver", "tagdict", "vocab", "weights"):
        assert key not in tables()[name]
        assert tables()[name].get(key, 7) == 7
        with pytest.raises(KeyError):
            tables()[name][key]


def test_the_file_is_what_hibari_makes_of_it(tmp_path: Path) -> None:
    assert packed.pack(Path(ASSETS)) == packed.PACKED.read_bytes()


def test_other_files_are_read_themselves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Where hibari's are not installed there is nothing else to read.
    assert packed.opened(tmp_path) is not None
    (tmp_path / packed.SOURCES["gold"]).write_bytes(b"another")
    assert packed.opened(tmp_path) is None
    sizes = packed.sizes(Path(ASSETS))
    monkeypatch.setattr(packed, "sizes", lambda _: {**sizes, "tagger": 1})
    other = packed.front_end()
    assert type(other.lexicon.golds.d) is dict
    text = "Please read what I have read to the end: live wires, 12 of them, in Reykjavik."
    monkeypatch.undo()
    assert packed.front_end()(text) == other(text)


SEEN = (
    "The use of a book: I read what I have read, to a friend and to the end. THE END, read by Jane at U.S. Steel's.",
    "I used to live to use it; used cars cost $5.20, 12% of 1,200 at 10am. Dr. O'Neill re-read 'em in '99 - twice!",
    "An apple, the apple, the pear. By and by I am an MP. In NASA's AI-driven e-mail: foo_bar(x), and/or 3x4 = 12.",
    "A zzyzxish wug's wugs, Reykjavik-born, " + "pneumono" * 8 + " and résumés read aloud: record the record.",
)


def test_what_was_read_before_is_read_the_same() -> None:
    """Each word with those beside it, as a stream shows them, several times over and by one front end."""
    own = packed.front_end()
    for _ in range(2):
        for text in SEEN:
            words = text.split()
            for at in range(len(words)):
                window = " ".join(words[max(0, at - 3) : at + 2])
                found, expected = (front.phonemize_tokens(front.tokenize(window)) for front in (own, hibari()))
                parts = "text", "tag", "whitespace", "phonemes", "rating"
                assert [[getattr(token, name) for name in parts] for token in found] == [
                    [getattr(token, name) for name in parts] for token in expected
                ]


@pytest.mark.parametrize(("length", "times"), [(packed.LONGEST, 1), (packed.LONGEST + 1, 2)])
def test_only_words_of_a_usual_length_are_kept(length: int, times: int) -> None:
    asked = list[str]()

    def count(word: str) -> int:
        asked.append(word)
        return len(word)

    ask = packed.remembered(count)
    assert [ask("a" * length), ask("a" * length)] == [length, length]
    assert len(asked) == times


def test_added_entries_stand_before_the_others() -> None:
    added = packed.Added(tables()["gold"], {"cat": "dˈɔɡ", "sayahead": "sˈAəhˌɛd"})
    assert (added["cat"], added.get("sayahead"), added["dog"]) == ("dˈɔɡ", "sˈAəhˌɛd", tables()["gold"]["dog"])
    assert len(added) == len(tables()["gold"]) + 1
    assert "zzyzx" not in added


def test_a_voice_does_not_read_hibaris_tables() -> None:
    code = """
import gzip
def refuse(*_, **__): raise AssertionError("A table was unpacked.")
gzip.open = refuse
import sayahead
sayahead.load_voice().synthesize("Please read what I have read.")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
