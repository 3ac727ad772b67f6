"""Voices of other speakers in the default voice's networks: from a run of ``heart-voice`` to a
folder."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sayahead.engine.files import Borrowed, sha256
from sayahead.errors import ConfigError
from sayahead.policies.learned import Network
from sayahead.voice import load_voice
from sayahead.voices import FOLDER, read_config
from sayahead.voices.install.trial import measure
from sayahead.voices.write import change_voice, write_voice

from sayahead_lab.training.corpus.store import CorpusInfo, language_of, languages_of
from sayahead_lab.training.graph.builder import Range
from sayahead_lab.training.heart.export import export
from sayahead_lab.training.heart.family import write_speakers
from sayahead_lab.training.heart.from_voice import context_of
from sayahead_lab.training.heart.quantization import observe
from sayahead_lab.training.loop.saved_run import Trained
from sayahead_lab.training.voice import KOKORO, check_phonemes, extras, notice_of, sourced

BEGUN = """The voice "{name}", {license}{see}.

{source}
Begun with the voice "heart": hibari-tts 0.2.1, Copyright 2026 Maureese Williams, Apache-2.0, distilled from Kokoro-82M
(voice af_heart) by hexgrad, Apache-2.0; the phoneme symbols are Kokoro's.
"""  # noqa: E501
EXPECT = "expect.onnx"
"""A voice's context network."""


def make_speaker(
    run: Trained[Any, Any],
    folder: Path,
    *,
    name: str,
    description: str | None = None,
    license: str | None = None,
    student: Trained[Any, Any] | str | None = None,
    policy: Network | None = None,
    borrow: bool = False,
    origin: str = "",
    kokoro: bool = False,
    observed: int = 16,
) -> None:
    """Write the voice of a run of the task ``heart-voice``: the default voice's kind, another
    speaker.

    The linear layers are computed in integers by what they are given in ``observed`` sentences of
    the run's corpus; in float32 where the corpus is gone. ``student``, ``policy``: see ``extras``;
    with ``borrow``, the default voice's student and context network are used in place, as long as
    it has the same. ``origin``: sentences that say more of where it came from; ``kokoro``: whether
    Kokoro has taught what it began with. ConfigError without a licence, and for a run that has
    changed the context network.
    """
    if borrow:
        keep_context(run)
    if license is None:
        raise ConfigError(
            "The corpus's speaker decides about the voice: name its licence with --license."
        )
    info = run.corpus.info
    joined = languages_of(info)
    check_phonemes(info.phonemes)
    source = f"{sourced('the networks of the voice heart', run)}. {origin}".rstrip()
    config = like_heart(info, joined) | {
        "name": name,
        "description": description or "American English; the default voice's networks, 24 kHz",
        "license": license,
        "source": (
            source + (f" Speech by {info.source['voice']}." if "voice" in info.source else "")
        ),
    }
    folder.mkdir(parents=True, exist_ok=True)
    others, tables = extras(folder, student=student, policy=policy)
    files, table = export(run, folder, ranges=observed_ranges(run, config, observed))
    config["model"] |= table
    if borrow:
        tables |= {"distilled": borrowed_context(config["model"], files)}
    notice = notice_of(
        BEGUN + KOKORO * (kokoro or info.source.get("kind") == "kokoro"), config, config["source"]
    )
    write_voice(folder, config | tables, [*files, *others], notice=notice)
    change_voice(folder, {"gain": round(measure(load_voice(folder)).gain, 4)})
    if joined and info.source.get("kind") == "kokoro":
        write_speakers(folder)


def like_heart(info: CorpusInfo, joined: Mapping[str, str]) -> dict[str, Any]:
    """The default voice's configuration for a voice of this corpus, whose speakers speak these
    languages; it lacks a name and where it came from."""
    heart = json.loads((FOLDER / "heart" / "voice.json").read_text(encoding="utf-8"))
    own = ("files", "distilled", "learned", "gender")
    language = next(iter(joined.values()), "") or language_of(info)
    further = {speaker: tag for speaker, tag in joined.items() if tag != language}
    return {key: value for key, value in heart.items() if key not in own} | {
        "language": language,
        "speakers": {speaker: number for number, speaker in enumerate(joined)},
        "inner_punctuation": info.punctuation == "all",
        "phonemes": info.phonemes,
        "model": heart["model"] | ({"languages": further} if further else {}),
    }


def observed_ranges(
    run: Trained[Any, Any], config: Mapping[str, Any], count: int
) -> dict[str, Range] | None:
    """What the linear layers are given in so many sentences of the run's corpus; None where the
    corpus is gone."""
    texts = some_texts(run, count)
    if not texts:
        return None
    with tempfile.TemporaryDirectory() as passing:
        files, table = export(run, Path(passing), observed=True)
        write_voice(Path(passing), {**config, "model": config["model"] | table}, files)
        return observe(Path(passing), texts)


def keep_context(run: Trained[Any, Any]) -> None:
    """Give the model the default voice's context network where the run was to keep it: publishing
    rounds weights."""
    if run.task.lessons.streaming.fixed_context:
        run.model.heart.load_state_dict(context_of(FOLDER / "heart", run.model.heart), strict=False)


def borrowed_context(model: dict[str, Any], files: list[Path]) -> dict[str, Any]:
    """Take the context network, which must be the default voice's, from the files: its own is used
    in place.

    The table of its student; ``model`` then says where the network is.
    """
    heart = read_config(FOLDER / "heart")
    own = next(path for path in files if path.name == EXPECT)
    if sha256(own) != heart.files[EXPECT] or heart.distilled is None:
        raise ConfigError(
            "The run has another context network than heart: set [data] fixed_context, or do not"
            " borrow."
        )
    own.unlink()
    files.remove(own)
    model["expect"] = asdict(Borrowed("heart", {EXPECT: heart.files[EXPECT]}))
    names = heart.distilled.graph, heart.distilled.vectors
    return asdict(heart.distilled) | {
        "borrowed": asdict(Borrowed("heart", {name: heart.files[name] for name in names}))
    }


def some_texts(run: Trained[Any, Any], count: int) -> list[tuple[str, str]]:
    """Speakers and texts, so many of each speaker, of a run's corpus, of its validation as far as
    it goes.

    None where only the corpus's description is left.
    """
    info = run.corpus.info
    path = run.corpus.path
    said = dict[str, list[tuple[str, str]]]()
    for split in ("val", "train"):
        if split not in info.splits or not all(
            (path / part / split).is_dir() for part in info.joined or [""]
        ):
            continue
        more = dict[str, list[tuple[str, str]]]()
        for shard in run.corpus.split(split).shards:
            more.setdefault(shard.speaker, []).extend((shard.speaker, text) for text in shard.texts)
        for speaker, lines in more.items():
            own = said.setdefault(speaker, [])
            own += lines[:: max(1, len(lines) // count)][: count - len(own)]
    return [line for lines in said.values() for line in lines]
