"""The styles that tags and instructions may ask for: what a voice does for each, and what each is
called."""

from __future__ import annotations

import re

from sayahead.types import PLAIN, Delivery

STYLES: dict[str, Delivery] = {
    "normal": PLAIN,
    "whisper": Delivery(speed=0.92, whispered=True),
    "soft": Delivery(speed=0.94, pitch=-0.5, pitch_range=0.8, energy=0.55, volume=0.85),
    "excited": Delivery(speed=1.1, pitch=2.0, pitch_range=1.45, energy=1.6),
    "tired": Delivery(speed=0.86, pitch=-1.0, pitch_range=0.55, energy=0.6),
    "sarcastic": Delivery(speed=0.9, pitch_range=1.5),
    "shout": Delivery(speed=1.02, pitch=2.5, pitch_range=1.2, energy=3.0, volume=1.2),
    "fast": Delivery(speed=1.25),
    "slow": Delivery(speed=0.78),
    "loud": Delivery(energy=1.8, volume=1.2),
    "quiet": Delivery(energy=0.7, volume=0.6),
    "high": Delivery(pitch=3.0),
    "deep": Delivery(pitch=-3.0),
    "monotone": Delivery(pitch_range=0.15),
}
"""What words are like in each style; a voice does of it what it can.

Names whose style could not be told from another stand at the one that is nearest, or at normal."""

EMPHASIS: dict[str, Delivery] = {
    "strong": Delivery(speed=0.74, pitch=2.6, pitch_range=1.25, energy=2.0),
    "moderate": Delivery(speed=0.84, pitch=1.8, pitch_range=1.15, energy=1.5),
    "none": PLAIN,
    "reduced": Delivery(speed=1.08, pitch=-0.6, pitch_range=0.85, energy=0.8),
}
"""The levels of SSML's ``<emphasis>``; ``*so*`` is moderate."""

_NAMES = """
normal: normal neutral default reset plain regular
normal: serious seriously stern solemn grave formal professional mysterious ominous dramatic dramatically
normal: confident confidently proud proudly determined authoritative assertive commanding
whisper: whisper whispers whispered whispering hushed secretive conspiratorial
soft: soft softly gentle gently tender tenderly warm warmly soothing caring affectionate sympathetic
soft: empathetic
soft: calm calmly relaxed peaceful serene content meditative thoughtful contemplative patient grateful
soft: trust reassuring
excited: excited excitedly enthusiastic enthusiastically elated euphoric triumphant energetic thrilled amazed
excited: lively animated
excited: happy happily cheerful cheerfully joyful joyfully glad friendly playful playfully amused delighted
excited: positive upbeat
excited: flirtatious mischievous mischievously joking bubbly
excited: surprised shocked astonished disbelief alarmed
excited: curious curiously interested intrigued inquisitive anticipation questioning
tired: tired bored boredly resigned sleepy exhausted weary distant indifferent
tired: sad sadly sorrowful dejected melancholic melancholy disappointed hurt guilty crying rejected
tired: heartbroken mournful
tired: nostalgic wistful apologetic regretful lonely crestfallen
loud: loud loudly
loud: angry angrily mad furious outraged frustrated agitated annoyed irritated threatened disgusted
loud: contempt envious
fast: fast quickly rushed hurried rapid hurriedly
fast: afraid scared fearful frightened anxious anxiously panicked terrified nervous nervously worried
fast: panicking
slow: slow slowly drawn
slow: hesitant hesitantly hesitates hesitating insecure confused unsure stammers stammering shy shyly
sarcastic: sarcastic sarcastically ironic skeptical dry deadpan mocking
shout: shout shouts shouting yell yells yelling scream screams screaming
quiet: quiet quietly
high: high squeaky
deep: deep low
monotone: monotone robotic flat flatly
"""  # noqa: E501
NAMES: dict[str, str] = {
    name: line.partition(":")[0]
    for line in _NAMES.split("\n")
    for name in line.partition(":")[2].split()
}
"""Styles by what they are called."""
SOUNDS = frozenset(
    """
    laugh laughs laughing laughter chuckle chuckles chuckling giggle giggles giggling sigh sighs sighing
    cough coughs coughing gasp gasps gasping sob sobs sobbing cry cries sniff sniffs sniffle sniffles groan
    groans moan moans yawn yawns clears throat inhale inhales exhale exhales breath breathes breathing
    breathe applause clapping claps snort snorts gulp gulps wheeze wheezing snicker mumble hums humming sings
    singing swallows swallow smacks lips gunshot explosion music cheers uhm hum
    """.split()  # noqa: E501
)
"""Sounds that no voice here can make: a tag for one is silent, and told as skipped."""
FILLERS = frozenset(
    """
    a an the in with and then very slightly a bit more less voice tone tones style speaking speaks says said
    starts starting begins beginning to softly quietly deeply heavily harder loudly nervously lightly manner
    way under his her their breath
    """.split()  # noqa: E501
)
"""What else tags say, which changes nothing by itself."""
KNOWN = frozenset(NAMES) | SOUNDS | FILLERS
KEYS = frozenset("emotion style tone mood speed rate volume pitch pause break voice".split())
"""What stands before ``:`` or ``=`` in a tag."""
ELEMENTS = (frozenset(NAMES) | SOUNDS | {"emotion", "emphasis", "volume", "speed"}) - frozenset(
    "strong default low high plain".split()
)
"""Names of elements that are tags of styles, such as ``<laugh>`` and ``<emotion
value="happy"/>``."""
_WORD = re.compile(r"[a-z]+(?:'t)?")
_NOT = frozenset("not no never without avoid less don't doesn't isn't".split())
MAX_STYLES = 3
"""Styles that one instruction may join."""


def style(name: str) -> Delivery | None:
    """The delivery of a style by any of its names; None for another word."""
    known = NAMES.get(name.strip().lower().replace("-", "_").strip("_"))
    return None if known is None else STYLES[known]


def instructed(instructions: str) -> Delivery:
    """What a description of a manner asks for: its words that are names of styles, but for those
    that are denied."""
    found = dict[str, None]()
    before = list[str]()
    for word in _WORD.findall(instructions.lower().replace("\u2019", "'")):
        if (name := NAMES.get(word)) is not None and not _NOT.intersection(before[-3:]):
            found[name] = None
        before.append(word)
    total = PLAIN
    for name in list(found)[:MAX_STYLES]:
        total = total.joined(STYLES[name])
    return total
