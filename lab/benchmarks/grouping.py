"""What judges hear of several words a step as servers group them: word error rate and predicted
opinion of the same sentences, beside one word a step.

    python lab/benchmarks/grouping.py OUT_FOLDER --texts test.csv --scorer score_wavs.py \
        --whisper DIR --results lab/benchmarks/results/grouping

Text comes token by token, and each step waits for all of its words, as on a server whose listener
has sound left. The scorer is that of quality.py. What is spoken or scored already is left alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from quality import row, scored, table
from sayahead.engine.batch_size import BatchSize
from sayahead.sound.files import wav_file
from sayahead.types import Floats
from sayahead.voice import Voice, load_voice

from sayahead_lab.eval.experiment.clock import Tokens
from sayahead_lab.scripts import ScriptLine, read_texts, strided

STEP_WORDS = (1, 6, 8)
"""Most words a step; the first is what the others are held against."""
STEP_S = 0.01
"""What a step takes, as far as the number of its words depends on it."""


def said(voice: Voice, text: str, step_words: int) -> Floats:
    """The sound of a text that is spoken in steps of at most so many words."""
    session = voice.session()
    sizes = BatchSize(step_words)
    parts = list[Floats]()
    first = True
    for fragment in [*(each.text for each in Tokens(50.0).arrivals(text)), None]:
        if fragment is None:
            session.finish()
        else:
            session.push(fragment)
        while True:
            words = sizes.words(STEP_S, ended=session.ended)
            # Nobody awaits text for a first step: its sound is needed at once.
            if not session.prepare(together=words, patient=not first):
                break
            if (chunk := session.pull()) is None:
                break
            first = False
            sizes.made()
            parts.append(chunk.samples)
    return np.concatenate(parts)


def speak(voice: Voice, texts: list[ScriptLine], step_words: int, folder: Path) -> None:
    """Write what is not written yet."""
    (folder / "wav").mkdir(parents=True, exist_ok=True)
    for text in texts:
        path = folder / "wav" / f"{text.name}.wav"
        if not path.exists():
            writer = wav_file(path, sample_rate=voice.sample_rate)
            writer.write(said(voice, text.text, step_words))
            writer.close()


def main() -> None:
    """Speak, have it scored, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("out", type=Path, help="folder for the WAV files and scores")
    add("--texts", type=Path, required=True, help="id|text lines")
    add("--count", type=int, default=200, help="sentences (default: 200)")
    add("--scorer", type=Path, required=True)
    add("--scorer-python", default=sys.executable, help="interpreter with the scorer's packages")
    add("--whisper", type=Path, required=True)
    add("--results", type=Path, help="write FILE.md (the table) and FILE.json (its figures)")
    arguments = parser.parse_args()
    texts = strided(read_texts(arguments.texts), arguments.count)
    by_name = {text.name: text.text for text in texts}
    voice = load_voice("heart")
    scorer = [arguments.scorer_python, str(arguments.scorer)]
    for step_words in STEP_WORDS:
        speak(voice, texts, step_words, arguments.out / str(step_words))
    results = [
        scored(arguments.out / str(step_words), by_name, scorer, arguments.whisper)
        for step_words in STEP_WORDS
    ]
    figures: dict[str, dict[str, Any]] = {
        f"at most {step_words} words a step" if step_words > 1 else "each word by itself": row(
            result, results[0], None
        )
        for step_words, result in zip(STEP_WORDS, results, strict=True)
    }
    print(table(figures))
    if arguments.results:
        head = (
            f"{len(texts)} sentences of {arguments.texts.name} (LJ Speech); `python"
            " lab/benchmarks/grouping.py OUT --texts test.csv ...`.\n\n"
        )
        arguments.results.with_suffix(".md").write_text(head + table(figures), encoding="utf-8")
        text = json.dumps({"sentences": len(texts), "conditions": figures}, indent=1)
        arguments.results.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
