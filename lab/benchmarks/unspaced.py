"""Mandarin, Japanese and Hindi word by word: how late words are final, and what that costs in
phonemes and in sound; and the sound of any speakers of Kokoro.

    python lab/benchmarks/unspaced.py text zh [-o FILE.md]
    python lab/benchmarks/unspaced.py speech VOICE --speaker zm_yunxi --whisper WHISPER \
        --sounds FOLDER [--sentences 0 2] [-o FILE.md]

The texts are the sentences of ``data/sentences.tsv``, which come character by character. ``text``:
characters between a word's end and the one that makes it final; characters until a voice with one
word of lookahead may begin; phonemes that a word has with one word of lookahead as with the whole
sentence. ``speech``: VOICE is a folder with Kokoro's styles, of which all speak where no speaker is
named; each says sentences of its language whole, and with one word of lookahead. What Whisper hears
is read by the language's own front end, and its syllables (of Mandarin with their tones, of
Japanese kana) are compared with those of the text; of languages whose words have spaces, its
letters. Of Hindi, which Whisper's small models write in Urdu's letters, consonants are compared,
without aspiration: Urdu has no short vowels, and other letters for some sounds; its figures are
written out, since Urdu's are other words. With several ``--hearings``, each a little later in a
silence, the median of their errors counts. What is in FOLDER is not made or heard again; the table
is written after each sentence, its intervals are of 95 %.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import soundfile
from languages import sentences
from sayahead.sound.files import write_wav
from sayahead.text import Normalizer, front_end
from sayahead.text.saying.espeak.client import ESPEAK
from sayahead.text.saying.espeak.phonemizer import FLAG
from sayahead.text.saying.japanese.sounds import kana_of
from sayahead.text.saying.mandarin.sounds import syllables_of
from sayahead.types import Floats, Word, subtags
from sayahead.voice import Voice, load_voice

from sayahead_lab.eval.listening.listeners import (
    SpeechRecogniser,
    at_16khz,
    load_distillmos,
    load_normalizer,
    load_whisper,
)
from sayahead_lab.eval.measures.word_errors import distance
from sayahead_lab.results import keep, keep_figures, load_figures, options, table, tell
from sayahead_lab.training.corpus.teacher import split

POLICIES = {"whole": "wait-all", "k = 1": "lookahead:k=1"}
RATE = 24000
VOICE = Path(__file__).parents[2] / "src/sayahead/voices/heart/voice.json"
"""A voice with Kokoro's phonemes."""


def arrivals(normalizer: Normalizer, text: str) -> list[tuple[Word, int]]:
    """The words of a text that comes character by character, and how many characters were there
    when each was final."""
    found = [(word, seen) for seen, char in enumerate(text, 1) for word in normalizer.push(char)]
    return found + [(word, len(text)) for word in normalizer.flush()]


def read(language: str) -> list[str]:
    """The table of ``text``."""
    front = front_end(language)
    symbols: dict[str, int] = load_figures(VOICE)["phonemes"]
    phonemizer = front.phonemizer(symbols)
    late: list[int] = []
    first: list[int] = []
    lengths: list[int] = []
    total = wrong = 0
    for text in sentences("unspaced", language):
        came = arrivals(front.normalizer(), text)
        late += [seen - word.end for word, seen in came]
        lengths += [word.end - word.start for word, _ in came]
        first.append(came[0][1] if came[0][0].ends else came[min(1, len(came) - 1)][1])
        for words in split([word for word, _ in came]):
            whole = phonemizer.phonemize(words, left=[])
            for place, expected in enumerate(whole):
                left = [word.text for word in words[:place]]
                one = phonemizer.phonemize(words[place : place + 2], left=left)[0]
                total += len(expected.ids)
                wrong += distance([*map(str, expected.ids)], [*map(str, one.ids)])
    rows = {
        "characters of a word": lengths,
        "characters until it is final": late,
        "characters until a voice with k = 1 may begin": first,
    }
    return [
        *table(
            "|mean|median|95 %|most", [[name, *spread(values)] for name, values in rows.items()]
        ),
        "",
        f"Phonemes that a word has with one word of lookahead as with the sentence: "
        f"{100 - wrong / total * 100:.2f} % of {total:,}.",
    ]


def spread(values: Sequence[float]) -> list[str]:
    """Mean, median, 95th percentile and maximum."""
    middle, high = np.percentile(values, [50, 95])
    return [f"{np.mean(values):.2f}", f"{middle:.0f}", f"{high:.0f}", f"{max(values):.0f}"]


def syllables(language: str, text: str, *, is_heard: bool = False) -> list[str]:
    """The syllables of a text, as the language's front end reads them; ``is_heard``: it is what
    Whisper wrote."""
    if is_heard and language in HEARD_AS:
        return consonants(HEARD_AS[language], text)
    if language not in HEARD_AS and language not in SYLLABLES:
        return [char for char in load_normalizer(language)(text) if char.isalpha()]
    normalizer = front_end(language).normalizer()
    words = [word.text for word in [*normalizer.push(text), *normalizer.flush()]]
    if language in HEARD_AS:
        return consonants(language, " ".join(words))
    return [one for word in words for one in SYLLABLES[language](word)]


def consonants(voice: str, text: str) -> list[str]:
    """What espeak-ng says, as consonants that Hindi and Urdu both write."""
    sounds = FLAG.sub("", "".join(ESPEAK.clauses(voice, text))).translate(ALIKE)
    return [sound for sound in sounds if sound in CONSONANTS]


SYLLABLES: Mapping[str, Callable[[str], Iterable[str]]] = {"zh": syllables_of, "ja": kana_of}
"""Of a word: syllables with their tones, and kana."""
HEARD_AS = {"hi": "ur"}
"""What Whisper is told a language is, and espeak-ng's voice for what it then writes."""
CONSONANTS = frozenset("kɡcɟtdnpbmjrlʋʃsh")
ALIKE = str.maketrans("ʈɖɽɾxqɣfzʒwvɳŋɲʂðθ", "tdrrkkɡpɟɟʋʋnnnʃdt")
"""Sounds that one of the two languages does not tell from others."""


def said(voice: Voice, text: str, policy: str, speaker: str, path: Path) -> Floats:
    """The samples of a sentence, from the file that has them or a new one."""
    if not path.is_file():
        chunks = voice.stream(list(text), policy=policy, speaker=speaker)
        write_wav(path, np.concatenate([chunk.samples for chunk in chunks]), RATE)
    return np.asarray(soundfile.read(path, dtype="float32")[0])


@functools.cache
def recognizer(whisper: Path, language: str) -> SpeechRecogniser:
    """What hears a language."""
    told = HEARD_AS.get(language, language)
    return load_whisper(whisper, threads=1, language=told, figures=language not in HEARD_AS)


opinion = functools.cache(load_distillmos)


def listened(
    sound: Floats, language: str, notes: Path, arguments: argparse.Namespace
) -> tuple[list[str], float]:
    """What Whisper hears each time, and what DistillMOS says of a sound, from the file that has
    them, or now."""
    heard = at_16khz(sound, RATE)
    texts, rating = load_figures(notes) if notes.is_file() else ([], None)
    for number in range(len(texts), arguments.hearings):
        late = np.pad(heard, (number * SILENCE, 0))
        texts.append(recognizer(arguments.whisper, language)(late))
        rating = rating or opinion()(heard)
        keep_figures([texts, rating], notes)
    return texts[: arguments.hearings], rating


SILENCE = 2400
"""Samples at 16 kHz by which a hearing begins earlier than the one before it."""


def hear(arguments: argparse.Namespace) -> list[str]:
    """The table of ``speech``."""
    voice = load_voice(arguments.which)
    rows = dict[str, list[str]]()
    for speaker in arguments.speaker or sorted(voice.config.speakers):
        language = subtags(voice.read_for(speaker).config.language)[0]
        texts = sentences("unspaced", language) or sentences("languages", language)
        judged = list[list[float]]()
        for number in range(len(texts))[slice(*arguments.sentences)]:
            wanted = syllables(language, texts[number])
            judged.append([len(wanted)])
            for name, policy in POLICIES.items():
                path = arguments.sounds / f"{speaker}-{name.replace(' ', '')}-{number + 1:03}.wav"
                sound = said(voice, texts[number], policy, speaker, path)
                heard, rating = listened(sound, language, path.with_suffix(".json"), arguments)
                wrong = [distance(wanted, syllables(language, it, is_heard=True)) for it in heard]
                judged[-1] += [float(np.median(wrong)), rating]
                print(path.name, wrong, rating, *heard, flush=True)
            rows[speaker] = [f"{speaker}, {language}", *cells(np.array(judged))]
            keep(table(HEADING, rows.values()), arguments.results)
    return table(HEADING, rows.values())


HEADING = "|sentences|wrong, whole|k = 1|k = 1 less whole|DistillMOS, whole|k = 1 less whole"


def cells(judged: Floats) -> list[str]:
    """What has been heard of a speaker so far: of each sentence its syllables, and errors and
    opinion of both policies."""
    wrong = 100 * judged[:, 1::2] / judged[:, 0].mean()
    rated = judged[:, 2::2]
    changes = [with_interval(np.diff(values)) for values in (wrong, rated)]
    rates = [f"{rate:.1f} %" for rate in wrong.mean(0)]
    return [str(len(judged)), *rates, changes[0], with_interval(rated[:, 0]), changes[1]]


def with_interval(values: Floats) -> str:
    """A mean with its 95 % interval."""
    half = 1.96 * np.std(values, ddof=1) / len(values) ** 0.5
    return f"{np.mean(values):+.2f} ± {half:.2f}".lstrip("+")


def main() -> None:
    """Print a table."""
    parser = options(
        __doc__,
        "results",
        hearings=1,
        sentences=(0, 1000),
        speaker=[str],
        whisper=Path,
        sounds=Path,
    )
    parser.add_argument("what", choices=("text", "speech"))
    parser.add_argument("which", help="a language; of speech, the voice's folder")
    arguments = parser.parse_args()
    lines = read(arguments.which) if arguments.what == "text" else hear(arguments)
    tell(lines, arguments.results)


if __name__ == "__main__":
    main()
