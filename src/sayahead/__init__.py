"""sayahead: incremental text-to-speech. Text goes in word by word, speech comes out a word or two
behind."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sayahead.casting import dialogue as dialogue
    from sayahead.contexts.baselines import RandomWords as RandomWords
    from sayahead.contexts.baselines import Truth as Truth
    from sayahead.contexts.language_model import LanguageModel as LanguageModel
    from sayahead.engine.context import ContextPredictor as ContextPredictor
    from sayahead.engine.context import NoContext as NoContext
    from sayahead.engine.context import Prediction as Prediction
    from sayahead.engine.heard import Heard as Heard
    from sayahead.engine.keep_up import KeepUp as KeepUp
    from sayahead.engine.options import Options as Options
    from sayahead.engine.options import SessionOptions as SessionOptions
    from sayahead.engine.policy import READ as READ
    from sayahead.engine.policy import LetterPolicy as LetterPolicy
    from sayahead.engine.policy import LetterView as LetterView
    from sayahead.engine.policy import Policy as Policy
    from sayahead.engine.policy import Read as Read
    from sayahead.engine.policy import Speak as Speak
    from sayahead.engine.policy import Steps as Steps
    from sayahead.engine.policy import View as View
    from sayahead.engine.policy import WordPolicy as WordPolicy
    from sayahead.engine.session import Flush as Flush
    from sayahead.engine.session import Revision as Revision
    from sayahead.engine.session import Session as Session
    from sayahead.errors import ConfigError as ConfigError
    from sayahead.errors import SayaheadError as SayaheadError
    from sayahead.errors import SessionError as SessionError
    from sayahead.errors import TextError as TextError
    from sayahead.errors import VoiceError as VoiceError
    from sayahead.policies.characters import WaitEnd as WaitEnd
    from sayahead.policies.characters import WaitKSteps as WaitKSteps
    from sayahead.policies.fixed import Independent as Independent
    from sayahead.policies.fixed import LookaheadK as LookaheadK
    from sayahead.policies.fixed import Opportunistic as Opportunistic
    from sayahead.policies.fixed import WaitAll as WaitAll
    from sayahead.sound.device import Player as Player
    from sayahead.sound.files import OutputError as OutputError
    from sayahead.sound.out import play as play
    from sayahead.sound.out import save as save
    from sayahead.speech import Speech as Speech
    from sayahead.text.lexicon import Lexicon as Lexicon
    from sayahead.types import AudioChunk as AudioChunk
    from sayahead.types import Delivery as Delivery
    from sayahead.types import EncodedChunk as EncodedChunk
    from sayahead.types import Word as Word
    from sayahead.types import WordTiming as WordTiming
    from sayahead.voice import Voice as Voice
    from sayahead.voice import load_voice as load_voice
    from sayahead.voices import VoiceConfig as VoiceConfig
    from sayahead.voices import installed_voices as installed_voices

__version__ = "0.1.0"

# Where each public name lives: imported when it is first used, so that `sayahead --help` need not
# load numpy.
_HOMES = {
    "contexts.baselines": "RandomWords Truth",
    "contexts.language_model": "LanguageModel",
    "engine.context": "ContextPredictor NoContext Prediction",
    "engine.options": "Options SessionOptions",
    "engine.policy": "READ LetterPolicy LetterView Policy Read Speak Steps View WordPolicy",
    "engine.heard": "Heard",
    "engine.keep_up": "KeepUp",
    "engine.session": "Flush Revision Session",
    "casting": "dialogue",
    "errors": "ConfigError SayaheadError SessionError TextError VoiceError",
    "policies.characters": "WaitEnd WaitKSteps",
    "policies.fixed": "Independent LookaheadK Opportunistic WaitAll",
    "sound.device": "Player",
    "sound.files": "OutputError",
    "sound.out": "play save",
    "speech": "Speech",
    "text.lexicon": "Lexicon",
    "types": "AudioChunk Delivery EncodedChunk Word WordTiming",
    "voice": "Voice load_voice",
    "voices": "VoiceConfig installed_voices",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'sayahead' has no attribute {name!r}")
    value = getattr(import_module(f"sayahead.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
