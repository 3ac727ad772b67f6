"""``sayahead say``: text from arguments, a file or a pipe, spoken while it arrives."""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import logging
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayahead.cli import number, one_of
from sayahead.cli.console import Console, Display
from sayahead.cli.options import add_options, given
from sayahead.cli.text_source import Source, Typed, keys
from sayahead.config import named
from sayahead.contexts import CONTEXTS
from sayahead.engine.options import SessionOptions
from sayahead.engine.session import Flush, Item, Revision, Session
from sayahead.errors import ConfigError
from sayahead.policies import POLICIES
from sayahead.speech import IDLE_S, Speech

if TYPE_CHECKING:
    from sayahead.engine.context import ContextPredictor
    from sayahead.sound.files import Sink
    from sayahead.voice import Voice

SSML_HELP = "the text has SSML tags: <break>, <phoneme>, <sub>, <say-as>, <prosody rate>, <p>, <s>"
LEXICON_HELP = (
    "how words are said: a file of lines such as Nguyen = /ˈwɪn/ or SQL = sequel, or a PLS file"
)
EPILOG = """examples:
  sayahead say 'Hello, world!'                    play it
  sayahead say -o hello.wav 'Hello, world!'       write a file
  llm 'Tell me a story.' | sayahead say           speak while the text is being written
  sayahead say -f story.txt -o story.flac --timings story.vtt
  sayahead say --raw 'Hello!' | aplay -q -f S16_LE -r 24000
  sayahead say                                    type, and hear each line
"""
TIMING = ("policy", "hold_back_s")
"""Options about when to speak."""
PAPERS = ("context", "k2", "delta")
"""Options from papers, for research."""
# Long texts are passed on in pieces of this many characters, so that their length does not delay
# the first sound.
PIECE = 256


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("text").add_argument
    add(
        "text",
        nargs="*",
        metavar="TEXT",
        help="text to say (default, or -: standard input, spoken as it arrives)",
    )
    add(
        "-f",
        "--file",
        metavar="FILE",
        help="speak a text file (UTF-8, or UTF-16 with its mark; - is standard input)",
    )
    idle = f"after so long without text, speak what is there, then go on (default: {IDLE_S:g})"
    add("--idle", type=number(float, 0.0), default=IDLE_S, metavar="SECONDS", help=idle)
    add = parser.add_argument_group("output (default: the sound device)").add_argument
    add(
        "-o",
        "--output",
        metavar="FILE",
        help="write FILE.wav, .flac, .mp3, .opus, .aac, or WAV to standard output (-)",
    )
    add(
        "--device",
        metavar="NAME",
        help="the sound device, by a part of its name (sayahead doctor lists them)",
    )
    add(
        "--raw",
        action="store_true",
        help="write raw samples to standard output: 16-bit little-endian mono",
    )
    add(
        "--timings",
        type=Path,
        metavar="FILE",
        help="write subtitles (FILE.srt, .vtt) or word times (.json)",
    )
    add("--each-word", action="store_true", help="make a subtitle of each word")
    add(
        "--spoken",
        action="store_true",
        help="subtitles as it is spoken, nine thirty, not as it is written, 9:30",
    )
    add(
        "-i",
        "--interactive",
        action="store_true",
        help="mark each word as it is heard; follow what you type",
    )
    add(
        "--queue",
        action="store_true",
        help="take turns with other programs that use it, and with sayahead mcp",
    )
    add("-q", "--quiet", action="store_true", help="show nothing but errors")
    add = parser.add_argument_group("voice").add_argument
    add("--voice", metavar="NAME", help="name or folder (see: sayahead voices; default: heart)")
    add(
        "--language",
        metavar="TAG",
        help="without --voice: the first voice of this language (fr, en-GB)",
    )
    add("--gender", type=one_of("female", "male"), metavar="female|male", help="and of this gender")
    names = {field.name for field in fields(SessionOptions)}
    add_options(add, names - {*TIMING, *PAPERS, "markup"}, lexicon=LEXICON_HELP)
    add("--ssml", dest="markup", action="store_const", const="ssml", help=SSML_HELP)
    cast = (
        "who is NAME in the text, in lines such as NAME: ..., and [voice:NAME]; repeat it for each"
        " speaker"
    )
    add("--cast", action="append", default=[], metavar="NAME=VOICE", help=cast)
    add = parser.add_argument_group("when to speak (defaults: the voice's own)").add_argument
    policies = f"{', '.join(POLICIES.own)}; with options: learned:price=2,words_per_min=120"
    contexts = (
        f"what stands in for words to come: {', '.join(CONTEXTS.own)}; with options: random:count=3"
    )
    add_options(add, TIMING, policy=policies)
    lookahead = (
        "words of lookahead, the policy's option k: how many must follow before a word is spoken"
    )
    add(
        "-k",
        "--k1",
        "--lookahead",
        dest="lookahead",
        type=number(int, 0),
        metavar="N",
        help=lookahead,
    )
    add = parser.add_argument_group("for research").add_argument
    add_options(add, PAPERS, context=contexts)
    add(
        "--lm",
        metavar="NAME",
        help="language model, a name or folder of transformers': --context lm:model=NAME",
    )


def run(arguments: argparse.Namespace) -> int:
    """Speak; return the exit code."""
    check(arguments)
    console = Console(quiet=arguments.quiet)
    source, is_typed = open_source(arguments, console)
    log = logging.getLogger("sayahead")
    log.addHandler(console)
    # Callbacks run in reverse order, each whether or not others fail, so that Ctrl-C leaves all
    # files complete.
    with contextlib.ExitStack() as stack:
        stack.callback(log.removeHandler, console)
        from sayahead.voice import load_voice

        voice = load_voice(arguments.voice, language=arguments.language, gender=arguments.gender)
        if is_typed and arguments.interactive and arguments.policy is None and not voice.characters:
            # Somebody who types hears a word once it is complete, without waiting for the next one.
            arguments.lookahead = arguments.lookahead or 0
        session = session_of(arguments, voice)
        speaker = Speaker(session, console, source, arguments.idle)
        stack.callback(speaker.report, target(arguments))
        if arguments.timings is not None:
            stack.callback(keep_timings(arguments, speaker, voice.sample_rate))
        if arguments.queue:
            from sayahead.sound.speaker_lock import turn

            stack.enter_context(turn())
        sink = open_sink(arguments, voice.sample_rate, console)
        stack.callback(sink.close)
        speaker.by_line = is_typed
        if is_typed and arguments.interactive:
            speaker.by_key = stack.enter_context(keys(sys.stdin.fileno()))
        if speaker.by_key:
            console.note(
                "Type: each word is spoken as you finish it; until then it can be deleted. Ctrl-D"
                " ends."
            )
        elif is_typed:
            console.note("Type, and press Enter to hear each line; Ctrl-D ends.")
        if arguments.interactive and not arguments.quiet:
            speaker.display = Display(console, getattr(sink, "played", None))
            stack.callback(speaker.display.close)
        with contextlib.suppress(BrokenPipeError):
            speaker.run(sink, live=arguments.output in (None, "-"))
    return 0


class Speaker:
    """Speaks the text of a source into a sink, and shows the progress."""

    by_line = False
    """Whether each line is a text of its own: somebody types."""
    by_key = False
    """Whether each key is processed at once: somebody types interactively."""
    display: Display | None = None

    def __init__(
        self, session: Session, console: Console, source: Source, idle_s: float | None
    ) -> None:
        self.speech = Speech(session, self._items(), wakes=True)
        self._fragments = source.fragments(idle_s, self.speech.pause_s)
        self._console = console
        self.written_s = 0.0
        """Seconds of sound written."""
        self._text_at = 0.0
        self._first_s = math.nan
        self._outcome = ""

    def run(self, sink: Sink, *, live: bool) -> None:
        """Speak the whole source, writing each chunk of sound as soon as it is made."""
        try:
            for chunk in self.speech.into(sink, live=live):
                if math.isnan(self._first_s):
                    self._first_s = time.perf_counter() - self._text_at
                self.written_s += chunk.duration_s
                if self.display is not None:
                    self.display.add_words(chunk.words)
                else:
                    self._console.progress(self._summary())
            sink.drain()
            self._outcome = "done"
        except (KeyboardInterrupt, SystemExit):
            self._outcome = "stopped"
            raise

    def _items(self) -> Iterator[Item]:
        """Yield the items of the text: fragments, flushes and revisions."""
        typed = Typed()
        for fragment in self._fragments:
            self._text_at = time.perf_counter()
            if fragment is None:
                yield Flush.BREATH
            if self.by_key:
                pressed, end_of_text, _ = typed.characters(fragment).partition("\x04")
                yield from self._on_keys(pressed)
                if end_of_text:
                    break
                continue
            if fragment == "":
                # Lets the session check what has become due.
                yield ""
            for piece in pieces(fragment or "", by_line=self.by_line):
                if self.display is not None:
                    self.display.add_text(piece)
                yield piece
                if self.by_line and piece.endswith("\n"):
                    yield Flush.END
        self._text_at = time.perf_counter()

    def _on_keys(self, keys: str) -> Iterator[Item]:
        """Yield items for typed keys; Backspace, Ctrl-W and Ctrl-U take back what was not
        spoken."""
        text = ""
        for key in keys:
            erased = {"\x7f": r".", "\b": r".", "\x17": r"\S*\s*", "\x15": r"[^\n]*"}.get(key)
            if erased is not None:
                text_before = self.speech.text
                rest = re.sub(rf"(?:{erased})\Z", "", text_before + text, count=1, flags=re.DOTALL)
                text = rest[len(text_before) :]
                if len(rest) < len(text_before):
                    yield Revision(len(rest), "")
            elif key in "\r\n":
                yield self._show(text + "\n")
                yield Flush.END
                text = ""
            elif key.isprintable() or key == "\t":
                text += key
        yield self._show(text)

    def _show(self, typed: str) -> str:
        """Show typed text on the display, and return it."""
        if self.display is not None:
            self.display.replace_text(self.speech.text + typed)
        return typed

    def _summary(self) -> str:
        """Return a line about the sound so far."""
        word_count = len(self.speech.words)
        words = "1 word" if word_count == 1 else f"{word_count} words"
        first = (
            ""
            if math.isnan(self._first_s)
            else f", first sound {1000 * self._first_s:.0f} ms after its text"
        )
        return f"{self.written_s:.1f} s, {words}{first}"

    def report(self, target: str) -> None:
        """Print the summary in place of the progress line; nothing after an error, which says
        more."""
        self._console.progress("")
        if self.speech.words and self._outcome:
            ending = ", stopped" if self._outcome == "stopped" else ""
            self._console.note(f"{target}: {self._summary()}{ending}")
        elif self._outcome == "done":
            why = (
                "the text has no words that can be spoken"
                if self.speech.text
                else "the text is empty"
            )
            self._console.warn(f"Nothing to say: {why}.")


def pieces(fragment: str, *, by_line: bool) -> list[str]:
    """Split a fragment into pieces of bounded size, and at line ends if ``by_line``."""
    lines = fragment.splitlines(keepends=True) if by_line else [fragment]
    return [line[start : start + PIECE] for line in lines for start in range(0, len(line), PIECE)]


def check(arguments: argparse.Namespace) -> None:
    """Raise ConfigError for options that cannot be combined."""
    if arguments.text and arguments.file is not None:
        raise ConfigError("Give TEXT or --file, not both.")
    if arguments.text == ["-"]:
        arguments.text = []
        arguments.file = "-"
    if arguments.device is not None and (arguments.raw or arguments.output is not None):
        raise ConfigError("--device is for sound that is played: leave it out, or -o and --raw.")
    check_timings(arguments)
    check_output(arguments)
    if arguments.context is not None:
        check_context(arguments)


def check_output(arguments: argparse.Namespace) -> None:
    """Raise ConfigError for output options that cannot be combined."""
    from sayahead.sound.formats import FORMATS

    if arguments.raw and arguments.output is not None:
        raise ConfigError("--raw writes to standard output: leave out -o or --raw.")
    if arguments.output not in (None, "-"):
        known_ending("-o", Path(arguments.output), FORMATS)
    to_stdout = arguments.raw or arguments.output == "-"
    if to_stdout and sys.stdout is None:
        raise ConfigError("Standard output is closed: open it, or write a file with -o hello.wav.")
    if to_stdout and sys.stdout.isatty():
        raise ConfigError(
            "A terminal cannot play sound: pipe it on (| aplay -q ...), or write a file with -o"
            " hello.wav."
        )


def check_context(arguments: argparse.Namespace) -> None:
    """Raise ConfigError for a context that cannot be combined with the other options."""
    name, options = named("context", arguments.context)
    if arguments.lm is not None and name not in ("lm", "hidden"):
        raise ConfigError(f"--lm does not apply to --context {name}: leave one of them out.")
    if name == "lm" and arguments.lm is None and "model" not in options:
        raise ConfigError(
            "--context lm needs a language model: --lm NAME or --lm FOLDER, for example --lm gpt2."
        )
    if name == "truth" and not arguments.text and arguments.file in (None, "-"):
        raise ConfigError(
            "--context truth needs the whole text at the start: as an argument, or with --file."
        )


def check_timings(arguments: argparse.Namespace) -> None:
    """Raise ConfigError for options about subtitles that cannot be combined."""
    from sayahead.sound.subtitles import FORMS

    no_subtitles = arguments.timings is None or arguments.timings.suffix.lower() == ".json"
    for option, chosen in (("--each-word", arguments.each_word), ("--spoken", arguments.spoken)):
        if chosen and no_subtitles:
            raise ConfigError(f"{option} is for subtitles: add --timings FILE.srt or FILE.vtt.")
    if arguments.timings is not None:
        known_ending("--timings", arguments.timings, FORMS)


def known_ending(option: str, path: Path, known: Mapping[str, object]) -> None:
    """Raise ConfigError for an unsupported file extension."""
    if path.suffix.lower() not in known:
        ending = (
            f"unsupported extension {path.suffix!r}" if path.suffix else "the extension is missing"
        )
        raise ConfigError(f"{option} {path}: {ending}; use {', '.join(known)}.")


def open_source(arguments: argparse.Namespace, console: Console) -> tuple[Source, bool]:
    """Return the text's source, which is being read from now on, and whether a person types it."""
    if arguments.text:
        # Undecodable bytes of the command line become bytes again, to be handled as in other
        # sources.
        data = " ".join(arguments.text).encode("utf-8", "surrogateescape")
        return Source(io.BytesIO(data), "The text", warn=console.warn), False
    if arguments.file in (None, "-"):
        if sys.stdin is None:
            raise ConfigError(
                "There is no text: give it as an argument, with --file, or on standard input."
            )
        stdin = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115
        return (
            Source(stdin, "Standard input", warn=console.warn),
            arguments.file is None and sys.stdin.isatty(),
        )
    try:
        file = open(arguments.file, "rb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise ConfigError(f"{arguments.file} cannot be read: {error.strerror or error}.") from error
    return Source(file, arguments.file, warn=console.warn), False


def open_sink(arguments: argparse.Namespace, sample_rate: int, console: Console) -> Sink:
    """Open the sink for the sound."""
    from sayahead.sound.files import RawWriter, WavWriter
    from sayahead.sound.formats import FORMATS
    from sayahead.sound.out import kept_until_written

    if arguments.raw or arguments.output == "-":
        stdout = open(sys.stdout.fileno(), "wb", buffering=0, closefd=False)  # noqa: SIM115
        if not arguments.raw:
            return WavWriter(stdout, "Standard output", sample_rate=sample_rate)
        console.note(
            f"Raw sound: signed 16-bit little-endian, mono, {sample_rate} samples a second."
        )
        return RawWriter(stdout, "Standard output")
    if arguments.output is not None:
        path = Path(arguments.output)
        return kept_until_written(
            path, functools.partial(FORMATS[path.suffix.lower()], path, sample_rate=sample_rate)
        )
    from sayahead.sound.device import Player

    return Player(sample_rate, device=arguments.device)


def target(arguments: argparse.Namespace) -> str:
    """Return the name of the output for the summary."""
    if arguments.raw or arguments.output == "-":
        return "Standard output"
    return arguments.output or "Spoken"


def keep_timings(
    arguments: argparse.Namespace, speaker: Speaker, sample_rate: int
) -> Callable[[], None]:
    """Return a function that writes the timings of all words whose sound was written.

    The file is opened now, so that a wrong path fails before any sound.
    """
    from sayahead.sound.files import open_output
    from sayahead.sound.subtitles import write_timings

    path = arguments.timings
    options = {"each_word": arguments.each_word, "spoken": arguments.spoken}
    open_output(path).close()

    def write() -> None:
        end = speaker.written_s * sample_rate
        words = [word for word in speaker.speech.words if word.onset_samples < end]
        try:
            write_timings(path, words, sample_rate=sample_rate, **options)
        except KeyboardInterrupt:
            # Opening has emptied the file, so write it again.
            write_timings(path, words, sample_rate=sample_rate, **options)
            raise

    return write


def session_options(arguments: argparse.Namespace, voice: Voice) -> Any:
    """Return the options for ``Voice.session``, without those that were not given."""
    options = given(arguments)
    if arguments.policy is not None or arguments.lookahead is not None:
        lookahead = {} if arguments.lookahead is None else {"k": arguments.lookahead}
        options["policy"] = voice.policy(arguments.policy or "lookahead", **lookahead)
    options["context"] = chosen_context(arguments, voice)
    return options


def session_of(arguments: argparse.Namespace, voice: Voice) -> Session:
    """Open a session of one voice, or of a cast whose narrator is that voice."""
    options = session_options(arguments, voice)
    if not arguments.cast:
        return voice.session(SessionOptions(**options))
    from sayahead.casting import Speakers

    cast: dict[str, str | Path | Voice] = {"narrator": voice}
    for entry in arguments.cast:
        name, _, played_by = (part.strip() for part in entry.partition("="))
        if not (name and played_by):
            raise ConfigError(
                f"--cast {entry!r}: give a name and a voice, such as --cast Ann=heart."
            )
        cast[name] = played_by
    return Speakers(cast, SessionOptions(**options)).session()


def chosen_context(arguments: argparse.Namespace, voice: Voice) -> ContextPredictor | None:
    """Return the context predictor that the options describe; None for the voice's own."""
    spec = arguments.context or ("lm" if arguments.lm else None)
    if spec is None:
        return None
    name, options = named("context", spec)
    if name in ("random", "lm"):
        options = {"seed": arguments.seed or 0, **options}
    if arguments.lm:
        options["model"] = arguments.lm
    if name == "truth":
        text = " ".join(arguments.text)
        options["text"] = text or Path(arguments.file).read_text(encoding="utf-8", errors="replace")
    return voice.context(name, **options)
