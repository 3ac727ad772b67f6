"""The process that loads espeak-ng and answers its owner over pipes: run as a file, it imports
nothing of sayahead.

espeak-ng is under the GPL, so it is loaded here, by ctypes, and never in the process that imports
sayahead. Requests come on standard input and answers go to standard output, in order: JSON in
UTF-8, one message a line. The first message, unasked, is ``{"version": ..., "library": ...}`` or
``{"missing": [...]}``. A request ``{"voice": "de", "text": ...}`` is answered by
``{"clauses": [...]}``, IPA with stress, or ``{"error": ...}``. The process ends when its standard
input does, so it does not outlive its owner.

Arguments: pairs of a library's file or name and the folder of its data (empty: its own), tried in
order."""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import sys
import threading
from typing import Any, BinaryIO

_SYNCHRONOUS = 2  # AUDIO_OUTPUT_SYNCHRONOUS: no sound device is opened.
_DONT_EXIT = 0x8000  # espeakINITIALIZE_DONT_EXIT: a failure is an answer.
_UTF8 = 1
_IPA = 2


class Library:
    """espeak-ng, loaded by ctypes."""

    def __init__(self, path: str, data: str) -> None:
        """OSError where the file is no such library or its data are missing."""
        library = ctypes.CDLL(path)
        library.espeak_Info.restype = ctypes.c_char_p
        library.espeak_TextToPhonemes.restype = ctypes.c_char_p
        library.espeak_TextToPhonemes.argtypes = [
            ctypes.POINTER(ctypes.c_char_p),
            ctypes.c_int,
            ctypes.c_int,
        ]
        folder = None
        if data:
            # The library keeps no more than 160 bytes of the path, so it gets a relative one.
            os.chdir(os.path.dirname(data))
            folder = b"."
        if library.espeak_Initialize(_SYNCHRONOUS, 0, folder, _DONT_EXIT) < 0:
            raise OSError(f"{path}: its data cannot be read" + (f" from {data}" if data else ""))
        self.path = path
        self.version = library.espeak_Info(None).decode("utf-8", "replace").split(" ")[0]
        self._library = library
        self._voice = ""

    def clauses(self, voice: str, text: str) -> list[str]:
        """The phonemes of each clause of a text; ValueError for a voice that there is not."""
        if voice != self._voice:
            self._voice = ""
            if self._library.espeak_SetVoiceByName(voice.encode()) != 0:
                raise ValueError(f"espeak-ng {self.version} has no voice {voice!r}")
            self._voice = voice
        left = ctypes.c_char_p(text.replace("\0", " ").encode("utf-8", "replace"))
        result = []
        while left.value is not None:
            clause = self._library.espeak_TextToPhonemes(ctypes.byref(left), _UTF8, _IPA)
            result.append((clause or b"").decode("utf-8", "replace"))
        return result


def load(candidates: list[str]) -> Library | list[str]:
    """The first library that loads, or why none does."""
    failures = []
    for path, data in zip(candidates[::2], candidates[1::2], strict=True):
        try:
            return Library(path, data)
        except (OSError, AttributeError) as error:
            failures.append(str(error))
    return failures


def answer(library: Library, request: dict[str, Any]) -> dict[str, Any]:
    """What is sent back for a request."""
    try:
        return {"clauses": library.clauses(request["voice"], request["text"])}
    except Exception as error:  # A request that cannot be answered must not cost the next one.
        return {"error": str(error)}


def read(stream: BinaryIO, requests: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Take in requests; end the process with the stream, whatever espeak-ng is doing."""
    try:
        for line in stream:
            requests.put(json.loads(line))
    finally:
        os._exit(0)


def send(stream: BinaryIO, message: dict[str, Any]) -> None:
    """Write a message."""
    line = json.dumps(message, ensure_ascii=False) + "\n"
    stream.write(line.encode("utf-8", "replace"))
    stream.flush()


def main(candidates: list[str]) -> int:
    """Answer until the owner is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What the library prints is no answer.
    library = load(candidates)
    if isinstance(library, list):
        send(out, {"missing": library})
        return 1
    send(out, {"version": library.version, "library": library.path})
    requests = queue.SimpleQueue[dict[str, Any]]()
    threading.Thread(target=read, args=(sys.stdin.buffer, requests), daemon=True).start()
    while True:
        send(out, answer(library, requests.get()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
