"""Protocols by name, one file each."""

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
"""Modules with any of ``routes(hub)``, what is served over HTTP; ``listening(hub)``, a context
manager in which the hub is served otherwise; and ``SETTINGS``, a class of
``operation.settings.ProtocolSettings``."""
