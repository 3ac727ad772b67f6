"""sayahead: incremental text-to-speech. Text goes in word by word, speech comes out a word or two behind."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sayahead.contexts.controls import RandomWords, Truth
    from sayahead.contexts.language_model import LanguageModel
    from sayahead.engine.context import ContextPredictor, NoContext, Prediction
    from sayahead.engine.policy import READ, Policy, Read, Speak, View
    from sayahead.engine.session import Cancelled, Session
    from sayahead.errors import ConfigError, SayaheadError, SessionError, TextError, VoiceError
    from sayahead.policies.characters import WaitEnd, WaitKSteps
    from sayahead.policies.rules import Independent, LookaheadK, WaitAll
    from sayahead.types import AudioChunk, Word, WordTiming
    from sayahead.voice import Voice, load_voice
    from sayahead.voices import VoiceConfig, installed_voices

__version__ = "0.1.0"

# Where each public name lives: imported when it is first used, so that `sayahead --help` need not load numpy.
_HOMES = {
    "contexts.controls": ("RandomWords", "Truth"),
    "contexts.language_model": ("LanguageModel",),
    "engine.context": ("ContextPredictor", "NoContext", "Prediction"),
    "engine.policy": ("READ", "Policy", "Read", "Speak", "View"),
    "engine.session": ("Cancelled", "Session"),
    "errors": ("ConfigError", "SayaheadError", "SessionError", "TextError", "VoiceError"),
    "policies.characters": ("WaitEnd", "WaitKSteps"),
    "policies.rules": ("Independent", "LookaheadK", "WaitAll"),
    "types": ("AudioChunk", "Word", "WordTiming"),
    "voice": ("Voice", "load_voice"),
    "voices": ("VoiceConfig", "installed_voices"),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "READ",
    "AudioChunk",
    "Cancelled",
    "ConfigError",
    "ContextPredictor",
    "Independent",
    "LanguageModel",
    "LookaheadK",
    "NoContext",
    "Policy",
    "Prediction",
    "RandomWords",
    "Read",
    "SayaheadError",
    "Session",
    "SessionError",
    "Speak",
    "TextError",
    "Truth",
    "View",
    "Voice",
    "VoiceConfig",
    "VoiceError",
    "WaitAll",
    "WaitEnd",
    "WaitKSteps",
    "Word",
    "WordTiming",
    "installed_voices",
    "load_voice",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'sayahead' has no attribute {name!r}")
    value = getattr(import_module(f"sayahead.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
