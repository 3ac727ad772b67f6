"""Cosine similarity of context embeddings over time steps (Saeki-a, Fig. 2; Saeki-b, Fig. 3) on the test split.

    python benchmarks/saeki/cosine.py runs corpus/ma LM -o benchmarks/results/saeki/cosine.json

Fig. 2: the embedding of a language model's future (top-k sampling) or of random words, against that of the true one, by
the network as trained and as fine-tuned. Fig. 3: a student's embedding against its teacher's, where both learned from
a language model's futures, and where both have the true ones.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from sayahead.contexts.controls import RandomWords
from sayahead.text.normalizer import normalize
from sayahead.training.corpus.store import Corpus
from sayahead.training.distilled.futures import Continuations
from sayahead.training.loop.trained import load_trained
from sayahead.training.saeki.futures import Expected, Prefix, last_segment
from sayahead.training.saeki.student import embeddings

STEPS = 8
"""Time steps that are told apart; segments of two words."""


def prefixes(corpus: Corpus, count: int) -> list[Prefix]:
    """What is observed at each time step of some items of the test split, but for their ends."""
    items, made = corpus.split("test"), []
    for number in np.linspace(0, len(items) - 1, count).astype(int).tolist():
        words = tuple(word.text for word in normalize(items[number].text))
        if len(words) != len(items[number].words):
            continue
        made += [Prefix(number, words[:end], ()) for end in range(2, min(len(words), 2 * STEPS + 1), 2)]
    return made


def by_step(a: Any, b: Any, steps: list[int]) -> dict[str, Any]:
    """Mean cosine of rows (I, E) over all, and by time step."""
    values = functional.cosine_similarity(a, b).numpy()
    at = np.array(steps)
    return {"mean": float(values.mean()), "steps": [float(values[at == step].mean()) for step in range(STEPS)]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("lm")
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=60)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    corpus = Corpus(arguments.corpus)
    items, observed = corpus.split("test"), prefixes(corpus, arguments.count)
    steps = [len(one.words) // 2 - 1 for one in observed]
    base, guided = (load_trained(arguments.runs / f"{name}-small") for name in ("tacotron", "guided"))
    networks: dict[str, Any] = {"": base.model.tacotron, ", fine-tuned": guided.model.tacotron}
    task: Any = base.task
    expected = Expected(corpus)
    true = [last_segment(task.cutter, items, one) for one in observed]
    futures = {"random": [RandomWords().predict(one.words).words for one in observed]}
    for k in (1, 5, 10, 50):
        model = Continuations(arguments.lm, top_k=k)
        futures[f"k = {k}"] = [tuple(model.futures(one.words, [len(one.words) - 1])[0]) for one in observed]
        print(f"k = {k}", flush=True)
    pieces = {
        name: [
            replace(piece, future=expected.ids(replace(one, future=future)))
            for piece, one, future in zip(true, observed, found, strict=True)
        ]
        for name, found in futures.items()
    }
    made: dict[str, Any] = {"prefixes": len(observed), "pseudo against true": {}, "student against teacher": {}}
    with torch.no_grad():
        for network, model in networks.items():
            meant = embeddings(model, true)
            for name, own in pieces.items():
                if network == "" or name in ("k = 1", "random"):
                    made["pseudo against true"][name + network] = by_step(embeddings(model, own), meant, steps)
        taught = {
            "": embeddings(networks[", fine-tuned"], pieces["k = 1"]),
            "-truth": embeddings(networks[", fine-tuned"], true),
        }
        constant = taught[""].mean(0, keepdim=True).expand_as(taught[""])
        made["student against teacher"]["the mean embedding, whatever the text"] = by_step(constant, taught[""], steps)
        for size in ("small", "medium", "large", "medium-truth"):
            run = arguments.runs / f"student-{size}"
            if run.exists():
                student = load_trained(run)
                reader: Any = student.task
                vectors, lengths = reader.read([one.words for one in observed])
                found_by: Any = student.model
                own = found_by.student(vectors, lengths)
                meant = taught["-truth" if size.endswith("-truth") else ""]
                made["student against teacher"][size] = by_step(own, meant, steps)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    arguments.out.with_suffix(".md").write_text(tables(made), encoding="utf-8")
    print(tables(made))


def tables(made: dict[str, Any]) -> str:
    """Both figures as tables."""
    lines = list[str]()
    for title, key in (
        ("Fig. 2: pseudo against true", "pseudo against true"),
        ("Fig. 3: student against teacher", "student against teacher"),
    ):
        lines += [f"| {title}, by time step | mean | {' | '.join(str(step) for step in range(STEPS))} |"]
        lines += ["| --- |" + " ---: |" * (STEPS + 1)]
        for name, row in made[key].items():
            lines.append(f"| {name} | {row['mean']:.3f} | {' | '.join(f'{value:.2f}' for value in row['steps'])} |")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


if __name__ == "__main__":
    main()
