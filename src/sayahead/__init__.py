"""sayahead: incremental text-to-speech. Text goes in word by word, speech comes out a word or two behind."""

from sayahead.context import ContextPredictor, LanguageModel, NoContext, Prediction, RandomWords
from sayahead.errors import ConfigError, SayaheadError, SessionError, TextError, VoiceError
from sayahead.policy import READ, LookaheadK, Policy, Read, Speak, View, WaitAll
from sayahead.session import Cancelled, Session
from sayahead.types import AudioChunk, Word, WordTiming
from sayahead.voice import Voice, VoiceConfig, installed_voices, load_voice

__version__ = "0.1.0"

__all__ = [
    "READ",
    "AudioChunk",
    "Cancelled",
    "ConfigError",
    "ContextPredictor",
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
    "View",
    "Voice",
    "VoiceConfig",
    "VoiceError",
    "WaitAll",
    "Word",
    "WordTiming",
    "installed_voices",
    "load_voice",
]
