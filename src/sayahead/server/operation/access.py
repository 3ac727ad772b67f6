"""Who may connect: keys, short-lived tokens for browsers, and the web pages and host names that are
allowed."""

from __future__ import annotations

import base64
import datetime
import functools
import hashlib
import hmac
import ipaddress
import secrets
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from sayahead.errors import ConfigError
from sayahead.server.operation.keys import NO_TERMS, Key, Terms, keys_of
from sayahead.server.operation.settings import Settings
from sayahead.server.operation.siblings import Siblings

ANYBODY = "anybody"
# Where clients of the protocols put their key.
HEADERS = ("authorization", "xi-api-key", "x-api-key", "x-goog-api-key", "kyutai-api-key")
QUERY = ("token", "single_use_token", "access_token", "api_key", "authorization", "auth_id")
SUBPROTOCOL = "sayahead-token."
ELSEWHERE = "elsewhere"
"""Whose share somebody uses whose address is none."""
# Domains that nobody can register.
NEARBY = (".local", ".localhost", ".lan", ".home.arpa", ".internal", ".svc", ".cluster.local")
SCHEMES = ("bearer ", "token ")
# Begins the mark of a token that is good for one connection.
ONCE = "once-"
# Begins that of one that proves that a text was begun on a server of ours.
RESUMED = "resumed-"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever connects."""

    name: str
    """The key's name; ``anybody`` if no key is needed. May be logged, unlike the key."""
    share: str = ""
    """Whose share of the places it uses: the key's, or an address's; empty: nobody's, and it may
    have all."""
    terms: Terms = NO_TERMS
    """What its key may use."""
    address: str = field(default="", compare=False)
    """Where it connects from."""
    request: str = field(default="", compare=False)
    """What it calls its request, or is called in the answer."""
    trace: str = field(default="", compare=False)
    """To which trace of its own it says that this belongs."""
    digest: bytes = field(default=b"", repr=False, compare=False)
    """SHA-256 of its key; of none, nothing."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a token says."""

    claim: bytes
    end: float
    """Until when it is good, seconds since 1970."""
    mark: str
    digest: bytes
    """Of the key that has signed it."""


class Access:
    """Decides who may connect."""

    def __init__(
        self, settings: Settings, *, before: Access | None = None, siblings: Siblings | None = None
    ) -> None:
        """``before`` is whose tokens still hold; ``siblings``: the processes that share them.
        ConfigError for keys, or a certificate, that cannot be used."""
        if before is None:
            check_certificate(settings)
        self._keys = keys_of(settings)
        # Two may have one name, as while one is exchanged for the other.
        self._names = dict[str, list[Key]]()
        for key in self._keys.values():
            self._names.setdefault(key.name, []).append(key)
        own = settings.token_secret
        if siblings is None:
            siblings = before._siblings if before else Siblings()
        self._siblings: Siblings = siblings
        self.secret = hashlib.sha256(own.encode()).digest() if own else siblings.secret
        """Signs tokens."""
        # Tokens that could be used once, and were.
        self._counters = siblings.counters
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

    def caller(
        self,
        credential: str | None,
        *,
        address: str | None = None,
        tokens: bool = True,
        request: str = "",
        trace: str | None = None,
    ) -> Caller | None:
        """Whose key or (with ``tokens``) token that is; None if it is neither, or not any more.
        Anybody at that address, if no key is needed. ``request`` is what the request is called, and
        ``trace`` that to which it says it belongs."""
        place = address or ""
        whole = trace or ""
        if self.open:
            return Caller(ANYBODY, share_of(address), NO_TERMS, place, request, whole)
        key = self._key(credential, tokens=tokens)
        if key is None or not key.good(datetime.datetime.now(datetime.UTC)):
            return None
        return Caller(key.name, key.name, key.terms, place, request, whole, key.digest)

    def share(self, credential: str | None, address: str | None) -> str:
        """Whose requests somebody's count among: its key's, or without one its address's. No token
        is used by it."""
        key = None if self.open else self._key(credential, tokens=False)
        return share_of(address) if key is None else key.name

    def knows(self, caller: Caller) -> bool:
        """Whether somebody who was let in would be let in still."""
        key = self._keys.get(caller.digest)
        return self.open or (key is not None and key.good(datetime.datetime.now(datetime.UTC)))

    def _key(self, credential: str | None, *, tokens: bool) -> Key | None:
        """The key that a credential is, or speaks for."""
        if not credential:
            return None
        if credential.lower().startswith(SCHEMES):
            credential = credential.partition(" ")[2].strip()
        digest = hashlib.sha256(credential.encode(errors="replace")).digest()
        # Nobody can choose a key by its digest, so how long the look-up takes says nothing of any
        # key.
        found = self._keys.get(digest)
        return found or (self._of_token(credential) if tokens else None)

    def token(self, caller: Caller, *, once: bool = False) -> tuple[str, float]:
        """A token for a browser that connects in this caller's name, ``once`` or often, and its end
        in seconds since 1970."""
        end = time.time() + self._token_s
        claim = f"{end:.6f} {ONCE * once}{secrets.token_hex(8)} {caller.name}".encode()
        return f"{encode(claim)}.{encode(self._sign(claim, caller.digest))}", end

    def resumption(self, caller: Caller, most_s: float) -> str:
        """What a client shows to another server to go on there with a text that was begun here,
        within so long."""
        claim = f"{time.time() + most_s:.6f} {RESUMED}{secrets.token_hex(8)} {caller.name}".encode()
        return f"{encode(claim)}.{encode(self._sign(claim, caller.digest))}"

    def resumes(self, caller: Caller, token: str) -> bool:
        """Whether that is a caller's, still good, and was not used here."""
        found = self._claim(token, [caller.digest])
        if found is None or not found.mark.startswith(RESUMED):
            return False
        return not self._counters.claimed(found.claim)

    def use_resumption(self, token: str) -> None:
        """A caller was let in by it."""
        claim = decode(token.partition(".")[0])
        self._counters.claim(claim, float(claim.split(b" ", 1)[0]))

    def give_back(self, token: str) -> None:
        """A caller who was let in by it has gone without a text, and may come by it again."""
        self._counters.give_back(decode(token.partition(".")[0]))

    def _of_token(self, token: str) -> Key | None:
        """The key in whose name a token was made."""
        name = name_in(token)
        keys = {key.digest: key for key in self._names.get(name, [])}
        # Each key of a name has a signature of its own.
        found = self._claim(token, list(keys))
        if found is None or found.mark.startswith(RESUMED):
            return None
        used = found.mark.startswith(ONCE) and not self._counters.claim(found.claim, found.end)
        return None if used else keys[found.digest]

    def _claim(self, token: str, digests: list[bytes]) -> Claim | None:
        """What a token says, if one of the keys of these digests has signed it, and it is good
        still."""
        part, _, signature = token.partition(".")
        try:
            claim = decode(part)
            end, mark, _ = claim.decode().split(" ", 2)
            given = signature.encode(errors="replace")
            signers = (
                digest
                for digest in digests
                if hmac.compare_digest(self._proof(claim, digest), given)
            )
            signer = next(signers, None)
            if signer is None or time.time() >= float(end):
                return None
            return Claim(claim, float(end), mark, signer)
        except ValueError:
            return None

    def _proof(self, claim: bytes, digest: bytes) -> bytes:
        """A claim's signature as it is written."""
        return encode(self._sign(claim, digest)).encode()

    def _sign(self, claim: bytes, key: bytes) -> bytes:
        return hmac.new(self.secret, claim + key, hashlib.sha256).digest()

    def page_may(self, headers: Mapping[str, str]) -> bool:
        """Whether the web page that sends this, if it is one, is of the server's own host or an
        allowed one. CORS does not guard sockets, and no browser lets a page forge its Origin."""
        origin = headers.get("origin")
        if origin is None or "*" in self._origins or origin.rstrip("/").lower() in self._origins:
            return True
        try:
            return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""
        except ValueError:
            return False

    def host_may(self, headers: Mapping[str, str]) -> bool:
        """Whether the server was addressed by a name of its own: that of a page that somebody
        points at this machine is not one."""
        try:
            name = (urlsplit(f"//{headers.get('host', '')}").hostname or "").lower()
        except ValueError:
            return False
        if self._hosts:
            # An address is no name that somebody could point here; probes and scrapers use the
            # machine's own.
            return name in self._hosts or is_address(name)
        if self._loopback:
            return loopback(name)
        # Without keys, a page whose name is pointed here would be let in as the server's own.
        return not self.open or nearby(name)


def credential(
    headers: Mapping[str, str], query: Mapping[str, str], subprotocols: Iterable[str] = ()
) -> str | None:
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


def check_certificate(settings: Settings) -> None:
    """ConfigError for a certificate that no server can use."""
    certificate = settings.certificate
    key = settings.certificate_key
    if certificate is None:
        if key is not None:
            raise ConfigError(
                "certificate_key is set, but certificate is not: set both, or neither."
            )
        return
    for name, path in (("certificate", certificate), ("certificate key", key)):
        try:
            Path(certificate if path is None else path).read_bytes()
        except OSError as error:
            raise ConfigError(
                f"The {name} {path} cannot be read: {error.strerror or error}."
            ) from error
    try:
        # Without a password it would ask for one on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        files = certificate if key is None else f"{certificate} and {key}"
        raise ConfigError(
            f"{files}: not a certificate in PEM with its private key, unencrypted"
            f" ({error.reason or error})."
        ) from error


def loopback(host: str) -> bool:
    """Whether a host's name or address is a loopback one."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def nearby(host: str) -> bool:
    """Whether a host's name is an address, or one that only its own network gives: no page can have
    it."""
    own = socket.gethostname().lower()
    return is_address(host) or "." not in host or host == own or host.endswith(NEARBY)


def is_address(host: str) -> bool:
    """Whether it is an IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@functools.lru_cache(maxsize=4096)
def share_of(address: str | None) -> str:
    """Whose share of the places somebody at an address uses: the address, or the network that an
    IPv6 host may take its addresses from; empty for this machine, where a proxy may speak for
    others."""
    try:
        place = ipaddress.ip_address(address or "")
    except ValueError:
        # A socket of this machine has none.
        return ELSEWHERE if address else ""
    if isinstance(place, ipaddress.IPv6Address):
        if place.ipv4_mapped is None:
            return "" if place.is_loopback else str(ipaddress.ip_network((place, 64), strict=False))
        place = place.ipv4_mapped
    return "" if place.is_loopback else str(place)


def name_in(token: str) -> str:
    """In whose name a token says that it was made; empty where it is none."""
    try:
        return decode(token.partition(".")[0]).decode().split(" ", 2)[2]
    except (ValueError, IndexError):
        return ""


def encode(data: bytes) -> str:
    """base64 that is safe in a URL."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str) -> bytes:
    """Its reverse; ValueError for anything else."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
