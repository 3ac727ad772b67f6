"""The command line: ``sayahead COMMAND ...``.

Each command is a module with ``add_arguments`` and ``run``. It may have an ``EPILOG``, and
``PARTS``, a table of subcommands such as ``sayahead voices add``.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from sayahead.extensions import Extensible, not_installed

HELP = {
    "say": "speak text as it arrives",
    "book": "make an audiobook, or a page that reads along",
    "serve": "serve speech to other programs",
    "mcp": "give agents a voice: tools speak, stop and voices, over MCP",
    "read": "show how a text is read: words as spoken, phonemes, sentence ends",
    "voices": "list the installed voices; add, shape, try and remove voices",
    "doctor": "check that everything works on this machine",
}
"""The package's own commands with a line about each, so that the overview need not import them."""
COMMANDS: Extensible[Any] = Extensible(
    "sayahead.commands", {name: f"sayahead.cli.{name}" for name in HELP}
)
"""Modules by command; only that of the chosen command is imported, which keeps the start short."""
ELSEWHERE = dict.fromkeys(("train", "eval", "bench", "loadtest", "measure"), "sayahead-lab")
"""Commands of other packages, for a hint if they are not installed."""

WRONG = 2
FAILED = 1
INTERRUPTED = 130
TERMINATED = 143


class Part(NamedTuple):
    """A subcommand that has no module of its own."""

    HELP: str
    """One line, without a full stop."""
    add_arguments: Callable[[argparse.ArgumentParser], None]
    """Adds its options to a parser."""
    run: Callable[[argparse.Namespace], int]
    """Runs it; returns the exit code."""
    EPILOG: str | None = None
    """Text after the options in its help."""


class Parser(argparse.ArgumentParser):
    """argparse with one-sentence errors that suggest the nearest option."""

    parts: Mapping[str, Any] = {}
    """The command's subcommands."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG, f"sayahead: error: {message.rstrip('.')}. See: {self.prog} --help\n")

    def parse_all(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse options anywhere among the other arguments."""
        parsed, rest = self.parse_known_intermixed_args(arguments)
        if rest:
            options = [option for option in self._option_string_actions if option.startswith("--")]
            if rest[0].startswith("-"):
                self.error(f"there is no option {rest[0]!r}{near(rest[0].split('=')[0], options)}")
            self.error(
                f"unexpected argument {rest[0]!r}{near(rest[0], self.parts) if self.parts else ''}"
            )
        return parsed


def near(word: str, known: Iterable[str]) -> str:
    """Return the end of an error about an unknown word: the nearest known one, or all."""
    from sayahead.config import nearest

    return nearest(word, known)


def one_of(*known: str) -> Callable[[str], str]:
    """Return an argparse type that accepts one of some words."""

    def convert(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(f"{text!r} is not known{near(text, known)}")
        return text

    return convert


def number(
    kind: type[int] | type[float], least: float, most: float = float("inf")
) -> Callable[[str], int | float]:
    """Return an argparse type for a number from ``least`` to ``most``."""

    def convert(text: str) -> int | float:
        bounds = f"of at least {least:g}" if most == float("inf") else f"from {least:g} to {most:g}"
        try:
            value = kind(text)
        except ValueError:
            value = kind(least) - 1
        if not least <= value <= most:
            kind_name = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{text!r} must be {kind_name} {bounds}")
        return value

    return convert


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code: 0 success, 1 failure on this machine, 2 wrong
    usage, 130 Ctrl-C."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with stopped_by_sigterm():
        return outcome(words)


@contextlib.contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Make SIGTERM raise SystemExit while inside, so that files are closed.

    Only the main thread may set a signal handler; elsewhere nothing changes.
    """
    previous = None
    if threading.current_thread() is threading.main_thread():
        previous = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        if previous is not None:
            signal.signal(signal.SIGTERM, previous)


def outcome(words: list[str]) -> int:
    """Run a command; return its exit code, after printing a sentence if it failed."""
    from sayahead.errors import SayaheadError

    try:
        code = command(words)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except SayaheadError as error:
        from sayahead.sound.files import OutputError

        # A missing package is a failure of this machine, whichever error reports it.
        missing = isinstance(error, OutputError) or isinstance(error.__cause__, ImportError)
        return complain(str(error), FAILED if missing else WRONG)
    except BrokenPipeError:
        # The reader of our output has closed it. Redirect stdout, so that what is still buffered
        # raises no error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        # For a file being written, the system does not report its name.
        unnamed = "Output cannot be written" if error.errno == errno.ENOSPC else "This machine"
        return complain(f"{error.filename or unnamed}: {error.strerror or error}.", FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        # Compiled modules turn Ctrl-C into other errors while they are being loaded.
        if is_interruption(error):
            return INTERRUPTED
        raise


def is_interruption(error: BaseException | None) -> bool:
    """Return whether an error was caused by Ctrl-C."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def command(words: list[str]) -> int:
    """Parse a command line and run its command; return the exit code."""
    if not words or words[0].startswith("-"):
        parser = overview()
        parser.parse_args(words)
        parser.print_help(sys.stderr)
        return WRONG
    if words[0] not in COMMANDS:
        if " " in words[0]:
            return complain(
                f"{words[0]!r} is not a command. To speak it: sayahead say {words[0]!r}", WRONG
            )
        if words[0] in ELSEWHERE:
            return complain(not_installed(f"sayahead {words[0]}", ELSEWHERE[words[0]]), FAILED)
        return complain(
            f"There is no command {words[0]!r}{near(words[0], COMMANDS)}. See: sayahead --help",
            WRONG,
        )
    module = COMMANDS[words[0]]
    name = words[0]
    words = words[1:]
    parts = getattr(module, "PARTS", {})
    if words and words[0] in parts:
        module = parts[words[0]]
        name = f"{name} {words[0]}"
        words = words[1:]
        parts = {}
    form = argparse.RawDescriptionHelpFormatter
    parser = Parser(prog=f"sayahead {name}", formatter_class=form, allow_abbrev=False)
    line = HELP.get(name) or module.HELP
    parser.description = line[:1].upper() + line[1:] + "."
    parser.epilog = getattr(module, "EPILOG", None)
    parser.parts = parts
    if parts:
        rows = "\n".join(f"  {part:10} {about.HELP}" for part, about in parts.items())
        parser.epilog = f"commands, each with a --help of its own:\n{rows}\n\n{parser.epilog or ''}"
    module.add_arguments(parser)
    return int(module.run(parser.parse_all(words)))


def overview() -> Parser:
    """Return the parser of ``sayahead`` without a command."""
    from sayahead import __version__

    lines = "\n".join(f"  {name:8} {HELP.get(name) or COMMANDS[name].HELP}" for name in COMMANDS)
    parser = Parser(
        prog="sayahead",
        usage="sayahead COMMAND ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=(
            "Text-to-speech for text that is still being written: speech follows one word behind,"
            " or none."
        ),
        epilog=(
            f"commands:\n{lines}\n\nTry:  sayahead say 'Hello, world!'\nMore: sayahead COMMAND"
            " --help"
        ),
    )
    parser.add_argument("--version", action="version", version=f"sayahead {__version__}")
    return parser


def complain(sentence: str, code: int) -> int:
    """Print an error; return the exit code."""
    if sys.stderr is not None:
        print(f"sayahead: error: {sentence}", file=sys.stderr)
    return code


def terminate(number: int, frame: object) -> NoReturn:
    """Exit by an exception, so that files are closed: the handler of SIGTERM."""
    raise SystemExit(TERMINATED)
