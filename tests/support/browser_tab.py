"""The page without a server in a real browser: its files served as any host would, and its voice
driven from Python."""

from __future__ import annotations

import contextlib
import functools
import http.server
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sayahead.sound.pcm import to_pcm16
from sayahead.sound.resample import Resampler
from sayahead.voice import Voice

WEB = Path(__file__).parents[2] / "web"

DRIVE = """
async ({ fragments, counts, session }) => {
  const { Stream } = await import("./page/stream.js");
  const heard = (window.heard ??= { texts: 0 });
  const say = (kind) => (...what) => heard.on?.(kind, ...what);
  heard.stream ??= new Stream(Object.fromEntries(
    ["loading", "starting", "audio", "flushed", "revised", "done", "failed", "lost"].map((kind) => [kind, say(kind)]),
  ));
  const id = `driven-${++heard.texts}`;
  const found = { words: [], samples: [], waited: [], trouble: null };
  let chunks = 0;
  let wake = () => {};
  heard.on = (kind, message, samples) => {
    if (kind === "audio") {
      chunks++;
      found.words.push(...message.words);
      for (const sample of samples) found.samples.push(sample);
    } else if (kind === "failed" || kind === "lost") found.trouble = message.message ?? message;
    else if (kind !== "done") return;
    wake(kind);
  };
  const next = () => new Promise((resolve) => { wake = resolve; });
  heard.stream.choose(() => session);
  const begun = performance.now();
  for (const [i, fragment] of fragments.entries()) {
    const sent = performance.now();
    const before = chunks;
    heard.stream.append(id, fragment);
    for (let first = true; chunks < before + (counts[i] ?? 0) && !found.trouble; first = false) {
      await next();
      if (first) found.waited.push((performance.now() - sent) / 1000);
    }
  }
  heard.stream.end(id);
  while (!found.trouble && (await next()) !== "done");
  found.tookS = (performance.now() - begun) / 1000;
  return found;
}
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class Heard:
    """What a text became."""

    words: list[dict[str, Any]]
    """As in speech.audio."""
    samples: NDArray[np.int16]
    """(S,) at 24 kHz."""
    waited: list[float]
    """Seconds from each fragment that has sound to the first of it."""
    took_s: float
    """Seconds from the first fragment to the end."""


class Tab:
    """A page's voice."""

    def __init__(self, page: Any) -> None:
        """``page`` is Playwright's, and shows a page of the site's."""
        self.page = page

    def speak(
        self, fragments: Sequence[str], *, counts: Sequence[int] = (), **session: Any
    ) -> Heard:
        """A text in fragments; each waits for so many chunks of the one before (``counts``; none:
        for nothing)."""
        arguments = {
            "fragments": list(fragments),
            "counts": list(counts),
            "session": {"voice": "heart", **session},
        }
        found = self.page.evaluate(DRIVE, arguments)
        assert found["trouble"] is None, found["trouble"]
        return Heard(
            found["words"], np.array(found["samples"], np.int16), found["waited"], found["tookS"]
        )


class Pcm:
    """What the page's encoder does, by this Python."""

    def __init__(self, source: int, target: int) -> None:
        self._resampler = None if source == target else Resampler(source, target)

    def push(self, samples: NDArray[np.float32]) -> NDArray[np.int16]:
        """16-bit samples that no later ones change."""
        return to_pcm16(samples if self._resampler is None else self._resampler.push(samples))

    def finish(self) -> NDArray[np.int16]:
        """The rest."""
        return to_pcm16(
            np.zeros(0, np.float32) if self._resampler is None else self._resampler.finish()
        )


def desk_here(hear: Callable[[str, bytes], None], load: Callable[[str], Voice]) -> Any:
    """The page's ``Desk`` in this Python; ``hear`` takes messages and their sound."""

    def send(message: str, data: NDArray[np.int16] | None) -> None:
        hear(message, b"" if data is None else data.tobytes())

    return script("python/desk").Desk(send, load, Pcm)


@functools.cache
def script(name: str) -> ModuleType:
    """A file of ``web/`` as a module."""
    spec = importlib.util.spec_from_file_location(f"web_{Path(name).name}", WEB / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def hosted(site: Path, more: Mapping[str, bytes] | None = None) -> Iterator[str]:
    """A plain static host of a folder on this machine, with ``more`` files by their paths; its
    address."""
    extra = more or {}

    class Host(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path not in extra:
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Type", self.guess_type(self.path))
            self.send_header("Content-Length", str(len(extra[self.path])))
            self.end_headers()
            self.wfile.write(extra[self.path])

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Host, directory=str(site))
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def log_distance_db(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Mean over frames of the root mean square difference of their log spectra, dB: 50 ms frames
    that are audible in ``a``, 60 bands of 40 Hz, which tell harmonics apart. Both are 16-bit
    samples at 24 kHz, equally many."""
    spectra = [bands(samples.astype(np.float64) / 32768) for samples in (a, b)]
    audible = spectra[0].max(axis=1) > -50
    return float(np.sqrt(((spectra[0] - spectra[1])[audible] ** 2).mean(axis=1)).mean())


def bands(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """(T, 60) power of bands, dB, at least -80."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, 1200)[::600] * np.hanning(1200)
    power = np.abs(np.fft.rfft(frames, axis=1)[:, :120]) ** 2 / 1200
    banded: NDArray[np.float64] = 10 * np.log10(power.reshape(len(power), 60, 2).sum(axis=2) + 1e-8)
    return banded
