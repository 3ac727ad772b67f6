"""``sayahead mcp``: a voice for agents, over the Model Context Protocol on standard input and
output."""

from __future__ import annotations

import argparse
import asyncio
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from sayahead.errors import ConfigError, SayaheadError

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from sayahead.cli.narrator import Narrator
    from sayahead.speech import Device

Tool = TypeVar("Tool", bound=Callable[..., Any])

EPILOG = """An MCP client starts it, for example:
  claude mcp add sayahead -- sayahead mcp
  {"mcpServers": {"sayahead": {"command": "sayahead", "args": ["mcp"]}}}
Texts are spoken one after another, also where several agents have a server of their own.
"""
INSTRUCTIONS = (
    "Speaks to the user through the loudspeaker of this machine. Use speak for short sentences that"
    " are meant to be heard: results, questions, warnings. Leave out code, paths and tables."
)
MAX_CHARACTERS = 20_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--voice",
        default="heart",
        metavar="NAME",
        help="the default voice, a name or folder (default: heart)",
    )
    add(
        "--device",
        metavar="NAME",
        help=(
            "a part of a sound device's name; null: play into nothing, in real time, to try it"
            " without one"
        ),
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until standard input ends; return the exit code."""
    from sayahead.cli.narrator import Narrator
    from sayahead.voice import load_voice

    voices = functools.lru_cache(maxsize=4)(load_voice)
    narrator = Narrator(voices, functools.partial(device, arguments.device))
    try:
        server = make_server(narrator, arguments.voice)
        # Load the voice before the first text, so that a wrong name is reported at once.
        voices(arguments.voice)
        server.run()
    finally:
        narrator.close()
    return 0


def device(kind: str | None, sample_rate: int) -> Device:
    """Open the sound device."""
    from sayahead.sound.device import Player
    from sayahead.sound.files import OutputError

    try:
        return Player(sample_rate, device=kind)
    except OutputError as error:
        # An agent reads this message and has no shell pipe to fall back on.
        reason = str(error).partition(". ")[0]
        raise OutputError(
            f"{reason}. The user hears nothing: tell them in writing, and that `sayahead doctor`"
            " says what is missing."
        ) from error


def make_server(narrator: Narrator, voice: str) -> MCPServer[Any]:
    """Return the server with its tools. ConfigError if the package mcp is not installed."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        raise ConfigError("sayahead mcp needs mcp: pip install 'sayahead[mcp]'.") from error
    from sayahead import __version__
    from sayahead.voices import installed_voices

    server: MCPServer[Any] = MCPServer(
        "sayahead", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    default = voice

    def tool(function: Tool) -> Tool:
        """Offer a function as a tool, described by its docstring."""
        about = inspect.getdoc(function) or ""
        paragraphs = (" ".join(part.split()) for part in about.split("\n\n"))
        server.add_tool(function, description="\n\n".join(paragraphs))
        return function

    @tool
    async def speak(
        text: str, voice: str = "", speed: float = 1.0, wait: bool = False, interrupt: bool = False
    ) -> str:
        """Speak a text to the user, after those that are still being spoken.

        Returns as soon as it is queued, or with wait=True when it was heard. interrupt=True
        silences and drops what is being spoken and what waits. speed is 0.5 to 2. voice is one of
        the tool voices."""
        if not text.strip():
            raise ToolError("text is empty: there is nothing to speak.")
        if len(text) > MAX_CHARACTERS:
            raise ToolError(
                f"text has {len(text)} characters, at most {MAX_CHARACTERS} are spoken: divide it."
            )
        name = known(voice or default)
        if interrupt:
            await asyncio.to_thread(narrator.stop)
        try:
            job = await asyncio.to_thread(narrator.speak, text, name, speed=speed)
            if not wait:
                return "Queued."
            heard = await asyncio.wrap_future(job.heard)
        except SayaheadError as error:
            raise ToolError(str(error)) from error
        return describe(heard.word_count, heard.text) if job.stopped else "Spoken."

    @tool
    async def stop() -> str:
        """Fall silent at once, drop what waits, and tell what the user has heard."""
        heard, dropped = await asyncio.to_thread(narrator.stop)
        return describe(heard.word_count, heard.text) + (
            f" Dropped: {dropped} waiting." if dropped else ""
        )

    @tool
    async def voices() -> list[str]:
        """The names of the voices."""
        return list(installed_voices())

    def known(name: str) -> str:
        """A name of the list or the server's own; an agent must not open folders of its choice."""
        if name != default and name not in installed_voices():
            raise ToolError(f"There is no voice {name!r}: {', '.join(installed_voices())}.")
        return name

    return server


def describe(words: int, text: str) -> str:
    """Return a sentence about what was heard."""
    return (
        f"Stopped. The user heard {words} words: {text}"
        if words
        else "Stopped. The user heard nothing of it."
    )
