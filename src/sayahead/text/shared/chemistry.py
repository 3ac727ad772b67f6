"""Formulas of chemistry: what is made of elements' symbols."""

from __future__ import annotations

import re

ELEMENTS = (
    "He Li Be Ne Na Mg Al Si Cl Ar Ca Sc Ti Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Zr Nb Mo Ag Cd Sn Sb Te Xe Cs "
    "Ba La Pt Au Hg Pb Bi U H B C N O F P S K V I W Y"
).split()
_BEGUN = re.compile(rf"(?:{'|'.join(ELEMENTS)}|[0-9()])*[A-Z]?")
_WHOLE = re.compile(rf"(?=.*[a-z0-9])(?:(?:{'|'.join(ELEMENTS)})[0-9]{{0,2}}|\((?=\w)|\)[0-9]{{0,2}}){{2,}}")


def begun(text: str) -> bool:
    """Whether the first characters of a word may go on as a formula."""
    return text[:1].isupper() and _BEGUN.fullmatch(text) is not None


def whole(text: str) -> bool:
    """Whether a word is a formula of several elements: ``NaOH``, ``CaCl2``, ``Ca(OH)2``."""
    return _WHOLE.fullmatch(text) is not None
