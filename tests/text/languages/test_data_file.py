"""A language as one data file: what is wrong in it is told, and what it lacks is read all the
same."""

from __future__ import annotations

from pathlib import Path

import pytest

from sayahead.errors import ConfigError
from sayahead.text.languages import record_of
from sayahead.text.languages.data_file import read_record
from sayahead.text.reading.language import Language
from sayahead.text.reading.stream import TokenReader

STUB = """// Danish, as little as there may be.
tag = da
stand_in = hus
point = komma
dot = punktum
until = til
per = per
and_word = og

[cardinal]
0..9 = nul en to tre fire fem seks syv otte ni

[months]
{months}

[signs]
+ = plus
- = minus
± = plus minus
= = lig med
% = procent
& = og
@ = snabel-a
# = havelåge
/ = skråstreg
° = grader

[between]
x = gange
""".format(
    months="\n".join(
        f"{number} = {name}"
        for number, name in enumerate(
            "januar februar marts april maj juni juli august september oktober november december".split(),  # noqa: E501
            1,
        )
    )
)


def written(folder: Path, text: str) -> Path:
    path = folder / "da.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("50% af", "fem nul procent af"),
        ("3x4 m", "tre gange fire m"),
        ("14:30", "en fire tre nul"),
        ("-5", "minus fem"),
        ("2€", "to euro"),
        ("3.5.2024", "tre maj to nul to fire"),
    ],
)
def test_what_a_language_lacks_is_read_figure_by_figure(
    tmp_path: Path, text: str, said: str
) -> None:
    reader = TokenReader(Language("xx", read_record(written(tmp_path, STUB))))
    assert " ".join(word.text for word in [*reader.push(text), *reader.flush()]) == said


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("point = komma\n", "", 1, "the key point is missing"),
        ("% = procent\n", "", 27, r"the table \[signs\] lacks %"),
        ("7 = juli\n", "", 13, r"\[months\] must have twelve lines"),
        ("[between]", "[betwen]", 39, r"the table \[betwen\] is unknown"),
        ("until =", "untill =", 6, "untill is unknown"),
        ("0..9 = nul en", "0..9 = nul", 11, "10 numbers, but 9 words follow"),
        ("x = gange", "x gange", 40, "must be a key and its value"),
        (
            "[between]",
            "[noun_forms]\n1 = one\n[between]",
            40,
            "1 is 'one', but must be a whole number",
        ),
        (
            "[between]",
            "[noun_forms]\n1 = 0\n[between]",
            40,
            "1 is 0, but the first form of a noun is 1",
        ),
    ],
)
def test_what_is_wrong_is_told_by_file_line_and_key(
    tmp_path: Path, old: str, new: str, line: int, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=rf"da\.txt, line {line}: .*{sentence}"):
        read_record(written(tmp_path, STUB.replace(old, new)))


def test_a_variant_makes_units_of_its_own_bases() -> None:
    """Brazil's keV was Portugal's: prefixes went before the units that the variant changes."""
    assert record_of("pt-br").units["keV"].one == "quiloelétron-volt"
