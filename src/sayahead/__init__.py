"""sayahead: incremental text-to-speech. Text goes in word by word, speech comes out a word or two behind."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sayahead.context import ContextPredictor, LanguageModel, NoContext, Prediction, RandomWords, Truth
    from sayahead.errors import ConfigError, SayaheadError, SessionError, TextError, VoiceError
    from sayahead.policy import READ, Independent, LookaheadK, Policy, Read, Speak, View, WaitAll, WaitEnd, WaitKSteps
    from sayahead.session import Cancelled, Session
    from sayahead.types import AudioChunk, Word, WordTiming
    from sayahead.voice import Voice, VoiceConfig, installed_voices, load_voice

__version__ = "0.1.0"

# Where each public name lives: imported when it is first used, so that `sayahead --help` need not load numpy.
_HOMES = {
    "context": ("ContextPredictor", "LanguageModel", "NoContext", "Prediction", "RandomWords", "Truth"),
    "errors": ("ConfigError", "SayaheadError", "SessionError", "TextError", "VoiceError"),
    "policy": (
        "READ",
        "Independent",
        "LookaheadK",
        "Policy",
        "Read",
        "Speak",
        "View",
        "WaitAll",
        "WaitEnd",
        "WaitKSteps",
    ),
    "session": ("Cancelled", "Session"),
    "types": ("AudioChunk", "Word", "WordTiming"),
    "voice": ("Voice", "VoiceConfig", "installed_voices", "load_voice"),
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
