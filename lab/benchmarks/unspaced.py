"""Mandarin, Japanese and Hindi word by word: how late words are final, and what that costs in
phonemes and in sound.

    python lab/benchmarks/unspaced.py text zh [-o FILE.md]
    python lab/benchmarks/unspaced.py speech zh VOICE --speaker zm_yunxi --whisper WHISPER \
        --sounds FOLDER [--every 3] [-o FILE.md]

The texts are the sentences of ``data/sentences.tsv``, which come character by
character. ``text``: characters between a word's end and the one that makes it final; characters
until a voice with one word of lookahead may begin; phonemes that a word has with one word of
lookahead as with the whole sentence. ``speech``: VOICE is a folder with Kokoro's styles; each
sentence is said whole, and with one word of lookahead. What Whisper hears is read by the language's
own front end, and its syllables (of Mandarin with their tones, of Japanese kana) are compared with
those of the text. Of Hindi, which Whisper's small models write in Urdu's letters, consonants are
compared, without aspiration: Urdu has no short vowels, and other letters for some sounds. Sounds
that are in FOLDER are not made again; the table is written after each sentence.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from output import keep, options, sentences, tell
from sayahead.sound.files import write_wav
from sayahead.text import Normalizer, front_end
from sayahead.text.saying.espeak.client import ESPEAK
from sayahead.text.saying.espeak.phonemizer import FLAG
from sayahead.types import Floats, Word
from sayahead.voice import Voice, load_voice

from sayahead_lab.eval.listening.listeners import at_16khz, load_distillmos, load_whisper
from sayahead_lab.eval.measures.word_errors import distance

POLICIES = {"whole": "wait-all", "k = 1": "lookahead:k=1"}
RATE = 24000
VOICE = Path(__file__).parents[2] / "src/sayahead/voices/heart/voice.json"
"""A voice with Kokoro's phonemes."""


@dataclass(slots=True)
class Arrival:
    """A word, and how many characters of the text were there when it was final."""

    word: Word
    seen: int


def arrivals(normalizer: Normalizer, text: str) -> list[Arrival]:
    """The words of a text that comes character by character."""
    found = [
        Arrival(word, seen) for seen, char in enumerate(text, 1) for word in normalizer.push(char)
    ]
    return found + [Arrival(word, len(text)) for word in normalizer.flush()]


def clauses(words: Sequence[Word]) -> Iterator[list[Word]]:
    """The words of each sentence."""
    sentence: list[Word] = []
    for word in words:
        sentence.append(word)
        if word.ends:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def read(language: str) -> list[str]:
    """The table of ``text``."""
    front = front_end(language)
    symbols: dict[str, int] = json.loads(VOICE.read_text(encoding="utf-8"))["phonemes"]
    phonemizer = front.phonemizer(symbols)
    late: list[int] = []
    first: list[int] = []
    lengths: list[int] = []
    total = wrong = 0
    for text in sentences("unspaced", language):
        came = arrivals(front.normalizer(), text)
        late += [one.seen - one.word.end for one in came]
        lengths += [one.word.end - one.word.start for one in came]
        first.append(came[0].seen if came[0].word.ends else came[min(1, len(came) - 1)].seen)
        for words in clauses([one.word for one in came]):
            whole = phonemizer.phonemize(words, left=[])
            for place, expected in enumerate(whole):
                left = [word.text for word in words[:place]]
                one = phonemizer.phonemize(words[place : place + 2], left=left)[0]
                total += len(expected.ids)
                wrong += distance([*map(str, expected.ids)], [*map(str, one.ids)])
    return [
        "| | mean | median | 95 % | most |",
        "|---|--:|--:|--:|--:|",
        row("characters of a word", lengths),
        row("characters until it is final", late),
        row("characters until a voice with k = 1 may begin", first),
        "",
        f"Phonemes that a word has with one word of lookahead as with the sentence: "
        f"{100 - wrong / total * 100:.2f} % of {total:,}.",
    ]


def row(name: str, values: Sequence[float]) -> str:
    """A row of a table."""
    middle, high = np.percentile(values, [50, 95])
    return f"| {name} | {np.mean(values):.2f} | {middle:.0f} | {high:.0f} | {max(values):.0f} |"


@dataclass(slots=True)
class Heard:
    """What the listeners make of a condition."""

    errors: list[int]
    syllables: list[int]
    opinion: list[float]


def syllables(language: str, text: str, *, is_heard: bool = False) -> list[str]:
    """The syllables of a text, as the language's front end reads them; ``is_heard``: it is what
    Whisper wrote."""
    if is_heard and language in HEARD_AS:
        return consonants(HEARD_AS[language], text)
    normalizer = front_end(language).normalizer()
    words = [*normalizer.push(text), *normalizer.flush()]
    return SYLLABLES[language]([word.text for word in words])


def mandarin(words: Sequence[str]) -> list[str]:
    """Syllables with their tones."""
    from sayahead.text.saying.mandarin.sounds import syllables_of

    return [one for word in words for one in syllables_of(word)]


def japanese(words: Sequence[str]) -> list[str]:
    """Kana."""
    from sayahead.text.saying.japanese.sounds import kana_of

    return [char for word in words for char in kana_of(word)]


def hindi(words: Sequence[str]) -> list[str]:
    """Consonants."""
    return consonants("hi", " ".join(words))


def consonants(voice: str, text: str) -> list[str]:
    """What espeak-ng says, as consonants that Hindi and Urdu both write."""
    sounds = FLAG.sub("", "".join(ESPEAK.clauses(voice, text))).translate(ALIKE)
    return [sound for sound in sounds if sound in CONSONANTS]


SYLLABLES: Mapping[str, Callable[[Sequence[str]], list[str]]] = {
    "zh": mandarin,
    "ja": japanese,
    "hi": hindi,
}
HEARD_AS = {"hi": "ur"}
"""What Whisper is told a language is, and espeak-ng's voice for what it then writes."""
CONSONANTS = frozenset("kɡcɟtdnpbmjrlʋʃsh")
ALIKE = str.maketrans("ʈɖɽɾxqɣfzʒwvɳŋɲʂðθ", "tdrrkkɡpɟɟʋʋnnnʃdt")
"""Sounds that one of the two languages does not tell from others."""


def said(voice: Voice, text: str, policy: str, speaker: str, path: Path) -> Floats:
    """The samples of a sentence, from the file that has them or a new one."""
    if not path.is_file():
        chunks = voice.stream(list(text), policy=policy, speaker=speaker)
        samples = np.concatenate([chunk.samples for chunk in chunks])
        path.parent.mkdir(parents=True, exist_ok=True)
        write_wav(path, samples, RATE)
    import soundfile

    samples, _ = soundfile.read(path, dtype="float32")
    return np.asarray(samples, np.float32)


def hear(arguments: argparse.Namespace) -> list[str]:
    """The table of ``speech``."""
    language = arguments.language
    voice = load_voice(arguments.voice)
    whisper = load_whisper(arguments.whisper, threads=1, language=HEARD_AS.get(language, language))
    opinion = load_distillmos()
    heard = {name: Heard([], [], []) for name in POLICIES}
    numbered = list(enumerate(sentences("unspaced", language), 1))
    for number, text in numbered[:: arguments.every]:
        wanted = syllables(language, text)
        for name, policy in POLICIES.items():
            file = (
                f"{arguments.speaker}-{policy.replace(':', '-').replace('=', '')}-{number:03}.wav"
            )
            samples = said(voice, text, policy, arguments.speaker, arguments.sounds / file)
            sound = at_16khz(samples, RATE)
            found = whisper(sound)
            heard[name].errors.append(distance(wanted, syllables(language, found, is_heard=True)))
            heard[name].syllables.append(len(wanted))
            heard[name].opinion.append(opinion(sound))
            print(file, heard[name].errors[-1], f"{heard[name].opinion[-1]:.2f}", found, flush=True)
        keep(judged(heard, arguments.speaker), arguments.results)
    return judged(heard, arguments.speaker)


def judged(heard: Mapping[str, Heard], speaker: str) -> list[str]:
    """The table of what has been heard so far."""
    lines = ["| | wrong syllables | DistillMOS |", "|---|--:|--:|"]
    for name, one in heard.items():
        rate = sum(one.errors) / sum(one.syllables) * 100
        lines.append(f"| {name} | {rate:.1f} % | {with_interval(one.opinion)} |")
    pairs = zip(heard["k = 1"].opinion, heard["whole"].opinion, strict=True)
    less = with_interval([late - whole for late, whole in pairs])
    count = len(heard["whole"].opinion)
    return [*lines, "", f"{speaker}, {count} sentences; k = 1 less whole: {less}"]


def with_interval(values: Sequence[float]) -> str:
    """A mean with its 95 % interval."""
    return f"{np.mean(values):+.2f} ± {1.96 * np.std(values) / len(values) ** 0.5:.2f}".lstrip("+")


def main() -> None:
    """Print a table."""
    parser = options(__doc__, "-o", "--results")
    parser.add_argument("what", choices=("text", "speech"))
    parser.add_argument("language", choices=sorted(SYLLABLES))
    parser.add_argument("voice", nargs="?", type=Path)
    parser.add_argument("--speaker")
    parser.add_argument("--whisper", type=Path)
    parser.add_argument("--sounds", type=Path)
    parser.add_argument("--every", type=int, default=1, help="every so many sentences")
    arguments = parser.parse_args()
    lines = read(arguments.language) if arguments.what == "text" else hear(arguments)
    tell(lines, arguments.results)


if __name__ == "__main__":
    main()
