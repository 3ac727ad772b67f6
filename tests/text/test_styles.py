"""Tags of styles: what they ask for, and that they are never spoken."""

from __future__ import annotations

import random
import runpy
from pathlib import Path
from typing import Any

import pytest
from support.servers import toy_voice

from sayahead.text.styles import MAX_EMPHASIZED, Styles
from sayahead.text.styles.table import EMPHASIS, NAMES, SOUNDS, STYLES, instructed, style
from sayahead.types import PLAIN, Delivery, Word
from sayahead.voice import load_voice


def read(
    text: str, *, seed: int | None = None, ssml: bool = False
) -> tuple[list[Word], list[tuple[int, int, str]]]:
    """The words of a text, in pieces of any size, and what is told of it."""
    normalizer = Styles(toy_voice().loaded.normalizer, ssml=ssml)(0)
    draw = random.Random(seed)
    words = list[Word]()
    at = 0
    while at < len(text):
        size = len(text) if seed is None else draw.randint(1, 4)
        words += normalizer.push(text[at : at + size])
        at += size
    return [*words, *normalizer.flush()], normalizer.skipped


def said(text: str) -> str:
    return " ".join(word.text for word in read(text)[0])


def ways(text: str) -> list[Delivery]:
    return [word.delivery for word in read(text)[0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[whispers] I know.", "I know."),
        ("[excited] We won!", "We won!"),
        ("Well <whisper>be quiet</whisper> now.", "Well be quiet now."),
        ("[emotion=happy] Hello.", "Hello."),
        ('<emotion value="angry"/> Stop it.', "Stop it."),
        ('<speed ratio="1.2"/> Hi <volume ratio="0.5"/> you.', "Hi you."),
        ("<laugh> That is funny. [laughs harder] [clears throat]", "That is funny."),
        ("I am [in a sad voice] here.", "I am here."),
        ("Ha[sighs], well", "Ha, well"),
        ("I [whispers]know[/whispers] it.", "I know it."),
        ("One [rate:1.2] two [voice:nobody] three.", "One two three."),
    ],
)
def test_tags_are_never_spoken(text: str, words: str) -> None:
    assert said(text) == words


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_is_a_tag(name: str) -> None:
    assert said(f"[{name}] Hello.") == "Hello."
    assert ways(f"[{name}] Hello.") == [STYLES[NAMES[name]]]


@pytest.mark.parametrize("name", sorted(SOUNDS))
def test_every_sound_is_silent_and_told(name: str) -> None:
    words, told = read(f"Oh, [{name}] hello.")
    assert [word.text for word in words] == ["Oh,", "hello."]
    assert [text for *_, text in told] == [f"[{name}]"]


@pytest.mark.parametrize(
    "text",
    ["array[happy] x", "[happy](http://a.b) x", "[the end] x", "a < b", "[brief] x", "[1] x"],
)
def test_what_is_no_tag_reaches_the_reader_as_it_is(text: str) -> None:
    normalizer = toy_voice().loaded.normalizer(0)
    assert read(text)[0] == [*normalizer.push(text), *normalizer.flush()]


MODERATE = EMPHASIS["moderate"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I did *not* say that.", "not"),
        ("*Never* again, he said.", "Never"),
        ("It was *all of it*, every part.", "all of it,"),
        ("He said (*twice*) so.", "(twice)"),
        ("One *two* three *four* five.", "two four"),
        ("So <emphasis>very</emphasis> good.", "very"),
        # None of these is an emphasis.
        ("It is **bold** here.", ""),
        ("* An item\n* another one\n", ""),
        ("2*x and 3 * 4 here.", ""),
        ("a*b*c here", ""),
        ("The rule* has a note.", ""),
        # It ends with its line, and is no longer than a few words.
        ("Now *two\nthree four", "two"),
        ("*one two\n\nthree", "one two"),
    ],
)
def test_an_emphasis_is_on_its_words(text: str, words: str) -> None:
    found = [word.text for word in read(text)[0] if word.delivery == MODERATE]
    assert " ".join(found) == words


def test_an_emphasis_has_levels_and_joins_a_style() -> None:
    strong = '<emphasis level="strong">a</emphasis> b <emphasis level="none">c</emphasis>'
    assert ways(strong) == [EMPHASIS["strong"], PLAIN, PLAIN]
    joined = style("happy") or PLAIN
    assert ways("[happy] one *two* three") == [joined, joined.joined(MODERATE), joined]
    long = "so *" + "very " * 20 + "* good"
    emphasized = [word for word in read(long)[0] if word.delivery == MODERATE]
    assert 0 < len(emphasized) <= MAX_EMPHASIZED // 5 + 1


def test_an_emphasized_word_is_longer() -> None:
    def lasting(text: str) -> int:
        speech = load_voice("heart").speak(text)
        assert list(speech)
        return next(
            word.offset_samples - word.onset_samples for word in speech.words if word.text == "not"
        )

    plain, moderate, strong = (
        lasting(f"I did {word} say that.")
        for word in ("not", "*not*", '<emphasis level="strong">not</emphasis>')
    )
    assert 1.1 * plain < moderate < strong


def test_a_style_holds_up_to_the_next_its_end_or_the_paragraphs() -> None:
    happy = STYLES["excited"]
    sad = STYLES["tired"]
    assert ways("One [happy] two three [sad] four.") == [PLAIN, happy, happy, sad]
    assert ways("[happy] one [/happy] two") == [happy, PLAIN]
    assert ways("[happy] one [normal] two") == [happy, PLAIN]
    assert ways("[happy] one.\ntwo.\n\nthree.") == [happy, happy, PLAIN]


def test_numbers_are_factors() -> None:
    assert ways("[speed:1.2] a [volume=50%] b [pitch:-2] c [/pitch] d") == [
        Delivery(speed=1.2),
        Delivery(speed=1.2, volume=0.5),
        Delivery(speed=1.2, volume=0.5, pitch=-2.0),
        PLAIN,
    ]


def test_pauses_are_silence() -> None:
    words, _ = read("One [pause:500ms] two. [long pause] Three.")
    assert [word.pause_s for word in words] == [0.0, 0.5, 0.0, 1.2, 0.0]
    assert words[1].text == ","
    assert words[3].text == ""


@pytest.mark.parametrize("seed", range(8))
def test_words_and_places_do_not_depend_on_the_cuts(seed: int) -> None:
    text = (
        "Oh [laughs] my, [excited] we won [pause:1s] it <sad>But [of [it]] no</sad> [sighs], [x](y)"
        " ok.\n\n[sad]End"
    )
    assert read(text, seed=seed) == read(text)
    for word in read(text)[0]:
        if not word.pause_s:
            assert word.text.strip(".,!?").lower() in text[word.start : word.end].lower()


def test_with_ssml_speed_is_left_to_it() -> None:
    assert read('<speed ratio="1.2"/> Hi')[0][-1].delivery != PLAIN
    assert read('<speed ratio="1.2"/> Hi', ssml=True)[0][-1].delivery == PLAIN


def test_instructions_by_their_words() -> None:
    assert instructed("Speak in a cheerful tone.") == STYLES["excited"]
    assert instructed("Sound sad, and whisper.") == STYLES["tired"].joined(STYLES["whisper"])
    assert instructed("Don't sound angry; be calm") == STYLES["soft"]
    assert instructed("Pronounce everything clearly.") == PLAIN
    assert style("Happily") == STYLES["excited"]
    assert style("purple") is None


def test_a_revision_keeps_the_style_of_where_it_begins() -> None:
    voice = load_voice("heart")
    session = voice.session()
    plain = voice.session()
    session.push("Well, [deep] this was it. [high] And that.")
    session.revise(13, "that was all.")
    plain.push("Well, [deep] that was all.")
    for each in (session, plain):
        each.finish()
    assert [c.samples.tolist() for c in session.chunks()] == [
        c.samples.tolist() for c in plain.chunks()
    ]


@pytest.mark.parametrize("voice", ["heart", "saeki-lj"])
def test_every_voice_reads_over_them(voice: str) -> None:
    if voice != "heart":
        pytest.importorskip("sayahead_voices_papers")
    session = load_voice(voice).session()
    session.push("[excited] We won! [laughs] <whisper>Be quiet.</whisper>")
    session.finish()
    words = [word.text for chunk in session.chunks() for word in chunk.words]
    assert words == ["We", "won!", "Be", "quiet."]


def test_the_page_has_the_table() -> None:
    script: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "styles.py"))
    assert script["main"](["--check"]) == 0
