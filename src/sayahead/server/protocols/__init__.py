"""Protocols by name, one file each: the fields of their messages."""

from __future__ import annotations

from typing import Any

from sayahead.extensions import Extensible

OWN = """
health usage native openai clips elevenlabs elevenlabs_dialogue cartesia deepgram flux kyutai
jambonz page wyoming google
"""
PROTOCOLS: Extensible[Any] = Extensible(
    "sayahead.protocols", {name: f"sayahead.server.protocols.{name}" for name in OWN.split()}
)
"""Modules with any of ``routes(hub)``, the HTTP routes; ``listening(hub)``, a context manager that
serves other ports; and ``SETTINGS``, a subclass of ``operation.settings.ProtocolSettings``."""
