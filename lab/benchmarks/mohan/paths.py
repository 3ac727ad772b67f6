"""Mohan et al. (2020): policy paths over the attention (Fig. 2), what agents were paid while
learning, d_T and errors.

    python lab/benchmarks/mohan/paths.py --corpus corpus/ma --agent runs/agent-longer-0 --agent \
        runs/agent-longer-1 -o lab/benchmarks/results/mohan

Reads runs, or published ones beside that of their speaker (``sayahead train publish --unpack``);
the corpus, any with the same frames, needs no sound. Writes paths.png, rewards.png
and environment.md; of French also liaisons.md: how far policies
have read at the ends of words and before apostrophes."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sayahead.errors import ConfigError
from sayahead.text import Speller
from sayahead.types import Ids

from sayahead_lab.eval.measures.intervals import ConfidenceInterval, estimate, quotient
from sayahead_lab.eval.report.attention import policy_over_alignment
from sayahead_lab.eval.report.drawing import COLOURS, canvas, legend, save
from sayahead_lab.results import options, publish, table
from sayahead_lab.training.corpus.kokoro import front_of
from sayahead_lab.training.corpus.store import Corpus, CorpusInfo, Item, language_of
from sayahead_lab.training.loop.curves import read_log
from sayahead_lab.training.loop.recipe import Recipe, load_recipe
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.mohan.agent import AgentTask
from sayahead_lab.training.mohan.agent_network import AgentNetwork
from sayahead_lab.training.mohan.environment import EpisodeSentence
from sayahead_lab.training.mohan.paths import compared, followed, policies
from sayahead_lab.training.mohan.task import Spelling

NAMES = {
    "wait-end": "(a) wait until end",
    "wait-2-steps": "(b) wait 2 steps",
    "wait-3-steps": "(c) wait 3 steps",
    "agent": "(d) agent",
}
SMOOTHED = 5
"""Lines of a log whose mean is drawn."""
TIED = "ztnpʁ"
"""What a word says more in liaison."""
VOWELS = "aeiouyøœɔəɛɑɐ"
"""What French words without liaison begin with where they could have one."""
NASAL = "\u0303"
"""Written above vowels through the nose."""
LETTERS = "szxtdnrp"
"""Letters that are mute at ends of words, or said in liaison."""
JOINTS = {
    "liaison": "ends of words, in liaison",
    "vowel": "with such a letter before a vowel, but none",
    "mute": "with such a letter before a consonant",
    "other": "the other ends of words",
    "apostrophe": "before an apostrophe",
    "inside": "other letters",
}


def load(folder: Path, corpus: Path) -> tuple[AgentTask, AgentNetwork]:
    """Task and agent of a run, on that corpus; ConfigError where it is no agent, or where frames
    differ."""
    found = load_trained(folder)
    given = Corpus(corpus)
    task = found.task
    agent = found.model
    front = found.corpus.info.front_end
    if not isinstance(task, AgentTask) or not isinstance(agent, AgentNetwork):
        raise ConfigError(f"{folder} is a run of {found.recipe.task}, which is no agent.")
    if given.info.front_end != front:
        raise ConfigError(
            f"The frames of {corpus} are not those of {folder}: {given.info.front_end}, not"
            f" {front}."
        )
    # Frames are normalized as the speaker's were, not as those of this corpus would be.
    mean = tuple(task.speaker.mean.tolist())
    deviation = tuple(task.speaker.std.tolist())
    given.info = replace(given.info, mel_mean=mean, mel_std=deviation)
    task.corpus = given
    task.speaking.corpus = given
    return task, agent


def chosen(task: AgentTask, split: str, count: int, *, longest: int) -> list[EpisodeSentence]:
    """The first sentences of a split of at most so many frames that are spelled as their words."""
    pairs = spellings(task, split, longest)
    return task.said(split, [number for number, _ in itertools.islice(pairs, count)])


def spellings(task: AgentTask, split: str, longest: int) -> Iterator[tuple[int, Spelling]]:
    """The numbers of these sentences in the split, with their letters."""
    items = task.corpus.split(split)
    for number, length in enumerate(items.lengths.tolist()):
        if length <= longest and (own := task.speaking.spelled(split, number, items[number])):
            yield number, own


def lessons(run: Path) -> list[tuple[Path, Recipe]]:
    """The run and the runs that it goes on from, the first of them first; in a release these lie
    beside it."""
    recipe = load_recipe(run / "recipe.toml")
    start = Path(recipe.train.start)
    places = [
        path
        for path in (start, run.parent / start.name)
        if start.name and (path / "recipe.toml").is_file()
    ]
    return [*(lessons(places[0]) if places else []), (run, recipe)]


def unit_of(recipe: Recipe) -> str:
    """The unit of an agent's quality reward, in words."""
    return f"{recipe.data['rewards']['unit']:g} nats"


def title(recipe: Recipe) -> str:
    """What tells agents apart."""
    return f"{unit_of(recipe)}, seed {recipe.train.seed}"


Sounds = Callable[[str], str]
"""What a word says by itself, without stress."""


def alone(info: CorpusInfo) -> Sounds:
    """The sounds of words of a corpus's language by themselves, in its symbols."""
    normalizer, phonemizer = front_of(language_of(info), info.phonemes, False)

    def said(word: str) -> str:
        made = normalizer()
        words = [*made.push(word), *made.flush()]
        return sounds(
            np.concatenate([one.ids for one in phonemizer.phonemize(words, left=[])]), info.phonemes
        )

    return said


def sounds(ids: Ids, phonemes: Mapping[str, int]) -> str:
    """Phonemes (P,) as symbols, without stress, spaces and marks."""
    symbols = {number: symbol for symbol, number in phonemes.items()}
    return "".join(
        one
        for one in (symbols[int(i)] for i in ids)
        if (one.isalpha() and one not in "ˈˌ") or one == NASAL
    )


def joints(
    item: Item, speller: Speller, said: Sounds, phonemes: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    """The letters of a sentence by what follows them: a name of JOINTS, and the place of each.

    A word says more in liaison than by itself. Only letters after which another one of the sentence
    comes."""
    words = [
        (speller.spelled(token), span)
        for token, span in zip(item.text.split(), item.words, strict=True)
    ]
    spoken = [
        (letters, sounds(item.ids[span[0] : span[1]], phonemes))
        for letters, span in words
        if letters
    ]
    at = 0
    for number, (letters, own) in enumerate(spoken):
        for place in range(len(letters) - 1):
            if letters[place + 1] == "'":
                yield "apostrophe", at + place
            elif letters[place] != "'" and place + 2 < len(letters):
                yield "inside", at + place
        at += len(letters) + 1
        if number + 1 == len(spoken):
            return
        yield joint(letters, own, said(letters), spoken[number + 1][1]), at - 2


def joint(letters: str, own: str, by_itself: str, following: str) -> str:
    """The name of JOINTS for a word's end: how it sounds here and by itself, and what follows."""
    if len(own) > len(by_itself) and own[-1:] in tuple(TIED):
        return "liaison"
    if letters[-1] not in LETTERS or own != by_itself:
        return "other"
    return "vowel" if following[:1] in tuple(VOWELS) else "mute"


def begins(spelling: Spelling, reduction: int, frames: int) -> Ids:
    """(P,) the SPEAK in whose middle each character has begun, by the speaker's durations."""
    middles = np.minimum(
        np.arange(-(-frames // reduction)) * reduction + reduction // 2, frames - 1
    )
    return np.minimum(np.searchsorted(middles, spelling.edges[:-1]), len(middles) - 1)


def ahead(
    task: AgentTask,
    split: str,
    count: int,
    agent: AgentNetwork,
    *,
    longest: int,
    only: Sequence[str] = (),
) -> dict[str, Any]:
    """How far policies have read when letters begin, by what follows these, after true frames.

    By policy and joint: ``ahead``, characters behind the letter, and ``seen``, the share of these
    letters of which the next letter but one is read: behind a space or an apostrophe the next
    word's first. Mean and 95 % interval."""
    items = task.corpus.split(split)
    info = task.corpus.info
    r = task.speaking.config.reduction
    said = alone(info)
    found = defaultdict[str, dict[str, Any]](lambda: defaultdict(list))
    for number, spelling in itertools.islice(spellings(task, split, longest), count):
        item = items[number]
        at = begins(spelling, r, len(item.mel))
        kinds = defaultdict[str, list[int]](list)
        for kind, place in joints(item, task.speaking.speller, said, info.phonemes):
            kinds[kind].append(place)
        for name in only or policies(agent):
            choose = policies(agent)[name]
            read = followed(task.episodes(task.said(split, [number])), choose)[1]
            for kind, places in kinds.items():
                farther = read[np.minimum(at[places], len(read) - 1)] - np.array(places) - 1
                found[name][kind].append((farther.sum(), (farther > 1).sum(), len(places)))
    return {
        name: {kind: joint_row(found[name][kind]) for kind in JOINTS if found[name][kind]}
        for name in found
    }


def joint_row(sums: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    """Figures of sums over the places of each sentence."""
    parts = np.array(sums, np.float64)
    columns = {
        "ahead": estimate(parts[:, [0, 2]], quotient),
        "seen": estimate(parts[:, [1, 2]], quotient),
    }
    named = {name: asdict(one.times(1)) for name, one in columns.items()}
    return {"places": int(parts[:, 2].sum()), **named}


def joint_table(rows: Mapping[str, Any]) -> list[str]:
    """How far was read, in Markdown: a line for each joint, a column for each policy."""
    joints = {
        what: cells
        for kind, what in JOINTS.items()
        if (cells := [row[kind] for row in rows.values() if kind in row])
    }
    return table(
        f"letter|places|{'|'.join(rows)}",
        [
            [what, str(cells[0]["places"]), *map(joint_text, cells)]
            for what, cells in joints.items()
        ],
    )


def joint_text(cell: Mapping[str, Any]) -> str:
    """Characters read ahead with their interval, and the share of letters seen."""
    return f"{ConfidenceInterval(**cell['ahead']):.1f}, {100 * cell['seen']['value']:.0f} %"


def rewards(runs: Sequence[Path], path: Path) -> None:
    """Draw the mean reward of an episode over the episodes seen, a line a run; after it, every line
    of the log.

    A run that goes on from another is drawn after it: where other sentences begin, the line is
    broken. Agents of different units of the quality reward have different colours; of one unit,
    different seeds."""
    figure, axes = canvas(
        "What agents are paid while they learn", "episodes", "reward of an episode"
    )
    last = [load_recipe(run / "recipe.toml") for run in runs]
    units = list(dict.fromkeys(unit_of(recipe) for recipe in last))
    named = set[str]()
    for number, (run, recipe) in enumerate(zip(runs, last, strict=True)):
        seen = 0
        colour = COLOURS[
            (units.index(unit_of(recipe)) if len(units) > 1 else number) % len(COLOURS)
        ]
        label = unit_of(recipe) if len(units) > 1 else f"seed {recipe.train.seed}"
        for folder, lesson in lessons(run):
            lines = [
                line for line in read_log(folder / "log.jsonl") if line.get("loss") is not None
            ]
            batch = lesson.train.batch_size * lesson.data["learning"]["paths"]
            x = np.array([seen + line["step"] * batch for line in lines])
            y = np.array([line["parts"]["reward"] for line in lines])
            wide = min(SMOOTHED, len(y))
            smooth = np.convolve(y, np.ones(wide) / wide, "valid")
            axes.plot(x, y, color=colour, linewidth=0.6, alpha=0.3)
            axes.plot(
                x[wide - 1 :],
                smooth,
                color=colour,
                linewidth=1.8,
                label="_" if label in named else label,
            )
            named.add(label)
            seen = int(x[-1])
    legend(axes)
    save(figure, path)


HEADING = "policy|d_T, true frames before|MSE of log mel, nats^2|d_T, spoken freely|did not end"


def comparison(rows: dict[str, dict[str, float]]) -> list[str]:
    """The comparison in Markdown."""
    figures = ("d_T", "mse", "d_T_free")
    cells = [
        [name, *(f"{row[one]:.3f}" for one in figures), f"{100 * row['unended']:.0f} %"]
        for name, row in rows.items()
    ]
    return table(HEADING, cells)


def main(given: Sequence[str] | None = None) -> None:
    # Of the corpus's split, so many sentences of so many frames at most; one of them is drawn.
    parser = options(__doc__, "corpus", "out", split="test", sentences=100, longest=600, drawn=3)
    parser.add_argument(
        "--agent", type=Path, action="append", required=True, help="an agent's run; several: seeds"
    )
    arguments = parser.parse_args(given)
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    rows = dict[str, Any]()
    tied = dict[str, Any]()
    for number, run in enumerate(arguments.agent):
        task, agent = load(run, arguments.corpus)
        sentences = chosen(task, arguments.split, arguments.sentences, longest=arguments.longest)
        only = ["agent"] if number else []
        made = compared(task.episodes, sentences, agent, only=only)
        for row in made.values():
            # Agents of different units are compared in nats.
            row["mse"] *= task.data.rewards.unit**2
        whose = f"agent, {title(load_recipe(run / 'recipe.toml'))}"
        rows |= {whose if name == "agent" else name: row for name, row in made.items()}
        if language_of(task.corpus.info).startswith("fr"):
            bounds = {"longest": arguments.longest, "only": only}
            at_joints = ahead(task, arguments.split, arguments.sentences, agent, **bounds)
            tied |= {
                whose if name == "agent" else name: row
                for name, row in at_joints.items()
                if name != "wait-end"
            }
        if not number:
            front = task.corpus.info.front_end
            hop_s = task.speaking.config.reduction * front.hop / front.sample_rate
            sentence = sentences[arguments.drawn]
            choosers = policies(agent).items()
            drawn = {
                NAMES[name]: followed(task.episodes([sentence], False), choose)
                for name, choose in choosers
            }
            save(policy_over_alignment(drawn, hop_s=hop_s), arguments.out / "paths.png")
    if tied:
        publish(arguments.out / "liaisons.md", joint_table(tied), tied)
    rewards(arguments.agent, arguments.out / "rewards.png")
    publish(arguments.out / "environment.md", comparison(rows), rows)


if __name__ == "__main__":
    main()
