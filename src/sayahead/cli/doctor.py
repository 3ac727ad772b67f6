"""``sayahead doctor``: what is installed, what is missing, and whether it speaks."""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

EXTRAS = {
    "play": ("miniaudio",),
    "flac": ("soundfile",),
    "server": ("starlette", "uvicorn"),
    "codecs": ("av",),
    "grpc": ("grpcio",),
    "lm": ("torch", "transformers"),
}
RARE = (*EXTRAS["grpc"], *EXTRAS["lm"])
"""Packages that few need: if they are missing, only ``--json`` says so."""
SENTENCE = "The quick brown fox jumps over the lazy dog, and then it sleeps."


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    """What was checked."""
    found: str
    """What was found, or how to get it."""
    state: str = "ok"
    """ok, optional (missing, but not required) or broken."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the report; return 1 if something required is broken, else 0."""
    findings = []
    for finding in examine():
        findings.append(finding)
        if not arguments.json and (finding.state != "optional" or finding.name not in RARE):
            print(f"{finding.state:9} {finding.name}: {finding.found}", flush=True)
    broken = any(finding.state == "broken" for finding in findings)
    if arguments.json:
        print(
            json.dumps(
                {"ok": not broken, "findings": [asdict(finding) for finding in findings]}, indent=1
            )
        )
    else:
        print("Something required is broken." if broken else "Everything required works.")
    return int(broken)


def examine() -> Iterator[Finding]:
    """Yield all findings, quick ones first."""
    import onnxruntime

    from sayahead import __version__
    from sayahead.engine.onnx import cores
    from sayahead.voices import installed_voices

    yield Finding("sayahead", __version__)
    yield Finding(
        "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    )
    for name in ("numpy", "onnxruntime", "hibari-tts"):
        version = installed(name)
        yield Finding(
            name, version or f"not installed: pip install {name}", "ok" if version else "broken"
        )
    provider = "CPUExecutionProvider" in onnxruntime.get_available_providers()
    yield Finding(
        "onnxruntime on the CPU", "yes" if provider else "no", "ok" if provider else "broken"
    )
    yield Finding("CPU cores", str(cores()))
    for extra, packages in EXTRAS.items():
        for name in packages:
            version = installed(name)
            yield Finding(
                name,
                version or f"not installed: pip install 'sayahead[{extra}]'",
                "ok" if version else "optional",
            )
    yield espeak()
    yield devices()
    if not installed_voices():
        yield Finding("voices", "none installed: install sayahead again", "broken")
    for name in installed_voices():
        yield voice_files(name)
    yield speech()


def installed(name: str) -> str | None:
    """Return a package's version, or None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def espeak() -> Finding:
    """Check which espeak-ng is installed."""
    from sayahead.errors import SayaheadError
    from sayahead.text.saying.espeak.client import ESPEAK, INSTALL

    try:
        version, library = ESPEAK.about()
    except SayaheadError:
        return Finding(
            "espeak-ng", f"not there (voices of most languages need it): {INSTALL}", "optional"
        )
    return Finding("espeak-ng", f"{version} ({library})")


def devices() -> Finding:
    """Check whether sound can be played."""
    if installed("miniaudio") is None:
        return Finding("sound device", "not checked: pip install 'sayahead[play]'", "optional")
    from sayahead.errors import SayaheadError
    from sayahead.sound.device import Player

    try:
        player = Player()
        player.close()
    except SayaheadError:
        hint = (
            "none opens: connect one, or start a sound server (PipeWire, PulseAudio); -o and --raw"
            " need none"
        )
        return Finding("sound device", hint, "optional")
    return Finding("sound device", f"{player.backend}: {', '.join(Player.devices())}")


def voice_files(name: str) -> Finding:
    """Check the files of a voice."""
    from sayahead.errors import SayaheadError
    from sayahead.voice import SHAPED, load_voice

    try:
        voice = load_voice(name, verify=True)
    except SayaheadError as error:
        return Finding(f"voice {name}", str(error), "broken")
    if voice.config.kind == SHAPED:
        return Finding(f"voice {name}", f"a shape of {voice.config.model['voice']}")
    return Finding(f"voice {name}", f"{len(voice.config.files)} files, intact")


def speech() -> Finding:
    """Check whether the default voice speaks, and how fast."""
    import numpy as np

    from sayahead.errors import SayaheadError
    from sayahead.sound.pcm import AUDIBLE
    from sayahead.voice import load_voice

    try:
        start = time.perf_counter()
        voice = load_voice()
        load_s = time.perf_counter() - start
        voice.synthesize("Hello.")
        session = voice.session()
        first_s = None
        audio_s = 0.0
        peak = 0.0
        start = time.perf_counter()
        session.push(SENTENCE)
        session.finish()
        for chunk in session.chunks():
            audio_s += chunk.duration_s
            level = np.abs(chunk.samples)
            peak = max(peak, float(level.max()))
            if first_s is None and (level > AUDIBLE).any():
                first_s = time.perf_counter() - start
        elapsed_s = time.perf_counter() - start
    except (SayaheadError, RuntimeError, ValueError) as error:
        return Finding("speech", f"failed: {error}", "broken")
    if first_s is None or peak < 10 * AUDIBLE or audio_s < 1:
        return Finding("speech", f"{audio_s:.1f} s, but it is silent or too short", "broken")
    figures = (
        f"loaded in {load_s:.2f} s, first audible sample after {1000 * first_s:.0f} ms, RTF"
        f" {elapsed_s / audio_s:.3f}"
    )
    return Finding(
        "speech", figures + ("" if elapsed_s < audio_s else ": too slow to speak without gaps")
    )
