"""The tables of hibari-tts's English front end as a file that is mapped into memory, not parsed.

hibari-tts keeps its lexicons and its tagger's weights as compressed JSON, which takes longer to
read than everything else that a voice needs. The first speech writes the same entries to a file in
the user's cache, in buckets by the CRC of their keys: a look-up reads one bucket, and what nobody
looks up is never read. The file's name has a digest of hibari's own files. Where no file can be
kept, each process makes the tables anew."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import json
import mmap
import os
import struct
import sys
import threading
import zlib
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

VARIABLE = "SAYAHEAD_CACHE"
"""Names the folder that keeps the file; without it, it lies where the system keeps what can be made
again."""
FORMAT = 1
"""Changes with the layout of the file."""
SOURCES = {
    "gold": "lexicon_us_gold.json.gz",
    "silver": "lexicon_us_silver.json.gz",
    "tagger": "tagger.json.gz",
}
"""Files of hibari-tts that the tables are made from."""
BRITISH = {"gold": "lexicon_gb_gold.json.gz", "silver": "lexicon_gb_silver.json.gz"}
"""The same of British English, which has the tagger in common; its tables are a file of their
own."""
BUCKET = 8
"""Entries of a bucket, on average no more than this."""
BEFORE = b"\n"
AFTER = b"\t"
"""The bytes before and after the key of an entry."""
LONGEST = 48
"""Characters of a word whose reading is kept."""
NONE = 0x500
"""The character that stands for a weight of 0; tenths are counted from here. All that occur have
two bytes in UTF-8."""

WHOLE = 0x2144DF1C
"""The CRC of everything that ends with its own CRC."""

Data = mmap.mmap | bytes


class Table(Mapping[str, Any]):
    """A table of the file: keys to texts, or to what a subclass makes of them."""

    def __init__(self, data: Data, at: int, buckets: int, count: int) -> None:
        """``at``: where its buckets' places are, of which there are ``buckets``; ``count``
        entries."""
        self._data = data
        self._at = at
        self._buckets = buckets
        self._count = count
        # Most words are frequent ones.
        self.get = functools.lru_cache(maxsize=4096)(self.get)  # type: ignore[method-assign]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key."""
        name = key.encode("utf-8", "surrogatepass")
        place = self._at + 4 * (zlib.crc32(name) & (self._buckets - 1))
        begin, end = struct.unpack_from("<II", self._data, place)
        bucket = self._data[begin:end]
        name = BEFORE + name + AFTER
        at = bucket.find(name)
        if at < 0:
            return default
        first = at + len(name)
        return self.value(bucket[first : bucket.find(BEFORE, first)].decode())

    def value(self, text: str) -> Any:
        """The value that the text of an entry stands for."""
        return json.loads(text) if text[:1] == "{" else text

    def __getitem__(self, key: str) -> Any:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return self.get(str(key)) is not None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        # The entries of all buckets stand one after another.
        first, last = (
            struct.unpack_from("<I", self._data, self._at + 4 * i)[0] for i in (0, self._buckets)
        )
        for entry in self._data[first:last].split(BEFORE):
            if entry:
                yield entry.partition(AFTER)[0].decode()


class Scores(Table):
    """The tagger's weights: a feature to its weight for each tag."""

    def __init__(self, tags: list[str], *place: Any) -> None:
        super().__init__(*place)
        self._tags = tags

    def value(self, text: str) -> dict[str, float]:
        """The tags and weights of pairs of characters."""
        pairs = zip(text[::2], text[1::2], strict=True)
        return {
            self._tags[ord(tag) - ord(" ") - 1]: (ord(weight) - NONE) / 10 for tag, weight in pairs
        }


class Added(ChainMap[str, Any]):
    """A table and entries that come before its own."""

    def __init__(self, table: Any, added: dict[str, Any]) -> None:
        super().__init__(added, table)
        self.get = functools.lru_cache(maxsize=4096)(self.get)  # type: ignore[method-assign]


def front_end(*, british: bool = False) -> Any:
    """hibari's front end for American or British English, with the tables of the file."""
    g2p = alone()

    class Token(g2p.Tok):  # type: ignore[misc, name-defined]
        """hibari's token; a copy of one costs what its attributes do."""

        __slots__ = ()

        def copy(self, **changed: Any) -> Any:
            # hibari's own copies attributes by their names, which takes longer.
            look = (
                self.is_head,
                self.alias,
                self.stress,
                self.currency,
                self.num_flags,
                self.prespace,
                self.rating,
            )
            token = Token(self.text, self.tag, self.whitespace, self.phonemes, *look)
            for name, value in changed.items():
                setattr(token, name, value)
            return token

    class Read(g2p.Lexicon):  # type: ignore[misc, name-defined]
        """hibari's lexicon, which remembers how words were read: a word is read again with each
        that follows it."""

        def __init__(self, *tables: Any) -> None:
            super().__init__(*tables)
            self._read = remembered(self._reading)

        def _reading(
            self, text: str, tag: str, rest: tuple[Any, ...], vowel: bool | None, to: bool
        ) -> Any:
            is_head, alias, stress, currency = rest
            token = Token(text, tag, is_head=is_head, alias=alias, stress=stress, currency=currency)
            return super().__call__(token, g2p.Context(vowel, to))

        def __call__(self, token: Any, context: Any) -> Any:
            rest = (token.is_head, token.alias, token.stress, token.currency)
            return self._read(token.text, token.tag, rest, context.future_vowel, context.future_to)

    class Packed(g2p.G2P):  # type: ignore[misc, name-defined]
        """hibari's front end, but for how its tables are read."""

        def __init__(self, tables: Mapping[str, Any]) -> None:
            self.lexicon = Read(tables["gold"], tables["silver"], british)
            self.tokenizer = g2p.Tokenizer(g2p._load_json("tokenizer_exceptions.json"))
            self.tokenizer.split = remembered(self.tokenizer.split)
            self.tagger = g2p.Tagger(
                {"vocab": (), **{name: tables[name] for name in ("tagdict", "tags", "weights")}}
            )
            self.tagger.vocab = tables["vocab"]
            self._oov = Unknown(g2p, "oov_gb" if british else "oov")
            self.unk = ""
            self.british = british

        def _tokens(self, text: str) -> list[Any]:
            pairs = self.tokenizer(text)
            tags = self.tagger([word for word, _ in pairs])
            return [Token(word, tag, blank) for (word, blank), tag in zip(pairs, tags, strict=True)]

    tables = opened(Path(g2p.ASSETS))
    assets = Path(g2p.ASSETS)
    return Packed(
        tables | {name: opened(assets, BRITISH)[name] for name in BRITISH} if british else tables
    )


def remembered(work: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a word, and of what else counts, that keeps what it found for words of a usual
    length."""
    cached = functools.lru_cache(maxsize=4096)(work)
    return lambda word, *rest: (cached if len(word) <= LONGEST else work)(word, *rest)


def alone() -> Any:
    """hibari's module of phonemes without the rest of the package, which imports what fetches
    voices."""
    package = importlib.util.find_spec("hibari")
    folder = Path(package.origin or "").parent / "g2p" if package else Path()
    name = f"{__name__}.g2p"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, folder / "__init__.py")
        if spec is None or spec.loader is None:
            raise ImportError(f"hibari-tts has no {folder}: install version 0.2.1.")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        module = sys.modules[name]
        spec.loader.exec_module(module)
    return sys.modules[name]


class Unknown:
    """Phonemes of words that no lexicon has, by hibari's network, which is loaded while other
    things are."""

    def __init__(self, g2p: Any, name: str) -> None:
        """``name``: of the network's file."""
        if sys.platform == "emscripten":
            # Python in a browser has no threads.
            network = self._load(g2p, name)
            self._network: Callable[[], Any] = lambda: network
        else:
            thread = ThreadPoolExecutor(1)
            self._network = thread.submit(self._load, g2p, name).result
            thread.shutdown(wait=False)

    def _load(self, g2p: Any, name: str) -> Any:
        return importlib.import_module(f"{g2p.__name__}.oov").OOV(
            str(Path(g2p.ASSETS) / f"{name}.onnx")
        )

    def __call__(self, word: str) -> Any:
        return self._network()(word)


def opened(assets: Path, sources: Mapping[str, str] = SOURCES) -> dict[str, Any]:
    """The tables by name, and the tagger's ``tags``, of the hibari-tts whose folder of assets is
    given."""
    path = place(assets, sources)
    data = (mapped(path) if path else None) or store(pack(assets, sources), path)
    header = json.loads(data[: data.find(BEFORE)])
    tags = header["tags"]
    places = header["tables"]
    scores = {
        name: Scores(tags, data, *places.pop(name)) for name in ("weights",) if name in places
    }
    return {name: Table(data, *place) for name, place in places.items()} | scores | {"tags": tags}


def place(assets: Path, sources: Mapping[str, str] = SOURCES) -> Path | None:
    """Where the file belongs that is made from these assets; None where the user has no folder for
    it."""
    if os.environ.get(VARIABLE):
        folder = Path(os.environ[VARIABLE])
    elif sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        folder = Path(os.environ["LOCALAPPDATA"]) / "sayahead" / "cache"
    elif os.environ.get("XDG_CACHE_HOME"):
        folder = Path(os.environ["XDG_CACHE_HOME"]) / "sayahead"
    else:
        folder = Path(
            "~/Library/Caches/sayahead" if sys.platform == "darwin" else "~/.cache/sayahead"
        )
    try:
        return folder.expanduser() / file_name(assets, sources)
    except RuntimeError:
        return None


def file_name(assets: Path, sources: Mapping[str, str] = SOURCES) -> str:
    """The name of the file made from these assets; where they are left out, as in a browser, always
    the same."""
    digest = zlib.crc32(b"".join(ending(assets / file) for file in sources.values()), FORMAT)
    return f"{'british' if sources is BRITISH else 'english'}-{digest:08x}.bin"


def ending(path: Path) -> bytes:
    """The CRC and the length of what a gzip file holds, its last 8 bytes; none where there is no
    such file."""
    try:
        with open(path, "rb") as file:
            file.seek(-8, os.SEEK_END)
            return file.read()
    except OSError:
        return b""


def mapped(path: Path) -> mmap.mmap | None:
    """The file; None where there is none, or a damaged one."""
    check = 0
    try:
        with open(path, "rb", buffering=0) as file:
            # Read into one small buffer: mapping or allocating as much would cost more time and
            # memory than the check.
            buffer = memoryview(bytearray(1 << 16))
            while size := file.readinto(buffer):
                check = zlib.crc32(buffer[:size], check)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if check == WHOLE else None
    except OSError:
        return None


def store(data: bytes, path: Path | None) -> Data:
    """The data of a new file, mapped; as it is where the file cannot be written."""
    if path is None:
        return data
    # Other processes and threads may do the same: the last to be done replaces a file like its own.
    own = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(own, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(own, path)
        finally:
            own.unlink(missing_ok=True)
    except OSError:
        return data
    return mapped(path) or data


def pack(assets: Path, sources: Mapping[str, str] = SOURCES) -> bytes:
    """What the file holds, made from hibari's. ImportError where these are missing."""
    tags = list[str]()
    # The header's own length is bounded, so that it can say where what follows it is.
    room = 4096
    end = 4096
    body = list[bytes]()
    places = {}
    for name, table in entries(assets, sources, tags):
        parts = buckets(table)
        places[name] = (end, len(parts), len(table))
        end += 4 * (len(parts) + 1)
        ends = [*itertools.accumulate(map(len, parts), initial=end)]
        end = ends[-1]
        body += [struct.pack(f"<{len(ends)}I", *ends), *parts]
    header = json.dumps({"tags": tags, "tables": places}).encode() + BEFORE
    assert len(header) <= room
    data = b"".join([header.ljust(room), *body])
    return data + struct.pack("<I", zlib.crc32(data))


def entries(
    assets: Path, sources: Mapping[str, str], tags: list[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """The tables, one after another to save memory, as texts by their keys; ``tags`` takes the
    tagger's tags."""
    gold = unpacked(assets / sources["gold"])
    written = functools.partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    yield (
        "gold",
        {key: value if isinstance(value, str) else written(value) for key, value in gold.items()},
    )
    del gold
    yield "silver", unpacked(assets / sources["silver"])
    if "tagger" not in sources:
        return
    tagger = unpacked(assets / sources["tagger"])
    tags += tagger["tags"]
    yield "tagdict", tagger["tagdict"]
    yield "vocab", dict.fromkeys(tagger["vocab"], "")
    letters = {tag: chr(ord(" ") + 1 + number) for number, tag in enumerate(tags)}
    letter = functools.cache(lambda weight: chr(NONE + round(10 * weight)))
    weights = tagger["weights"].items()
    yield (
        "weights",
        {key: "".join([letters[tag] + letter(of[tag]) for tag in of]) for key, of in weights},
    )


def unpacked(path: Path) -> Any:
    """What a compressed JSON file holds."""
    import gzip

    try:
        return json.loads(gzip.decompress(path.read_bytes()))
    except OSError as error:
        raise ImportError(f"hibari-tts has no {path}: install version 0.2.1.") from error


def buckets(table: Mapping[str, str]) -> list[bytes]:
    """Entries by the CRC of their keys; a power of two of buckets."""
    count = 1 << max(0, (len(table) // BUCKET).bit_length())
    parts = [b""] * count
    for key, text in table.items():
        name = key.encode()
        parts[zlib.crc32(name) & (count - 1)] += BEFORE + name + AFTER + text.encode()
    assert [sum(part.count(mark) for part in parts) for mark in (BEFORE, AFTER)] == [len(table)] * 2
    return [part and part + BEFORE for part in parts]
