"""The blind listening page, and what its ratings say."""

from __future__ import annotations

import base64
import io
import json
import math
import re
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sayahead import ConfigError
from sayahead.cli import main
from sayahead.sound.loudness import loudness

from sayahead_lab.eval.experiment.trace import Trace, write_traces
from sayahead_lab.eval.listening.blind_test import ANCHOR, TEXTS, listening_page, without_treble
from sayahead_lab.eval.listening.ratings import listening_statistics

CONDITIONS = ("Fullsentence", "Lookahead-none", "Piperpeer")


RATE = 8000


def sound(path: Path, hertz: float, *, amplitude: float = 0.2, width: int = 2) -> None:
    """Half a second of a tone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tone = amplitude * np.sin(2 * np.pi * hertz * np.arange(RATE // 2) / RATE)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(width)
        file.setframerate(RATE)
        file.writeframes(np.rint(tone * 32767).astype(np.int16).tobytes()[: len(tone) * width])


def heard(sample: str) -> tuple[int, float]:
    """Frequency in Hz and loudness of a sample of the page."""
    with wave.open(io.BytesIO(base64.b64decode(sample))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE)
        values = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(
            np.float32
        ) / np.float32(32768)
    assert len(values) == RATE // 2
    return int(np.abs(np.fft.rfft(values)).argmax()) * 2, loudness(values, RATE)


def tone_of(condition: str, at: int) -> int:
    """What a condition's sentence sounds like."""
    return 400 + 300 * CONDITIONS.index(condition) + 20 * at


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Six sentences by three conditions of different loudness; the tones say which is which."""
    for number, condition in enumerate(CONDITIONS):
        folder = tmp_path / "out" / condition
        for at in range(6):
            sound(
                folder / "wav" / f"LJ{at}.wav", tone_of(condition, at), amplitude=0.01 * 5**number
            )
        traces = [
            Trace(at, f"Text {at}, a </script> one.", RATE, (), (), (), f"LJ{at}")
            for at in (1, 0, 2, 5, 4, 3)
        ]
        write_traces(folder / "clock.jsonl", traces)
    return tmp_path / "out"


def block(page: str) -> dict[str, Any]:
    """The page's data."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_the_page_has_all_samples_in_an_order_that_only_the_key_knows(
    out: Path, tmp_path: Path
) -> None:
    target = tmp_path / "pages" / "listen.html"
    listening_page(out, target, CONDITIONS, 3, 7)
    page = target.read_text(encoding="utf-8")
    data = block(page)
    assert [sentence["text"] for sentence in data["sentences"]] == [
        f"Text {at}, a </script> one." for at in (0, 2, 4)
    ]
    key = json.loads(base64.b64decode(data["key"]))
    assert [sentence["name"] for sentence in key] == ["LJ0", "LJ2", "LJ4"]
    for at, sentence, order in zip((0, 2, 4), data["sentences"], key, strict=True):
        assert sorted(order["conditions"]) == sorted(CONDITIONS)
        for sample, condition in zip(sentence["samples"], order["conditions"], strict=True):
            hertz, level = heard(sample)
            assert hertz == tone_of(condition, at)
            assert level == pytest.approx(-23, abs=0.05)
    assert data["design"] == "mushra"
    for name in (*CONDITIONS, "LJ0"):
        assert name not in page
    assert page.count("</script>") == 2
    assert not re.search(r"""(src|href)\s*=\s*["']?http""", page)


def test_a_page_of_pairs_has_the_first_condition_in_each(out: Path, tmp_path: Path) -> None:
    listening_page(out, tmp_path / "ab.html", CONDITIONS, 6, design="ab")
    data = block((tmp_path / "ab.html").read_text(encoding="utf-8"))
    key = json.loads(base64.b64decode(data["key"]))
    assert data["design"] == "ab"
    assert len(data["sentences"]) == len(key) == 12
    orders = set()
    for number, (sentence, order) in enumerate(zip(data["sentences"], key, strict=True)):
        assert order["name"] == f"LJ{number // 2}"
        assert CONDITIONS[0] in order["conditions"]
        for sample, condition in zip(sentence["samples"], order["conditions"], strict=True):
            assert heard(sample)[0] == tone_of(condition, number // 2)
        orders.add(tuple(order["conditions"]))
    assert {frozenset(order) for order in orders} == {
        frozenset({CONDITIONS[0], other}) for other in CONDITIONS[1:]
    }
    assert len(orders) == 4


def test_a_page_of_opinions_has_one_sample_at_a_time(out: Path, tmp_path: Path) -> None:
    listening_page(out, tmp_path / "mos.html", CONDITIONS, 6, design="mos", anchor=True)
    data = block((tmp_path / "mos.html").read_text(encoding="utf-8"))
    key = [(one["name"], *one["conditions"]) for one in json.loads(base64.b64decode(data["key"]))]
    assert sorted(key) == sorted(
        (f"LJ{at}", name) for at in range(6) for name in (*CONDITIONS, ANCHOR)
    )
    assert key != sorted(key)
    assert len({name for name, _ in key[:6]}) > 1
    for (name, condition), sentence in zip(key, data["sentences"], strict=True):
        heard_as = CONDITIONS[0] if condition == ANCHOR else condition
        assert heard(sentence["samples"][0])[0] == tone_of(heard_as, int(name[2:]))


def test_the_anchor_has_no_treble() -> None:
    times = np.arange(RATE) / RATE
    low, high = (np.sin(2 * np.pi * hertz * times).astype(np.float32) for hertz in (1000, 3700))
    made, rate = without_treble(low + high, RATE)
    assert rate == RATE
    assert np.abs(made - low).max() < 1e-3


def test_any_folder_of_sounds_with_texts_can_be_heard(tmp_path: Path) -> None:
    for number, voice in enumerate(("ann", "bob")):
        for at in range(2):
            sound(tmp_path / "set" / voice / f"s{at}.wav", 400 + 100 * number)
    with pytest.raises(ConfigError, match=r"no texts\.csv beside it"):
        listening_page(tmp_path / "set", tmp_path / "page.html", None, 2)
    (tmp_path / "set" / TEXTS).write_text("s0|One.\ns1|Two.\n", encoding="utf-8")
    name = listening_page(tmp_path / "set", tmp_path / "page.html", None, 2)
    data = block((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert [len(sentence["samples"]) for sentence in data["sentences"]] == [2, 2]
    assert [sentence["text"] for sentence in data["sentences"]] == ["One.", "Two."]
    # The name is that of the sounds, too.
    sound(tmp_path / "set" / "bob" / "s1.wav", 700)
    assert listening_page(tmp_path / "set", tmp_path / "page.html", None, 2) != name == data["page"]
    with pytest.raises(ConfigError, match="no folders of sounds"):
        listening_page(tmp_path / "set" / "ann", tmp_path / "page.html", None, 2)


def test_the_seed_fixes_the_order(out: Path, tmp_path: Path) -> None:
    orders = []
    for seed in (0, 0, 1):
        listening_page(out, tmp_path / "listen.html", CONDITIONS, 6, seed)
        orders.append(block((tmp_path / "listen.html").read_text(encoding="utf-8")))
    assert orders[0] == orders[1]
    assert orders[0]["key"] != orders[2]["key"]
    assert orders[0]["page"] != orders[2]["page"]
    drawn = [tuple(one["conditions"]) for one in json.loads(base64.b64decode(orders[0]["key"]))]
    assert len(set(drawn)) > 1


def test_what_cannot_be_compared_is_an_error(out: Path, tmp_path: Path) -> None:
    target = tmp_path / "listen.html"
    for conditions in (CONDITIONS[:1], (CONDITIONS[0], CONDITIONS[0]), [str(n) for n in range(10)]):
        with pytest.raises(ConfigError, match="2 to 9 different conditions"):
            listening_page(out, target, conditions, 3)
    with pytest.raises(ConfigError, match="at least 1 sentence"):
        listening_page(out, target, CONDITIONS, 0)
    with pytest.raises(ConfigError, match="has no traces"):
        listening_page(out, target, ("other", *CONDITIONS), 3)
    sound(out / CONDITIONS[1] / "wav" / "LJ0.wav", 1, width=1)
    with pytest.raises(ConfigError, match="bits: 8, channels: 1"):
        listening_page(out, target, CONDITIONS, 3)
    (out / CONDITIONS[1] / "wav" / "LJ0.wav").unlink()
    with pytest.raises(ConfigError, match=r"LJ0\.wav cannot be read"):
        listening_page(out, target, CONDITIONS, 3)


def rated(path: Path, rater: str, scores: dict[tuple[str, str], float], *, page: str = "p") -> Path:
    """A file of ratings as the page saves it."""
    ratings = [{"sentence": s, "condition": c, "score": score} for (s, c), score in scores.items()]
    path.write_text(
        json.dumps({"page": page, "rater": rater, "name": "", "ratings": ratings}), encoding="utf-8"
    )
    return path


def test_statistics_of_known_ratings(tmp_path: Path) -> None:
    sentences = [f"s{n}" for n in range(12)]
    files = []
    for rater, lift in (("ann", 0), ("bob", 10)):
        scores: dict[tuple[str, str], float] = {}
        for n, sentence in enumerate(sentences):
            # Good is always 20 above bad; same is bad with a wobble around it.
            scores |= {(sentence, "bad"): 30.0 + lift + n, (sentence, "good"): 50.0 + lift + n}
            scores[sentence, "same"] = 30.0 + lift + n + (1 if n % 2 else -1)
        files.append(rated(tmp_path / f"{rater}.json", rater, scores))
    found = listening_statistics(files)
    assert (found["raters"], found["sentences"], found["ratings"]) == (2, 12, 72)
    assert next(iter(found["conditions"])) == "good"
    assert found["conditions"]["good"]["mean"] == pytest.approx(50 + 5 + 5.5)
    assert found["conditions"]["good"]["low"] < 60.5 < found["conditions"]["good"]["high"]
    assert found["conditions"]["good"]["n"] == 24
    pairs = {(one["condition"], one["against"]): one for one in found["differences"]}
    assert len(pairs) == 3
    sure = pairs["good", "bad"]
    assert (sure["mean"], sure["low"], sure["high"]) == pytest.approx((20, 20, 20))
    assert sure["p"] <= 0.001
    unsure = next(one for (a, b), one in pairs.items() if {a, b} == {"bad", "same"})
    assert unsure["mean"] == pytest.approx(0)
    assert unsure["low"] < 0 < unsure["high"]
    assert unsure["p"] > 0.5
    assert listening_statistics(files) == found


def opinions(path: Path, rater: str, scores: dict[tuple[str, str], float]) -> Path:
    """A file of opinions from 1 to 5."""
    data = json.loads(rated(path, rater, scores).read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, "design": "mos"}), encoding="utf-8")
    return path


def test_who_does_not_hear_the_anchor_is_left_out_and_raters_are_counted(tmp_path: Path) -> None:
    files = []
    for rater, lead in (("ann", 0.2), ("bob", 0.4), ("cyd", 0.6)):
        scores = {(f"s{n}", "y"): 3.0 for n in range(4)} | {
            (f"s{n}", "x"): 3.0 + lead for n in range(4)
        }
        files.append(opinions(tmp_path / f"{rater}.json", rater, scores | {("s0", ANCHOR): 1.0}))
    deaf = opinions(
        tmp_path / "dee.json", "dee", {("s0", "x"): 1, ("s0", "y"): 5, ("s0", ANCHOR): 3}
    )
    found = listening_statistics([*files, deaf])
    assert (found["scale"], found["left_out"], found["raters"]) == ("mos", ["dee"], 3)
    (one,) = (
        one for one in found["differences"] if one["against"] == "y" and one["condition"] == "x"
    )
    assert one["mean"] == pytest.approx(0.4)
    # The raters' own differences, 0.2, 0.4 and 0.6, have a deviation of 0.2: (2.8 * 0.2 / 0.1)^2 is
    # 31.36.
    assert one["raters"] == 32
    assert math.isnan(listening_statistics(files[:1])["differences"][0]["raters"])
    with pytest.raises(ConfigError, match="not between 1 and 5"):
        listening_statistics([opinions(tmp_path / "e.json", "eve", {("s0", "x"): 50})])
    with pytest.raises(ConfigError, match="different pages"):
        listening_statistics([files[0], rated(tmp_path / "m.json", "max", {("s0", "x"): 50})])


def test_ratings_are_printed_and_pages_written_by_commands(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    command = [
        "eval",
        "listen",
        str(out),
        "-o",
        str(page),
        "--count",
        "2",
        "--design",
        "mos",
        "--anchor",
    ]
    assert main([*command, "--condition", CONDITIONS[0]]) == 0
    assert len(block(page.read_text(encoding="utf-8"))["sentences"]) == 4
    files = [
        opinions(tmp_path / f"{rater}.json", rater, {("s0", "x"): 4 + lead, ("s0", "y"): 3})
        for rater, lead in (("ann", 0.0), ("bob", 0.1))
    ]
    capsys.readouterr()
    assert main(["eval", "ratings", *map(str, files)]) == 0
    told = capsys.readouterr().out
    assert "| x over y | +1.05 (" in told
    assert "raters for 0.1" in told
    assert "| 4 |" in told
    assert main(["eval", "ratings", *map(str, files), "--count", "3"]) == 2


def preferred(
    path: Path, rater: str, answers: dict[tuple[str, str, str], float], *, page: str = "q"
) -> Path:
    """A file of preferences as the page saves it: (sentence, first, second) and whether the first
    is better."""
    ratings = [
        {"sentence": s, "condition": a, "against": b, "score": score}
        for (s, a, b), score in answers.items()
    ]
    data = {"page": page, "design": "ab", "rater": rater, "name": "", "ratings": ratings}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_preferences_are_shares_of_answers(tmp_path: Path) -> None:
    files = []
    for rater in ("ann", "bob", "cyd"):
        # good is preferred in either order but for one sentence in ten; nobody hears a difference
        # to same.
        answers = {(f"s{n}", "base", "good"): 0.0 for n in range(10)}
        answers |= {(f"s{n}", "good", "base"): 1.0 for n in range(10, 18)}
        answers |= {("s18", "good", "base"): 0.0, ("s19", "base", "good"): 1.0}
        answers |= {(f"s{n}", "base", "same"): 0.5 for n in range(20)}
        files.append(preferred(tmp_path / f"{rater}.json", rater, answers))
    found = listening_statistics(files)
    assert (found["raters"], found["sentences"], found["ratings"]) == (3, 20, 120)
    assert found["conditions"] == {}
    sure, unsure = found["preferences"]
    assert (sure["condition"], sure["against"], sure["n"]) == ("good", "base", 60)
    assert sure["mean"] == pytest.approx(0.9)
    assert 0.7 < sure["low"] < 0.9 < sure["high"] <= 1
    assert sure["p"] < 0.01
    assert {unsure["condition"], unsure["against"]} == {"base", "same"}
    assert (unsure["mean"], unsure["low"], unsure["high"], unsure["p"]) == (0.5, 0.5, 0.5, 1)
    # Asked again in the other order: the later answer counts.
    again = preferred(tmp_path / "again.json", "ann", {("s0", "good", "base"): 0.0})
    assert listening_statistics([*files, again])["preferences"][0]["mean"] == pytest.approx(53 / 60)
    # A page of each design goes together.
    both = listening_statistics(
        [*files, rated(tmp_path / "r.json", "ann", {("s0", "base"): 10, ("s0", "good"): 20})]
    )
    assert (len(both["preferences"]), both["conditions"]["good"]["mean"], both["ratings"]) == (
        2,
        20,
        122,
    )


def test_ratings_may_be_missing_or_given_twice(tmp_path: Path) -> None:
    first = rated(tmp_path / "a.json", "ann", {("s0", "x"): 10, ("s0", "y"): 20, ("s1", "x"): 30})
    later = rated(tmp_path / "b.json", "ann", {("s0", "x"): 50})
    found = listening_statistics([first, later])
    assert (found["raters"], found["ratings"]) == (1, 3)
    assert found["conditions"]["x"]["mean"] == 40
    assert found["differences"][0]["mean"] == 30
    # One sentence by one rater says nothing of others.
    assert math.isnan(found["differences"][0]["low"])
    assert math.isnan(found["differences"][0]["p"])


def test_files_that_are_no_ratings_are_errors(tmp_path: Path) -> None:
    one = rated(tmp_path / "a.json", "ann", {("s0", "x"): 10})
    other = rated(tmp_path / "b.json", "bob", {("s0", "x"): 10}, page="q")
    with pytest.raises(ConfigError, match="different pages"):
        listening_statistics([one, other])
    with pytest.raises(ConfigError, match="not between 0 and 100"):
        listening_statistics([rated(tmp_path / "c.json", "cyd", {("s0", "x"): 101})])
    with pytest.raises(ConfigError, match=r"a preference of 2 is not 0, 0\.5 or 1"):
        listening_statistics([preferred(tmp_path / "e.json", "eve", {("s0", "x", "y"): 2})])
    with pytest.raises(ConfigError, match="no ratings"):
        listening_statistics([rated(tmp_path / "d.json", "dee", {})])
    one.write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"a\.json is not a file of ratings"):
        listening_statistics([one])
