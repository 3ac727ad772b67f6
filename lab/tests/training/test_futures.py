"""``sayahead train futures``: many prefixes continued at a time, each as if it were alone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from sayahead.cli import main

from sayahead_lab.training.distilled import futures
from sayahead_lab.training.distilled.futures import Continuations, choose, read_futures

SPELLED = " abcdefghijklmnopqrstuvwxyz."
END = len(SPELLED)
FOLLOWS = {SPELLED.index(a): SPELLED.index(b) for a, b in ("e ", " f", "i.")}


class Cache:
    """What the model below remembers: the last token of each row."""

    def __init__(self, last: torch.Tensor) -> None:
        self.last = last

    def batch_repeat_interleave(self, count: int) -> None:
        self.last = self.last.repeat_interleave(count, 0)


class Alphabet:
    """A language model over letters: behind each comes the next one, but a space behind e, a full
    stop behind i."""

    torch = torch
    end = END

    def __init__(self, name: str, kind: str) -> None:
        assert kind == "bfloat16"

    def encode(self, text: str) -> list[int]:
        return [SPELLED.index(letter) for letter in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(SPELLED[number] for number in ids)

    def model(self, *, input_ids: torch.Tensor, **_: Any) -> Any:
        logits = torch.zeros(*input_ids.shape, END + 1)
        for row, numbers in enumerate(input_ids.tolist()):
            for place, number in enumerate(numbers):
                logits[row, place, FOLLOWS.get(number, min(number + 1, END))] = 1
        return SimpleNamespace(logits=logits, past_key_values=Cache(input_ids[:, -1:]))


def test_each_prefix_goes_on_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(futures, "TransformersModel", Alphabet)
    model = Continuations("letters", words=3)
    # What finishes the last word is no future; a full stop ends one.
    assert model.futures(["ad", "ee", "bh", "z"], [0, 1, 2, 3]) == [["fghi."], ["fghi."], [], []]
    assert model.futures(["ad", "ee"], [1]) == [["fghi."]]
    # Three tokens a word are drawn at most.
    assert Continuations("letters", words=1).futures(["ee"], [0]) == [["fg"]]
    assert Continuations("letters", words=3, top_k=2, seed=1).futures(["ee"], [0]) != []
    assert model.futures(["ad"], []) == []


def test_prefixes_are_chosen_in_order_and_never_the_whole_text() -> None:
    assert choose(4, None, seed=0) == [0, 1, 2]
    some = choose(20, 5, seed=3)
    assert some == sorted(set(some))
    assert len(some) == 5
    assert max(some) < 19
    assert choose(20, 5, seed=3) == some


def test_a_file_that_was_cut_off_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(futures, "TransformersModel", Alphabet)
    texts = tmp_path / "texts.csv"
    out = tmp_path / "futures.jsonl"
    texts.write_text("one|ad ee bh.\ntwo|ee ad.\nthree|ad bh ee.\n")
    command = [
        "train",
        "futures",
        str(out),
        "--texts",
        str(texts),
        "--lm",
        "letters",
        "--words",
        "3",
    ]
    assert main(command) == 0
    whole = out.read_text()
    assert {line.name for line in read_futures(out)} == {"one", "two", "three"}
    out.write_text(whole[:-9])
    assert main(command) == 0
    assert out.read_text() == whole
