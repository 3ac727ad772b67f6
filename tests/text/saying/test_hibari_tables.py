"""The tables of the English front end have hibari's entries, all of them and no others."""

from __future__ import annotations

import functools
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hibari.g2p import ASSETS, G2P

from sayahead.text.saying.english import hibari_tables


@functools.cache
def hibari() -> G2P:
    return G2P()


@pytest.mark.parametrize("name", hibari_tables.BRITISH)
def test_every_british_entry_is_there(name: str) -> None:
    table = hibari_tables.opened(Path(ASSETS), hibari_tables.BRITISH)[name]
    expected = json.loads(
        gzip.decompress((Path(ASSETS) / hibari_tables.BRITISH[name]).read_bytes())
    )
    assert len(table) == len(expected)
    assert all(table.get(key) == value for key, value in expected.items())


@functools.cache
def tables() -> dict[str, Any]:
    return hibari_tables.opened(Path(ASSETS))


@pytest.mark.parametrize("name", ["gold", "silver", "tagdict", "weights"])
def test_every_entry_is_there(name: str) -> None:
    own = hibari()
    tagger = hibari().tagger
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


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for the file of the tables; it does not exist yet."""
    monkeypatch.setenv(hibari_tables.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def assets(tmp_path: Path) -> Path:
    """A small folder like that of hibari's assets."""
    tagger = {
        "tags": ["NN", "VB"],
        "tagdict": {"cat": "NN"},
        "vocab": ["cat"],
        "weights": {"bias": {"NN": -1.2}},
    }
    contents = {
        "gold": {"cat": "kˈæt", "read": {"VB": "ɹˈid"}},
        "silver": {"cats": "kˈæts"},
        "tagger": tagger,
    }
    for name, content in contents.items():
        (tmp_path / hibari_tables.SOURCES[name]).write_bytes(
            gzip.compress(json.dumps(content).encode())
        )
    return tmp_path


def check(found: dict[str, Any]) -> None:
    assert dict(found["gold"]) == {"cat": "kˈæt", "read": {"VB": "ɹˈid"}}
    assert (dict(found["silver"]), dict(found["weights"])) == (
        {"cats": "kˈæts"},
        {"bias": {"NN": -1.2}},
    )


def place(assets: Path) -> Path:
    path = hibari_tables.place(assets)
    assert path is not None
    return path


def refuse(*_: object) -> bytes:
    raise AssertionError("The tables were made again.")


def test_the_file_is_made_once(cache: Path, assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(hibari_tables.opened(assets))
    assert [*cache.iterdir()] == [place(assets)]
    monkeypatch.setattr(hibari_tables, "pack", refuse)
    check(hibari_tables.opened(assets))


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:-1], lambda data: data.replace(b"cat", b"cut")]
)
def test_a_damaged_file_is_made_again(
    cache: Path, assets: Path, damage: Callable[[bytes], bytes]
) -> None:
    hibari_tables.opened(assets)
    whole = place(assets).read_bytes()
    place(assets).write_bytes(damage(whole))
    check(hibari_tables.opened(assets))
    assert place(assets).read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_done_without(cache: Path, assets: Path) -> None:
    cache.write_text("a file")
    check(hibari_tables.opened(assets))
    assert cache.read_text() == "a file"


def test_a_user_without_a_home_needs_no_file(monkeypatch: pytest.MonkeyPatch, assets: Path) -> None:
    def homeless(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in (hibari_tables.VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert hibari_tables.place(assets) is None
    check(hibari_tables.opened(assets))


def test_each_system_has_its_own_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(hibari_tables.VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert place(tmp_path).parent == tmp_path / "sayahead"
    monkeypatch.delenv("XDG_CACHE_HOME")
    for system, folder in {"linux": ".cache/sayahead", "darwin": "Library/Caches/sayahead"}.items():
        monkeypatch.setattr(sys, "platform", system)
        assert place(tmp_path).parent == tmp_path / folder
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert place(tmp_path).parent == tmp_path / "sayahead" / "cache"


def test_other_tables_have_a_file_of_their_own(cache: Path, assets: Path) -> None:
    hibari_tables.opened(assets)
    before = place(assets)
    (assets / hibari_tables.SOURCES["silver"]).write_bytes(gzip.compress(b"{}"))
    assert dict(hibari_tables.opened(assets)["silver"]) == {}
    assert {*cache.iterdir()} == {before, place(assets)}


def test_british_tables_are_a_file_beside_the_others(cache: Path, assets: Path) -> None:
    for name, content in {"gold": {"cat": "kˈat"}, "silver": {}}.items():
        (assets / hibari_tables.BRITISH[name]).write_bytes(
            gzip.compress(json.dumps(content).encode())
        )
    hibari_tables.opened(assets)
    british = hibari_tables.opened(assets, hibari_tables.BRITISH)
    assert {name: dict(british[name]) for name in ("gold", "silver")} == {
        "gold": {"cat": "kˈat"},
        "silver": {},
    }
    check(hibari_tables.opened(assets))
    assert len([*cache.iterdir()]) == 2


def test_missing_files_of_hibari_are_named(cache: Path, assets: Path) -> None:
    (assets / hibari_tables.SOURCES["gold"]).unlink()
    with pytest.raises(ImportError, match=r"lexicon_us_gold\.json\.gz: install version"):
        hibari_tables.opened(assets)


def test_processes_and_threads_may_begin_at_once(cache: Path, assets: Path) -> None:
    code = f"""
import concurrent.futures, pathlib
from sayahead.text.saying.english import hibari_tables
with concurrent.futures.ThreadPoolExecutor(8) as threads:
    for found in threads.map(hibari_tables.opened, [pathlib.Path({str(assets)!r})] * 40):
        assert found["silver"]["cats"] and found["weights"]["bias"] == {{"NN": -1.2}}
"""
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert [*cache.iterdir()] == [place(assets)]


SEEN = (
    (
        "The use of a book: I read what I have read, to a friend and to the end. THE END, read by"
        " Jane at U.S. Steel's."
    ),
    (
        "I used to live to use it; used cars cost $5.20, 12% of 1,200 at 10am. Dr. O'Neill re-read"
        " 'em in '99 - twice!"
    ),
    (
        "An apple, the apple, the pear. By and by I am an MP. In NASA's AI-driven e-mail:"
        " foo_bar(x), and/or 3x4 = 12."
    ),
    "A zzyzxish wug's wugs, Reykjavik-born, "
    + "pneumono" * 8
    + " and résumés read aloud: record the record.",
)


def test_what_was_read_before_is_read_the_same() -> None:
    """Each word with those beside it, as a stream shows them, several times over and by one front
    end."""
    own = hibari_tables.front_end()
    for _ in range(2):
        for text in SEEN:
            words = text.split()
            for at in range(len(words)):
                window = " ".join(words[max(0, at - 3) : at + 2])
                found, expected = (
                    front.phonemize_tokens(front.tokenize(window)) for front in (own, hibari())
                )
                parts = "text", "tag", "whitespace", "phonemes", "rating"
                assert [[getattr(token, name) for name in parts] for token in found] == [
                    [getattr(token, name) for name in parts] for token in expected
                ]


@pytest.mark.parametrize(
    ("length", "times"), [(hibari_tables.LONGEST, 1), (hibari_tables.LONGEST + 1, 2)]
)
def test_only_words_of_a_usual_length_are_kept(length: int, times: int) -> None:
    asked = list[str]()

    def count(word: str) -> int:
        asked.append(word)
        return len(word)

    ask = hibari_tables.remembered(count)
    assert [ask("a" * length), ask("a" * length)] == [length, length]
    assert len(asked) == times


def test_added_entries_stand_before_the_others() -> None:
    added = hibari_tables.Added(tables()["gold"], {"cat": "dˈɔɡ", "sayahead": "sˈAəhˌɛd"})
    assert (added["cat"], added.get("sayahead"), added["dog"]) == (
        "dˈɔɡ",
        "sˈAəhˌɛd",
        tables()["gold"]["dog"],
    )
    assert len(added) == len(tables()["gold"]) + 1
    assert "zzyzx" not in added


def test_a_voice_does_not_read_hibaris_tables_again() -> None:
    tables()
    code = """
import gzip
def refuse(*_, **__): raise AssertionError("A table was unpacked.")
gzip.open = gzip.decompress = refuse
import sayahead
sayahead.load_voice().synthesize("Please read what I have read.")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
