"""Any text with tags, in any pieces and revised anywhere: no error, every word in its place,
nothing lost."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.servers import toy_voice

from sayahead import Voice
from sayahead.engine.cast import Cast, Tags
from sayahead.engine.session import Session
from sayahead.types import Floats, WordTiming

PIECES = (
    '[ ] < > / voice : ann ben happy sad laugh whisper a Hello word the = " speed 1.2 pause 500ms ('
    " ) . ! emotion value name [voice:ann] [happy] [/happy] <laugh> </voice> [voice:ben] é 😀 5%"
    " $3.50 Ann: ann:"
).split()
PIECES += [" ", "\n", "\n\n", '<voice name="ben">', "ann: "]
KINDS = ["plain", "ssml", "cast", "cast of elements", "cast of lines"]
VOICE: Voice = toy_voice()


def session_of(kind: str) -> Session:
    if not kind.startswith("cast"):
        return VOICE.session(markup="ssml" if kind == "ssml" else "none")
    tags = Tags(
        elements=kind == "cast of elements", lines=("ann", "ben") if kind == "cast of lines" else ()
    )
    return Cast(
        lambda _: VOICE.session(),
        lambda name: name in ("", "ann", "ben"),
        sample_rate=8000,
        tags=tags,
    )


def spoken(
    session: Session, text: str, draw: random.Random | None, *, revised: bool = False
) -> tuple[Floats, object]:
    """The sound and the words of a text: whole, in pieces, or revised after some of them."""
    samples = [np.zeros(0, np.float32)]
    words = list[WordTiming]()

    def pull() -> None:
        for chunk in session.chunks():
            samples.append(chunk.samples)
            words.extend(chunk.words)

    while text:
        size = draw.randint(1, 7) if draw else len(text)
        session.push(text[:size])
        text = text[size:]
        if draw:
            pull()
        if draw and revised and draw.random() < 0.3:
            place = session.revise(
                draw.randint(0, len(session.text)), "".join(draw.choices(PIECES, k=3))
            )
            assert place <= len(session.text)
    session.finish()
    pull()
    assert session.complete
    starts = [word.start for word in words]
    assert starts == sorted(starts)
    assert all(0 <= word.start <= word.end <= len(session.text) for word in words)
    heard = session.heard()
    assert heard.text + heard.unsaid == session.text
    return np.concatenate(samples), [
        (word.text, word.start, word.end, word.speaker) for word in words
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_any_text(kind: str, seed: int) -> None:
    draw = random.Random(seed)
    text = "".join(draw.choices(PIECES, k=draw.randint(1, 25)))
    samples, words = spoken(session_of(kind), text, None)
    again, cut_words = spoken(session_of(kind), text, draw)
    assert words == cut_words
    assert np.array_equal(samples, again)
    for _ in range(3):
        spoken(session_of(kind), text, draw, revised=True)
