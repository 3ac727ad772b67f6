"""Pronunciation dictionaries, made over ElevenLabs' endpoints: kept while the server runs, named
with a text."""

from __future__ import annotations

import functools
import json
import operator
import secrets
import tempfile
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

from python_multipart import create_form_parser
from python_multipart.exceptions import FormParserError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sayahead.errors import ConfigError
from sayahead.server.http import Failure, RequestError, answers, aside, body_of, json_body
from sayahead.server.hub import Hub
from sayahead.server.operation.access import Caller
from sayahead.server.operation.shelf import Shelf
from sayahead.server.synthesis.offers import check_lexicon
from sayahead.text.saying.lexicon import Entry, Lexicon, read_lexicon, spaced

MOST = 64
MAX_VERSIONS = 8
MAX_LOCATORS = 3
MAX_FIELDS = 16
"""Dictionaries of one key, versions of one that are kept, dictionaries of one text, fields of a
form."""
MAX_SIZE = 8_000_000
RULE_SIZE = 100
"""Size of all dictionaries of one key with their versions: characters, and so many more for each
rule."""
MAX_MERGED = 64
UNUSED_S = 3600.0
SPARED_S = 60.0
"""Dictionaries that texts named together are kept as one, of so many; where no keys are set, a
dictionary is kept so long after its last use, or, where its maker has too many, so long."""
PATH = "/v1/pronunciation-dictionaries"


@dataclass(slots=True)
class Dictionary:
    """A dictionary with its last versions, the newest last."""

    id: str
    name: str
    description: str | None
    owner: str
    """The key's name."""
    created: int
    """Seconds since 1970."""
    versions: dict[str, Lexicon] = field(default_factory=dict)
    used: float = field(default_factory=time.monotonic)
    """When it was asked for last."""

    @property
    def size(self) -> int:
        """How much it takes."""
        return sum(map(size_of, self.versions.values()))

    def add(self, lexicon: Lexicon) -> None:
        """A new version."""
        self.versions[secrets.token_urlsafe(12)] = lexicon
        while len(self.versions) > MAX_VERSIONS:
            del self.versions[next(iter(self.versions))]

    @property
    def latest(self) -> tuple[str, Lexicon]:
        """The newest version, with its id."""
        return list(self.versions.items())[-1]

    def row(self) -> dict[str, Any]:
        """As ElevenLabs' clients expect it."""
        version, lexicon = self.latest
        row = {
            "id": self.id,
            "name": self.name,
            "created_by": self.owner,
            "creation_time_unix": self.created,
        }
        row |= {
            "version_id": version,
            "version_rules_num": len(lexicon),
            "description": self.description,
        }
        latest = {"latest_version_id": version, "latest_version_rules_num": len(lexicon)}
        return row | latest | {"permission_on_resource": "admin", "archived_time_unix": None}


class Dictionaries:
    """All dictionaries of a server. Ids cannot be guessed: who knows one may use it, over any
    protocol."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._entries = dict[str, Dictionary]()
        # Where the other processes of the server have them, too.
        folder = hub.siblings.folder
        self._shelf = None if folder is None else Shelf(folder / "dictionaries")
        # Those that were named together, by their versions.
        self._merged: OrderedDict[tuple[str, ...], Lexicon] = OrderedDict()

    @classmethod
    def of_server(cls, hub: Hub) -> Dictionaries:
        """Those that all protocols of a server share."""
        store: Dictionaries = hub.shared.setdefault(cls, cls(hub))
        return store

    def lexicon(self, locators: object) -> Lexicon | None:
        """What ``pronunciation_dictionary_locators`` name, the first of them first; None without
        any.

        ConfigError for one that is unknown, and for too many.
        """
        if not locators:
            return None
        if not isinstance(locators, list) or len(locators) > MAX_LOCATORS:
            raise ConfigError(
                f"pronunciation_dictionary_locators must be a list of at most {MAX_LOCATORS}."
            )
        named = dict[str, Lexicon]()
        for locator in reversed(locators):
            if not isinstance(locator, dict):
                raise ConfigError(
                    "A pronunciation dictionary locator is an object with"
                    " pronunciation_dictionary_id."
                )
            dictionary = self.get(locator.get("pronunciation_dictionary_id"))
            version = locator.get("version_id") or dictionary.latest[0]
            if not isinstance(version, str) or version not in dictionary.versions:
                raise ConfigError(
                    f"The dictionary {dictionary.id!r} has no version {str(version)[:80]!r}."
                )
            named[version] = dictionary.versions[version]
        if len(named) == 1:
            return next(iter(named.values()))
        if (merged := self._merged.pop(tuple(named), None)) is None:
            merged = functools.reduce(operator.or_, named.values())
        self._merged[tuple(named)] = merged
        if len(self._merged) > MAX_MERGED:
            self._merged.popitem(last=False)
        return merged

    def get(self, name: object) -> Dictionary:
        """A dictionary by its id. ConfigError where there is none."""
        self._look()
        if not isinstance(name, str) or name not in self._entries:
            raise ConfigError(
                f"There is no pronunciation dictionary {str(name)[:80]!r} on this server: POST"
                f" {PATH}/add-from-rules."
            )
        self._entries[name].used = time.monotonic()
        if self._shelf is not None:
            self._shelf.use(name)
        return self._entries[name]

    def _look(self) -> None:
        """Take over what other processes have changed."""
        if self._shelf is None:
            return
        for name, text in self._shelf.changes():
            known = self._entries.pop(name, None)
            if text is not None:
                self._entries[name] = restored(json.loads(text), known)

    def _keep(self, dictionary: Dictionary) -> None:
        """Have it, and let the other processes have it."""
        self._entries[dictionary.id] = dictionary
        if self._shelf is not None:
            self._shelf.put(dictionary.id, json.dumps(kept(dictionary)))

    def owner(self, caller: Caller) -> str:
        """Whose a caller's dictionaries are: a key's, or without keys an address's."""
        return caller.share if self._hub.access.open else caller.name

    def of(self, caller: Caller) -> list[Dictionary]:
        """A caller's dictionaries."""
        self._look()
        return [entry for entry in self._entries.values() if entry.owner == self.owner(caller)]

    def listed(self, caller: Caller) -> list[Dictionary]:
        """Those that a caller is told of: without keys, and from this machine, it may be anybody,
        and none."""
        return self.of(caller) if self.owner(caller) else []

    def add(
        self, caller: Caller, name: object, description: object, lexicon: Lexicon
    ) -> Dictionary:
        """A new dictionary. RequestError for one without a name, or too many."""
        if not isinstance(name, str) or not 0 < len(name) <= 200:
            raise RequestError(
                "invalid_option", "name must be a text of 1 to 200 characters.", field="name"
            )
        if self._hub.access.open:
            self._look()
            late = time.monotonic() - UNUSED_S
            for entry in [each for each in self._entries.values() if self._used(each) < late]:
                self.drop(entry)
            self._make_room(caller)
        if len(self.of(caller)) >= MOST:
            raise RequestError(
                "invalid_option",
                f"There are {MOST} dictionaries: archive one with PATCH {PATH}/ID.",
            )
        about = description[:1000] if isinstance(description, str) else None
        dictionary = Dictionary(
            secrets.token_urlsafe(12), name, about, self.owner(caller), int(time.time())
        )
        self.change(caller, dictionary, lexicon)
        return dictionary

    def _used(self, dictionary: Dictionary) -> float:
        """When a dictionary was used last, here or in another process."""
        if self._shelf is None:
            return dictionary.used
        return max(dictionary.used, self._shelf.used(dictionary.id))

    def _make_room(self, caller: Caller) -> None:
        """Without keys, several clients may be one owner: where it has too many, it loses what
        nobody has used for longest, and not for a while."""
        own = sorted(self.of(caller), key=self._used)
        late = time.monotonic() - SPARED_S
        for entry in own[: max(0, len(own) - MOST + 1)]:
            if self._used(entry) < late:
                self.drop(entry)

    def may_change(self, caller: Caller, dictionary: Dictionary) -> None:
        """RequestError where a dictionary is not a caller's, or where it cannot be told whose it
        is."""
        if dictionary.owner != self.owner(caller):
            raise ConfigError("This pronunciation dictionary belongs to another key.")
        if not dictionary.owner:
            sentence = (
                "Without keys, a dictionary stays as it is, as anybody may have made it: make"
                " another one."
            )
            raise RequestError("forbidden", sentence)

    def change(self, caller: Caller, dictionary: Dictionary, lexicon: Lexicon) -> None:
        """Give a dictionary a new version. RequestError where its owner has too much."""
        check_lexicon(lexicon.entries)
        others = sum(entry.size for entry in self.of(caller))
        if others + size_of(lexicon) > MAX_SIZE:
            raise RequestError(
                "invalid_option",
                f"Your dictionaries are too large: archive one with PATCH {PATH}/ID.",
            )
        dictionary.add(lexicon)
        self._keep(dictionary)

    def rename(self, dictionary: Dictionary, name: str) -> None:
        """Give a dictionary another name."""
        dictionary.name = name
        if dictionary.id in self._entries:
            self._keep(dictionary)

    def drop(self, dictionary: Dictionary) -> None:
        """Forget a dictionary."""
        self._entries.pop(dictionary.id, None)
        if self._shelf is not None:
            self._shelf.take(dictionary.id)

    def checked(self, entries: dict[str, Entry]) -> dict[str, Entry]:
        """Entries that are not too many and that the default voice, if it is loaded, can say; they
        take time."""
        check_lexicon(entries)
        lexicon = Lexicon(entries)
        voice = self._hub.voices.loaded.get(self._hub.voices.default)
        if voice is not None:
            voice.pronunciations(lexicon)
        return lexicon.entries


def kept(dictionary: Dictionary) -> dict[str, Any]:
    """A dictionary as ``restored`` reads it."""
    return asdict(dictionary) | {
        "versions": {
            version: {word: astuple(entry) for word, entry in lexicon.entries.items()}
            for version, lexicon in dictionary.versions.items()
        }
    }


def restored(row: dict[str, Any], known: Dictionary | None) -> Dictionary:
    """A dictionary of another process; versions that are ``known`` are the same objects, for which
    voices have what they need."""
    versions = {
        version: Lexicon({word: Entry(*entry) for word, entry in entries.items()})
        for version, entries in row["versions"].items()
    }
    if known is not None:
        versions = {version: known.versions.get(version, versions[version]) for version in versions}
    return Dictionary(**row | {"versions": versions, "used": time.monotonic()})


def size_of(lexicon: Lexicon) -> int:
    """How much a lexicon takes."""
    return sum(RULE_SIZE + len(word) + len(entry.said) for word, entry in lexicon.entries.items())


def entries_of(rules: object) -> dict[str, Entry]:
    """Entries of ElevenLabs' rules. ConfigError for a bad one."""
    if not isinstance(rules, list) or not rules:
        raise ConfigError("rules must be a list of at least one rule.")
    entries = dict[str, Entry]()
    for number, rule in enumerate(rules, start=1):
        where = f"rule {number}"
        rule = rule if isinstance(rule, dict) else {}
        word = rule.get("string_to_replace")
        kind = rule.get("type")
        reading = rule.get("alias" if kind == "alias" else "phoneme")
        if (
            kind not in ("alias", "phoneme")
            or not isinstance(word, str)
            or not isinstance(reading, str)
        ):
            raise ConfigError(
                f"{where}: expected type (alias or phoneme), string_to_replace, and alias or"
                " phoneme."
            )
        alphabet = "" if kind == "alias" else str(rule.get("alphabet", "ipa")).lower()
        word = spaced(word if rule.get("case_sensitive", True) is not False else word.lower())
        entries[word] = Entry(reading, alphabet, where)
    return entries


def uploaded(body: bytes, content_type: str) -> dict[str, bytes]:
    """The fields of a form with a file."""
    if not content_type.lower().startswith("multipart/form-data"):
        raise RequestError(
            "invalid_message", "The body is no form: send multipart/form-data with name and file."
        )
    fields = dict[str, bytes]()

    def keep(name: bytes | None, content: bytes | None) -> None:
        if len(fields) >= MAX_FIELDS:
            raise RequestError("invalid_message", f"The form has more than {MAX_FIELDS} fields.")
        if name is not None and content is not None:
            fields[name.decode("utf-8", "replace")] = content

    def keep_file(file: Any) -> None:
        file.file_object.seek(0)
        keep(file.field_name, file.file_object.read())

    try:
        headers = {"Content-Type": content_type.encode("latin-1", "replace")}
        parser = create_form_parser(
            headers, lambda field: keep(field.field_name, field.value), keep_file
        )
        parser.write(body)
        parser.finalize()
    except (FormParserError, ValueError) as error:
        raise RequestError("invalid_message", "The body is no form that can be read.") from error
    return fields


def lexicon_of_file(content: bytes) -> Lexicon:
    """A lexicon from an uploaded file: PLS, or lines."""
    suffix = ".pls" if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") else ".txt"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file" + suffix)
        path.write_bytes(content)
        try:
            return read_lexicon(path)
        except ConfigError as error:
            raise ConfigError(str(error).replace(str(path), "file")) from error


def pls_of(lexicon: Lexicon) -> str:
    """A lexicon as PLS."""
    from xml.sax.saxutils import escape, quoteattr

    def lexeme(word: str, entry: Entry) -> str:
        reading = f"<alias>{escape(entry.said)}</alias>"
        if entry.alphabet:
            reading = (
                f"<phoneme alphabet={quoteattr(entry.alphabet)}>{escape(entry.said)}</phoneme>"
            )
        return f"<lexeme><grapheme>{escape(word)}</grapheme>{reading}</lexeme>"

    rows: Iterable[str] = (lexeme(word, entry) for word, entry in lexicon.entries.items())
    head = (
        '<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon"'
        ' alphabet="ipa">'
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *rows, "</lexicon>", ""])


def routes(hub: Hub, store: Dictionaries, failure: Failure) -> list[BaseRoute]:
    """The endpoints."""
    return [*of_all(hub, store, failure), *of_one(hub, store, failure)]


def of_all(hub: Hub, store: Dictionaries, failure: Failure) -> list[BaseRoute]:
    """What makes dictionaries, and lists them."""

    @answers(hub, failure, tokens=False, writes="elevenlabs")
    async def from_rules(request: Request, caller: Caller) -> Response:
        body = await json_body(hub, request)
        entries = await aside(hub, request, lambda: store.checked(entries_of(body.get("rules"))))
        return JSONResponse(
            store.add(caller, body.get("name"), body.get("description"), Lexicon(entries)).row()
        )

    @answers(hub, failure, tokens=False, writes="elevenlabs")
    async def from_file(request: Request, caller: Caller) -> Response:
        body = await body_of(hub, request)
        kind = request.headers.get("content-type", "")

        def read() -> tuple[dict[str, str], dict[str, Entry]]:
            fields = uploaded(body, kind)
            texts: dict[str, str] = {
                name: fields[name].decode("utf-8", "replace")
                for name in ("name", "description")
                if name in fields
            }
            if "file" not in fields:
                raise RequestError("invalid_option", "file is missing: a PLS file.", field="file")
            return texts, store.checked(dict(lexicon_of_file(fields["file"]).entries))

        texts, entries = await aside(hub, request, read)
        return JSONResponse(
            store.add(caller, texts.get("name"), texts.get("description"), Lexicon(entries)).row()
        )

    @answers(hub, failure, tokens=False)
    async def listed(request: Request, caller: Caller) -> Response:
        rows = [entry.row() for entry in store.listed(caller)]
        return JSONResponse(
            {"pronunciation_dictionaries": rows, "next_cursor": None, "has_more": False}
        )

    return [
        Route(f"{PATH}/add-from-rules", from_rules, methods=["POST"]),
        Route(f"{PATH}/add-from-file", from_file, methods=["POST"]),
        Route(PATH, listed),
        Route(PATH + "/", listed),
    ]


def of_one(hub: Hub, store: Dictionaries, failure: Failure) -> list[BaseRoute]:
    """What shows and changes a dictionary."""

    def own(request: Request, caller: Caller) -> Dictionary:
        dictionary = store.get(request.path_params["id"])
        if dictionary.owner != store.owner(caller):
            raise ConfigError("This pronunciation dictionary belongs to another key.")
        return dictionary

    @answers(hub, failure, tokens=False, writes="elevenlabs")
    async def one(request: Request, caller: Caller) -> Response:
        dictionary = own(request, caller)
        if request.method == "PATCH":
            store.may_change(caller, dictionary)
            body = await json_body(hub, request)
            if body.get("archived") is True:
                store.drop(dictionary)
            store.rename(dictionary, str(body.get("name") or dictionary.name)[:200])
        return JSONResponse(dictionary.row())

    @answers(hub, failure, tokens=False, writes="elevenlabs")
    async def change(request: Request, caller: Caller) -> Response:
        dictionary = own(request, caller)
        body = await json_body(hub, request)
        store.may_change(caller, dictionary)
        if request.path_params["change"] == "add-rules":
            # Those that were there can be said.
            added = await aside(hub, request, lambda: store.checked(entries_of(body.get("rules"))))
            entries = dictionary.latest[1].entries | added
        else:
            words = body.get("rule_strings")
            entries = dict(dictionary.latest[1].entries)
            for word in words if isinstance(words, list) else ():
                entries.pop(spaced(str(word)), None)
        store.change(caller, dictionary, Lexicon(entries))
        version, lexicon = dictionary.latest
        return JSONResponse(
            {"id": dictionary.id, "version_id": version, "version_rules_num": len(lexicon)}
        )

    @answers(hub, failure, tokens=False)
    async def download(request: Request, caller: Caller) -> Response:
        dictionary = own(request, caller)
        version = request.path_params["version"]
        if version not in dictionary.versions:
            raise ConfigError(f"The dictionary {dictionary.id!r} has no version {version[:80]!r}.")
        return Response(pls_of(dictionary.versions[version]), media_type="application/pls+xml")

    return [
        Route(PATH + "/{id}", one, methods=["GET", "PATCH"]),
        Route(PATH + "/{id}/{change:str}", change, methods=["POST"]),
        Route(PATH + "/{id}/{version}/download", download),
    ]
