"""``sayahead train futures``: how a language model goes on from the prefixes of transcripts, laid by for training.

A causal model reads a text once; all its prefixes are then continued side by side, from what it remembers of each. One
line of JSON an item: ``{"name", "words", "futures"}``, where ``futures[n]`` are the words expected after the first
``n + 1`` words (Saeki-a, II-B), or null where the prefix was left out. Interrupted, the same command goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sayahead.cli import number
from sayahead.cli.console import Console
from sayahead.errors import ConfigError
from sayahead.text.normalizer import normalize

HELP = "continue the prefixes of transcripts by a language model, for training on them"
CLOSING = (".", "!", "?")
EPILOG = """For the language-model-guided recipes:

  sayahead train futures futures/train.jsonl --texts train.csv --lm gpt2 --prefixes 4
"""


@dataclass(frozen=True, slots=True)
class Futures:
    """One text's expected futures."""

    name: str
    """The item's name in the transcripts."""
    words: tuple[str, ...]
    """The text's words, as the normalizer gives them."""
    futures: tuple[tuple[str, ...] | None, ...]
    """(N,) words expected after the first n + 1; None where no prediction was made."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add = parser.add_argument
    add("out", metavar="FILE.jsonl", type=Path, help="where the lines go; what is there already is not made again")
    add("--texts", metavar="FILE", type=Path, required=True, help="lines of name|text")
    add("--lm", metavar="MODEL", required=True, help="a causal model of transformers: name or folder")
    add("--prefixes", metavar="N", type=number(int, 1), help="at most so many of a text's prefixes (default: all)")
    add("--words", metavar="N", type=number(int, 1), default=5, help="words of each continuation (default: 5)")
    add("--top-k", metavar="K", type=number(int, 1), default=1, help="draw from the likeliest K (default: 1)")
    add("--seed", metavar="N", type=number(int, 0), default=0, help="fixes prefixes and draws (default: 0)")
    add("--count", metavar="N", type=number(int, 1), help="only so many texts, at even distances")
    add("--minutes", metavar="N", type=number(float, 0), help="stop after so long")
    add("--threads", metavar="N", type=number(int, 1), help="processor threads (default: torch's)")


def run(arguments: argparse.Namespace) -> int:
    """Write the file; the exit code."""
    import torch

    from sayahead.train.corpus_cli import evenly, read_texts

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    console = Console(quiet=False)
    texts = read_texts(arguments.texts)
    texts = evenly(texts, arguments.count or len(texts))
    # A fixed shuffle: where the run is stopped early, what there is is a fair sample.
    order = np.random.default_rng(arguments.seed).permutation(len(texts))
    there = {item.name for item in read_futures(arguments.out)} if arguments.out.exists() else set[str]()
    model = Continuations(arguments.lm, words=arguments.words, top_k=arguments.top_k, seed=arguments.seed)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    begun_s, made, shown_s = time.monotonic(), 0, time.monotonic()
    with arguments.out.open("a", encoding="utf-8") as file:
        for index in order:
            name, text = texts[index]
            if name in there:
                continue
            if arguments.minutes is not None and time.monotonic() - begun_s > arguments.minutes * 60:
                break
            words = tuple(word.text for word in normalize(text))
            chosen = choose(len(words), arguments.prefixes, seed=arguments.seed + int(index))
            expected = dict(zip(chosen, model.futures(words, chosen), strict=True))
            item = {"name": name, "words": words, "futures": [expected.get(n) for n in range(len(words))]}
            file.write(json.dumps(item, ensure_ascii=False) + "\n")
            made += len(chosen)
            if time.monotonic() - shown_s > 30:
                shown_s = time.monotonic()
                console.note(f"{made} prefixes, {made / (shown_s - begun_s):.1f} a second")
    console.note(f"{made} prefixes continued in {(time.monotonic() - begun_s) / 60:.1f} min.")
    return 0


def choose(words: int, most: int | None, *, seed: int) -> list[int]:
    """The prefixes that are continued, in order: all, or ``most`` of them, never the whole text."""
    every = max(0, words - 1)
    if most is None or most >= every:
        return list(range(every))
    return sorted(int(n) for n in np.random.default_rng(seed).choice(every, most, replace=False))


def read_futures(path: Path) -> Iterator[Futures]:
    """The lines of a file; ConfigError names one that is none. A last line that was cut off is passed over."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    for row, line in enumerate(lines, 1):
        try:
            data = json.loads(line)
            futures = tuple(None if words is None else tuple(words) for words in data["futures"])
            yield Futures(data["name"], tuple(data["words"]), futures)
        except (ValueError, KeyError, TypeError) as error:
            if row == len(lines) and not line.endswith("\n"):
                return
            raise ConfigError(f"{path}, line {row}: expected name, words and futures, found {line[:60]!r}.") from error


class Continuations:
    """A causal language model that continues many prefixes of one text at a time."""

    def __init__(self, name: str, *, words: int = 5, top_k: int = 1, seed: int = 0) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._torch: Any = torch
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name)
            self._model: Any = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16).eval()
        except (OSError, ValueError) as error:
            raise ConfigError(f"The language model {name!r} cannot be loaded: {error}") from error
        self._words, self._top_k, self._random = words, top_k, np.random.default_rng(seed)

    def futures(self, words: Sequence[str], prefixes: Sequence[int]) -> list[list[str]]:
        """Words expected after the first ``n + 1`` words for each n of ``prefixes``."""
        if not prefixes:
            return []
        torch = self._torch
        tokens = [self._tokenizer((" " if i else "") + word).input_ids for i, word in enumerate(words)]
        ends = np.cumsum([len(own) for own in tokens])
        lengths = torch.tensor([int(ends[n]) for n in prefixes])
        ids = torch.tensor([[token for own in tokens[: prefixes[-1] + 1] for token in own]])
        with torch.inference_mode():
            out = self._model(input_ids=ids, use_cache=True)
            logits, cache = out.logits[0, lengths - 1], out.past_key_values
            cache.batch_repeat_interleave(len(prefixes))
            mask = torch.arange(ids.shape[1])[None] < lengths[:, None]
            made: list[list[int]] = [[] for _ in prefixes]
            done = [False] * len(prefixes)
            for step in range(3 * self._words):
                chosen = self._draw(logits.float().numpy())
                for row, token in enumerate(chosen):
                    if not done[row]:
                        made[row].append(int(token))
                        done[row] = self._complete(made[row])
                if all(done):
                    break
                mask = torch.cat([mask, torch.ones(len(prefixes), 1, dtype=torch.bool)], dim=1)
                out = self._model(
                    input_ids=torch.tensor(chosen)[:, None], attention_mask=mask.long(),
                    position_ids=(lengths + step)[:, None], past_key_values=cache, use_cache=True,
                )  # fmt: skip
                logits, cache = out.logits[:, -1], out.past_key_values
        return [self._split(own) for own in made]

    def _draw(self, logits: Any) -> Any:
        """(B,) a token for each row, from its likeliest ``top_k``."""
        if self._top_k == 1:
            return logits.argmax(axis=1)
        top = np.argpartition(-logits, self._top_k, axis=1)[:, : self._top_k]
        own = np.take_along_axis(logits, top, axis=1) + self._random.gumbel(size=top.shape)
        return top[np.arange(len(top)), own.argmax(axis=1)]

    def _complete(self, made: list[int]) -> bool:
        if made[-1] == self._tokenizer.eos_token_id:
            return True
        text = self._tokenizer.decode(made)
        return len(text.split()) > self._words or text.rstrip()[-1:] in CLOSING or "\n" in text.strip(" ")

    def _split(self, made: list[int]) -> list[str]:
        if made and made[-1] == self._tokenizer.eos_token_id:
            made = made[:-1]
        text = str(self._tokenizer.decode(made))
        # What does not begin with a space would only finish the last word, which is complete.
        words = text.split() if text[:1].isspace() else text.split()[1:]
        return words[: self._words]
