"""Pronunciation dictionaries, made over ElevenLabs' endpoints: kept while the server runs, named with a text."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sayahead.errors import ConfigError
from sayahead.server.http import Failure, RequestError, answers, body_of, json_body
from sayahead.server.hub import Hub
from sayahead.server.operation.access import Caller
from sayahead.text.lexicon import Entry, Lexicon, read_lexicon, spaced

MOST, MOST_RULES, MOST_VERSIONS, MOST_LOCATORS = 64, 1000, 8, 3
"""Dictionaries of one key, rules of one, versions of it that are kept, dictionaries of one text."""
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

    def add(self, lexicon: Lexicon) -> None:
        """A new version."""
        self.versions[secrets.token_urlsafe(12)] = lexicon
        while len(self.versions) > MOST_VERSIONS:
            del self.versions[next(iter(self.versions))]

    @property
    def latest(self) -> tuple[str, Lexicon]:
        """The newest version, with its id."""
        return list(self.versions.items())[-1]

    def row(self) -> dict[str, Any]:
        """As ElevenLabs' clients expect it."""
        version, lexicon = self.latest
        row = {"id": self.id, "name": self.name, "created_by": self.owner, "creation_time_unix": self.created}
        row |= {"version_id": version, "version_rules_num": len(lexicon), "description": self.description}
        latest = {"latest_version_id": version, "latest_version_rules_num": len(lexicon)}
        return row | latest | {"permission_on_resource": "admin", "archived_time_unix": None}


class Dictionaries:
    """All dictionaries of a server. Ids cannot be guessed: who knows one may use it, over any protocol."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._entries = dict[str, Dictionary]()

    @classmethod
    def of_server(cls, hub: Hub) -> Dictionaries:
        """Those that all protocols of a server share."""
        store: Dictionaries = hub.shared.setdefault(cls, cls(hub))
        return store

    def lexicon(self, locators: object) -> Lexicon | None:
        """What ``pronunciation_dictionary_locators`` name, the first of them first; None without any.

        ConfigError for one that is unknown, and for too many.
        """
        if not locators:
            return None
        if not isinstance(locators, list) or len(locators) > MOST_LOCATORS:
            raise ConfigError(f"pronunciation_dictionary_locators must be a list of at most {MOST_LOCATORS}.")
        merged: Lexicon | None = None
        for locator in reversed(locators):
            if not isinstance(locator, dict):
                raise ConfigError("A pronunciation dictionary locator is an object with pronunciation_dictionary_id.")
            dictionary = self.get(locator.get("pronunciation_dictionary_id"))
            version = locator.get("version_id") or dictionary.latest[0]
            if version not in dictionary.versions:
                raise ConfigError(f"The dictionary {dictionary.id!r} has no version {str(version)[:80]!r}.")
            merged = dictionary.versions[version] if merged is None else merged | dictionary.versions[version]
        return merged

    def get(self, name: object) -> Dictionary:
        """A dictionary by its id. ConfigError where there is none."""
        if not isinstance(name, str) or name not in self._entries:
            raise ConfigError(
                f"There is no pronunciation dictionary {str(name)[:80]!r} on this server: POST {PATH}/add-from-rules."
            )
        return self._entries[name]

    def of(self, caller: Caller) -> list[Dictionary]:
        """A caller's dictionaries."""
        return [entry for entry in self._entries.values() if entry.owner == caller.name]

    def add(self, caller: Caller, name: object, description: object, lexicon: Lexicon) -> Dictionary:
        """A new dictionary. RequestError for one without a name, or too many."""
        if not isinstance(name, str) or not 0 < len(name) <= 200:
            raise RequestError("invalid_option", "name must be a text of 1 to 200 characters.", field="name")
        if len(self.of(caller)) >= MOST:
            raise RequestError("invalid_option", f"There are {MOST} dictionaries: archive one with PATCH {PATH}/ID.")
        about = description if isinstance(description, str) else None
        dictionary = Dictionary(secrets.token_urlsafe(12), name, about, caller.name, int(time.time()))
        dictionary.add(self.checked(lexicon))
        self._entries[dictionary.id] = dictionary
        return dictionary

    def drop(self, dictionary: Dictionary) -> None:
        """Forget a dictionary."""
        self._entries.pop(dictionary.id, None)

    def checked(self, lexicon: Lexicon) -> Lexicon:
        """A lexicon that is not too long and that the default voice, if it is loaded, can say."""
        if len(lexicon) > MOST_RULES:
            raise RequestError("invalid_option", f"A dictionary may have {MOST_RULES} rules, not {len(lexicon)}.")
        voice = self._hub.voices.loaded.get(self._hub.voices.default)
        if voice is not None:
            voice.pronunciations(lexicon)
        return lexicon


def entries_of(rules: object) -> dict[str, Entry]:
    """Entries of ElevenLabs' rules. ConfigError for a bad one."""
    if not isinstance(rules, list) or not rules:
        raise ConfigError("rules must be a list of at least one rule.")
    entries = dict[str, Entry]()
    for number, rule in enumerate(rules, start=1):
        where, rule = f"rule {number}", rule if isinstance(rule, dict) else {}
        word, kind = rule.get("string_to_replace"), rule.get("type")
        reading = rule.get("alias" if kind == "alias" else "phoneme")
        if kind not in ("alias", "phoneme") or not isinstance(word, str) or not isinstance(reading, str):
            raise ConfigError(f"{where}: expected type (alias or phoneme), string_to_replace, and alias or phoneme.")
        alphabet = "" if kind == "alias" else str(rule.get("alphabet", "ipa")).lower()
        word = spaced(word if rule.get("case_sensitive", True) is not False else word.lower())
        entries[word] = Entry(reading, alphabet, where)
    return entries


def uploaded(body: bytes, content_type: str) -> dict[str, bytes]:
    """The fields of a form with a file."""
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1", "replace")
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    if not message.is_multipart():
        raise RequestError("invalid_message", "The body is no form: send multipart/form-data with name and file.")
    fields = dict[str, bytes]()
    for part in message.iter_parts():
        content = part.get_payload(decode=True)
        name = part.get_param("name", header="content-disposition")
        if isinstance(name, str) and isinstance(content, bytes):
            fields[name] = content
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
            reading = f"<phoneme alphabet={quoteattr(entry.alphabet)}>{escape(entry.said)}</phoneme>"
        return f"<lexeme><grapheme>{escape(word)}</grapheme>{reading}</lexeme>"

    rows: Iterable[str] = (lexeme(word, entry) for word, entry in lexicon.entries.items())
    head = '<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *rows, "</lexicon>", ""])


def routes(hub: Hub, store: Dictionaries, failure: Failure) -> list[BaseRoute]:
    """The endpoints."""
    return [*of_all(hub, store, failure), *of_one(hub, store, failure)]


def of_all(hub: Hub, store: Dictionaries, failure: Failure) -> list[BaseRoute]:
    """What makes dictionaries, and lists them."""

    @answers(hub, failure)
    async def from_rules(request: Request, caller: Caller) -> Response:
        body = await json_body(hub, request)
        lexicon = Lexicon(entries_of(body.get("rules")))
        return JSONResponse(store.add(caller, body.get("name"), body.get("description"), lexicon).row())

    @answers(hub, failure)
    async def from_file(request: Request, caller: Caller) -> Response:
        fields = uploaded(await body_of(hub, request), request.headers.get("content-type", ""))
        texts = {name: fields[name].decode("utf-8", "replace") for name in ("name", "description") if name in fields}
        if "file" not in fields:
            raise RequestError("invalid_option", "file is missing: a PLS file.", field="file")
        lexicon = lexicon_of_file(fields["file"])
        return JSONResponse(store.add(caller, texts.get("name"), texts.get("description"), lexicon).row())

    @answers(hub, failure)
    async def listed(request: Request, caller: Caller) -> Response:
        rows = [entry.row() for entry in store.of(caller)]
        return JSONResponse({"pronunciation_dictionaries": rows, "next_cursor": None, "has_more": False})

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
        if dictionary.owner != caller.name:
            raise ConfigError("This pronunciation dictionary belongs to another key.")
        return dictionary

    @answers(hub, failure)
    async def one(request: Request, caller: Caller) -> Response:
        dictionary = own(request, caller)
        if request.method == "PATCH":
            body = await json_body(hub, request)
            if body.get("archived") is True:
                store.drop(dictionary)
            dictionary.name = str(body.get("name") or dictionary.name)[:200]
        return JSONResponse(dictionary.row())

    @answers(hub, failure)
    async def change(request: Request, caller: Caller) -> Response:
        dictionary, body = own(request, caller), await json_body(hub, request)
        entries = dict(dictionary.latest[1].entries)
        if request.path_params["change"] == "add-rules":
            entries |= entries_of(body.get("rules"))
        else:
            words = body.get("rule_strings")
            for word in words if isinstance(words, list) else ():
                entries.pop(spaced(str(word)), None)
        dictionary.add(store.checked(Lexicon(entries)))
        version, lexicon = dictionary.latest
        return JSONResponse({"id": dictionary.id, "version_id": version, "version_rules_num": len(lexicon)})

    @answers(hub, failure)
    async def download(request: Request, caller: Caller) -> Response:
        dictionary, version = own(request, caller), request.path_params["version"]
        if version not in dictionary.versions:
            raise ConfigError(f"The dictionary {dictionary.id!r} has no version {version[:80]!r}.")
        return Response(pls_of(dictionary.versions[version]), media_type="application/pls+xml")

    return [
        Route(PATH + "/{id}", one, methods=["GET", "PATCH"]),
        Route(PATH + "/{id}/{change:str}", change, methods=["POST"]),
        Route(PATH + "/{id}/{version}/download", download),
    ]
