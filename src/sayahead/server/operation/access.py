"""Access control: API keys, short-lived tokens for browsers, and the allowed origins and host
names."""

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
# Where the clients of each protocol send their key.
HEADERS = ("authorization", "xi-api-key", "x-api-key", "x-goog-api-key", "kyutai-api-key")
QUERY = ("token", "single_use_token", "access_token", "api_key", "authorization", "auth_id")
SUBPROTOCOL = "sayahead-token."
ELSEWHERE = "elsewhere"
"""Share of clients whose address is not an IP address."""
# Domains that nobody can register in the public DNS.
NEARBY = (".local", ".localhost", ".lan", ".home.arpa", ".internal", ".svc", ".cluster.local")
SCHEMES = ("bearer ", "token ")
# Prefix of the mark of a token for one connection.
ONCE = "once-"
# Prefix of the mark of a token that proves that a text began on one of our servers.
RESUMED = "resumed-"


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated client."""

    name: str
    """Name of the key, or ``anybody`` if none is needed; unlike the key, it may be logged."""
    share: str = ""
    """Whose share of the places it uses: that of its key or its address. Empty: no share, it may
    take all places."""
    terms: Terms = NO_TERMS
    """What its key allows."""
    address: str = field(default="", compare=False)
    """The address that it connects from."""
    request: str = field(default="", compare=False)
    """The id of its request."""
    trace: str = field(default="", compare=False)
    """The trace that it says this request belongs to."""
    digest: bytes = field(default=b"", repr=False, compare=False)
    """SHA-256 of its key; empty without one."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The content of a valid token."""

    claim: bytes
    end: float
    """Expiry, in seconds since 1970."""
    mark: str
    digest: bytes
    """Digest of the key that signed it."""


class Access:
    """Decides who may connect."""

    def __init__(
        self, settings: Settings, *, before: Access | None = None, siblings: Siblings | None = None
    ) -> None:
        """``before``: the previous settings' access, whose tokens stay valid; ``siblings``: the
        processes that share tokens.

        ConfigError for keys or a certificate that cannot be used.
        """
        if before is None:
            check_certificate(settings)
        self._keys = keys_of(settings)
        # Two keys may have the same name, while one replaces the other.
        self._names = dict[str, list[Key]]()
        for key in self._keys.values():
            self._names.setdefault(key.name, []).append(key)
        own = settings.token_secret
        if siblings is None:
            siblings = before._siblings if before else Siblings()
        self._siblings: Siblings = siblings
        self.secret = hashlib.sha256(own.encode()).digest() if own else siblings.secret
        """Signs tokens."""
        # Remember which tokens were used.
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
        """Return who sends a credential, a key or (with ``tokens``) a token; None if it is not
        valid.

        If no key is needed, everybody is ``anybody`` at their address. ``request``: the request's
        id; ``trace``: the trace it belongs to.
        """
        client_address = address or ""
        trace_id = trace or ""
        if self.open:
            return Caller(ANYBODY, share_of(address), NO_TERMS, client_address, request, trace_id)
        key = self._key(credential, tokens=tokens)
        if key is None or not key.good(datetime.datetime.now(datetime.UTC)):
            return None
        return Caller(key.name, key.name, key.terms, client_address, request, trace_id, key.digest)

    def share(self, credential: str | None, address: str | None) -> str:
        """Return the share that a request counts against: its key's, or without one its address's.
        Uses up no token."""
        key = None if self.open else self._key(credential, tokens=False)
        return share_of(address) if key is None else key.name

    def knows(self, caller: Caller) -> bool:
        """Return whether a caller who was admitted would still be."""
        key = self._keys.get(caller.digest)
        return self.open or (key is not None and key.good(datetime.datetime.now(datetime.UTC)))

    def _key(self, credential: str | None, *, tokens: bool) -> Key | None:
        """Return the key that a credential is, or that a token stands for."""
        if not credential:
            return None
        if credential.lower().startswith(SCHEMES):
            credential = credential.partition(" ")[2].strip()
        digest = hashlib.sha256(credential.encode(errors="replace")).digest()
        # Timing reveals nothing here: the look-up is by digest, which nobody can choose.
        found = self._keys.get(digest)
        return found or (self._of_token(credential) if tokens else None)

    def token(self, caller: Caller, *, once: bool = False) -> tuple[str, float]:
        """Return a token for a browser to connect as this caller, and its expiry in seconds since
        1970.

        ``once``: whether it is valid for one connection only.
        """
        end = time.time() + self._token_s
        claim = f"{end:.6f} {ONCE * once}{secrets.token_hex(8)} {caller.name}".encode()
        return f"{encode(claim)}.{encode(self._sign(claim, caller.digest))}", end

    def resumption(self, caller: Caller, valid_s: float) -> str:
        """Return a token that lets a client continue, on another server, a text that began here;
        valid for ``valid_s`` seconds."""
        claim = (
            f"{time.time() + valid_s:.6f} {RESUMED}{secrets.token_hex(8)} {caller.name}".encode()
        )
        return f"{encode(claim)}.{encode(self._sign(claim, caller.digest))}"

    def resumes(self, caller: Caller, token: str) -> bool:
        """Return whether a resumption token is this caller's, valid and unused here."""
        claim = self._claim(token, [caller.digest])
        if claim is None or not claim.mark.startswith(RESUMED):
            return False
        return not self._counters.claimed(claim.claim)

    def use_resumption(self, token: str) -> None:
        """Use up a resumption token by which a caller was admitted."""
        claim = decode(token.partition(".")[0])
        self._counters.claim(claim, float(claim.split(b" ", 1)[0]))

    def give_back(self, token: str) -> None:
        """Make a resumption token valid again, because its caller left without a text."""
        self._counters.give_back(decode(token.partition(".")[0]))

    def _of_token(self, token: str) -> Key | None:
        """Return the key in whose name a token was made; uses up a single-use token."""
        name = name_in(token)
        keys = {key.digest: key for key in self._names.get(name, [])}
        # Keys with the same name have different signatures.
        claim = self._claim(token, list(keys))
        if claim is None or claim.mark.startswith(RESUMED):
            return None
        is_used_up = claim.mark.startswith(ONCE) and not self._counters.claim(
            claim.claim, claim.end
        )
        return None if is_used_up else keys[claim.digest]

    def _claim(self, token: str, digests: list[bytes]) -> Claim | None:
        """Return the content of a token that is signed by a key with one of these digests and has
        not expired; else None."""
        encoded, _, signature = token.partition(".")
        try:
            claim = decode(encoded)
            end, mark, _ = claim.decode().split(" ", 2)
            proof = signature.encode(errors="replace")
            signers = (
                digest
                for digest in digests
                if hmac.compare_digest(self._proof(claim, digest), proof)
            )
            signer = next(signers, None)
            if signer is None or time.time() >= float(end):
                return None
            return Claim(claim, float(end), mark, signer)
        except ValueError:
            return None

    def _proof(self, claim: bytes, digest: bytes) -> bytes:
        """Return the encoded signature of a claim."""
        return encode(self._sign(claim, digest)).encode()

    def _sign(self, claim: bytes, key: bytes) -> bytes:
        return hmac.new(self.secret, claim + key, hashlib.sha256).digest()

    def page_may(self, headers: Mapping[str, str]) -> bool:
        """Return whether a request that comes from a web page comes from this server's own or an
        allowed origin.

        CORS does not protect WebSockets, but no browser lets a page forge its Origin.
        """
        origin = headers.get("origin")
        if origin is None or "*" in self._origins or origin.rstrip("/").lower() in self._origins:
            return True
        host = headers.get("host", "").lower()
        try:
            return host != "" and host == urlsplit(origin).netloc.lower()
        except ValueError:
            return False

    def host_may(self, headers: Mapping[str, str]) -> bool:
        """Return whether the request's Host is a name of this server, which protects against DNS
        rebinding."""
        try:
            name = (urlsplit(f"//{headers.get('host', '')}").hostname or "").lower()
        except ValueError:
            return False
        if self._hosts:
            # An IP address cannot be rebound; health checks and scrapers use the machine's own.
            return name in self._hosts or is_address(name)
        if self._loopback:
            return loopback(name)
        # Without keys, a page whose domain was pointed to this machine would be admitted.
        return not self.open or nearby(name)


def credential(
    headers: Mapping[str, str], query: Mapping[str, str], subprotocols: Iterable[str] = ()
) -> str | None:
    """Return the key or token of a request, wherever its protocol puts it."""
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
    """Raise ConfigError if the certificate in the settings cannot be used."""
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
        # Without this argument it would ask for a password on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        files = certificate if key is None else f"{certificate} and {key}"
        raise ConfigError(
            f"{files}: not a certificate in PEM with its private key, unencrypted"
            f" ({error.reason or error})."
        ) from error


def loopback(host: str) -> bool:
    """Return whether a host name or address is a loopback one."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def nearby(host: str) -> bool:
    """Return whether a host is an IP address or a name that exists only in its local network, which
    no web page can have."""
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
    """Return the share that an address counts against.

    It is the address itself, or the /64 network of an IPv6 host; empty for this machine, where a
    proxy may speak for many clients.
    """
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        # A Unix socket has no address.
        return ELSEWHERE if address else ""
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is None:
            return (
                "" if parsed.is_loopback else str(ipaddress.ip_network((parsed, 64), strict=False))
            )
        parsed = parsed.ipv4_mapped
    return "" if parsed.is_loopback else str(parsed)


def name_in(token: str) -> str:
    """Return the name in a token, unverified; empty if it is not a token."""
    try:
        return decode(token.partition(".")[0]).decode().split(" ", 2)[2]
    except (ValueError, IndexError):
        return ""


def encode(data: bytes) -> str:
    """Encode as URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str) -> bytes:
    """Decode ``encode``'s result; ValueError for anything else."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
