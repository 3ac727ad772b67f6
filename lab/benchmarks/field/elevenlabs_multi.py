"""A context of ElevenLabs' ``multi-stream-input``, as voice agents use it, at any server that
speaks it."""

import base64
import itertools
import json
import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from websockets.sync.client import connect

PLACE = "/v1/text-to-speech/{}/multi-stream-input?model_id={}&output_format=pcm_24000&sync_alignment=true"  # noqa: E501


def peer() -> Any:
    from sayahead_lab.eval.peers.peer import Engine

    url = os.environ.get("SAYAHEAD_SERVER", "")
    options = {"url": url, "voice": "any", "model": "eleven_flash_v2_5"}
    why = (
        None
        if url
        else "set SAYAHEAD_SERVER to a server's address, such as wss://api.elevenlabs.io."
    )
    return Engine("elevenlabs-multi", f"{__file__}:load", "token", options, missing=lambda: why)


def load(url: str, voice: str, model: str) -> Any:
    headers = {"xi-api-key": os.environ.get("ELEVENLABS_API_KEY", "none")}
    socket = connect(url + PLACE.format(voice, model), additional_headers=headers)
    contexts = itertools.count()

    def write(text: Iterator[str], context: str) -> None:
        for piece in text:
            socket.send(json.dumps({"text": piece, "context_id": context}))
        socket.send(json.dumps({"context_id": context, "flush": True}))
        socket.send(json.dumps({"context_id": context, "close_context": True}))

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[np.ndarray]:
        context = str(next(contexts))
        threading.Thread(target=write, args=(text, context), daemon=True).start()
        try:
            for told in map(json.loads, socket):
                if told.get("contextId") == context:
                    yield np.frombuffer(
                        base64.b64decode(told.get("audio") or ""), "<i2"
                    ) / np.float32(32768)
                    if told.get("isFinal"):
                        return
        finally:
            socket.send(json.dumps({"context_id": context, "close_context": True}))

    return {
        "rate": 24000,
        "version": model,
        "licence": "a service",
        "device": "remote",
        "simulates": False,
    }, speak
