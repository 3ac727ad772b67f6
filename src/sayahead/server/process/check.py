"""What the settings leave open, for the operator to know before anybody else does."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from sayahead.server.hub import Hub
from sayahead.server.operation.access import loopback
from sayahead.server.operation.settings import Settings
from sayahead.server.operation.transport import most_connections
from sayahead.server.process.run import bind, ports
from sayahead.sound.files import OutputError

# What a connection keeps at most besides its messages: buffers of the system and of the event loop, and what it has
# still to be sent.
BUFFERS = 262144
# Memory of a text being spoken by the default voice, with its state and the text that waits.
TEXT_BYTES = 3_000_000


def findings(hub: Hub) -> Iterator[str]:
    """A sentence for each thing that deserves attention."""
    settings, limits = hub.settings, hub.limits
    local = loopback(settings.host)
    who = "anyone on this machine" if local else f"anyone who can reach {settings.host}"
    if hub.access.open:
        yield f"No API key is required: {who} can use the server. Set keys_file to require one."
    if not local and settings.certificate is None:
        yield "Connections are not encrypted: set certificate and certificate_key, or use a proxy with TLS."
    if "*" in settings.origins:
        yield "Web pages of any origin can connect: list the allowed ones in origins."
    if not local and settings.metrics:
        yield "/metrics needs no key: set metrics to false, or restrict it in a proxy."
    for own in settings.protocols:
        yield from own.findings()
    if settings.log_text:
        yield "Clients' texts appear in the log."
    if hub.share >= hub.places and hub.access.keys != 1:
        yield "A single key or address can take all places: set limits.sessions_per_key below limits.sessions."
    connections = most_connections(limits)
    least = hub.places * TEXT_BYTES
    most = least + connections * (limits.head_bytes + 2 * limits.message_bytes + BUFFERS)
    yield (
        f"{hub.places} concurrent texts need about {megabytes(least)}; with {connections} connections, clients can use "
        + (f"{megabytes(most)} at most{beyond(most)}.")
    )


def taken(settings: Settings) -> Iterator[str]:
    """A sentence for each port that another program has, maybe a server that runs already; OutputError if one of them
    cannot be had at all."""
    for host, port in ports(settings):
        try:
            bind(host, port).close()
        except OutputError as error:
            if getattr(error.__cause__, "errno", None) != errno.EADDRINUSE:
                raise
            yield f"Port {port} of {host} is in use: unless it is by this server, running already, choose another."


def beyond(size: int) -> str:
    """Whether the machine has that memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    if not memory or size <= memory:
        return ""
    return f", and the machine has {megabytes(memory)}: lower limits.connections or limits.sessions"


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:,.0f} MB"
