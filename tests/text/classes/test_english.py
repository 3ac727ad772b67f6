"""English by its own rules: labels, streets, plurals, attributive amounts, and any split of a
text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.readings import cases

from sayahead.text.reading.language import language_of
from sayahead.text.reading.stream import TokenReader

LANGUAGE = language_of("en")
GOLDEN = [case.text for case in cases(Path(__file__).parents[1] / "readings.tsv")]


def spoken(text: str) -> str:
    reader = TokenReader(LANGUAGE)
    return " ".join(word.text for word in reader.push(text) + reader.flush())


@given(st.integers(100, 999))
def test_three_figures_after_a_label_are_one_and_two(value: int) -> None:
    first, rest = divmod(value, 100)
    numbers = LANGUAGE.record.numbers
    assert numbers is not None
    two = (
        "hundred"
        if not rest
        else f"oh {numbers.cardinal(rest)}"
        if rest < 10
        else numbers.cardinal(rest)
    )
    assert spoken(f"room {value}") == f"room {numbers.cardinal(first)} {two}"
    assert spoken(f"It has {value} rooms.").split()[2] != "oh"


@pytest.mark.parametrize(("short", "whole"), [("St", "Street"), ("Dr", "Drive")])
def test_a_road_stands_after_its_name_and_a_title_before_one(short: str, whole: str) -> None:
    assert spoken(f"on Oak {short}.") == f"on Oak {whole}."
    assert whole not in spoken(f"with {short}. Oak")


@pytest.mark.parametrize("before", ["a", "my", "the"])
def test_an_amount_before_what_is_paid_has_no_plural(before: str) -> None:
    assert spoken(f"pay {before} $54 water bill") == f"pay {before} fifty-four dollar water bill"


@given(st.sampled_from(GOLDEN), st.data())
def test_any_split_gives_the_same_words(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    reader = TokenReader(LANGUAGE)
    split = reader.push(text[:at]) + reader.push(text[at:]) + reader.flush()
    reader = TokenReader(LANGUAGE)
    assert split == reader.push(text) + reader.flush()


KINDS = """
http://10.0.0.1:8080/b = one zero dot zero dot zero dot one colon eighty eighty slash B
gs://my-bucket/file.csv = G S my dash bucket slash file dot C S V
wss://live.io/feed = W S S live dot I O slash feed
It ran Feb.–Apr. Then = It ran February to April. Then
$3 billion-$4 billion = three billion to four billion dollars
$200k-$300k = two hundred thousand to three hundred thousand dollars
Dial *69 now. = Dial star sixty-nine now.
all *.txt files = all star dot T X T files
F#/.NET = F sharp dot net
(k-2)! ways = (K minus two) factorial ways
$30/hr x 20 hrs = thirty dollars per hour times twenty hours
$0.50/1M tokens = fifty cents per one million tokens
a 20 A circuit = a twenty amp circuit
F#m7 = F sharp minor seven
Bmaj7 = B major seven
E♭, then D♯ = E flat, then D sharp
g'(x) = G prime of x
+44 20 7946 0958 = plus forty-four two zero, seven nine four six, zero nine five eight
a vi-IV-I turn = a six, four, one turn
P(B|A) = P of B given A.
Use `==` here = Use double equals here
is ^[0-9]*$, \\d+ = is caret zero to nine star dollar, backslash D plus
Click the ✂️ button. I ✂️ paper. = Click the scissors button. I paper.
Version v1.2.3 = Version one point two point three
Ann Lee Jr., MD. = Ann Lee Junior, MD.
in Baltimore, MD. = in Baltimore, Maryland.
code "Red7Fox" = code Red seven Fox
code Red74Fox = code Red seventy-four Fox
5 x10^6/µL = five times ten to the power of six per microliter
Put an <h1> or a <p> here = Put an H one or a p here
cron */5 * * * 1 = cron star slash five star star star one
3' 4" by 2' 6" = three feet four inches by two feet six inches
The 2nd fl. is $90/wk. + tax = The second floor is ninety dollars per week plus tax
400–500 sq. ft. per = four hundred to five hundred square feet per
Mar. 3-5 and April 3 = March third to fifth and April third
Jan. 3 – 5 = January third to fifth
April '98 = April ninety-eight
Hi, I'm Max. How = Hi, I'm Max. How
as a temp. She is = as a temp. She is
You can opt. It has = You can opt. It has
Max. 5 people = Maximum five people
Let x1 and x2 be = Let X one and X two be
Squats x3 today = Squats times three today
If b = a - c. Then = If b equals a minus c. Then
At 09:08 AM we = At nine oh eight A.M. we
Rest 30s. Timer: 90s left = Rest thirty seconds. Timer: ninety seconds left
ttl: 60s, TTL=60s = ttl: sixty seconds, TTL equals sixty seconds
the 90s, in her 30s = the nineties, in her thirties
seen 20m ago, ends in 5m. = seen twenty minutes ago, ends in five minutes.
a 20m pool = a twenty meter pool
Use 276983 to sign in = Use two seven six nine eight three to sign in
It has 10.000.000 users = It has ten million users
The F.B.I.'s role = The F B I's role
Take IN 46 now. = Take I N forty-six now.
7 x 8 = 56 = seven times eight equals fifty-six
Mt. 5:3 and 1 Cor 13:4 = Matthew five three and one Corinthians thirteen four
Sat: 10-2, Sun & Mon = Saturday: ten to two, Sunday and Monday
The sun set. He sat. = The sun set. He sat.
Rs.99/- only = ninety-nine rupees only
the dd/mm/yyyy form = the D D slash M M slash Y Y Y Y form
Pt. denies pain = Patient denies pain
by us :heart_eyes: now = by us heart eyes now
We CAN do it, I MIND it = We CAN do it, I MIND it
IT WAS a dark night = it WAS a dark night
The IT team. WHO said so = The IT team. WHO said so
Set it ON now, in Toronto, ON. = Set it on now, in Toronto, ON.
GANDALF told EVAN and BRIAN = Gandalf told Evan and Brian
the HTML, NASA, USSR = the HTML, NASA, USSR
Shh. Grr! Tsk tsk. = shush. gurr! tisk tisk.
On St John St near St. Mary = On Saint John Street near Saint Mary
H̷e̶l̷l̸o there = Hello there
A cake w/out milk = A cake without milk
""".strip().splitlines()


@pytest.mark.parametrize("line", KINDS)
def test_kinds(line: str) -> None:
    text, _, said = line.rpartition(" = ")
    assert spoken(text) == said
