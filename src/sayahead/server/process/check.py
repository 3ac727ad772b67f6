"""What the settings leave open, for the operator to know before anybody else does."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator

from sayahead.server.hub import Hub
from sayahead.server.operation.access import Access, loopback
from sayahead.server.operation.settings import Settings
from sayahead.server.operation.transport import most_connections
from sayahead.server.operation.usage_file import File
from sayahead.server.process.app import address_in
from sayahead.server.process.run import bind, ports
from sayahead.sound.files import OutputError

# What a connection keeps at most besides its messages: buffers of the system and of the event loop,
# and what it has still to be sent.
BUFFERS = 262144
# Memory of a text being spoken by the default voice, with its state and the text that waits.
TEXT_BYTES = 3_000_000
MANY_KEYS = 1000
MANY_ROWS = 500_000


def findings(hub: Hub) -> Iterator[str]:
    """A sentence for each thing that deserves attention."""
    settings = hub.settings
    limits = hub.limits
    local = loopback(settings.host)
    who = "anyone on this machine" if local else f"anyone who can reach {settings.host}"
    if hub.access.open:
        yield f"No API key is required: {who} can use the server. Set keys_file to require one."
    if not local and settings.certificate is None:
        yield (
            "Connections are not encrypted: set certificate and certificate_key, or use a proxy"
            " with TLS."
        )
    if "*" in settings.origins:
        yield "Web pages of any origin can connect: list the allowed ones in origins."
    if not local and settings.metrics:
        yield "/metrics needs no key: set metrics to false, or restrict it in a proxy."
    for own in settings.protocols:
        yield from own.findings()
    if settings.log_text:
        yield "Clients' texts appear in the log."
    yield from undeclared(settings)
    yield from large(hub)
    if hub.share >= hub.places and hub.access.keys != 1:
        yield (
            "A single key or address can take all places: set limits.sessions_per_key below"
            " limits.sessions."
        )
    connections = most_connections(limits)
    least = hub.places * TEXT_BYTES
    most = least + connections * (limits.head_bytes + 2 * limits.message_bytes + BUFFERS)
    yield (
        f"{hub.places} concurrent texts need about {megabytes(least)}; with {connections}"
        " connections, clients can use " + f"{megabytes(most)} at most{beyond(most)}."
    )


def undeclared(settings: Settings) -> Iterator[str]:
    """A sentence where a proxy seems to stand before the server, and the settings do not name
    it."""
    names = [host for host in settings.hosts if "." in host and address_in(host) is None]
    cluster = "KUBERNETES_SERVICE_HOST" in os.environ
    if settings.proxies or settings.certificate is not None or not (names or cluster):
        return
    where = f"It is reached as {names[0]}" if names else "It runs in Kubernetes"
    yield (
        f"{where}, without a certificate of its own and without proxies: behind an ingress or"
        " another proxy all clients count as one. Name it in proxies, such as 10.0.0.0/8."
    )


def large(hub: Hub) -> Iterator[str]:
    """A sentence for keys and for usage of which there are very many, with what that costs on this
    machine."""
    settings = hub.settings
    keys = hub.access.keys
    if keys >= MANY_KEYS:
        begin = time.perf_counter()
        Access(settings)
        took_s = time.perf_counter() - begin
        yield (
            f"There are {keys:,} keys: a change of one is taken over {took_s:.1f} s later than of"
            " few."
        )
    if settings.usage is None or not os.path.exists(settings.usage):
        return
    begin = time.perf_counter()
    file = File(settings.usage)
    rows, of = file.size()
    file.close()
    took_s = time.perf_counter() - begin
    if rows >= MANY_ROWS:
        size = megabytes(os.path.getsize(settings.usage))
        yield (
            f"{settings.usage} has {rows:,} rows of {of:,} keys ({size}); to count them took"
            f" {took_s:.1f} s. Ask for bills by days or by key, and give names to fewer keys: a row"
            " is a key's day, protocol and voice."
        )


def taken(settings: Settings) -> Iterator[str]:
    """A sentence for each port that another program has, maybe a server that runs already;
    OutputError if one of them cannot be had at all."""
    for host, port in ports(settings):
        try:
            bind(host, port).close()
        except OutputError as error:
            if getattr(error.__cause__, "errno", None) != errno.EADDRINUSE:
                raise
            yield (
                f"Port {port} of {host} is in use: unless it is by this server, running already,"
                " choose another."
            )


def beyond(size: int) -> str:
    """Whether the machine has that memory."""
    memory = (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    )
    if not memory or size <= memory:
        return ""
    return f", and the machine has {megabytes(memory)}: lower limits.connections or limits.sessions"


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:,.0f} MB"
