"""``llm say``: a language model's answer, heard while it is being written."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import llm

import sayahead
from sayahead.sound.formats import writer


@llm.hookimpl
def register_commands(cli: click.Group) -> None:
    """Add the command."""

    @cli.command()
    @click.argument("prompt", required=False)
    @click.option("-m", "--model", "model_name", help="Model to use, as llm prompt does")
    @click.option("-s", "--system", help="System prompt")
    @click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        help="Write a file (.wav, .mp3, ...) instead of playing",
    )
    @click.option("--voice", default="heart", show_default=True, help="A voice's name or folder")
    @click.option("--speed", type=float, help="Pace: 2 is twice as fast")
    @click.option(
        "-k",
        "--lookahead",
        type=click.IntRange(0, 16),
        help="Words that must follow before one is spoken",
    )
    @click.option("-q", "--quiet", is_flag=True, help="Do not print the answer")
    @click.option("-n", "--no-log", is_flag=True, help="Do not log to the database")
    def say(
        prompt: str | None,
        model_name: str | None,
        system: str | None,
        output: Path | None,
        voice: str,
        speed: float | None,
        lookahead: int | None,
        quiet: bool,
        no_log: bool,
    ) -> None:
        """Speak a model's answer while it is being written."""
        if not sys.stdin.isatty() and (piped := sys.stdin.read()):
            prompt = f"{piped}\n\n{prompt}" if prompt else piped
        if not prompt:
            raise click.ClickException(
                "There is no prompt: give it as an argument, or on standard input."
            )
        options: dict[str, Any] = {} if speed is None else {"speed": speed}
        if lookahead is not None:
            options["policy"] = {"name": "lookahead", "k": lookahead}
        try:
            speaker = sayahead.load_voice(voice)
            # What is wrong with the options is told before the model is asked, and paid.
            speaker.session(**options)
            if output is not None:
                writer(output)
            response = llm.get_model(model_name).prompt(prompt, system=system)
            speech = speaker.speak(shown(response, quiet=quiet), **options)
            try:
                if output is None:
                    speech.play()
                else:
                    speech.save(output)
            except KeyboardInterrupt:
                click.echo()
                return
        except (sayahead.SayaheadError, llm.UnknownModelError, llm.ModelError) as error:
            raise click.ClickException(str(error)) from error
        if not no_log:
            keep(response)


def shown(parts: Iterable[str], *, quiet: bool) -> Iterator[str]:
    """The parts of an answer, each printed as it comes."""
    for part in parts:
        if not quiet:
            click.echo(part, nl=False)
        yield part
    if not quiet:
        click.echo()


def keep(response: llm.Response) -> None:
    """Log an answer where ``llm logs`` finds it."""
    import sqlite_utils
    from llm.cli import logs_db_path, logs_on
    from llm.migrations import migrate

    if not logs_on():
        return
    path = logs_db_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite_utils.Database(path)
    migrate(database)
    response.log_to_db(database)
