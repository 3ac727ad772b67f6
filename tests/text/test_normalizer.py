"""The text normalizer: readings, sentence ends, spans, and words that no later text changes."""

from __future__ import annotations

import itertools
import re
import time
from string import ascii_uppercase

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.effort import examples

from sayahead.text.languages import record_of
from sayahead.text.reading.stream import MAX_RUN, MAX_TOKEN, new_reader, normalize
from sayahead.types import Word


def spoken(text: str) -> str:
    """The words of a text separated by bars, each sentence end written as two."""
    return "".join(
        word.text + ("||" if word.ends else "|") for word in normalize(text)
    ).removesuffix("||")


READINGS = [
    ("The quick brown fox.", "The|quick|brown|fox."),
    # numbers
    (
        "3.14 or 1,250 or 3.50",
        "three point one four|or|one thousand two hundred fifty|or|three point five zero",
    ),
    ("007 and -5", "zero zero seven|and|minus five"),
    (
        "12345678901234567890",
        (
            "one two three four|five six seven eight|nine zero one two|three four five six|seven"
            " eight nine zero"
        ),
    ),
    ("the 3rd and 21st", "the|third|and|twenty-first"),
    ("1/2 or 3/4 or ½", "one half|or|three quarters|or|one half"),
    ("2½ cups, 5 1/2 miles", "two and a half|cups,|five and a half|miles"),
    (
        "10-20, 1990–1995, pages 5 - 7",
        "ten to twenty,|nineteen ninety to nineteen ninety-five,|pages|five|to|seven",
    ),
    ("5–10%", "five to ten percent"),
    (
        "the 1990s, the '90s, mid-1990s",
        "the|nineteen nineties,|the|nineties,|mid nineteen nineties",
    ),
    ("1,2,3", "one,|two,|three"),
    ("16:9", "sixteen to nine"),
    # money
    ("$5 or $5.50 or $5M", "five dollars|or|five dollars and fifty cents|or|five million dollars"),
    ("$5 million, $5.5 billion.", "five million dollars,|five point five billion dollars."),
    (
        "€20 £3.99 ¥500 50¢",
        "twenty euros|three pounds and ninety-nine pence|five hundred yen|fifty cents",
    ),
    (
        "5 dollars, USD 5 million, Rs. 500",
        "five|dollars,|five million U.S. dollars,|five hundred rupees",
    ),
    ("$5–$10 and $9/month", "five to ten dollars|and|nine dollars per month"),
    ("$10-$15 million, (kr 200 each)", "ten to fifteen million dollars,|(two hundred kroner|each)"),
    # times and dates
    ("7:30 or 7:30 pm or 7 p.m.", "seven thirty|or|seven thirty|P.M.|or|seven P.M."),
    ("7:00 we go, 7:00 pm, 7pm", "seven o'clock|we|go,|seven|P.M.,|seven P.M."),
    ("12:05:30", "twelve oh five and thirty seconds"),
    ("9am-5pm", "nine A.M. to five P.M."),
    ("March 3, 2024", "March|third,|twenty twenty-four"),
    ("March 3rd; 3 March 2024", "March|third;|the third of March|twenty twenty-four"),
    ("the 3rd of March", "the|third|of|March"),
    (
        "2024-03-05 and 3/5/2024",
        "March fifth, twenty twenty-four|and|March fifth, twenty twenty-four",
    ),
    ("Jan 5 and Jan spoke", "January|fifth|and|Jan|spoke"),
    ("12 men on 12 May", "twelve|men|on|the twelfth of May"),
    ("24/7 since 9/11", "twenty-four seven|since|nine eleven"),
    # units and signs
    ("5 km 5km 1 km 60 mph", "five|kilometers|five kilometers|one|kilometer|sixty|miles per hour"),
    (
        "20 °C 20°C 5 % 5%",
        "twenty|degrees Celsius|twenty degrees Celsius|five|percent|five percent",
    ),
    ("5'10\" x2 4x4 2x", "five foot ten|times two|four by four|two times"),
    ("a = 5, b <= 3, x -> y", "a|equals|five,|b|less than or equal to|three,|x|to|y"),
    ("5 * 3 & ~5 ±2", "five|times|three|and|about five|plus or minus two"),
    (
        "$3 to $5 or €3 to $5, $1 to us",
        "three dollars|to|five dollars|or|three euros|to|five dollars,|one dollar|to|us",
    ),
    ("$1.5 to $2 million dollars.", "one point five to two million dollars|."),
    ("1s and 0s, 404 Not, 2B us", "ones|and|zeros,|four oh four|Not,|two B|us"),
    (
        "20 Dec.-3 Jan. on 5-7 May",
        "the twentieth of December|to the third of|January|on|the fifth to the seventh of May",
    ),
    ("20 Dec.-3 jan", "the twentieth of December|to the third of|January"),
    ("20 m² is H₂O", "twenty|square meters|is|H two O"),
    # addresses, names with digits
    ("192.168.0.1", "one nine two dot|one six eight dot|zero dot one"),
    ("v2.1.3", "version two point one point three"),
    (
        "555-1234, 555-123-4567",
        "five five five, one two three four,|five five five,|one two three,|four five six seven",
    ),
    ("(555) 123-4567", "five five five,|one two three,|four five six seven"),
    ("+1 555 123 4567", "plus one|five five five,|one two three,|four five six seven"),
    ("https://www.example.com/a-b", "example dot com slash A. dash B"),
    ("info@example.org foo.py Node.js", "info at example dot org|foo dot P Y|Node dot J S"),
    ("Try you.com. On you.com/a or it.is", "Try|you dot com.||On|you dot com slash A.|or|it.||is"),
    ("gone.sort() then .env, .py", "gone.||sort|then|dot env,|dot P Y"),
    ("@john #BigDay #5", "at john|hashtag Big Day|number five"),
    ("C++ C# AT&T R&B Q&A", "C plus plus|C sharp|AT&T|R&B|Q&A"),
    ("3D 5G H2O COVID-19", "three D|five G|H two O|COVID nineteen"),
    ("and/or w/ friends", "and or|with|friends"),
    ("NASA and FBI", "NASA|and|FBI"),
    # abbreviations and titles
    ("Dr. Smith and Mr. Jones", "Doctor|Smith|and|Mr|Jones"),
    ("Main St. near St. Louis", "Main|Street|near|Saint|Louis"),
    ("on Main St. The car", "on|Main|Street.||The|car"),
    ("at 5 Rodeo Dr. today", "at|five|Rodeo|Drive|today"),
    ("e.g. this, i.e. that", "for example|this,|that is|that"),
    ("etc. and etc. And", "etc|and|etc.||And"),
    ("J. K. Rowling vs. J.K. Simmons", "J|K|Rowling|versus|J K|Simmons"),
    ("the U.S. is, U.S. Army, the U.S. The", "the|U.S.|is,|U.S.|Army,|the|U.S.||The"),
    ("approx. 5 at Foo Inc. is", "approximately|five|at|Foo|Incorporated|is"),
    ("No. 5. No. I won't.", "Number|five.||No.||I|won't."),
    ("Henry VIII, Chapter IV, World War II.", "Henry|the eighth,|Chapter|four,|World|War|two."),
    ("Henry I think", "Henry|I|think"),
    ("Doe, Ph.D., (i.e., this)", "Doe,|PhD,|(that is,|this)"),
    ("a 5-year-old, 2nd-place, 5-6pm", "a|five year old,|second place,|five to six P.M."),
    ("x² != 2, <|end|>", "x squared|is not equal to|two,"),
    # apostrophes, hyphens, quotes, pauses
    ("don’t re-enter well-known James' hat", "don't|re-enter|well-known|James'|hat"),
    ("rock 'n' roll", "rock|and|roll"),
    ("He said, “Go.” (Maybe) left", "He|said,|Go.||(Maybe)|left"),
    ('"Hello!" he said', "Hello!||he|said"),
    ("What?! Really!!!", "What?||Really!"),
    ("Wait... what? Well… Then", "Wait…|what?||Well…||Then"),
    ("Hello , world ! Next", "Hello|,|world|!||Next"),
    ("a — b - c word--word x—y", "a|—|b|—|c|word—|word|x—|y"),
    ("a: b; c", "a:|b;|c"),
    (
        "It cost 1 234 567 lives, 2 250 ml",
        (
            "It|cost|one million two hundred|thirty-four thousand five|hundred sixty-seven|"
            "lives,|two thousand two hundred fifty|milliliters"
        ),
    ),
    ("I, II, and III. I, too", "one,|two,|and|three.||I,|too"),
    ("on Park Ave. NW at 5 p.m. EST. Then", "on|Park|Avenue|northwest|at|five P.M.|EST.||Then"),
    ("a Boeing 747-400", "a|Boeing|seven forty-seven four hundred"),
    ("10⁻⁶ m", "ten to the power of minus six|meters"),
    ("SO4^2- and SO₄²⁻", "S O four two minus|and|S O four two minus"),
    ('a,b and red,green: (yes!) "No!" **Note:** x', "a,|b|and|red,|green:|(yes!||No!||Note:|x"),
    # markdown, tags, emoji, other scripts
    ("**bold** *it* _it_ `code` ~~no~~", "bold|it|it|code|no"),
    ("un**believ**able", "unbelievable"),
    ("# Title\ntext", "Title||text"),
    ("Intro\n- one\n* two\n1. three", "Intro||one||two||one.|three"),
    ("> a quote\n> goes on\n\nafter", "a|quote|goes|on||after"),
    ("see [the docs](https://x.org/a_(b)). Go", "see|the|docs.||Go"),
    # what begins like a tag and goes on like a sentence is text
    ("If a<b then stop. Go", "If|a less than b|then|stop.||Go"),
    ("a<b and b<c, i<u", "a less than b|and|b less than c,|i less than u"),
    ("if (x<p && p>q) it", "if|(x less than p|and|p greater than q)|it"),
    ("a<b to the end", "a less than b|to|the|end"),
    ('x<a href="u" download>y</a> <input disabled value=5/> z', "xy|z"),
    ("one <!-- two three --> four <a href='http", "one|four"),
    ("one <a href='http two. three\nfour <b x=y z", "one|two.||three|four|z"),
    ("![alt text](x.png) fine [1]", "alt|text|fine|one"),
    ("| a | b |\n|---|---|\n| c | d |", "a|,|b|.||c|,|d"),
    ("over\n\n---\nnew", "over||new"),
    ("```python\nprint(x)\n```\nafter", "print x||after"),
    ("a<br>b <b>bold</b> <br> x", "a|b|bold|x"),
    ("hi 😀 you 👨‍👩‍👧 🇩🇪 👍🏽 5️⃣ end.", "hi|you|five|end."),
    ("Привет world мир. Next 你好 π", "world|.||Next|pi"),
    ("2π r, (3α). A “Go.”πThe end", "two pi|r,|(three alpha).||A|Go.||πThe|end"),
    ("ｆｕｌｌ １２ ﬁne café", "full|twelve|fine|café"),
    # line breaks
    ("hard\nwrapped text", "hard|wrapped|text"),
    ("one\r\ntwo\r\n\r\nthree", "one|two||three"),
    ("one \n\ntwo", "one|.||two"),
    # nothing to say
    ("", ""),
    (" \n😀 ... !\n", ""),
]


@pytest.mark.parametrize(("text", "expected"), READINGS)
def test_readings(text: str, expected: str) -> None:
    assert spoken(text) == expected


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ("fox", 0),
        ("fox ", 1),
        ("the fox. ", 2),
        ("12", 0),
        ("12 ", 0),
        ("12 q", 1),
        ("12 m", 1),
        ("12 M", 0),
        ("12 Mar", 0),
        ("12 Mart", 1),
        ("12 March ", 1),
        ("$5 ", 0),
        ("$5 m", 0),
        ("$5 mu", 1),
        ("$5 million ", 0),
        ("$5 to ", 0),
        ("$5 to u", 2),
        ("$5 to $", 0),
        ("$5 to $5", 0),
        ("$1.5 to ", 0),
        ("20 Dec.-", 0),
        ("20 Dec.-3", 0),
        ("5-7 ", 0),
        ("5-7 m", 0),
        ("for 5-7 ", 1),
        ("3M ", 0),
        ("3M m", 0),
        ("3M u", 0),
        ("404 ", 0),
        ("404 u", 1),
        ("six 9s ", 1),
        ("in 30s ", 1),
        ("with help.", 1),
        ("then done.", 1),
        ("7:30 ", 0),
        ("7:00 ", 0),
        ("7:00 p", 0),
        ("7:00 po", 1),
        ("March ", 1),
        ("March 3 ", 1),
        ("Mr. ", 1),
        ("Dr. ", 0),
        ("Dr. S", 1),
        ("No. ", 0),
        ("No. 5", 1),
        ("etc. ", 0),
        ("etc. a", 1),
        ("wait... ", 0),
        ("wait... (", 0),
        ("wait... (a", 1),
        ("fox\n", 0),
        ("fox\nj", 1),
        ("fox\n-", 0),
        ("fox\n- ", 0),
        ("fox\n\n", 1),
        ("# fox\n", 1),
        ("fox—", 1),
        ("World War II ", 3),
        ("[the docs](http", 1),
        ("[never closed at all ", 0),
        ("Let me check that for you.", 6),
        ("Build finished.", 2),
        ("example.", 0),
        ("Well.", 0),
        ("Well...", 0),
        ("at 5 p.m.", 1),
        ("the U.S.", 1),
        ("e.g.", 0),
        ("3.", 0),
        ("5 in.", 1),
        ("come in!", 2),
        ("Really?", 1),
        ("“Yes,", 1),
        ("first;", 1),
        ("Steps:", 1),
        ("https:", 0),
        ("x:", 0),
        ("It is 3.\n", 2),
        ("in the file.\n", 3),
        ("at 5 p.m.\n", 1),
        ("No.\n", 0),
        ("Plan B. ", 1),
        ("by J. K. ", 3),
        ("$1,000-$2,000 ", 0),
        ("$10-$15 ", 0),
        ("$10-$15 mi", 0),
        ("kr 200 ", 0),
        ("kr 200 o", 1),
        ("p.m. E", 1),
        ("p.m. Ev", 1),
        ("lemon" * 26, 1),
    ],
)
def test_final_as_early_as_possible(prefix: str, words: int) -> None:
    assert len(new_reader().push(prefix)) == words


SNIPPETS = [piece for text, _ in READINGS for piece in text.split()] + (
    "$5 million 3 March 12 am 7:00 p.m. Dr. etc. — - * 1. # > | ``` [a](b) [ ](x (555) 123-4567 No."
    " … ... a A The U.S. USD"
).split()
SEPARATORS = [" "] * 6 + ["\n", "\n\n", "  ", "\t", "", " \n", "\r\n", "\x00", "\u200b"]
COMPOSED = st.lists(
    st.tuples(st.sampled_from(SNIPPETS), st.sampled_from(SEPARATORS)), max_size=12
).map(lambda pairs: "".join(a + b for a, b in pairs))
ODD = st.text(alphabet="aA.1-—([])$%*\n \"'#>|`5:,–…é你\r", max_size=90) | st.text(max_size=60)


def feed(fragments: list[str] | str) -> tuple[list[Word], list[tuple[int, int, str]]]:
    normalizer = new_reader()
    words = []
    for fragment in fragments:
        words += normalizer.push(fragment)
    return words + normalizer.flush(), normalizer.skipped


@settings(max_examples=examples(400))
@given(COMPOSED | ODD, st.lists(st.integers(0, 200), max_size=5))
def test_any_split_gives_the_same_words(text: str, cuts: list[int]) -> None:
    whole = feed([text])
    places = sorted(min(cut, len(text)) for cut in cuts)
    assert (
        feed([text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]) == whole
    )
    assert feed(text) == whole


@settings(max_examples=examples(400))
@given(COMPOSED | ODD)
@example("$>你")
def test_spans_and_texts(text: str) -> None:
    words, skipped = feed([text])
    position = 0
    for word in words:
        assert position <= word.start <= word.end <= len(text)
        assert word.text == " ".join(word.text.split()) != ""
        assert not re.search(r"[\[\]<>*_#|`~/\\{}@=\x00-\x1f\"]", word.text)
        position = word.end
    assert all(text[start:end] == part for start, end, part in skipped)


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.sampled_from("the fox, 12 km $5 March Dr. (so) etc. Go! x=5 3 No. a.m. it's".split()),
        max_size=9,
    )
)
def test_nothing_is_dropped(tokens: list[str]) -> None:
    text = " ".join(tokens)
    covered = {i for word in normalize(text) for i in range(word.start, word.end)}
    assert {i for i, char in enumerate(text) if char.isalnum()} <= covered


@pytest.mark.parametrize("number", ["5", "1", "50°", "1.5", "$5"])
def test_any_letters_may_follow_a_number(number: str) -> None:
    """``5 NW of here`` and ``50° EW`` were errors: letters that are units each by themselves."""
    for letters in (
        "".join(pair) for pair in itertools.product(" " + ascii_uppercase, ascii_uppercase)
    ):
        text = f"{number} {letters.strip()} of it"
        assert [word.text for word in normalize(text)][-2:] == ["of", "it"], text


def test_flush_begins_a_new_sentence_and_offsets_run_on() -> None:
    normalizer = new_reader()
    assert normalizer.push("one two") == [Word("one", 0, 3)]
    assert normalizer.flush() == [Word("two", 4, 7, ends=True)]
    assert normalizer.flush() == []
    assert normalizer.push("three ") == [Word("three", 7, 12)]
    assert normalizer.flush() == []


def test_a_word_that_ends_a_sentence_at_its_full_stop_is_read_the_same_in_any_place() -> None:
    for word in record_of("en").vocabularies["last_words"]:
        for left in ("", "5 ", "the ", "Main "):
            words = new_reader().push(f"{left}{word}.")
            assert words[-1].ends, (left, word)
            assert words == normalize(f"{left}{word}."), (left, word)
            assert [w.text for w in words] == [
                w.text for w in normalize(f"{left}{word}. Then")[:-1]
            ]


def test_a_span_holds_markup_and_both_tokens() -> None:
    assert normalize("a **bold**, 3 March.")[1:] == [
        Word("bold,", 2, 11),
        Word("the third of March.", 12, 20, ends=True),
    ]
    assert normalize("[x](y.z) b")[0] == Word("x", 0, 8)


def test_other_scripts_are_skipped_and_reported() -> None:
    normalizer = new_reader()
    assert [word.text for word in normalizer.push("да yes 你好ok ")] == ["yes", "ok"]
    assert normalizer.skipped == [(0, 2, "да"), (7, 9, "你好")]


@pytest.mark.parametrize(
    "unit", ["a", "你", "1", ".", "(", "[", "](x", "12 ", "a.", "—", "\n", "<a", "'"]
)
def test_long_text_in_linear_time_and_little_memory(unit: str) -> None:
    normalizer = new_reader()
    longest = 0
    began = time.process_time()
    for char in unit * 10_000:
        normalizer.push(char)
        longest = max(longest, len(normalizer._text))
    normalizer.flush()
    assert longest <= 4 * MAX_TOKEN
    assert time.process_time() - began < 20


def test_a_long_word_is_spoken_in_pieces() -> None:
    words = normalize("a" * 10_000)
    assert "".join(word.text for word in words) == "a" * 10_000
    assert all(len(word.text) <= MAX_RUN for word in words)


def test_a_tag_with_an_attribute_outlasts_a_breath() -> None:
    normalizer = new_reader()
    said = list[list[str]]()
    for fragment in ("a<b and", ' see<a href="x', 'y">it</a> '):
        said.append([word.text for word in normalizer.push(fragment) + normalizer.breathe()])
    assert said == [["a less than b", "and"], ["see"], ["it"]]


def test_a_line_that_begins_with_a_fence_costs_no_more_a_character() -> None:
    """Each token looked through all that waited: 20,000 characters took 8 s, 4,000 a twenty-fifth
    of it."""

    def took_s(size: int) -> float:
        normalizer = new_reader()
        begun = time.process_time()
        normalizer.push("```" + "1 " * (size // 2))
        return time.process_time() - begun

    # The least of several: others use the processor, too.
    short_s, long_s = (min(took_s(size) for _ in range(5)) for size in (2000, 16000))
    assert long_s < 24 * short_s
    normalizer = new_reader()
    words = [*normalizer.push("```print one two```. And more. "), *normalizer.flush()]
    assert "one" in " ".join(word.text for word in words)
