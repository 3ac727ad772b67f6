"""What the papers claim, their figures, those of the committed results, and whether these say the same.

``figures.py`` puts the tables into the documents. A verdict follows from the interval of what is compared, by the rule
that its claim names; nothing of it is written by hand.
"""

from __future__ import annotations

import csv
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
SAME = 0.1
"""Points of opinion: what Ma et al.'s listeners put between lookahead-2 and the full sentence."""
REPAIRED = (53.9 - 24.2) / 53.9
"""Share of the word errors that the true future repairs in Saeki et al."""
YES, NO, UNDECIDED = "reproduced", "**not reproduced**", "not decided"


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95 % interval over sentences, and over seeds where there are several."""

    value: float
    """What was measured."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""

    def text(self, digits: int = 2, *, signed: bool = True) -> str:
        """As it stands in a table."""
        form = f"{'+' if signed else ''}.{digits}f"
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"


@dataclass(frozen=True, slots=True)
class Claim:
    """A row of the table."""

    paper: str
    """ma, saeki or mohan."""
    says: str
    """What the paper says."""
    paper_figure: str
    """Its figure."""
    here: Callable[[], tuple[str, str]]
    """The results' figure, and the verdict."""
    seeds: int | str = 1
    """Trainings of each speaker behind it."""
    speakers: int = 1
    """Speakers that it was measured on."""


def report(folder: str, file: str, condition: str, column: str) -> Interval:
    """A column of a report's table with its interval; the value thrice where it has none."""
    with (RESULTS / folder / file).open(encoding="utf-8", newline="") as opened:
        row = next(row for row in csv.DictReader(opened) if row["condition"] == condition)
    value, low, high = (float(row.get(column + end) or row[column]) for end in ("", " low", " high"))
    return Interval(value, low, high)


def loaded(name: str) -> Any:
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def lower(one: Interval) -> str:
    """Claimed to be below 0."""
    return YES if one.high < 0 else NO if one.low > 0 else UNDECIDED


def higher(one: Interval) -> str:
    """Claimed to be above 0."""
    return lower(Interval(-one.value, -one.high, -one.low))


def level(one: Interval) -> str:
    """Claimed not to grow: the interval has 0, or lies below it."""
    return NO if one.low > 0 else YES


def no_loss(one: Interval) -> str:
    """Claimed to lose no more opinion than the paper's listeners found."""
    return YES if one.low > -SAME else NO if one.high < -SAME else UNDECIDED


def opinion(folder: str, condition: str, rule: Callable[[Interval], str]) -> tuple[str, str]:
    """The difference of predicted opinion to the first row of a report."""
    one = report(folder, "quality.csv", condition, "DistillMOS: difference")
    return f"DistillMOS {one.text()}", rule(one)


def trained(folder: str, row: str, rule: Callable[[Interval], str]) -> tuple[str, str]:
    """The difference of predicted opinion to the full sentence, over trainings (``trainings.py``)."""
    one = Interval(*loaded(f"{folder}/trainings.json")[row]["DistillMOS"]["less full sentence"])
    return f"DistillMOS {one.text()}", rule(one)


def words(folder: str, condition: str, rule: Callable[[Interval], str]) -> tuple[str, str]:
    """The difference of word errors to the first row of a report."""
    one = report(folder, "quality.csv", condition, "WER, %: difference")
    return f"WER {one.text()} points", rule(one)


def beside(first: str, second: str) -> tuple[str, str]:
    """Word errors of two rows of Saeki et al.'s table; equal where each lies in the other's interval.

    That says nothing where random words do as well.
    """
    names = first, second, "bicontext, random words"
    one, other, random = (report("saeki/quality", "quality.csv", name, "WER, %") for name in names)
    same = one.low <= other.value <= one.high and other.low <= one.value <= other.high
    verdict = YES if same else NO
    if same and one.low <= random.value <= one.high:
        verdict = "no test: any words do as well"
    return f"WER {one.value:.2f} and {other.value:.2f} %; random words {random.value:.2f} %", verdict


def repaired(one: Interval, failing: float) -> str:
    """Claimed to be lower by half of what fails without a future; a third of that is asked."""
    asked = -failing * REPAIRED / 3
    return NO if one.low > asked else YES if one.high < asked else UNDECIDED


def future_in(folder: str) -> tuple[str, str]:
    """Word errors without a future, and how many more there are with the true one."""
    without = report(folder, "quality.csv", "unicontext", "WER, %").value
    one = report(folder, "quality.csv", "bicontext, truth", "WER, %: difference")
    return f"WER {without:.2f} %, with it {one.text()} points", repaired(one, without)


def over_trainings(figure: str, what: str) -> Callable[[], tuple[str, str]]:
    """What fails without a future, and how much more with the true one, over trainings and speakers."""

    def read() -> tuple[str, str]:
        rows = loaded("saeki/frame/trainings.json")
        without = rows["unicontext"][figure]["value"][0]
        one = Interval(*rows["bicontext, truth"][figure]["less unicontext"])
        return f"{what.format(without)}, with it {one.text()} points", repaired(one, without)

    return read


def without_a_past() -> tuple[str, str]:
    """How many more word errors segments without a past have, over trainings and speakers."""
    one = Interval(*loaded("saeki/frame/trainings.json")["independent"]["WER, %"]["less unicontext"])
    return f"WER {one.text()} points", higher(one)


def constant(folder: str, column: str, *, seconds: str) -> Callable[[], tuple[str, str]]:
    """How a latency of lookahead-1 grows with the sentence, and that of whole sentences."""

    def read() -> tuple[str, str]:
        one = report(folder, "latency-1.csv", "lookahead-1", f"O(1): {column}, ms a word")
        whole = report(folder, "latency-1.csv", "full sentence", f"O(1): {column}, ms a word")
        value = report(folder, "latency-1.csv", "lookahead-1", seconds).value
        size = f"{value:.0f} ms" if seconds.endswith("ms") else f"{value:.2f} s"
        return f"{size}, {one.text()} ms a word; whole sentences {whole.text()}", level(one)

    return read


def balance() -> tuple[str, str]:
    """The least time balance of any sentence."""
    least = min(report("ma/latency", "latency-1.csv", f"lookahead-{k}", "the least of all, s").value for k in (1, 2))
    return f"never below {least:.2f} s", YES if least > 0 else NO


def shares() -> tuple[str, str]:
    """Computing over audio time, by chunk."""
    found = [
        report("ma/latency", "positions.csv", f"lookahead-{k}", f"{place} chunk: computing / audio, %").value
        for k in (1, 2)
        for place in ("first", "second", "third", "last but one", "last")
    ]
    return f"{min(found):.1f} to {max(found):.1f} %", YES if max(found) < 100 else NO


def fine_tuned() -> tuple[str, str]:
    """How near a language model's words come to the true ones, before and after the fine-tuning."""
    networks = loaded("saeki/runs/cosine.json")["networks"]
    before, after = (Interval(*networks[name]["k = 1"]["mean"]) for name in ("tacotron-longer", "guided-small"))
    random = networks["guided-small"]["random words"]["mean"][0]
    told = f"cosine {before.value:.2f} to {after.value:.3f}, of random words {random:.3f}"
    return f"{told}: it heeds no future any more", YES if after.low > before.high else NO


def followed() -> tuple[str, str]:
    """How near a student comes to a teacher that guesses, and to one that knows the truth."""
    students = loaded("saeki/runs/cosine.json")["students"]
    guessing, knowing = (Interval(*values_of(students[name])) for name in ("student-medium", "student-medium-truth"))
    verdict = YES if guessing.low > knowing.high else NO
    return f"cosine {guessing.value:.3f} and {knowing.value:.3f}", verdict


def sized() -> tuple[str, str]:
    """How near students of all sizes come to their teacher after equal steps: alike if seeds differ as much."""
    found = loaded("saeki/equal/equal.json")
    each = {size: found[f"{size}, lambda = 1"]["cosine"] for size in ("small", "medium", "large")}
    means = [statistics.fmean(values) for values in each.values()]
    apart = max(max(values) - min(values) for values in each.values())
    told = ", ".join(f"{mean:.3f}" for mean in means)
    return f"cosine {told}; seeds up to {apart:.3f} apart", YES if max(means) - min(means) <= apart else NO


def weighed() -> tuple[str, str]:
    """How near medium students come to their teacher, the more of the frames' error teaches them."""
    found = loaded("saeki/equal/equal.json")
    each = [found[f"medium, lambda = {weight}"]["cosine"] for weight in ("1", "0.95", "0.5", "0")]
    told = ", ".join(f"{statistics.fmean(values):.2f}" for values in each)
    return f"cosine {told} at 1, 0.95, 0.5, 0", YES if max(max(one) for one in each[1:]) < min(each[0]) else NO


def values_of(student: Any) -> list[float]:
    """Mean and interval of a student's cosine."""
    return list(student["mean"] if isinstance(student, dict) else student)


def quicker() -> tuple[str, str]:
    """How much faster a step is with a student than with the language model."""
    rows = loaded("saeki/processing.json")["rows"]
    times = rows["teacher"]["ms_a_step"] / rows["student, medium"]["ms_a_step"]
    return f"{times:.0f} times faster", YES if times > 5 else NO


def agents(
    key: str, rule: Callable[[Interval], str], unit: str = "", folder: str = "mohan"
) -> Callable[[], tuple[str, str]]:
    """Agents of a unit of 11.5 nats, all seeds, against a rule, paired by sentence."""

    def read() -> tuple[str, str]:
        row = loaded(f"{folder}/frontier.json")["agents, 11.5 nats"]
        one = Interval(*(row[key][part] for part in ("value", "low", "high")))
        return f"{key.split(',')[0].replace(' %', '')} {one.text()}{unit}", rule(one)

    return read


def colliding() -> tuple[str, str]:
    """The rule of three steps beside that of two."""
    rows = loaded("mohan/frontier.json")
    three, two = (
        Interval(*(rows[f"wait-{k}-steps"]["WER, %"][part] for part in ("value", "low", "high"))) for k in (3, 2)
    )
    return f"WER {three.value:.2f} and {two.value:.2f} %", YES if three.low > two.high else NO


def shadowed(folder: str) -> Callable[[], tuple[str, str]]:
    """The chunk delay behind a person."""
    return constant(folder, "average chunk delay", seconds="average chunk delay, s")


FREE = "saeki/free"
PERSONS = {"LJ Speech": "ma/person", "Asterisk's prompts": "ma/prompts"}
CLAIMS = (
    Claim(
        "ma",
        "lookahead-2 sounds like the full sentence",
        "MOS 3.46 and 3.56",
        lambda: trained("ma/speakers", "lookahead-2", no_loss),
        seeds=3,
        speakers=3,
    ),
    Claim(
        "ma",
        "lookahead-1 is a little worse",
        "MOS 3.37 and 3.56",
        lambda: trained("ma/speakers", "lookahead-1", lower),
        seeds=3,
        speakers=3,
    ),
    Claim(
        "ma",
        "a model taught whole sentences says prefixes without further training",
        "Table 2",
        lambda: opinion("ma/adaptation", "whole sentences taught, k1 = 1", no_loss),
    ),
    Claim(
        "ma",
        "with all text there, latency does not grow with the sentence",
        "below 0.5 s (GPU), whole sentences above 1 s",
        constant("ma/latency", "first sample", seconds="first audible sample p50, ms"),
    ),
    Claim(
        "ma",
        "in shadowing, the chunk delay does not grow",
        "below 3 s (GPU), 4.5 s (CPU)",
        constant("ma/shadowing", "average chunk delay", seconds="average chunk delay, s"),
    ),
    *(
        Claim("ma", f"so with a person who is repeated ({who})", "the same", shadowed(folder))
        for who, folder in PERSONS.items()
    ),
    Claim("ma", "the audio never runs dry", "so on a GPU; lookahead-2 does on 80 cores", balance),
    Claim("ma", "a chunk is computed faster than it plays", "25 to 30 % (GPU), 80 to 130 % (CPU)", shares),
    Claim(
        "saeki",
        "without a future, attention and stop fail; the true one repairs it (a)",
        "WER 53.9 and 24.2 %",
        lambda: future_in(FREE),
    ),
    Claim(
        "saeki",
        "so at one frame a step, with dropout in the prenet (a)",
        "the same",
        over_trainings("WER, %", "WER {:.2f} %"),
        seeds=3,
        speakers=2,
    ),
    Claim(
        "saeki",
        "so after half of these steps, where segments do fail (a)",
        "the same",
        over_trainings("after half of the steps, %", "{:.1f} % of segments"),
        seeds=3,
        speakers=2,
    ),
    Claim(
        "saeki",
        "segments without a past are worst (a)",
        "WER 96.9 and 53.9 %",
        lambda: words(FREE, "independent", higher),
    ),
    Claim("saeki", "so at one frame a step (a)", "the same", without_a_past, seeds=2, speakers=2),
    Claim(
        "saeki",
        "a language model's future, fine-tuned, does as well as the true one (a)",
        "WER 22.5 and 24.2 %",
        lambda: beside("bicontext, fine-tuned (teacher)", "bicontext, truth"),
    ),
    Claim("saeki", "the fine-tuning brings a guessed context nearer to the true one (a)", "Fig. 2", fine_tuned),
    Claim(
        "saeki",
        "the student does as well as its teacher (b)",
        "WER 22.2 and 22.2 %",
        lambda: beside("student, medium", "bicontext, fine-tuned (teacher)"),
    ),
    Claim("saeki", "a step with the student is much faster (b)", "10 times", quicker),
    Claim("saeki", "a teacher that guesses is followed better than one that knows the truth (b)", "Fig. 3", followed),
    Claim("saeki", "students of all sizes do alike (b)", "Table 1", sized, 3),
    Claim("saeki", "students whom frames teach, too, do worse (b)", "Table 1", weighed, 3),
    Claim("mohan", "wait-3 collides with attention, wait-2 does not", "Fig. 2, 3", colliding),
    Claim(
        "mohan",
        "the agent is understood better than wait-3",
        "Fig. 3",
        agents("WER, %, less wait-3-steps's", lower, " points"),
        5,
    ),
    Claim(
        "mohan",
        "and better than wait-2, which reads more",
        "Fig. 3",
        agents("WER, %, less wait-2-steps's", lower, " points"),
        5,
    ),
    Claim(
        "mohan", "the agent is rated better than wait-3", "Fig. 4", agents("DistillMOS, less wait-3-steps's", higher), 5
    ),
    Claim("mohan", "and worse than wait-2", "Fig. 4", agents("DistillMOS, less wait-2-steps's", lower), 5),
    *(
        Claim(
            "mohan",
            f"{of}, the agent is understood better than wait-{steps}",
            paper,
            agents(f"WER, %, less wait-{steps}-steps's", lower, " points", folder),
            seeds,
        )
        for of, paper, folder, seeds in (
            ("of another speaker", "Fig. 3", "mohan/speaker", 5),
            ("of a third speaker", "Fig. 3", "mohan/third", 3),
            ("in French", "samples", "mohan/french", 3),
        )
        for steps in (3, 2)
    ),
)
NAMES = {"ma": "Ma", "saeki": "Saeki", "mohan": "Mohan"}


def rows(paper: str) -> Iterator[list[str]]:
    """The cells of a paper's claims, or of all."""
    for claim in CLAIMS:
        if paper in ("", claim.paper):
            found, verdict = claim.here()
            name = [] if paper else [NAMES[claim.paper]]
            yield [*name, claim.says, claim.paper_figure, found, f"{claim.speakers} x {claim.seeds}", verdict]


def table(paper: str = "") -> str:
    """The claims of a paper, or of all papers, as a table."""
    head = ["claim", "the paper", "here (95 %)", "speakers x seeds", "verdict"]
    head = head if paper else ["paper", *head]
    lines = [head, ["---"] * len(head), *rows(paper)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    print(table())
