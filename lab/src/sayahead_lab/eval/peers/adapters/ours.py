"""sayahead itself, through the same process as all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sayahead import __version__, load_voice
from sayahead.types import Floats
from sayahead.voices import located


def sayahead(
    voice: str = "heart", threads: int = 1, whole: str = "wait-all", **options: Any
) -> Any:
    """A voice with options of a session; ``whole`` is the policy by which it speaks whole texts."""
    loaded = load_voice(voice, threads=threads)

    def speak(text: Iterator[str], entire: bool, seed: int) -> Iterator[Floats]:
        session = loaded.session(seed=seed, **({**options, "policy": whole} if entire else options))
        for piece in text:
            session.push(piece) if piece else session.flush()
            while (chunk := session.pull()) is not None:
                yield chunk.samples
        session.finish()
        while (chunk := session.pull()) is not None:
            yield chunk.samples

    folder = located(voice)
    about = {
        "rate": loaded.sample_rate,
        "version": __version__,
        "licence": loaded.config.license,
        "threads": threads,
        "set": ", ".join(f"{key} {value}" for key, value in options.items()) or "as it is",
        "files": sorted(map(str, folder.glob("*.onnx"))),
        "flushes": True,
        "simulates": "keep_up" not in options
        and not str(options.get("policy", "")).startswith("opportunistic"),
    }
    return about, speak
