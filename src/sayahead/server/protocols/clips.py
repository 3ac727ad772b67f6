"""Cloned voices: makes a voice from a clip, by ElevenLabs' API. Allowed for some keys or, without
keys, on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sayahead.errors import ConfigError
from sayahead.server.http import RequestError, answers, aside, received
from sayahead.server.hub import Hub
from sayahead.server.operation.access import Caller, loopback
from sayahead.server.operation.settings import ProtocolSettings, Settings
from sayahead.server.protocols.dictionaries import uploaded
from sayahead.server.protocols.elevenlabs import failure
from sayahead.voices.locations import home

PATH = "/v1/voices/add"
ALL = "*"
"""Stands for all keys."""
MAX_BYTES = 8_000_000
"""Largest form with a clip: 20 s of stereo at 48 kHz take half of this."""
HINT = ": send 5 to 20 seconds"
MAX_BODY_S = 60.0
MAX_MAKING_S = 300.0
NICENESS = "10"
"""Priority of the process that fits a voice, below that of speech."""
COMMAND = (sys.executable, "-m", "sayahead", "voices", "from-clip")
ERROR = "sayahead: error: "
OPTIONS = ("consent", "language", "description", "near")
"""Fields of the form that are options of ``sayahead voices from-clip``."""


@dataclass(frozen=True, slots=True)
class ClipSettings(ProtocolSettings):
    """Who may make voices."""

    clip_keys: tuple[str, ...] = ()
    """Names of the keys that may make voices of clips, or ``*`` for all. Without keys, clients on
    this machine may."""

    def check(self, server: Settings) -> None:
        if self.clip_keys and not (server.keys or server.keys_file is not None):
            raise ConfigError(
                "The setting clip_keys names keys, but there are none: set keys or keys_file."
            )


SETTINGS = ClipSettings


@dataclass(frozen=True, slots=True)
class ClipRequest:
    """The voice to make from a clip."""

    name: str
    clip: bytes
    options: Mapping[str, str]
    """Options of the command, by name."""


def routes(hub: Hub) -> list[BaseRoute]:
    """Return the routes to make a voice, and to ask whether a caller may."""
    making = asyncio.Lock()

    @answers(hub, failure, tokens=False)
    async def allowed(request: Request, caller: Caller) -> Response:
        refusal = refused(hub, request, caller)
        return JSONResponse({"allowed": refusal is None, "why": refusal or ""})

    @answers(hub, failure, tokens=False, writes="clips")
    async def add(request: Request, caller: Caller) -> Response:
        if refusal := refused(hub, request, caller):
            raise RequestError("forbidden", refusal)
        if making.locked():
            raise RequestError(
                "overloaded", "Another clip is becoming a voice: try again in a few seconds."
            )
        async with making:
            body = await received(request, MAX_BYTES, MAX_BODY_S, what="The clip", hint=HINT)
            kind = request.headers.get("content-type", "")
            wanted = await aside(hub, request, lambda: parse_form(uploaded(body, kind)))
            await asyncio.to_thread(offer, hub, wanted)
        return JSONResponse({"voice_id": wanted.name, "requires_verification": False})

    return [Route(PATH, allowed, methods=["GET"]), Route(PATH, add, methods=["POST"])]


def refused(hub: Hub, request: Request, caller: Caller) -> str | None:
    """Return why a caller may not make a voice, or None if it may."""
    if hub.settings.voices:
        return "This server offers the voices that its settings name, and no others."
    if not hub.access.open:
        allowed = hub.settings.of(ClipSettings).clip_keys
        return (
            None
            if {ALL, caller.name} & set(allowed)
            else "This key may not make voices: see the setting clip_keys."
        )
    # A proxy on this machine that the settings do not name forwards requests from elsewhere.
    if loopback(caller.address) and "x-forwarded-for" not in request.headers:
        return None
    return (
        "Without keys, only clients on the server's own machine may make voices: see the setting "
        "clip_keys."
    )


def parse_form(fields: Mapping[str, bytes]) -> ClipRequest:
    """Parse the fields of a form. RequestError if one is missing."""
    clip = fields.get("files", fields.get("files[]", b""))
    if not clip:
        raise RequestError(
            "invalid_option", "files is missing: a clip of 5 to 20 seconds.", field="files"
        )
    texts = {
        name: value.decode("utf-8", "replace").strip()
        for name, value in fields.items()
        if value is not clip
    }
    labels = labels_of(texts.get("labels", ""))
    options = {name: texts.get(name) or labels.get(name, "") for name in OPTIONS}
    name = re.sub(r"[^A-Za-z0-9._+-]+", "-", texts.get("name", "")).strip("-._+")[:60]
    if not name:
        raise RequestError(
            "invalid_option", "name is missing: what the voice is called.", field="name"
        )
    if not options["consent"]:
        sentence = (
            "consent is missing: who agreed to this voice, in words, as a field of the form or of "
            "its labels."
        )
        raise RequestError("invalid_option", sentence, field="consent")
    return ClipRequest(name, clip, {name: value for name, value in options.items() if value})


def labels_of(text: str) -> dict[str, str]:
    """Return the strings among ElevenLabs' labels, which are JSON; empty if they are not."""
    with contextlib.suppress(ValueError):
        labels = json.loads(text)
        if isinstance(labels, dict):
            return {name: value.strip() for name, value in labels.items() if isinstance(value, str)}
    return {}


def offer(hub: Hub, wanted: ClipRequest) -> None:
    """Make the voice, load it, and warm it up, so that its first word is not late."""
    hub.voices.add(make_voice(wanted))
    hub.voices.load(wanted.name).session()


def make_voice(wanted: ClipRequest) -> Path:
    """Make the voice in another process, which takes seconds; return its folder. RequestError with
    the reason if the clip is unsuitable."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "clip")
        path.write_bytes(wanted.clip)
        options = [f"--{name}={value}" for name, value in wanted.options.items()]
        nice = ["nice", "-n", NICENESS] if shutil.which("nice") else []
        try:
            done = subprocess.run(
                [*nice, *COMMAND, str(path), f"--name={wanted.name}", *options],
                env={**os.environ, "OMP_NUM_THREADS": "1"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=MAX_MAKING_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise RequestError("overloaded", "It took too long: try again later.") from error
        if done.returncode:
            raise RequestError("invalid_option", sentence_of(done.stderr, f"{folder}{os.sep}"))
    return home() / wanted.name


def sentence_of(stderr: bytes, folder: str) -> str:
    """Return the error message in a process's output, without the path of the temporary folder."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    last = lines[-1] if lines else "The voice could not be made."
    return last.removeprefix(ERROR).replace(folder, "")
