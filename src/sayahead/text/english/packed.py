"""The tables of hibari-tts's English front end in a form that needs no reading: a file that is mapped, not parsed.

hibari-tts keeps its lexicons and its tagger's weights as compressed JSON, which takes longer to read than everything
else that a voice needs. ``packed.bin`` has the same entries in buckets by the CRC of their keys: a look-up reads one
bucket, and what nobody looks up is never read. It was made by

    python -m sayahead.text.english.packed

from hibari-tts 0.2.1 (Apache-2.0); where another version's files are installed, those are read instead.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import mmap
import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

PACKED = Path(__file__).parent / "packed.bin"
SOURCES = {"gold": "lexicon_us_gold.json.gz", "silver": "lexicon_us_silver.json.gz", "tagger": "tagger.json.gz"}
"""Files of hibari-tts that are packed."""
BUCKET = 8
"""Entries of a bucket, on average no more than this."""
BEFORE, BEHIND = b"\n", b"\t"
"""What stands before and behind the key of an entry."""
LONGEST = 48
"""Characters of a word whose reading is kept."""
NONE = 0x500
"""The character that stands for a weight of 0; tenths are counted from here. All that occur have two bytes in UTF-8."""


class Table(Mapping[str, Any]):
    """A table of the file: keys to texts, or to what a subclass makes of them."""

    def __init__(self, data: mmap.mmap, at: int, buckets: int, count: int) -> None:
        """``at``: where its buckets' places are, of which there are ``buckets``; ``count`` entries."""
        self._data, self._at, self._buckets, self._count = data, at, buckets, count
        # Most words are frequent ones.
        self.get = functools.lru_cache(maxsize=4096)(self.get)  # type: ignore[method-assign]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key."""
        name = key.encode("utf-8", "surrogatepass")
        place = self._at + 4 * (zlib.crc32(name) & (self._buckets - 1))
        begin, end = struct.unpack_from("<II", self._data, place)
        bucket, name = self._data[begin:end], BEFORE + name + BEHIND
        found = bucket.find(name)
        if found < 0:
            return default
        first = found + len(name)
        return self.value(bucket[first : bucket.find(BEFORE, first)].decode())

    def value(self, text: str) -> Any:
        """What the text of an entry stands for."""
        return json.loads(text) if text[:1] == "{" else text

    def __getitem__(self, key: str) -> Any:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return self.get(str(key)) is not None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        first, last = (struct.unpack_from("<I", self._data, self._at + 4 * i)[0] for i in (0, self._buckets))
        for entry in self._data[first:last].split(BEFORE):
            if entry:
                yield entry.partition(BEHIND)[0].decode()


class Scores(Table):
    """The tagger's weights: a feature to tags and what it says for each."""

    def __init__(self, tags: list[str], *place: Any) -> None:
        super().__init__(*place)
        self._tags = tags

    def value(self, text: str) -> dict[str, float]:
        """See Table: pairs of characters, a tag and its weight."""
        pairs = zip(text[::2], text[1::2], strict=True)
        return {self._tags[ord(tag) - ord(" ") - 1]: (ord(weight) - NONE) / 10 for tag, weight in pairs}


class Added(Mapping[str, Any]):
    """A table with entries that stand before its own."""

    def __init__(self, table: Mapping[str, Any], added: Mapping[str, Any]) -> None:
        self._table, self._added = table, dict(added)
        self.get = functools.lru_cache(maxsize=4096)(self.get)  # type: ignore[method-assign]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key."""
        found = self._added.get(key)
        return self._table.get(key, default) if found is None else found

    def __getitem__(self, key: str) -> Any:
        return self._added[key] if key in self._added else self._table[key]

    def __len__(self) -> int:
        return len(set(self))

    def __iter__(self) -> Iterator[str]:
        yield from self._added
        yield from (key for key in self._table if key not in self._added)


def front_end() -> Any:
    """hibari's front end for American English, with packed tables where they are those of the hibari installed."""
    g2p = alone()

    class Token(g2p.Tok):  # type: ignore[misc, name-defined]
        """hibari's token; a copy of one costs what its attributes do."""

        __slots__ = ()

        def copy(self, **changed: Any) -> Any:
            look = self.is_head, self.alias, self.stress, self.currency, self.num_flags, self.prespace, self.rating
            made = Token(self.text, self.tag, self.whitespace, self.phonemes, *look)
            for name, value in changed.items():
                setattr(made, name, value)
            return made

    class Read(g2p.Lexicon):  # type: ignore[misc, name-defined]
        """hibari's lexicon, which remembers how words were read: a word is read again with each that follows it."""

        def __init__(self, *tables: Any) -> None:
            super().__init__(*tables)
            self._read = remembered(self._reading)

        def _reading(self, text: str, tag: str, rest: tuple[Any, ...], vowel: bool | None, to: bool) -> Any:
            is_head, alias, stress, currency = rest
            token = Token(text, tag, is_head=is_head, alias=alias, stress=stress, currency=currency)
            return super().__call__(token, g2p.Context(vowel, to))

        def __call__(self, token: Any, context: Any) -> Any:
            rest = (token.is_head, token.alias, token.stress, token.currency)
            return self._read(token.text, token.tag, rest, context.future_vowel, context.future_to)

    class Packed(g2p.G2P):  # type: ignore[misc, name-defined]
        """hibari's front end, but for how its tables are read."""

        def __init__(self, tables: Mapping[str, Any]) -> None:
            self.lexicon = Read(tables["gold"], tables["silver"])
            self.tokenizer = g2p.Tokenizer(g2p._load_json("tokenizer_exceptions.json"))
            self.tokenizer.split = remembered(self.tokenizer.split)
            self.tagger = g2p.Tagger({"vocab": (), **{name: tables[name] for name in ("tagdict", "tags", "weights")}})
            self.tagger.vocab = tables["vocab"]
            self._oov, self.unk, self.british = Unknown(g2p), "", False

        def _tokens(self, text: str) -> list[Any]:
            pairs = self.tokenizer(text)
            tags = self.tagger([word for word, _ in pairs])
            return [Token(word, tag, blank) for (word, blank), tag in zip(pairs, tags, strict=True)]

    tables = opened(Path(g2p.ASSETS))
    return g2p.G2P() if tables is None else Packed(tables)


def remembered(work: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a word, and of what else counts, that keeps what it found for words of a usual length."""
    kept = functools.lru_cache(maxsize=4096)(work)
    return lambda word, *rest: (kept if len(word) <= LONGEST else work)(word, *rest)


def alone() -> Any:
    """hibari's module of phonemes without the rest of the package, which imports what fetches voices."""
    package = importlib.util.find_spec("hibari")
    folder = Path(package.origin or "").parent / "g2p" if package else Path()
    name = f"{__name__}.g2p"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, folder / "__init__.py")
        if spec is None or spec.loader is None:
            raise ImportError(f"hibari-tts has no {folder}: install version 0.2.1.")
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


class Unknown:
    """Phonemes of words that no lexicon has, by hibari's network, which is loaded while other things are."""

    def __init__(self, g2p: Any) -> None:
        if sys.platform == "emscripten":
            # Python in a browser has no threads.
            network = self._load(g2p)
            self._network: Callable[[], Any] = lambda: network
        else:
            thread = ThreadPoolExecutor(1)
            self._network = thread.submit(self._load, g2p).result
            thread.shutdown(wait=False)

    def _load(self, g2p: Any) -> Any:
        return importlib.import_module(f"{g2p.__name__}.oov").OOV(str(Path(g2p.ASSETS) / "oov.onnx"))

    def __call__(self, word: str) -> Any:
        return self._network()(word)


def opened(assets: Path, path: Path = PACKED) -> dict[str, Any] | None:
    """The tables by name, and the tagger's tags; None where those in ``assets`` are other files. There may be none."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header = json.loads(data[: data.find(BEFORE)])
    if sizes(assets) not in (header["sizes"], dict.fromkeys(SOURCES, 0)):
        data.close()
        return None
    tags, places = header["tags"], header["tables"]
    tables: dict[str, Any] = {name: Table(data, *place) for name, place in places.items() if name != "weights"}
    return {**tables, "weights": Scores(tags, data, *places["weights"]), "tags": tags}


def sizes(assets: Path) -> dict[str, int]:
    """Bytes of the files that are packed."""
    files = {name: assets / file for name, file in SOURCES.items()}
    return {name: path.stat().st_size if path.is_file() else 0 for name, path in files.items()}


def pack(assets: Path) -> bytes:
    """The file, made from hibari's."""
    from hibari.g2p import _load_json

    gold, silver, tagger = (_load_json(SOURCES[name]) for name in SOURCES)
    numbers = {tag: chr(ord(" ") + 1 + number) for number, tag in enumerate(tagger["tags"])}
    tables = {
        "gold": {key: value if isinstance(value, str) else readings(value) for key, value in gold.items()},
        "silver": silver,
        "tagdict": tagger["tagdict"],
        "vocab": dict.fromkeys(tagger["vocab"], ""),
        "weights": {
            feature: "".join(numbers[tag] + chr(NONE + round(10 * weight)) for tag, weight in weights.items())
            for feature, weights in tagger["weights"].items()
        },
    }
    packed = {name: buckets(table) for name, table in tables.items()}
    # The header's own length is bounded, so that it can say where what follows it is.
    room, body, places = 4096, b"", {}
    for name, parts in packed.items():
        at = room + len(body)
        places[name] = (at, len(parts), len(tables[name]))
        ends, end = [], at + 4 * (len(parts) + 1)
        for part in parts:
            ends.append(end)
            end += len(part)
        body += struct.pack(f"<{len(parts) + 1}I", *ends, end) + b"".join(parts)
    header = json.dumps({"sizes": sizes(assets), "tags": tagger["tags"], "tables": places}).encode()
    assert len(header) < room
    return header + BEFORE + b" " * (room - len(header) - 1) + body


def readings(by_tag: Mapping[str, str | None]) -> str:
    """A word's readings by part of speech."""
    return json.dumps(by_tag, ensure_ascii=False, separators=(",", ":"))


def buckets(table: Mapping[str, str]) -> list[bytes]:
    """Entries by the CRC of their keys; a power of two of buckets."""
    count = 1 << max(0, (len(table) // BUCKET).bit_length())
    parts = [b""] * count
    for key, value in sorted(table.items()):
        name, text = key.encode(), value.encode()
        assert not {*BEFORE, *BEHIND} & {*name, *text}, key
        parts[zlib.crc32(name) & (count - 1)] += BEFORE + name + BEHIND + text
    return [part and part + BEFORE for part in parts]


if __name__ == "__main__":
    from hibari.g2p import ASSETS

    PACKED.write_bytes(pack(Path(ASSETS)))
