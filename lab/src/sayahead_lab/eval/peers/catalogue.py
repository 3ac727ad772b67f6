"""The peers by name. One of your own is a function that returns an ``Engine``:
``FILE.py:FUNCTION``."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sayahead.errors import ConfigError

from sayahead_lab.eval.peers.peer import Engine, WorkerPeer, beside, has_module
from sayahead_lab.eval.peers.worker import one_line
from sayahead_lab.named import named

PYTHON = "SAYAHEAD_PIPER_PYTHON"
PIPER = "SAYAHEAD_PIPER_VOICE"
KOKORO = "SAYAHEAD_KOKORO"
POCKET = "SAYAHEAD_POCKET_TTS"
SERVER = "SAYAHEAD_SERVER"
"""Environment variables: the Python that has others' packages; a folder with a Piper voice; one
with Kokoro's ``kokoro.onnx`` and ``af_heart.bin``; one with pocket-tts's weights; a server's
address, such as ws://127.0.0.1:8000."""
PAPERS = "sayahead-voices-papers"
"""The package of the papers' voices."""


def ours(name: str, **options: object) -> Engine:
    """One of sayahead's systems: it takes text as it comes."""
    return Engine(name, f"{beside('ours.py')}:sayahead", "token", options)


def packaged(name: str, package: str, **options: object) -> Engine:
    """The same with a voice of one of sayahead's packages of voices."""

    def missing() -> str | None:
        here = has_module(sys.executable, package.replace("-", "_"))
        return None if here else f"install the voices (pip install {package})."

    return replace(ours(name, **options), missing=missing)


def hibari(name: str = "hibari", text: str = "sentence") -> Engine:
    """hibari-tts, which is always installed."""
    return Engine(name, f"{beside('engines.py')}:hibari", text)


def kokoro(name: str = "kokoro", text: str = "sentence") -> Engine:
    """Kokoro-82M, style af_heart."""
    folder = Path(os.environ.get(KOKORO, "") or "no folder is set")
    model = folder / "kokoro.onnx"
    style = folder / "af_heart.bin"

    def missing() -> str | None:
        if model.is_file() and style.is_file():
            return None
        return (
            f"set {KOKORO} to a folder with Kokoro's kokoro.onnx and a style, af_heart.bin (now:"
            f" {folder})."
        )

    options = {"model": str(model), "style": str(style)}
    return Engine(name, f"{beside('engines.py')}:kokoro", text, options, missing=missing)


def piper(
    name: str = "piper", text: str = "sentence", *, package: str = "piper", pip: str = "piper-tts"
) -> Engine:
    """Piper, or streaming-vits, with a Piper voice; the packages are never imported here."""
    folder = Path(os.environ.get(PIPER, "") or "no voice is set")
    python = os.environ.get(PYTHON) or sys.executable
    model = next(iter(sorted(folder.glob("*.onnx"))), None) if folder.is_dir() else folder

    def missing() -> str | None:
        if not has_module(python, package):
            return (
                f"install {pip} (pip install {pip}) here, or in another environment whose Python"
                f" {PYTHON} names."
            )
        if model is None or not model.is_file() or not Path(f"{model}.json").is_file():
            return f"set {PIPER} to a folder with a voice's .onnx and .onnx.json (now: {folder})."
        return None

    return Engine(
        name,
        f"{beside('engines.py')}:{package}",
        text,
        {"model": str(model)},
        python=python,
        missing=missing,
    )


def streaming_vits() -> Engine:
    """streaming-vits with a Piper voice."""
    return piper("streaming-vits", package="streaming_vits", pip="streaming-vits")


def command(name: str, function: str) -> Engine:
    """An engine that is a command of Debian."""

    def missing() -> str | None:
        return None if shutil.which(name) else f"install {name} (apt install {name})."

    return Engine(name, f"{beside('engines.py')}:{function}", missing=missing)


def pocket_tts() -> Engine:
    """pocket-tts, whose weights are not in its package."""
    weights = os.environ.get(POCKET, "")
    python = os.environ.get(PYTHON) or sys.executable

    def missing() -> str | None:
        if not has_module(python, "pocket_tts"):
            return (
                f"install pocket-tts here, or in another environment whose Python {PYTHON} names."
            )
        return (
            None
            if Path(weights or "none").exists()
            else f"set {POCKET} to its weights, which its package lacks."
        )

    options = {"weights": weights}
    return Engine(
        "pocket-tts",
        f"{beside('engines.py')}:pocket_tts",
        options=options,
        python=python,
        missing=missing,
    )


def socket(name: str, text: str = "token") -> Engine:
    """A service's protocol, at the server that is named."""
    server = os.environ.get(SERVER, "")
    url = server.replace("ws", "http", 1) if name == "openai" else server

    def missing() -> str | None:
        return (
            None if server else f"set {SERVER} to a server's address, such as ws://127.0.0.1:8000."
        )

    return Engine(
        f"{name}-socket", f"{beside('sockets.py')}:{name}", text, {"url": url}, missing=missing
    )


PEERS: dict[str, Callable[[], Engine]] = {
    "sayahead": lambda: ours("sayahead"),
    "sayahead-k0": lambda: ours("sayahead-k0", policy="lookahead:k=0"),
    "sayahead-learned": lambda: ours("sayahead-learned", policy="learned"),
    "sayahead-am_michael": lambda: packaged(
        "sayahead-am_michael", "sayahead-voices-family", voice="am_michael"
    ),
    "ma-lj": lambda: packaged("ma-lj", PAPERS, voice="ma-lj"),
    "saeki-lj": lambda: packaged("saeki-lj", PAPERS, voice="saeki-lj"),
    "mohan-lj": lambda: packaged("mohan-lj", PAPERS, voice="mohan-lj", whole="wait-end"),
    "hibari": hibari,
    "hibari+fragments": lambda: hibari("hibari+fragments", "fragment"),
    "kokoro": kokoro,
    "kokoro+fragments": lambda: kokoro("kokoro+fragments", "fragment"),
    "piper": piper,
    "piper+fragments": lambda: piper("piper+fragments", "fragment"),
    "streaming-vits": streaming_vits,
    "espeak-ng": lambda: command("espeak-ng", "espeak_ng"),
    "flite": lambda: command("flite", "flite"),
    "pocket-tts": pocket_tts,
    "elevenlabs-socket": lambda: socket("elevenlabs"),
    "cartesia-socket": lambda: socket("cartesia"),
    "deepgram-socket": lambda: socket("deepgram"),
    "flux-socket": lambda: socket("flux"),
    "kyutai-socket": lambda: socket("kyutai", "word"),
    "openai-socket": lambda: socket("openai", "sentence"),
}
"""The peers of this package by name, each with its constructor."""


def make_peer(name: str) -> WorkerPeer:
    """A peer by its name, or one of your own: ``path/to/file.py:make`` or ``module:make``; make()
    returns an Engine.

    ConfigError where there is no such thing.
    """
    make = named(PEERS, name, "Peer")
    try:
        peer = WorkerPeer(make())
        folder = peer.name
    except Exception as error:
        raise ConfigError(f"Peer {name!r} cannot be made: {one_line(error)}.") from error
    if not folder or set(folder) & set("/\\"):
        raise ConfigError(f"Peer {name!r}: its name, {folder!r}, cannot be the name of a folder.")
    return peer
