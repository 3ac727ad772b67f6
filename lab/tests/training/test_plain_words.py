"""Which words of a language are read as something else."""

from __future__ import annotations

from sayahead_lab.training.lexicons.plain_words import misread


def test_short_forms_are_told_from_words() -> None:
    assert list(misread("fr", ["fin", "maison", "prof"])) == [
        ("ils ont la prof. La maison", "ils ont la professeur La maison")
    ]
