"""Pronunciation dictionaries by ElevenLabs' API: created while the server runs, and named in
requests."""

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

MAX_DICTIONARIES = 64
"""Most dictionaries of one key."""
MAX_VERSIONS = 8
"""Versions of a dictionary that are kept."""
MAX_LOCATORS = 3
"""Most dictionaries of one text."""
MAX_FIELDS = 16
"""Most fields of an uploaded form."""
MAX_SIZE = 8_000_000
"""Largest size of all versions of all dictionaries of one key, in characters."""
RULE_SIZE = 100
"""Characters that a rule counts in addition to its text."""
MAX_MERGED = 64
"""Combinations of dictionaries that are cached."""
UNUSED_S = 3600.0
"""Without keys, a dictionary is dropped when it was not used for this long."""
SPARED_S = 60.0
"""The same time if its owner has too many."""
PATH = "/v1/pronunciation-dictionaries"


@dataclass(slots=True)
class Dictionary:
    """A dictionary with its last versions, newest last."""

    id: str
    name: str
    description: str | None
    owner: str
    """Name of the key; without keys, the share of the address."""
    created: int
    """Seconds since 1970."""
    versions: dict[str, Lexicon] = field(default_factory=dict)
    used: float = field(default_factory=time.monotonic)
    """Time of its last use in this process."""

    @property
    def size(self) -> int:
        """Its size in characters, by ``size_of``."""
        return sum(map(size_of, self.versions.values()))

    def add(self, lexicon: Lexicon) -> None:
        """Add a new version, and drop the oldest if there are too many."""
        self.versions[secrets.token_urlsafe(12)] = lexicon
        while len(self.versions) > MAX_VERSIONS:
            del self.versions[next(iter(self.versions))]

    @property
    def latest(self) -> tuple[str, Lexicon]:
        """The newest version, with its id."""
        return list(self.versions.items())[-1]

    def row(self) -> dict[str, Any]:
        """Return it in ElevenLabs' form."""
        version, lexicon = self.latest
        return {
            "id": self.id,
            "name": self.name,
            "created_by": self.owner,
            "creation_time_unix": self.created,
            "version_id": version,
            "version_rules_num": len(lexicon),
            "description": self.description,
            "latest_version_id": version,
            "latest_version_rules_num": len(lexicon),
            "permission_on_resource": "admin",
            "archived_time_unix": None,
        }


class Dictionaries:
    """All dictionaries of a server. Whoever knows the id of one, which cannot be guessed, may use
    it over any protocol."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._entries = dict[str, Dictionary]()
        # Shares them with the other processes of the server.
        folder = hub.siblings.folder
        self._shelf = None if folder is None else Shelf(folder / "dictionaries")
        # Cache of merged lexicons, by the versions in them.
        self._merged: OrderedDict[tuple[str, ...], Lexicon] = OrderedDict()

    @classmethod
    def of_server(cls, hub: Hub) -> Dictionaries:
        """Return the dictionaries of a server, which all protocols share."""
        store: Dictionaries = hub.shared.setdefault(cls, cls(hub))
        return store

    def lexicon(self, locators: object) -> Lexicon | None:
        """Return the merged lexicon that ``pronunciation_dictionary_locators`` name; earlier ones
        take precedence.

        None without any. ConfigError for an unknown one or too many.
        """
        if not locators:
            return None
        if not isinstance(locators, list) or len(locators) > MAX_LOCATORS:
            raise ConfigError(
                f"pronunciation_dictionary_locators must be a list of at most {MAX_LOCATORS}."
            )
        versions = dict[str, Lexicon]()
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
            versions[version] = dictionary.versions[version]
        if len(versions) == 1:
            return next(iter(versions.values()))
        if (merged := self._merged.pop(tuple(versions), None)) is None:
            merged = functools.reduce(operator.or_, versions.values())
        self._merged[tuple(versions)] = merged
        if len(self._merged) > MAX_MERGED:
            self._merged.popitem(last=False)
        return merged

    def get(self, name: object) -> Dictionary:
        """Return a dictionary by its id, and mark it as used. ConfigError if there is none."""
        self._synchronize()
        if not isinstance(name, str) or name not in self._entries:
            raise ConfigError(
                f"There is no pronunciation dictionary {str(name)[:80]!r} on this server: POST"
                f" {PATH}/add-from-rules."
            )
        self._entries[name].used = time.monotonic()
        if self._shelf is not None:
            self._shelf.use(name)
        return self._entries[name]

    def _synchronize(self) -> None:
        """Take over the changes of other processes."""
        if self._shelf is None:
            return
        for name, text in self._shelf.changes():
            known = self._entries.pop(name, None)
            if text is not None:
                self._entries[name] = restored(json.loads(text), known)

    def _store(self, dictionary: Dictionary) -> None:
        """Store a new or changed dictionary, also for the other processes."""
        self._entries[dictionary.id] = dictionary
        if self._shelf is not None:
            self._shelf.put(dictionary.id, json.dumps(kept(dictionary)))

    def owner(self, caller: Caller) -> str:
        """Return the owner of a caller's dictionaries: its key or, without keys, its address."""
        return caller.share if self._hub.access.open else caller.name

    def of(self, caller: Caller) -> list[Dictionary]:
        """Return a caller's dictionaries."""
        self._synchronize()
        return [entry for entry in self._entries.values() if entry.owner == self.owner(caller)]

    def listed(self, caller: Caller) -> list[Dictionary]:
        """Return the dictionaries to list for a caller; none without an owner, who may be anybody
        on this machine."""
        return self.of(caller) if self.owner(caller) else []

    def add(
        self, caller: Caller, name: object, description: object, lexicon: Lexicon
    ) -> Dictionary:
        """Create a dictionary. RequestError without a valid name, or if there are too many."""
        if not isinstance(name, str) or not 0 < len(name) <= 200:
            raise RequestError(
                "invalid_option", "name must be a text of 1 to 200 characters.", field="name"
            )
        if self._hub.access.open:
            self._synchronize()
            oldest = time.monotonic() - UNUSED_S
            for entry in [
                other for other in self._entries.values() if self._last_use(other) < oldest
            ]:
                self.drop(entry)
            self._make_room(caller)
        if len(self.of(caller)) >= MAX_DICTIONARIES:
            raise RequestError(
                "invalid_option",
                f"There are {MAX_DICTIONARIES} dictionaries: archive one with PATCH {PATH}/ID.",
            )
        short_description = description[:1000] if isinstance(description, str) else None
        dictionary = Dictionary(
            secrets.token_urlsafe(12), name, short_description, self.owner(caller), int(time.time())
        )
        self.change(caller, dictionary, lexicon)
        return dictionary

    def _last_use(self, dictionary: Dictionary) -> float:
        """Return when a dictionary was last used in any process."""
        if self._shelf is None:
            return dictionary.used
        return max(dictionary.used, self._shelf.used(dictionary.id))

    def _make_room(self, caller: Caller) -> None:
        """Drop the least recently used dictionaries of an owner that has too many.

        Without keys, an owner may be several clients, so recently used ones are kept.
        """
        by_last_use = sorted(self.of(caller), key=self._last_use)
        newest = time.monotonic() - SPARED_S
        for entry in by_last_use[: max(0, len(by_last_use) - MAX_DICTIONARIES + 1)]:
            if self._last_use(entry) < newest:
                self.drop(entry)

    def may_change(self, caller: Caller, dictionary: Dictionary) -> None:
        """Raise an error if a dictionary is not the caller's, or if its owner is not known."""
        if dictionary.owner != self.owner(caller):
            raise ConfigError("This pronunciation dictionary belongs to another key.")
        if not dictionary.owner:
            sentence = (
                "Without keys, a dictionary stays as it is, as anybody may have made it: make"
                " another one."
            )
            raise RequestError("forbidden", sentence)

    def change(self, caller: Caller, dictionary: Dictionary, lexicon: Lexicon) -> None:
        """Add a version to a dictionary. RequestError if its owner then has too much."""
        check_lexicon(lexicon.entries)
        size = sum(entry.size for entry in self.of(caller))
        if size + size_of(lexicon) > MAX_SIZE:
            raise RequestError(
                "invalid_option",
                f"Your dictionaries are too large: archive one with PATCH {PATH}/ID.",
            )
        dictionary.add(lexicon)
        self._store(dictionary)

    def rename(self, dictionary: Dictionary, name: str) -> None:
        """Give a dictionary another name."""
        dictionary.name = name
        if dictionary.id in self._entries:
            self._store(dictionary)

    def drop(self, dictionary: Dictionary) -> None:
        """Forget a dictionary."""
        self._entries.pop(dictionary.id, None)
        if self._shelf is not None:
            self._shelf.take(dictionary.id)

    def checked(self, entries: dict[str, Entry]) -> dict[str, Entry]:
        """Check the number of entries and, if the default voice is loaded, that it can say them,
        which is slow."""
        check_lexicon(entries)
        lexicon = Lexicon(entries)
        voice = self._hub.voices.loaded.get(self._hub.voices.default)
        if voice is not None:
            voice.pronunciations(lexicon)
        return lexicon.entries


def kept(dictionary: Dictionary) -> dict[str, Any]:
    """Return a dictionary in the form that ``restored`` reads."""
    return asdict(dictionary) | {
        "versions": {
            version: {word: astuple(entry) for word, entry in lexicon.entries.items()}
            for version, lexicon in dictionary.versions.items()
        }
    }


def restored(row: dict[str, Any], known: Dictionary | None) -> Dictionary:
    """Return a dictionary from another process.

    Versions that ``known`` has stay the same objects, because voices cache data for them.
    """
    versions = {
        version: Lexicon({word: Entry(*entry) for word, entry in entries.items()})
        for version, entries in row["versions"].items()
    }
    if known is not None:
        versions = {version: known.versions.get(version, versions[version]) for version in versions}
    return Dictionary(**row | {"versions": versions, "used": time.monotonic()})


def size_of(lexicon: Lexicon) -> int:
    """Return the size of a lexicon in characters."""
    return sum(RULE_SIZE + len(word) + len(entry.said) for word, entry in lexicon.entries.items())


def entries_of(rules: object) -> dict[str, Entry]:
    """Parse ElevenLabs' rules. ConfigError for an invalid one."""
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
    """Return the fields of a multipart form. RequestError if it cannot be read."""
    if not content_type.lower().startswith("multipart/form-data"):
        raise RequestError(
            "invalid_message", "The body is no form: send multipart/form-data with name and file."
        )
    fields = dict[str, bytes]()

    def add(name: bytes | None, content: bytes | None) -> None:
        if len(fields) >= MAX_FIELDS:
            raise RequestError("invalid_message", f"The form has more than {MAX_FIELDS} fields.")
        if name is not None and content is not None:
            fields[name.decode("utf-8", "replace")] = content

    def add_file(file: Any) -> None:
        file.file_object.seek(0)
        add(file.field_name, file.file_object.read())

    try:
        headers = {"Content-Type": content_type.encode("latin-1", "replace")}
        parser = create_form_parser(
            headers, lambda field: add(field.field_name, field.value), add_file
        )
        parser.write(body)
        parser.finalize()
    except (FormParserError, ValueError) as error:
        raise RequestError("invalid_message", "The body is no form that can be read.") from error
    return fields


def lexicon_of_file(content: bytes) -> Lexicon:
    """Parse an uploaded file, in PLS or as lines."""
    suffix = ".pls" if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") else ".txt"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file" + suffix)
        path.write_bytes(content)
        try:
            return read_lexicon(path)
        except ConfigError as error:
            raise ConfigError(str(error).replace(str(path), "file")) from error


def pls_of(lexicon: Lexicon) -> str:
    """Return a lexicon in PLS."""
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
    """Return the routes that create and list dictionaries."""

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
    """Return the routes that show and change a dictionary."""

    def own_dictionary(request: Request, caller: Caller) -> Dictionary:
        dictionary = store.get(request.path_params["id"])
        if dictionary.owner != store.owner(caller):
            raise ConfigError("This pronunciation dictionary belongs to another key.")
        return dictionary

    @answers(hub, failure, tokens=False, writes="elevenlabs")
    async def one(request: Request, caller: Caller) -> Response:
        dictionary = own_dictionary(request, caller)
        if request.method == "PATCH":
            store.may_change(caller, dictionary)
            body = await json_body(hub, request)
            if body.get("archived") is True:
                store.drop(dictionary)
            store.rename(dictionary, str(body.get("name") or dictionary.name)[:200])
        return JSONResponse(dictionary.row())

    @answers(hub, failure, tokens=False, writes="elevenlabs")
    async def change(request: Request, caller: Caller) -> Response:
        dictionary = own_dictionary(request, caller)
        body = await json_body(hub, request)
        store.may_change(caller, dictionary)
        if request.path_params["change"] == "add-rules":
            # Only the new entries need a check.
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
        dictionary = own_dictionary(request, caller)
        version = request.path_params["version"]
        if version not in dictionary.versions:
            raise ConfigError(f"The dictionary {dictionary.id!r} has no version {version[:80]!r}.")
        return Response(pls_of(dictionary.versions[version]), media_type="application/pls+xml")

    return [
        Route(PATH + "/{id}", one, methods=["GET", "PATCH"]),
        Route(PATH + "/{id}/{change:str}", change, methods=["POST"]),
        Route(PATH + "/{id}/{version}/download", download),
    ]
