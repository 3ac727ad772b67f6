"""Who may connect: keys, short-lived tokens for browsers, and the web pages and host names that are allowed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import secrets
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sayahead.errors import ConfigError
from sayahead.server.operation.settings import Settings

ANYBODY = "anybody"
# Where clients of the protocols put their key.
HEADERS = ("authorization", "xi-api-key", "x-api-key", "x-goog-api-key", "kyutai-api-key")
QUERY = ("token", "single_use_token", "access_token", "api_key", "authorization", "auth_id")
SUBPROTOCOL = "sayahead-token."
# Domains that nobody can register.
NEARBY = (".local", ".localhost", ".lan", ".home.arpa", ".internal")
SCHEMES = ("bearer ", "token ")


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever connects."""

    name: str
    """The key's name; ``anybody`` if no key is needed. May be logged, unlike the key."""
    share: str = ""
    """Whose share of the places it uses: the key's, or an address's; empty: nobody's, and it may have all."""


class Access:
    """Decides who may connect."""

    def __init__(self, settings: Settings) -> None:
        check_certificate(settings)
        self._keys = dict(named_keys(settings))
        secret = settings.token_secret
        self._secret = hashlib.sha256(secret.encode()).digest() if secret else secrets.token_bytes(32)
        self._token_s = settings.token_s
        self._origins = {origin.rstrip("/").lower() for origin in settings.origins}
        self._hosts = {host.lower() for host in settings.hosts}
        self._loopback = loopback(settings.host) and not settings.hosts

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return len(self._keys)

    @property
    def open(self) -> bool:
        """Whether no key is needed."""
        return not self._keys

    def caller(self, credential: str | None, *, address: str | None = None, tokens: bool = True) -> Caller | None:
        """Whose key or (with ``tokens``) token that is; None if it is neither. Anybody at that address, if no key is
        needed."""
        if self.open:
            return Caller(ANYBODY, share_of(address))
        if not credential:
            return None
        if credential.lower().startswith(SCHEMES):
            credential = credential.partition(" ")[2].strip()
        digest = hashlib.sha256(credential.encode(errors="replace")).digest()
        # All keys are compared, each in constant time: how long it takes says nothing.
        names = [name for key, name in self._keys.items() if hmac.compare_digest(key, digest)]
        if names:
            return Caller(names[0], names[0])
        return self._token_caller(credential) if tokens else None

    def token(self, caller: Caller) -> tuple[str, float]:
        """A token for a browser that connects in this caller's name, and its end in seconds since 1970."""
        end = time.time() + self._token_s
        claim = f"{end:.6f} {secrets.token_hex(8)} {caller.name}".encode()
        return f"{encode(claim)}.{encode(self._sign(claim))}", end

    def _token_caller(self, token: str) -> Caller | None:
        part, _, signature = token.partition(".")
        try:
            claim = decode(part)
        except ValueError:
            return None
        if not hmac.compare_digest(encode(self._sign(claim)).encode(), signature.encode(errors="replace")):
            return None
        end, _, name = claim.decode().split(" ", 2)
        return Caller(name, name) if time.time() < float(end) and name in self._keys.values() else None

    def _sign(self, claim: bytes) -> bytes:
        return hmac.new(self._secret, claim, hashlib.sha256).digest()

    def page_may(self, headers: Mapping[str, str]) -> bool:
        """Whether the web page that sends this, if it is one, is of the server's own host or an allowed one. CORS does
        not guard sockets, and no browser lets a page forge its Origin."""
        origin = headers.get("origin")
        if origin is None or "*" in self._origins or origin.rstrip("/").lower() in self._origins:
            return True
        try:
            return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""
        except ValueError:
            return False

    def host_may(self, headers: Mapping[str, str]) -> bool:
        """Whether the server was addressed by a name of its own: that of a page that somebody points at this machine is
        not one."""
        try:
            name = (urlsplit(f"//{headers.get('host', '')}").hostname or "").lower()
        except ValueError:
            return False
        if self._hosts:
            return name in self._hosts
        if self._loopback:
            return loopback(name)
        # Without keys, a page whose name is pointed here would be let in as the server's own.
        return not self.open or nearby(name)


def credential(headers: Mapping[str, str], query: Mapping[str, str], subprotocols: Iterable[str] = ()) -> str | None:
    """The key or token that a request carries, wherever its protocol puts it."""
    for name in HEADERS:
        if headers.get(name):
            return headers[name]
    for protocol in subprotocols:
        if protocol.startswith(SUBPROTOCOL):
            return protocol.removeprefix(SUBPROTOCOL)
    for name in QUERY:
        if query.get(name):
            return query[name]
    return None


def named_keys(settings: Settings) -> Iterable[tuple[bytes, str]]:
    """SHA-256 and name of every key."""
    lines = list(settings.keys)
    if settings.keys_file is not None:
        try:
            lines += Path(settings.keys_file).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"The keys in {settings.keys_file} cannot be read: {error}.") from error
    number = 0
    for line in lines:
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        number += 1
        name, colon, key = entry.partition(":")
        if not colon:
            name, key = f"key-{number}", entry
        if len(key) < 8:
            raise ConfigError(f"The key {name!r} is shorter than 8 characters: make a longer one.")
        yield hashlib.sha256(key.encode()).digest(), name
    if settings.keys_file is not None and not number:
        raise ConfigError(f"{settings.keys_file} contains no key: write one per line, or remove the setting.")


def check_certificate(settings: Settings) -> None:
    """ConfigError for a certificate that no server can use."""
    certificate, key = settings.certificate, settings.certificate_key
    if certificate is None:
        if key is not None:
            raise ConfigError("certificate_key is set, but certificate is not: set both, or neither.")
        return
    for name, path in (("certificate", certificate), ("certificate key", key)):
        try:
            Path(certificate if path is None else path).read_bytes()
        except OSError as error:
            raise ConfigError(f"The {name} {path} cannot be read: {error.strerror or error}.") from error
    try:
        # Without a password it would ask for one on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        files = certificate if key is None else f"{certificate} and {key}"
        raise ConfigError(
            f"{files}: not a certificate in PEM with its private key, unencrypted ({error.reason or error})."
        ) from error


def loopback(host: str) -> bool:
    """Whether a host's name or address is a loopback one."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def nearby(host: str) -> bool:
    """Whether a host's name is an address, or one that only its own network gives: no page can have it."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host == socket.gethostname().lower() or host.endswith(NEARBY)
    return True


def share_of(address: str | None) -> str:
    """Whose share of the places somebody at an address uses: the address, or the network that an IPv6 host may take its
    addresses from; empty for this machine, where a proxy may speak for others."""
    try:
        place = ipaddress.ip_address(address or "")
    except ValueError:
        return address or ""
    if isinstance(place, ipaddress.IPv6Address):
        if place.ipv4_mapped is None:
            return "" if place.is_loopback else str(ipaddress.ip_network((place, 64), strict=False))
        place = place.ipv4_mapped
    return "" if place.is_loopback else str(place)


def encode(data: bytes) -> str:
    """base64 that is safe in a URL."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str) -> bytes:
    """Its reverse; ValueError for anything else."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
