"""The module's commands: what the daemon says, and what is answered."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from sayahead import SayaheadError, installed_voices
from sayahead.voices import read_config
from sayahead_speechd import text
from sayahead_speechd.speaker import Speaker, Style
from sayahead_speechd.wire import Wire

INVALID = "303 ERROR INVALID PARAMETER OR VALUE"


@dataclass
class Module:
    """Answers the daemon until it says QUIT, or is gone."""

    wire: Wire
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.speaker = Speaker(self.wire)
        self._commands: dict[str, Callable[[], None]] = {
            "INIT": self.init,
            "AUDIO": lambda: self.receive("AUDIO ", "203 OK AUDIO INITIALIZED", self.audio),
            "LOGLEVEL": lambda: self.receive("LOGLEVEL ", "203 OK LOG LEVEL SET"),
            "SET": lambda: self.receive("", "203 OK SETTINGS RECEIVED", self.set),
            "LIST VOICES": self.list_voices,
            "SPEAK": lambda: self.speak("text"),
            "CHAR": lambda: self.speak("character"),
            "KEY": lambda: self.speak("key"),
            "SOUND_ICON": lambda: self.speak("icon"),
            "STOP": lambda: self.speaker.end("703 STOP"),
            "PAUSE": lambda: self.speaker.end("704 PAUSE"),
            "DEBUG OFF": lambda: self.wire.say("200 OK DEBUGGING OFF"),
        }

    def run(self) -> None:
        """Until the end."""
        while (line := self.wire.line()) is not None:
            if line == "QUIT":
                self.speaker.close()
                self.wire.say("210 OK QUIT")
                return
            if line.startswith("DEBUG ON"):
                self.wire.say("200 OK DEBUGGING ON")
            else:
                self._commands.get(line, lambda: self.wire.say("300 ERR UNKNOWN COMMAND"))()
        self.speaker.close()

    def init(self) -> None:
        """Load the default voice."""
        try:
            self.speaker.voice(Style().voice)
        except SayaheadError as error:
            self.wire.say(f"399-{error}", "399 ERR CANT INIT MODULE")
            return
        self.speaker.warm(Style())
        self.wire.say("299-sayahead: ready.", "299 OK LOADED SUCCESSFULLY")

    def receive(
        self, what: str, done: str, take: Callable[[dict[str, str]], str] | None = None
    ) -> None:
        """Settings, one a line."""
        self.wire.say(f"207 OK RECEIVING {what}SETTINGS")
        lines = self.wire.lines() or []
        if any("=" not in line for line in lines):
            self.wire.say("302 ERROR BAD SYNTAX")
            return
        problem = take(dict(line.split("=", 1) for line in lines)) if take else ""
        self.wire.say(problem or done)

    def audio(self, settings: dict[str, str]) -> str:
        """Sound goes through the daemon, which knows the devices, and nowhere else."""
        return "" if settings.get("audio_output_method", "server") == "server" else INVALID

    def set(self, settings: dict[str, str]) -> str:
        """Keep them for the messages to come; those that the voice does not have (pitch) change
        nothing."""
        for name in ("rate", "volume"):
            value = settings.get(name)
            if value is not None and not (
                value.lstrip("-").isdecimal() and -100 <= int(value) <= 100
            ):
                return INVALID
        self.settings.update(settings)
        return ""

    def style(self) -> Style:
        """The settings as a style: a rate of 100 is twice as fast, -100 half; a volume of 100 is
        full, -100 silence."""
        name = self.settings.get("synthesis_voice", "")
        name = name if name in installed_voices() else Style().voice
        least, most = read_config(installed_voices()[name]).speed
        speed = min(max(2 ** (int(self.settings.get("rate", "0")) / 100), least), most)
        return Style(name, round(speed, 3), (int(self.settings.get("volume", "100")) + 100) / 200)

    def list_voices(self) -> None:
        """Names, languages and variants."""
        rows = [
            f"200-{name}\t{config.language}\tnone"
            for name, folder in installed_voices().items()
            if (config := read_config(folder))
        ]
        self.wire.say(*rows, "200 OK VOICE LIST SENT")

    def speak(self, kind: str) -> None:
        """A message, which ends before the next one comes."""
        self.wire.say("202 OK RECEIVING MESSAGE")
        lines = self.wire.lines()
        if lines is None:
            return
        if kind != "text" and len(lines) > 1:
            self.wire.say("305 DATA MORE THAN ONE LINE")
            return
        message = text.message("\n".join(lines))
        if not message.text and not message.marks:
            self.wire.say("301 ERROR CANT SPEAK")
            return
        capitals = self.settings.get("cap_let_recogn", "none") != "none"
        if kind == "character":
            name = " " if message.text == "space" else message.text
            message = text.Message(text.character(name, capitals=capitals))
        elif kind in ("key", "icon"):
            message = text.Message(text.key(message.text, capitals=capitals))
        self.wire.say("200 OK SPEAKING")
        # A single character may also come as a text.
        self.speaker.speak(message, self.style(), short=kind != "text")


def main() -> int:
    """Speak for the daemon that started this."""
    # What libraries print must not come between the protocol's lines.
    target = open(sys.stdout.fileno(), "wb", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stderr
    Module(Wire(sys.stdin.buffer, target)).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
