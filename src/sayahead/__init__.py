"""sayahead: incremental text-to-speech. Text goes in word by word, speech comes out a word or two
behind."""

from __future__ import annotations

# The command line starts with this module: typing and warnings would make it slower.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sayahead.casting import dialogue as dialogue
    from sayahead.engine.heard import Heard as Heard
    from sayahead.engine.keep_up import KeepUp as KeepUp
    from sayahead.engine.options import Options as Options
    from sayahead.engine.session import Flush as Flush
    from sayahead.engine.session import Revision as Revision
    from sayahead.errors import ConfigError as ConfigError
    from sayahead.errors import SayaheadError as SayaheadError
    from sayahead.errors import SessionError as SessionError
    from sayahead.errors import TextError as TextError
    from sayahead.errors import VoiceError as VoiceError
    from sayahead.sound.device import Player as Player
    from sayahead.sound.files import OutputError as OutputError
    from sayahead.sound.out import play as play
    from sayahead.sound.out import save as save
    from sayahead.speech import Speech as Speech
    from sayahead.text.saying.lexicon import Lexicon as Lexicon
    from sayahead.types import AudioChunk as AudioChunk
    from sayahead.types import Delivery as Delivery
    from sayahead.types import EncodedChunk as EncodedChunk
    from sayahead.types import WordTiming as WordTiming
    from sayahead.voice import Voice as Voice
    from sayahead.voice import load_voice as load_voice
    from sayahead.voices import VoiceConfig as VoiceConfig
    from sayahead.voices import installed_voices as installed_voices

__version__ = "0.2.0"

# Where each public name lives: imported when it is first used, so that `sayahead --help` need not
# load numpy.
_HOMES = {
    "engine.options": "Options",
    "engine.heard": "Heard",
    "engine.keep_up": "KeepUp",
    "engine.session": "Flush Revision",
    "casting": "dialogue",
    "errors": "ConfigError SayaheadError SessionError TextError VoiceError",
    "sound.device": "Player",
    "sound.files": "OutputError",
    "sound.out": "play save",
    "speech": "Speech",
    "text.saying.lexicon": "Lexicon",
    "types": "AudioChunk Delivery EncodedChunk WordTiming",
    "voice": "Voice load_voice",
    "voices": "VoiceConfig installed_voices",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_MODULES)

# Names that version 0.1 had here. They go with 0.3.
_MOVED = frozenset(
    (
        "ContextPredictor Independent LanguageModel LetterPolicy LetterView LookaheadK NoContext"
        " Opportunistic Policy Prediction READ RandomWords Read Session SessionOptions Speak Steps"
        " Truth View WaitAll WaitEnd WaitKSteps Word WordPolicy"
    ).split()
)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the package itself loads nothing."""
    from importlib import import_module

    if name in _MOVED:
        import warnings

        message = f"sayahead.{name} is sayahead.research.{name} now, and here until version 0.3."
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return getattr(import_module("sayahead.research"), name)
    if name not in _MODULES:
        raise AttributeError(f"module 'sayahead' has no attribute {name!r}")
    value = getattr(import_module(f"sayahead.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
