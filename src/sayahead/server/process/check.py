"""Findings about the settings that an operator should know before the server is public."""

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

# Most memory of a connection besides its messages: buffers of the system and the event loop, and
# unsent data.
BUFFERS = 262144
# Memory of a text spoken by the default voice, with its state and waiting characters.
TEXT_BYTES = 3_000_000
MANY_KEYS = 1000
MANY_ROWS = 500_000


def findings(hub: Hub) -> Iterator[str]:
    """Yield a sentence for each thing that deserves attention."""
    settings = hub.settings
    limits = hub.limits
    is_local = loopback(settings.host)
    who = "anyone on this machine" if is_local else f"anyone who can reach {settings.host}"
    if hub.access.open:
        yield f"No API key is required: {who} can use the server. Set keys_file to require one."
    if not is_local and settings.certificate is None:
        yield (
            "Connections are not encrypted: set certificate and certificate_key, or use a proxy"
            " with TLS."
        )
    if "*" in settings.origins:
        yield "Web pages of any origin can connect: list the allowed ones in origins."
    if not is_local and settings.metrics:
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
    texts_bytes = hub.places * TEXT_BYTES
    max_bytes = texts_bytes + connections * (limits.head_bytes + 2 * limits.message_bytes + BUFFERS)
    yield (
        f"{hub.places} concurrent texts need about {megabytes(texts_bytes)}; with {connections}"
        " connections, clients can use " + f"{megabytes(max_bytes)} at most{beyond(max_bytes)}."
    )


def undeclared(settings: Settings) -> Iterator[str]:
    """Yield a sentence if the server seems to be behind a proxy that the settings do not name."""
    names = [host for host in settings.hosts if "." in host and address_in(host) is None]
    in_cluster = "KUBERNETES_SERVICE_HOST" in os.environ
    if settings.proxies or settings.certificate is not None or not (names or in_cluster):
        return
    symptom = f"It is reached as {names[0]}" if names else "It runs in Kubernetes"
    yield (
        f"{symptom}, without a certificate of its own and without proxies: behind an ingress or"
        " another proxy all clients count as one. Name it in proxies, such as 10.0.0.0/8."
    )


def large(hub: Hub) -> Iterator[str]:
    """Yield a sentence if there are very many keys or rows of usage, with the time that they cost
    here."""
    settings = hub.settings
    keys = hub.access.keys
    if keys >= MANY_KEYS:
        start = time.perf_counter()
        Access(settings)
        took_s = time.perf_counter() - start
        yield (
            f"There are {keys:,} keys: a change of one is taken over {took_s:.1f} s later than of"
            " few."
        )
    if settings.usage is None or not os.path.exists(settings.usage):
        return
    start = time.perf_counter()
    file = File(settings.usage)
    rows, key_count = file.size()
    file.close()
    took_s = time.perf_counter() - start
    if rows >= MANY_ROWS:
        size = megabytes(os.path.getsize(settings.usage))
        yield (
            f"{settings.usage} has {rows:,} rows of {key_count:,} keys ({size}); to count them took"
            f" {took_s:.1f} s. Ask for bills by days or by key, and give names to fewer keys: a row"
            " is a key's day, protocol and voice."
        )


def taken(settings: Settings) -> Iterator[str]:
    """Yield a sentence for each port that another program uses. OutputError if a port cannot be
    opened at all."""
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
    """Return a clause if ``size`` bytes exceed the machine's memory; else nothing."""
    memory = (
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    )
    if not memory or size <= memory:
        return ""
    return f", and the machine has {megabytes(memory)}: lower limits.connections or limits.sessions"


def megabytes(size: int) -> str:
    """Format a size in megabytes."""
    return f"{size / 1e6:,.0f} MB"
