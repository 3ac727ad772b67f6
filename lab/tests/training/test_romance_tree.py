"""A tree reads what it was taught, from its file as well, and what is like it."""

from __future__ import annotations

from pathlib import Path

from sayahead.text.saying.romance.tree import read_tree

from sayahead_lab.training.lexicons import romance_tree as learner

ENDS = {"are": "ˈare", "ico": "iko", "one": "ˈone"}
STARTS = {
    "can": ("kan", "kˈan"),
    "cin": ("tʃin", "tʃˈin"),
    "mast": ("mast", "mˈast"),
    "bac": ("bak", "bˈak"),
}


def taught() -> dict[str, str]:
    """Words whose stress is on the syllable before ``ico``, and on the first vowel of the other
    ends."""
    return {
        start + end: (strong if end == "ico" else plain) + said
        for start, (plain, strong) in STARTS.items()
        for end, said in ENDS.items()
        if not (start in ("bac", "cin") and end == "ico")
    }


def test_a_tree_reads_its_words_and_others(tmp_path: Path) -> None:
    words = taught()
    file = tmp_path / "x.tree"
    file.write_text("\n".join(learner.lines_of(learner.grown(words))) + "\n", encoding="utf-8")
    tree = read_tree(file, "aeiou")
    assert {word: tree(word) for word in words} == words
    assert tree("mastone") == "mastˈone"
    assert tree("castico") == "kˈastiko"


def test_letters_are_aligned_with_what_they_make() -> None:
    aligner = learner.LetterAligner()
    aligner.learn(taught().items())
    assert aligner.align("cinone", learner.UNIT.findall("tʃinˈone")) == [
        "tʃ",
        "i",
        "n",
        "ˈo",
        "n",
        "e",
    ]
    assert aligner.align("a", learner.UNIT.findall("abcd")) is None
