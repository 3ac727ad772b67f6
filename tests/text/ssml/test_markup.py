"""SSML in texts that come in pieces: what is said, where it stands in the source, and what happens
to bad tags."""

from __future__ import annotations

import functools
import itertools
import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.readings import SYMBOLS
from support.servers import toy_voice
from support.toy_voices import toy

from sayahead import ConfigError, Lexicon, Voice
from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader, new_reader, normalize
from sayahead.text.saying.pronouncing import Pronunciations, pronouncing
from sayahead.text.ssml.reader import Markup, Resources
from sayahead.text.ssml.say_as import say_as_of, spelled
from sayahead.types import Floats, Word, WordTiming

KNOWN = Pronunciations(
    Lexicon.of({"SQL": "sequel", "New York": "Noo Yawk"}),
    normalizer=new_reader,
    symbols={symbol: number for number, symbol in enumerate(SYMBOLS)},
)
RESOURCES = Resources(functools.partial(pronouncing, new_reader, KNOWN), KNOWN, say_as_of("en"))


def feed(fragments: list[str] | str) -> list[Word]:
    normalizer = Markup(RESOURCES)(0)
    words = list[Word]()
    for fragment in fragments:
        words += normalizer.push(fragment)
    return words + normalizer.flush()


def shown(word: Word) -> str:
    text = (
        f"/{word.phonemes}/" + word.text[len(word.text.rstrip(",.!?")) :]
        if word.phonemes
        else word.text
    )
    text = f"<{word.pause_s:g}>" if word.pause_s else text
    return text + (f"*{word.speed:g}" if word.speed != 1 else "") + ("|" if word.ends else "")


def said(text: str) -> str:
    return " ".join(map(shown, feed([text])))


CASES = [
    (
        (
            "<speak><p>Hello there.</p><p>So <emphasis level='strong'>very</emphasis> glad</p>"
            " ok</speak>"
        ),
        "Hello there.| So very glad| ok|",
    ),
    ("<s>One</s><s>Two</s>", "One| Two|"),
    ("One <s>two", "One .| two|"),
    (
        (
            'A <phoneme alphabet="ipa" ph="təˈmɑːtoʊ">tomato</phoneme>, "<phoneme'
            " ph='ˈwɪn'>Nguyen</phoneme>'s\"."
        ),
        "A /təmˈɑtO/, /wˈɪnz/.|",
    ),
    ('<phoneme alphabet="cmu-arpabet" ph="W IH1 N">X</phoneme>', "/wˈɪn/|"),
    (
        'the <sub alias="World Wide Web">WWW</sub>. (<sub alias="five">V</sub>)',
        "the World Wide Web.| (five)|",
    ),
    ("You <say-as interpret-as='expletive'>darned</say-as> fool!", "You <0.4> fool!|"),
    ("Wait <break time='1.5s'/> a<break strength='strong'/>. Go", "Wait <1.5> a <0.75> .| Go|"),
    ('So.<break time="300ms" />Go', "So.| <0.3> Go|"),
    ("<break/>Hi <break strength='none'/><break time='99s'/>", "<0.5> Hi <10>"),
    ("<say-as interpret-as='characters'>AB1-x</say-as>, ok", "A. B one dash X, ok|"),
    ("<say-as interpret-as='characters'>Meyer</say-as>, ok", "M, E, Y, E, R, ok|"),
    ("<spell>Nguyen</spell> of <spell>NASA</spell>", "N, G, U, Y, E, N of N A. S A.|"),
    ("<say-as interpret-as='ordinal'>3</say-as>", "third|"),
    ("<say-as interpret-as='cardinal'>1,984</say-as>", "one thousand nine hundred eighty-four|"),
    (
        "<say-as interpret-as='date' format='dmy'>3/4/2024</say-as>",
        "April third, twenty twenty-four|",
    ),
    ("<say-as interpret-as='date'>2024-04-03</say-as>", "April third, twenty twenty-four|"),
    ("<say-as interpret-as='time'>7:30pm</say-as>", "seven thirty P.M.|"),
    (
        "<say-as interpret-as='telephone'>+1 555-0100</say-as>",
        "plus one five five five, zero one zero zero|",
    ),
    ("<say-as interpret-as='digits'>42</say-as>", "four two|"),
    ("<say-as interpret-as='nonsense'>Dr. Lee</say-as>", "Doctor Lee|"),
    (
        "<spell>NASA</spell> [laughs] ok [sighs deeply] [docs](u) [see that]",
        "N A. S A. ok docs see that|",
    ),
    (
        "a <prosody rate='fast'>b <prosody rate='80%'>c</prosody> d</prosody> e",
        "a b*1.25 c d*1.25 e|",
    ),
    ("e <speed ratio='1.5'/> f <speed ratio='1'/> g", "e f*1.5 g|"),
    ("<prosody rate='+20%'>a</prosody> <prosody rate='-10%'>b</prosody>", "a*1.2 b*0.9|"),
    ("<prosody rate='9'>c</prosody>", "c*2|"),
    (
        "AT&amp;T if a < b and x<y. 1<2 &c; ok",
        "AT&T if a less than b and x less than y.| one less than two etc; ok|",
    ),
    ("<foo bar='1'>x</foo> <!-- <b> --> <mark name='m'/><?xml version='1.0'?> y", "x y|"),
    ("SQL in <b>New York</b>, New <i>York</i>", "sequel in Noo Yawk, Noo Yawk|"),
    ("pre<sub alias='five'>V</sub>post", "pre five post|"),
    # not closed, closed twice, nested
    ("so <sub alias='x y'>closed here", "so closed here|"),
    ("an <break time='1s", "an"),
    ("</p></prosody>ok</sub>", "ok|"),
    ("<sub alias='a'><sub alias='b'>c</sub> d</sub>", "a d|"),
    ("<p>One <sub alias='x'>two<p>Three", "One two| Three|"),
    ("<phoneme>read me</phoneme> <sub>and me</sub>", "read me and me|"),
    (
        "<phoneme ph='ˈwɪn'>an all-in-one <say-as interpret-as='digits'>42",
        "an all-in-one forty-two|",
    ),
    ("[the <sub alias='a'>docs](http://x.org) now [a](u<sub alias='b'>) c", "the docs now a c|"),
    ("the <break time='1s [docs](u) now. More\nhere", "the docs now.| More here|"),
    # Figures that are spoken in portions, of which the element stands in the last.
    (
        'Call 212-555-1234567-<sub alias="x ray">y</sub> now',
        "Call two one two, five five five, one two three four five six seven x ray now|",
    ),
    ('SQL\u200f<sub alias="x ray">y</sub>\u200ez', "sequel x ray z|"),
    # What touches phonemes is read, too.
    ('At x.org/<phoneme ph="ˈwɪn">N</phoneme>.', "At X dot org slash /wˈɪn/.|"),
    (
        'It=<phoneme ph="ˈwɪn">N</phoneme>/<say-as interpret-as="characters">AB</say-as>.',
        "It equals /wˈɪn/ A. B.|",
    ),
    (f'{"x" * 57}-<phoneme ph="ˈwɪn">N</phoneme> z', f"{'xxx ' * 19}/wˈɪn/ z|"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_what_is_said(text: str, expected: str) -> None:
    assert said(text) == expected


def test_spans_are_those_of_the_source() -> None:
    text = (
        "A <sub alias='b c'>XY</sub>, <break/> &amp; <b>ok</b> [sighs] Dr. <phoneme"
        " ph='wɪn'>No</phoneme>!"
    )
    spans = [text[word.start : word.end] for word in feed(text)]
    assert spans == ["A", "X", "Y</sub>,", "<break/>", "&amp;", "ok", "Dr.", "No</phoneme>!"]


TAGS = (
    "<b> </b> <p> </s> <break/> <break_time='1s'/> <sub_alias='x_y'> </sub> <phoneme_ph='wɪn'>"
    " </phoneme> </speak> <say-as_interpret-as='digits'> </say-as> <prosody_rate='fast'> </prosody>"
    " &amp; &lt; & < <3 [laughs] [x] [ <!--_a_--> <x y= <br/>"
).split()
WORDS = "one two, three. New York Nguyen's SQL 12 March 3.5 Dr. Café 😀 (so) “go!” a<b".split()
MIXED = st.lists(
    st.tuples(st.sampled_from(TAGS + WORDS), st.sampled_from(["", " ", " ", "\n", "\n\n"])),
    max_size=14,
).map(lambda pairs: "".join(a.replace("_", " ") + b for a, b in pairs))


@settings(max_examples=examples(400))
@given(MIXED, st.lists(st.integers(0, 200), max_size=6))
def test_any_split_gives_the_same(text: str, cuts: list[int]) -> None:
    whole = feed([text])
    places = sorted(min(cut, len(text)) for cut in cuts)
    assert (
        feed([text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]) == whole
    )
    assert feed(text) == whole
    position = 0
    for word in whole:
        assert position <= word.start <= word.end <= len(text)
        position = word.end


@settings(max_examples=examples(100))
@given(MIXED, st.integers(0, 100))
def test_other_languages_too(text: str, cut: int) -> None:
    def german(start: int = 0) -> TokenReader:
        return TokenReader(language_of("de"), start)

    words = functools.partial(pronouncing, german, KNOWN)
    whole, parted = (Markup(Resources(words, KNOWN, say_as_of("de")))(0) for _ in range(2))
    once = [*whole.push(text), *whole.flush()]
    assert [*parted.push(text[:cut]), *parted.push(text[cut:]), *parted.flush()] == once
    assert all(one.end <= other.start for one, other in itertools.pairwise(once))


@settings(max_examples=examples(200))
@given(
    st.lists(st.sampled_from([*WORDS, "a", "<", "b", "&", "x<y", "<3", "[1]"]), max_size=12).map(
        " ".join
    )
)
def test_text_without_tags_is_read_as_ever(text: str) -> None:
    known = Pronunciations(None, normalizer=new_reader, symbols={})
    plain = Markup(Resources(new_reader, known, say_as_of("en")))(0)
    assert [*plain.push(text), *plain.flush()] == normalize_open(text)


def normalize_open(text: str) -> list[Word]:
    normalizer = new_reader()
    return [*normalizer.push(text), *normalizer.flush()]


def test_what_a_tag_cannot_say_is_told_and_read(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="sayahead"):
        assert (
            said(
                "<phoneme ph='w6n'>Nguyen</phoneme> <prosody rate='odd'>a</prosody> b<break"
                " time='soon'/>"
            )
            == "Nguyen a b <0.5>"
        )
        assert said("<phoneme alphabet='x-sampa' ph='t'>a</phoneme>") == "a|"
        assert len(feed("<sub alias='x'>" + "word " * 200)) == 200
    told = caplog.text
    assert "<phoneme> (character 0): the voice has no phoneme '6'" in told
    assert "the alphabet 'x-sampa' is unknown" in told
    assert "'odd' is no speed" in told
    assert "time is 'soon', but must be such as 500ms or 1.5s" in told
    assert "<sub> is not closed after 500 characters" in told


def test_languages_without_words_for_it_spell() -> None:
    assert say_as_of("cs") is spelled
    assert spelled("a1-b", "characters", "") == "A 1 B"
    assert spelled("12", "ordinal", "") == ""


@pytest.mark.parametrize(
    ("language", "kind", "text", "form", "words"),
    [
        ("de", "ordinal", "3.", "", "dritte"),
        ("de", "digits", "42", "", "vier zwei"),
        ("de", "cardinal", "1.984", "", "eintausendneunhundertvierundachtzig"),
        ("fr", "date", "3/4/2024", "", "trois avril deux mille vingt-quatre"),
        ("en-gb", "date", "3/4/2024", "dmy", "the third of April, twenty twenty-four"),
        ("en-gb", "date", "12/2024", "my", "December twenty twenty-four"),
        ("es", "time", "14:30", "", "catorce treinta"),
        ("de", "date", "13/13/2024", "dmy", ""),
    ],
)
def test_every_language_with_number_words_says_kinds(
    language: str, kind: str, text: str, form: str, words: str
) -> None:
    assert say_as_of(language)(text, kind, form) == words


def test_tags_are_silent_and_brackets_read_without_markup() -> None:
    words = [word.text for word in normalize("Hi <break time='1s'/> you [laughs], a < b [happy]")]
    assert words == ["Hi", "you", ",", "a", "less than", "b", "happy"]


TEXT = 'Wait here, <break time="1500ms"/> then go. <break time="2s"/> Done.'


@pytest.mark.parametrize("policy", ["lookahead:k=0", "lookahead:k=2", "wait-all", "independent"])
def test_a_break_is_silence_of_its_length_and_times_are_those_of_the_sound(policy: str) -> None:
    voice = toy_voice()
    session = voice.session(markup="ssml", policy=policy)
    fed = list[Floats]()
    words = list[WordTiming]()
    for char in TEXT:
        session.push(char)
        for chunk in session.chunks():
            fed.append(chunk.samples)
            words += chunk.words
    session.finish()
    for chunk in session.chunks():
        fed.append(chunk.samples)
        words += chunk.words
    sound = np.concatenate(fed)
    assert np.array_equal(sound, voice.synthesize(TEXT, markup="ssml", policy=policy))
    assert [TEXT[word.start : word.end] for word in words] == [
        "Wait",
        "here,",
        "then",
        "go.",
        "Done.",
    ]
    rate = voice.sample_rate
    for before, after, least in ((1, 2, 1.5), (3, 4, 2.0)):
        gap = words[after].onset_samples - words[before].offset_samples
        assert least <= gap / rate < least + 0.6
    plain = len(voice.synthesize("Wait here, then go. Done.", policy=policy))
    assert abs(len(sound) - plain - 3.5 * rate) < 0.3 * rate
    heard = session.heard(words[2].offset_samples / rate)
    assert (heard.word_count, heard.text) == (3, TEXT[: words[2].end])


def test_a_text_with_markup_can_be_revised() -> None:
    session = toy_voice().session(markup="ssml", policy="lookahead:k=0")
    session.push("<prosody rate='fast'>One. Two thr")
    said_ = [word.text for chunk in session.chunks() for word in chunk.words]
    at = session.revise(session.text.index("thr"), "three</prosody> four.")
    assert at == len("<prosody rate='fast'>One. Two ")
    session.finish()
    said_ += [word.text for chunk in session.chunks() for word in chunk.words]
    assert said_ == ["One.", "Two", "three", "four."]


@pytest.mark.parametrize("pulls", [2, 3, 4])
def test_what_an_element_says_is_said_once_where_the_text_behind_it_is_revised(pulls: int) -> None:
    session = toy_voice().session(markup="ssml", policy="lookahead:k=0")
    session.push('The <sub alias="World Wide Web">WWW</sub> is ')
    said_ = [
        word.text for chunk in itertools.islice(session.chunks(), pulls) for word in chunk.words
    ]
    assert len(said_) == pulls
    session.revise(session.text.index(" is"), " was here.")
    session.finish()
    said_ += [word.text for chunk in session.chunks() for word in chunk.words]
    assert said_ == ["The", "World", "Wide", "Web", "was", "here."]


def test_voices_that_read_letters_have_breaks() -> None:
    voice = toy("mohan")
    with_break = voice.synthesize("Go. <break time='2s'/>", markup="ssml")
    plain = voice.synthesize("Go.")
    assert len(with_break) == len(plain) + 2 * voice.sample_rate


def test_the_default_voice(heart: Voice) -> None:
    spoken = heart.synthesize(
        'Say <sub alias="one">1</sub> <phoneme ph="tˈu">x</phoneme> now.', markup="ssml"
    )
    assert np.array_equal(spoken, heart.synthesize("Say one two now.", lexicon={"two": "[tˈu]"}))
    quick = heart.synthesize(
        'It <prosody rate="150%">is rather quick now</prosody> you see.', markup="ssml"
    )
    assert len(quick) < 0.9 * len(heart.synthesize("It is rather quick now you see."))
    with pytest.raises(ConfigError, match=r"markup is 'sml' \(did you mean 'ssml'"):
        heart.session(markup="sml")


def test_elements_that_are_never_closed_take_little_memory() -> None:
    """Each kept all that were open before it: 90 kB of them took 355 MB."""
    markup = Markup(RESOURCES)
    marked = markup(0)
    marked.push("<prosody rate='fast'>a " * 3000)
    assert len(markup.rates.last) == 32
    assert sum(len(rates) for _, rates in markup.rates.entries) < 32 * 600
