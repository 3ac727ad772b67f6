"""What researchers build on: policies (when to speak), contexts (what the text will go on with) and
the session, which is given both.

A policy is a ``WordPolicy`` or a ``LetterPolicy``: it sees a ``View`` and answers ``READ``,
``Speak`` or ``Steps``. A context is a ``ContextPredictor``: it answers a ``Prediction``.
``Session`` takes words and gives sound, without threads, clocks or players; ``Voice.session``
makes one.
"""

from sayahead.contexts.baselines import RandomWords as RandomWords
from sayahead.contexts.baselines import Truth as Truth
from sayahead.contexts.language_model import LanguageModel as LanguageModel
from sayahead.engine.context import ContextPredictor as ContextPredictor
from sayahead.engine.context import NoContext as NoContext
from sayahead.engine.context import Prediction as Prediction
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
from sayahead.engine.session import Session as Session
from sayahead.policies.characters import WaitEnd as WaitEnd
from sayahead.policies.characters import WaitKSteps as WaitKSteps
from sayahead.policies.fixed import Independent as Independent
from sayahead.policies.fixed import LookaheadK as LookaheadK
from sayahead.policies.fixed import Opportunistic as Opportunistic
from sayahead.policies.fixed import WaitAll as WaitAll
from sayahead.types import Word as Word

__all__ = [
    "READ",
    "ContextPredictor",
    "Independent",
    "LanguageModel",
    "LetterPolicy",
    "LetterView",
    "LookaheadK",
    "NoContext",
    "Opportunistic",
    "Policy",
    "Prediction",
    "RandomWords",
    "Read",
    "Session",
    "SessionOptions",
    "Speak",
    "Steps",
    "Truth",
    "View",
    "WaitAll",
    "WaitEnd",
    "WaitKSteps",
    "Word",
    "WordPolicy",
]
