"""``sayahead say``: text from arguments, a file or a pipe, spoken while it arrives."""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayahead.cli import number
from sayahead.cli.console import Console, Display
from sayahead.cli.text_source import Source, Typed, keys
from sayahead.config import named
from sayahead.contexts import CONTEXTS
from sayahead.errors import ConfigError
from sayahead.policies import POLICIES
from sayahead.speech import IDLE_S, Playback, early_s

if TYPE_CHECKING:
    from sayahead.engine.context import ContextPredictor
    from sayahead.engine.session import Session
    from sayahead.sound.files import Sink
    from sayahead.types import WordTiming
    from sayahead.voice import Voice

SSML_HELP = "the text has SSML tags: <break>, <phoneme>, <sub>, <say-as>, <prosody rate>, <p>, <s>"
LEXICON_HELP = "how words are said: a file of lines such as Nguyen = /ˈwɪn/ or SQL = sequel, or a PLS file"
HELP = "speak text as it arrives"
EPILOG = """examples:
  sayahead say 'Hello, world!'                    play it
  sayahead say -o hello.wav 'Hello, world!'       write a file
  llm 'Tell me a story.' | sayahead say           speak while the text is being written
  sayahead say -f story.txt -o story.flac --timings story.vtt
  sayahead say --raw 'Hello!' | aplay -q -f S16_LE -r 24000
  sayahead say                                    type, and hear each line
"""
# Options that go to the session as they are.
NUMBERS = ("speed", "volume", "seed", "k2", "delta", "speaker", "pitch", "pitch_range", "formants", "lexicon")
# Long texts are taken in piece by piece, so that their length does not delay the first sound.
PIECE = 256


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add = parser.add_argument_group("text").add_argument
    add("text", nargs="*", metavar="TEXT", help="text to say (default: standard input, spoken as it arrives)")
    add("-f", "--file", metavar="FILE", help="speak a text file (UTF-8; - is standard input)")
    idle = f"after so long without text, speak what is there, then go on (default: {IDLE_S:g})"
    add("--idle", type=number(float, 0.0), default=IDLE_S, metavar="SECONDS", help=idle)
    add = parser.add_argument_group("output (default: the sound device)").add_argument
    add("-o", "--output", metavar="FILE", help="write FILE.wav or FILE.flac, or WAV to standard output (-)")
    add("--raw", action="store_true", help="write raw samples to standard output: 16-bit little-endian mono")
    add("--timings", type=Path, metavar="FILE", help="write each word's start and end to FILE.json, .srt or .vtt")
    add("-i", "--interactive", action="store_true", help="show the text, mark each word as it is heard; follow keys")
    add("--queue", action="store_true", help="wait until other programs that say --queue, and sayahead mcp, are silent")
    add("-q", "--quiet", action="store_true", help="show nothing but errors")
    add = parser.add_argument_group("voice").add_argument
    add("--voice", default="heart", metavar="NAME", help="name or folder (see: sayahead voices; default: heart)")
    add("--speed", type=float, metavar="X", help="pace: 2 is twice as fast (default: 1)")
    add("--speaker", metavar="NAME", help="a speaker's name or number, if the voice has several (default: the first)")
    add("--pitch", type=float, metavar="SEMITONES", help="higher, or lower where negative (default: 0)")
    add("--pitch-range", type=float, metavar="X", help="livelier, or flatter below 1 (default: 1)")
    add("--formants", type=float, metavar="X", help="a shorter vocal tract, or a longer one below 1 (default: 1)")
    keeping = "follow the pace of the text: on, or lag_s=2,most_speed=1.4 (default: off)"
    add("--keep-up", metavar="OPTIONS", help=keeping)
    add("--volume", type=float, metavar="X", help="loudness: 0.5 is half (default: 1)")
    add("--lexicon", metavar="FILE", help=LEXICON_HELP)
    add("--ssml", action="store_true", help=SSML_HELP)
    add("--seed", type=int, metavar="N", help="another number gives slightly different noise (default: 0)")
    add = parser.add_argument_group("when to speak (defaults: the voice's own)").add_argument
    policies = f"{', '.join(POLICIES)}; with options: learned:price=2,words_per_min=120"
    add("--policy", metavar="NAME", help=policies)
    add(
        "-k",
        "--k1",
        "--lookahead",
        dest="lookahead",
        type=number(int, 0),
        metavar="N",
        help="words of lookahead, the policy's option k: how many must follow before a word is spoken",
    )
    add(
        "--hold-back",
        type=number(float, 0.0, 2000.0),
        metavar="MS",
        help="milliseconds of sound held back until more text arrives",
    )
    add("--k2", type=int, metavar="N", help="spoken chunks that must follow before one becomes sound (Ma's k2)")
    add("--delta", type=int, metavar="N", help="frames of right context that the vocoder may use")
    contexts = f"what stands in for words to come: {', '.join(CONTEXTS)}; with options: random:count=3"
    add("--context", metavar="NAME", help=contexts)
    add("--lm", metavar="NAME", help="language model, a name or folder of transformers': --context lm:model=NAME")


def run(arguments: argparse.Namespace) -> int:
    """Speak; the exit code."""
    check(arguments)
    console = Console(quiet=arguments.quiet)
    source, typed = open_source(arguments, console)
    log = logging.getLogger("sayahead")
    log.addHandler(console)
    # Callbacks run last to first, each whatever happens to the others, so that Ctrl-C leaves all files complete.
    with contextlib.ExitStack() as stack:
        stack.callback(log.removeHandler, console)
        from sayahead.voice import load_voice

        voice = load_voice(arguments.voice)
        if typed and arguments.interactive and arguments.policy is None and not voice.characters:
            # Who types hears a word when it is finished, not when the next one is.
            arguments.lookahead = arguments.lookahead or 0
        session = voice.session(**session_options(arguments, voice))
        speaker = Speaker(session, console)
        stack.callback(speaker.report, target(arguments))
        if arguments.timings is not None:
            stack.callback(keep_timings(arguments.timings, speaker, voice.sample_rate))
        if arguments.queue:
            from sayahead.sound.speaker_lock import turn

            stack.enter_context(turn())
        speaker.sink = open_sink(arguments, voice.sample_rate, console)
        speaker.live = arguments.output in (None, "-")
        stack.callback(speaker.sink.close)
        by_key = typed and arguments.interactive and stack.enter_context(keys(sys.stdin.fileno()))
        if by_key:
            console.note("Type: each word is spoken as you finish it; until then it can be deleted. Ctrl-D ends.")
        elif typed:
            console.note("Type, and press Enter to hear each line; Ctrl-D ends.")
        if arguments.interactive and not arguments.quiet:
            speaker.display = Display(console, getattr(speaker.sink, "played", None))
            stack.callback(speaker.display.close)
        with contextlib.suppress(BrokenPipeError):
            speaker.run(source, idle_s=arguments.idle, by_line=typed, by_key=by_key)
    return 0


class Speaker:
    """One text on its way through a session into a sink."""

    sink: Sink

    def __init__(self, session: Session, console: Console) -> None:
        self._session, self._console = session, console
        self.display: Display | None = None
        self.words: list[WordTiming] = []
        self._seconds, self._read = 0.0, 0
        self._first_s: float | None = None
        self._outcome = ""
        self._playback = Playback()
        self.live = True
        """Whether somebody listens while it speaks."""

    def run(self, source: Source, *, idle_s: float | None, by_line: bool, by_key: bool) -> None:
        """Speak all of the source, each piece of sound as soon as it is made."""
        try:
            if by_key:
                self._follow_keys(source, idle_s)
            else:
                self._speak(source, idle_s, by_line)
            self._session.finish()
            self._pull()
            self.sink.drain()
            self._outcome = "done"
        except (KeyboardInterrupt, SystemExit):
            self._outcome = "stopped"
            raise

    def _speak(self, source: Source, idle_s: float | None, by_line: bool) -> None:
        for fragment in source.fragments(idle_s, self._early_s):
            if not fragment:
                if fragment is None:
                    self._session.flush(end=False)
                self._pull()
                continue
            self._read += len(fragment)
            for piece in pieces(fragment, by_line=by_line):
                if self.display is not None:
                    self.display.add_text(piece)
                self._session.push(piece)
                if by_line and piece.endswith("\n"):
                    self._session.flush()
                self._pull()

    def _follow_keys(self, source: Source, idle_s: float | None) -> None:
        """Speak what is typed; Backspace, Ctrl-W and Ctrl-U take back what was not spoken."""
        typed = Typed()
        for fragment in source.fragments(idle_s, self._early_s):
            if fragment is None:
                self._session.flush(end=False)
            pressed, ends, _ = typed.characters(fragment).partition("\x04")
            for key in pressed:
                self._press(key)
            if self.display is not None:
                self.display.replace_text(self._session.text)
            self._pull()
            if ends:
                return

    def _press(self, key: str) -> None:
        text = self._session.text
        erased = {"\x7f": r".", "\b": r".", "\x17": r"\S*\s*", "\x15": r"[^\n]*"}.get(key)
        if erased is not None:
            rest = re.sub(rf"(?:{erased})\Z", "", text, count=1, flags=re.DOTALL)
            self._session.revise(len(rest), "")
        elif key in "\r\n":
            self._session.push("\n")
            self._session.flush()
        elif key.isprintable() or key == "\t":
            self._session.push(key)
            self._read += 1

    def _early_s(self) -> float:
        return early_s(self._session)

    def _tell(self) -> None:
        """Tell the session how much has been heard; of a pipe, what a player in real time would have played."""
        if self._session.keeps_up and self.live:
            played = getattr(self.sink, "played", None)
            now_s = (
                self._playback.played_s(time.monotonic()) if played is None else played() / self._session.sample_rate
            )
            self._session.played(now_s)

    def _pull(self) -> None:
        begun = time.perf_counter()
        self._tell()
        for chunk in self._session.chunks():
            if self._first_s is None:
                self._first_s = time.perf_counter() - begun
            if self.display is not None:
                self.display.add_words(chunk.words)
            self._playback.give(chunk.duration_s, time.monotonic())
            self.sink.write(chunk.samples)
            self.words.extend(chunk.words)
            self._seconds += chunk.duration_s
            if self.display is None:
                self._console.progress(self._figures())

    def _figures(self) -> str:
        first = f", first sound {1000 * self._first_s:.0f} ms after its text" if self._first_s is not None else ""
        return f"{self._seconds:.1f} s, {len(self.words)} word{'s' * (len(self.words) != 1)}{first}"

    def report(self, target: str) -> None:
        """The summary, in place of the progress line; nothing after an error, which says more."""
        self._console.progress("")
        if self.words and self._outcome:
            self._console.note(f"{target}: {self._figures()}{', stopped' * (self._outcome == 'stopped')}")
        elif self._outcome == "done":
            why = "the text has no words that can be spoken" if self._read else "the text is empty"
            self._console.warn(f"Nothing to say: {why}.")


def pieces(fragment: str, *, by_line: bool) -> list[str]:
    """The fragment in pieces of bounded size, each within one line if lines count."""
    lines = fragment.splitlines(keepends=True) if by_line else [fragment]
    return [line[at : at + PIECE] for line in lines for at in range(0, len(line), PIECE)]


def check(arguments: argparse.Namespace) -> None:
    """ConfigError for options that do not go together."""
    from sayahead.sound.files import FORMATS
    from sayahead.sound.subtitles import FORMS

    if arguments.text and arguments.file is not None:
        raise ConfigError("Give TEXT or --file, not both.")
    if arguments.raw and arguments.output is not None:
        raise ConfigError("--raw writes to standard output: leave out -o or --raw.")
    if arguments.output not in (None, "-"):
        known_ending("-o", Path(arguments.output), FORMATS)
    if arguments.timings is not None:
        known_ending("--timings", arguments.timings, FORMS)
    to_stdout = arguments.raw or arguments.output == "-"
    if to_stdout and sys.stdout is None:
        raise ConfigError("Standard output is closed: open it, or write a file with -o hello.wav.")
    if to_stdout and sys.stdout.isatty():
        raise ConfigError(
            "A terminal cannot play sound: pipe it on (| aplay -q ...), or write a file with -o hello.wav."
        )
    if arguments.context is not None:
        name, options = named("context", arguments.context)
        if arguments.lm is not None and name not in ("lm", "hidden"):
            raise ConfigError(f"--lm does not apply to --context {name}: leave one of them out.")
        if name == "lm" and arguments.lm is None and "model" not in options:
            raise ConfigError("--context lm needs a language model: --lm NAME or --lm FOLDER, for example --lm gpt2.")
        if name == "truth" and not arguments.text and arguments.file in (None, "-"):
            raise ConfigError("--context truth needs the whole text at the start: as an argument, or with --file.")


def known_ending(option: str, path: Path, known: Mapping[str, object]) -> None:
    """ConfigError for an unsupported file extension."""
    if path.suffix.lower() not in known:
        ending = f"unsupported extension {path.suffix!r}" if path.suffix else "the extension is missing"
        raise ConfigError(f"{option} {path}: {ending}; use {', '.join(known)}.")


def open_source(arguments: argparse.Namespace, console: Console) -> tuple[Source, bool]:
    """The text, being read from now on, and whether a person types it."""
    if arguments.text:
        # Undecodable bytes of the command line become bytes again, and are treated as in any other source.
        data = " ".join(arguments.text).encode("utf-8", "surrogateescape")
        return Source(io.BytesIO(data), "The text", warn=console.warn), False
    if arguments.file in (None, "-"):
        if sys.stdin is None:
            raise ConfigError("There is no text: give it as an argument, with --file, or on standard input.")
        stdin = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115
        return Source(stdin, "Standard input", warn=console.warn), arguments.file is None and sys.stdin.isatty()
    try:
        file = open(arguments.file, "rb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise ConfigError(f"{arguments.file} cannot be read: {error.strerror or error}.") from error
    return Source(file, arguments.file, warn=console.warn), False


def open_sink(arguments: argparse.Namespace, sample_rate: int, console: Console) -> Sink:
    """Where the sound goes."""
    from sayahead.sound.files import FORMATS, RawWriter, WavWriter

    if arguments.raw or arguments.output == "-":
        stdout = open(sys.stdout.fileno(), "wb", buffering=0, closefd=False)  # noqa: SIM115
        if not arguments.raw:
            return WavWriter(stdout, "Standard output", sample_rate=sample_rate)
        console.note(f"Raw sound: signed 16-bit little-endian, mono, {sample_rate} samples a second.")
        return RawWriter(stdout, "Standard output")
    if arguments.output is not None:
        path = Path(arguments.output)
        return FORMATS[path.suffix.lower()](path, sample_rate=sample_rate)
    from sayahead.sound.device import Player

    return Player(sample_rate)


def target(arguments: argparse.Namespace) -> str:
    """What the summary calls the place where the sound went."""
    if arguments.raw or arguments.output == "-":
        return "Standard output"
    return arguments.output or "Spoken"


def keep_timings(path: Path, speaker: Speaker, sample_rate: int) -> Callable[[], None]:
    """A function that writes the word times; the file is opened now, so that a wrong path fails before any sound."""
    from sayahead.sound.files import open_output
    from sayahead.sound.subtitles import write_timings

    open_output(path).close()
    return lambda: write_timings(path, speaker.words, sample_rate=sample_rate)


def session_options(arguments: argparse.Namespace, voice: Voice) -> Any:
    """Options of Voice.session; those not given are absent."""
    options = {name: getattr(arguments, name) for name in (*NUMBERS, "keep_up")}
    if arguments.hold_back is not None:
        options["hold_back_s"] = arguments.hold_back / 1000
    if arguments.policy is not None or arguments.lookahead is not None:
        more = {} if arguments.lookahead is None else {"k": arguments.lookahead}
        options["policy"] = voice.policy(arguments.policy or "lookahead", **more)
    options["markup"] = "ssml" if arguments.ssml else None
    options["context"] = chosen_context(arguments, voice)
    return {name: value for name, value in options.items() if value is not None}


def chosen_context(arguments: argparse.Namespace, voice: Voice) -> ContextPredictor | None:
    """The context predictor that the options describe; None means the voice's own."""
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
