"""A blind listening test in one HTML file; ``ratings`` has the statistics of what it saves.

Three designs. ``mushra``: the same sentence from several conditions beside each other, in a new
random order for every sentence, rated from 0 to 100 (ITU-R BS.1534; a reference is the condition
that is one). ``mos``: one sample at a time, from bad (1) to excellent (5) (absolute category
rating, ITU-T P.800 and P.808), sentences and conditions in random order. ``ab``: two at a time, the
first condition against each other one, and which sounds better, if either. An anchor, the first
condition without what is above 3.5 kHz, may be among the conditions. All sounds of a page are made
equally loud (see ``loudness``). Ratings stay in the browser and are saved as a JSON file, which
alone names the conditions.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TypeVar

import numpy as np
from sayahead.errors import ConfigError
from sayahead.sound.files import read_wav, wav_header
from sayahead.sound.pcm import to_pcm16
from sayahead.types import Floats

from sayahead_lab.eval.experiment.folder import read_json
from sayahead_lab.eval.experiment.trace import read_traces
from sayahead_lab.eval.listening.loudness import matched
from sayahead_lab.scripts import ScriptLine, read_texts, strided

K = TypeVar("K")
MOST = 9
"""Conditions that the number keys can play."""
ANCHOR = "anchor, 3.5 kHz"
ANCHOR_HZ = 3500.0
"""Name of the anchor in the ratings, and the highest frequency in it."""
TEXTS = "texts.csv"
"""Lines of name|text, in a folder of sounds that has no traces."""


def listening_page(
    out: Path,
    target: Path,
    conditions: Sequence[str] | None,
    count: int,
    seed: int = 0,
    *,
    design: str = "mushra",
    anchor: bool = False,
) -> str:
    """Write a page with ``count`` sentences, evenly spaced, by each of the conditions; the name of
    the page.

    ``out`` is the folder of an experiment or a field, or any other with a folder of WAV files for
    each condition and ``texts.csv``; ``target`` the HTML file. Without conditions the first ones in
    ``out`` are taken. The sounds are embedded as 16-bit PCM WAV at one loudness. The seed fixes the
    order, and the page's name is the digest of all that is in it. ConfigError where there is
    nothing to compare or a sound is missing."""
    most = MOST - anchor if design != "mos" else 1000
    names = list(folders(out)[:most] if conditions is None else conditions)
    if len(set(names)) < len(names) or not 2 - anchor <= len(names) <= most:
        raise ConfigError(
            f"A listening page compares 2 to {MOST} different conditions, not {', '.join(names)}."
        )
    if count < 1:
        raise ConfigError(f"A listening page needs at least 1 sentence, not {count}.")
    lines = strided(utterances(out / names[0]), count)
    sounds = {
        (line.name, name): read_wav(sound_file(out / name, line.name))
        for line in lines
        for name in names
    }
    if anchor:
        sounds |= {
            (line.name, ANCHOR): without_treble(*sounds[line.name, names[0]]) for line in lines
        }
        names.append(ANCHOR)
    encoded = equally_loud(sounds)
    draw = np.random.default_rng(seed)
    sentences = []
    key = []
    for line, group in orders(lines, names, design, draw):
        sentences.append(
            {"text": line.text, "samples": [encoded[line.name, name] for name in group]}
        )
        key.append({"name": line.name, "conditions": group})
    page = hashlib.sha256(json.dumps([design, key, sentences]).encode()).hexdigest()[:12]
    secret = base64.b64encode(json.dumps(key).encode()).decode()
    data = {"page": page, "design": design, "sentences": sentences, "key": secret}
    # A text with "</script>" in it must not end the block.
    block = json.dumps(data).replace("<", "\\u003c")
    template = (
        resources.files("sayahead_lab.eval.listening")
        .joinpath("blind_test.html")
        .read_text(encoding="utf-8")
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(template.replace("/*DATA*/", block), encoding="utf-8")
    return page


def folders(out: Path) -> list[str]:
    """The folders of sounds in a folder: in the order of an experiment or a field, else by name;
    ConfigError where there are none."""
    for file, key in (("experiment.json", "conditions"), ("field.json", "engines")):
        if (out / file).is_file():
            return [str(name) for name in read_json(out / file)[key]]
    found = sorted(
        place.name
        for place in out.glob("*/")
        if any(place.glob("*.wav")) or any(place.glob("wav/*.wav"))
    )
    if not found:
        raise ConfigError(
            f"{out} has no folders of sounds: name the folder of an experiment, a field or a set of"
            " them."
        )
    return found


def orders(
    lines: Sequence[ScriptLine], names: Sequence[str], design: str, draw: np.random.Generator
) -> list[tuple[ScriptLine, list[str]]]:
    """Which sentence by which conditions are heard together, one after the other."""
    together = [(line, group) for line in lines for group in groups(names, design, draw)]
    return [together[at] for at in draw.permutation(len(together))] if design == "mos" else together


def groups(conditions: Sequence[str], design: str, draw: np.random.Generator) -> list[list[str]]:
    """The conditions to compare for a sentence, group by group, each in an order of its own."""
    if design == "mos":
        return [[name] for name in conditions]
    together = (
        [list(conditions)]
        if design == "mushra"
        else [[conditions[0], other] for other in conditions[1:]]
    )
    shuffled = [[group[at] for at in draw.permutation(len(group))] for group in together]
    return (
        [shuffled[at] for at in draw.permutation(len(shuffled))] if len(shuffled) > 1 else shuffled
    )


def utterances(folder: Path) -> list[ScriptLine]:
    """What a condition says: from its traces on whichever clock there is, by number, or from the
    texts beside it."""
    for path in sorted(folder.glob("*.jsonl")):
        if traces := {trace.index: trace for trace in read_traces(path)}:
            return [
                ScriptLine(traces[index].name, traces[index].source) for index in sorted(traces)
            ]
    if (folder.parent / TEXTS).is_file():
        return read_texts(folder.parent / TEXTS)
    raise ConfigError(
        f"{folder} has no traces, and there is no {TEXTS} beside it: run the experiment first."
    )


def sound_file(folder: Path, name: str) -> Path:
    """The WAV file of an utterance in a condition's folder."""
    return folder / "wav" / f"{name}.wav" if (folder / "wav").is_dir() else folder / f"{name}.wav"


def without_treble(samples: Floats, rate: int) -> tuple[Floats, int]:
    """Samples (S,) without what is above the anchor's highest frequency; their rate."""
    spectrum = np.fft.rfft(samples)
    spectrum[np.fft.rfftfreq(len(samples), 1 / rate) > ANCHOR_HZ] = 0
    return np.fft.irfft(spectrum, len(samples)).astype(np.float32), rate


def equally_loud(sounds: Mapping[K, tuple[Floats, int]]) -> dict[K, str]:
    """Samples (S,) with their rates as WAV files at one loudness, in base64."""
    encoded = {}
    for key, samples in zip(sounds, matched(list(sounds.values())), strict=True):
        pcm = to_pcm16(samples).tobytes()
        encoded[key] = base64.b64encode(wav_header(sounds[key][1], len(pcm)) + pcm).decode()
    return encoded
