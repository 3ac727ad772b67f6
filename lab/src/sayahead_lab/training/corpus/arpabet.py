"""ARPAbet, in which English aligners write phones, in the symbols of the English front end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sayahead_lab.eval.measures.textgrid import Interval

CONSONANTS = {
    "B": "b",
    "CH": "ʧ",
    "D": "d",
    "DH": "ð",
    "DX": "T",
    "F": "f",
    "G": "ɡ",
    "HH": "h",
    "JH": "ʤ",
    "K": "k",
    "L": "l",
    "M": "m",
    "N": "n",
    "NG": "ŋ",
    "P": "p",
    "R": "ɹ",
    "S": "s",
    "SH": "ʃ",
    "T": "t",
    "TH": "θ",
    "V": "v",
    "W": "w",
    "Y": "j",
    "Z": "z",
    "ZH": "ʒ",
}
VOWELS = {
    "AA": "ɑ",
    "AE": "æ",
    "AH": "ʌ",
    "AO": "ɔ",
    "AW": "W",
    "AY": "I",
    "EH": "ɛ",
    "ER": "ɜɹ",
    "EY": "A",
    "IH": "ɪ",
    "IY": "i",
    "OW": "O",
    "OY": "Y",
    "UH": "ʊ",
    "UW": "u",
}
UNSTRESSED = {"AH": "ə", "ER": "əɹ"}
STRESS = {"0": "", "1": "ˈ", "2": "ˌ", "": ""}


def from_arpabet(label: str) -> str | None:
    """The front end's symbols of an ARPAbet phone, with its stress mark before it; None for
    anything else."""
    if label in CONSONANTS:
        return CONSONANTS[label]
    vowel, stress = (label[:-1], label[-1]) if label[-1:].isdigit() else (label, "")
    if vowel not in VOWELS or stress not in STRESS:
        return None
    return STRESS[stress] + (
        UNSTRESSED.get(vowel, VOWELS[vowel]) if stress == "0" else VOWELS[vowel]
    )


def front_end_table(labels: Iterable[str], phonemes: Mapping[str, int]) -> dict[str, str] | None:
    """Each label's symbols in the front end that has these phonemes; None where labels are neither
    these nor ARPAbet.

    T and W are different sounds in the two: the labels as a whole decide which.
    """
    distinct = set(labels)
    if all(label in phonemes for label in distinct):
        return {label: label for label in distinct}
    table = {label: symbols for label in distinct if (symbols := from_arpabet(label)) is not None}
    return table if len(table) == len(distinct) else None


def converted(phones: Iterable[Interval], table: Mapping[str, str]) -> list[Interval]:
    """Phones as the symbols of a table, which share their time; a stress mark has none."""
    out = list[Interval]()
    for phone in phones:
        symbols = table.get(phone.label, phone.label) or phone.label
        marks = len(symbols) - len(symbols.lstrip("ˈˌ")) if phone.label in table else 0
        out += [Interval(phone.begin_s, phone.begin_s, mark) for mark in symbols[:marks]]
        sounds = list(symbols[marks:]) if phone.label in table else [phone.label]
        step_s = (phone.end_s - phone.begin_s) / len(sounds)
        edges_s = [*(phone.begin_s + at * step_s for at in range(len(sounds))), phone.end_s]
        out += [Interval(edges_s[at], edges_s[at + 1], symbol) for at, symbol in enumerate(sounds)]
    return out
