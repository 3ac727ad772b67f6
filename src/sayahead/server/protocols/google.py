"""Google's Text-to-Speech over gRPC, on its own port; needs ``sayahead[grpc]``."""

from __future__ import annotations

import contextlib
import logging
import os
import ssl
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from sayahead.config import Bound
from sayahead.errors import ConfigError
from sayahead.server.hub import Hub
from sayahead.server.operation.settings import ProtocolSettings, Settings, there
from sayahead.server.operation.transport import HEAD_S, most_connections
from sayahead.sound.files import OutputError

log = logging.getLogger("sayahead.server")
SERVICES = (
    "google.cloud.texttospeech.v1.TextToSpeech",
    "google.cloud.texttospeech.v1beta1.TextToSpeech",
)
"""Versions of the service; the messages that we read are the same in both."""
PING_S = 20.0
# Connections over HTTP for each one over gRPC.
CONNECTIONS = 4
# A connection accepts no new calls after this time (its client opens another), so that a call whose
# client neither reads nor leaves ends at last.
AGE_S = 600.0
CLOSE_S = 1.0


@dataclass(frozen=True, slots=True)
class GoogleSettings(ProtocolSettings):
    """Google's settings."""

    spread = "reused"

    grpc_port: Annotated[int | None, Bound(0, 65535)] = None
    """Port on the same address for Google's Text-to-Speech over gRPC; 0: any that is free, none: it
    is not served."""

    def check(self, server: Settings) -> None:
        if self.grpc_port is not None and not all(map(there, ("grpc", "google.protobuf"))):
            raise ConfigError("The setting grpc_port needs packages: pip install 'sayahead[grpc]'.")

    def addresses(self, server: Settings) -> Iterable[tuple[str, int]]:
        return () if self.grpc_port is None else ((server.host, self.grpc_port),)


SETTINGS = GoogleSettings


@contextlib.asynccontextmanager
async def listening(hub: Hub) -> AsyncIterator[None]:
    """Serve the port ``grpc_port`` of the settings while inside."""
    number = hub.settings.of(GoogleSettings).grpc_port
    if number is None:
        yield
        return
    import grpc

    from sayahead.server.protocols.google_calls import Calls

    handlers = Calls(hub).handlers()
    server = grpc.aio.server(
        handlers=[grpc.method_handlers_generic_handler(name, handlers) for name in SERVICES],
        options=bounds(hub),
        maximum_concurrent_rpcs=most_connections(hub.limits),
    )
    port = opened(server, hub, number)
    await server.start()
    if hub.siblings.leads:
        log.info("listening", extra={"url": f"grpc://{hub.settings.host}:{port}"})
    try:
        yield
    finally:
        await server.stop(CLOSE_S)


def bounds(hub: Hub) -> list[tuple[str, int]]:
    """Return the limits of a connection, as options of gRPC."""
    limits = hub.limits
    seconds = {
        "grpc.server_handshake_timeout_ms": HEAD_S,
        "grpc.max_connection_idle_ms": limits.idle_most_s,
        "grpc.max_connection_age_ms": AGE_S,
        "grpc.max_connection_age_grace_ms": limits.session_s + limits.write_stall_s,
        "grpc.keepalive_time_ms": PING_S,
        "grpc.keepalive_timeout_ms": PING_S,
    }
    numbers = {
        # A second server on this port would take half of the calls; only the processes of this
        # server share it.
        "grpc.so_reuseport": int(hub.siblings.count > 1),
        "grpc.max_receive_message_length": limits.message_bytes,
        "grpc.max_metadata_size": limits.head_bytes,
        "grpc.absolute_max_metadata_size": limits.head_bytes,
        # A connection carries many calls; together with those of HTTP, they stay below the limit of
        # open files.
        "grpc.max_allowed_incoming_connections": max(1, most_connections(limits) // CONNECTIONS),
        # Calls beyond the places are refused at once instead of waiting in their own client.
        "grpc.max_concurrent_streams": 2 * hub.places,
    }
    return [*((name, round(1000 * value)) for name, value in seconds.items()), *numbers.items()]


def opened(server: Any, hub: Hub, port: int) -> int:
    """Open a port, with TLS if there is a certificate; return its number. OutputError if that is
    not possible."""
    import grpc

    settings = hub.settings
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    server_address = f"{host}:{hub.siblings.number(settings.host, port)}"
    try:
        if settings.certificate is None:
            return int(server.add_insecure_port(server_address))
        certificate = certificate_of(hub.settings)
        credentials = grpc.dynamic_ssl_server_credentials(
            grpc.ssl_server_certificate_configuration([certificate]), Renewed(hub), False
        )
        return int(server.add_secure_port(server_address, credentials))
    except OSError as error:
        raise ConfigError(f"The certificate cannot be read: {error}.") from error
    except RuntimeError as error:
        raise OutputError(f"Cannot listen for gRPC on port {port} of {settings.host}.") from error


def certificate_of(settings: Settings) -> tuple[bytes, bytes]:
    """Return the private key and the certificate."""
    certificate = Path(settings.certificate or "")
    return Path(settings.certificate_key or certificate).read_bytes(), certificate.read_bytes()


class Renewed:
    """Provides the certificate of new connections, and reads it again after its files have changed.

    It keeps the old one while the files do not match each other, as while they are written.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._stamps = self._stamp()

    def __call__(self) -> Any:
        """Return the new certificate; None if it has not changed."""
        import grpc

        stamps = self._stamp()
        if stamps == self._stamps:
            return None
        settings = self._hub.settings
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
                str(settings.certificate), settings.certificate_key, password=""
            )
            configuration = grpc.ssl_server_certificate_configuration([certificate_of(settings)])
        except (OSError, ValueError):
            return None
        self._stamps = stamps
        return configuration

    def _stamp(self) -> list[tuple[int, int, int]]:
        """Return the state of the files, which changes when they do."""
        settings = self._hub.settings
        paths = [path for path in (settings.certificate, settings.certificate_key) if path]
        states = [os.stat(path) for path in paths if os.path.exists(path)]
        return [(status.st_mtime_ns, status.st_size, status.st_ino) for status in states]
