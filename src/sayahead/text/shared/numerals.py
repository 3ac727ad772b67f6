"""What numbers in words have in common, in languages that count by thousands and name millions."""

from __future__ import annotations

from collections.abc import Callable

Scales = tuple[tuple[int, str, str], ...]
"""Sizes from the largest on: one of them ("un millón"), and the noun of more ("millones")."""


def millions(value: int, scales: Scales, count: Callable[[int], str]) -> tuple[list[str], int]:
    """The millions and more of a number in words, and its rest."""
    said = []
    for size, one, many in scales:
        times, value = divmod(value, size)
        if times:
            said.append(one if times == 1 else f"{count(times)} {many}")
    return said, value


def decimals(figures: str, cardinal: Callable[[int], str], longest: int) -> str:
    """Behind the decimal mark: zeros one by one, the rest as a number if it has no more figures than ``longest``."""
    rest = figures.lstrip("0")
    parts = [*"0" * (len(figures) - len(rest)), *(rest if len(rest) > longest else [rest] if rest else [])]
    return " ".join(cardinal(int(part)) for part in parts)


def dated(
    day: int, month: str, year: int | None, cardinal: Callable[[int], str], *, first: str = "", of: str = " "
) -> str:
    """A day, its month and perhaps its year, with what stands between; ``first`` is the first of a month."""
    said = f"{first if first and day == 1 else cardinal(day)}{of}{month}"
    return f"{said}{of}{cardinal(year)}" if year else said
