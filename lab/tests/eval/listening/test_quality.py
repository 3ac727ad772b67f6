"""Quality: counts, intervals and tests on known figures; listeners are stand-ins."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sayahead.errors import ConfigError
from sayahead.types import Floats

from sayahead_lab.eval.listening.listeners import (
    RATE,
    load_utmos,
    load_whisper,
    missing_folder,
    stand_ins,
)
from sayahead_lab.eval.listening.quality import Listeners, Row, Stimulus, compare, summarize
from sayahead_lab.eval.measures.intervals import correlation, excess, moments, quotient, rmse
from sayahead_lab.eval.measures.word_errors import Errors, align, by_quarter, distance, word_errors

words = st.lists(st.sampled_from("abc"), max_size=8)


def plain(reference: list[str], hypothesis: list[str]) -> int:
    """Levenshtein's distance as its definition reads."""
    if not reference or not hypothesis:
        return len(reference) + len(hypothesis)
    same = reference[0] == hypothesis[0]
    paired = plain(reference[1:], hypothesis[1:]) + (not same)
    if same:
        return paired
    return min(paired, 1 + plain(reference[1:], hypothesis), 1 + plain(reference, hypothesis[1:]))


def normalize(text: str) -> str:
    return text.lower().replace(".", "").replace(",", "")


def sound(seconds: float, level: float = 0.1) -> Floats:
    return np.full(round(seconds * RATE), level, np.float32)


def stand_in(hypothesis: str = "the cat sat") -> Listeners:
    return Listeners(
        transcriber=lambda heard: hypothesis,
        normalizer=normalize,
        distillmos=lambda heard: 1 + 10 * float(heard[0]),
        dnsmos=lambda heard: 3.0,
    )


def row(name: str, errors: int, mos: float = 4.0, *, of: int = 10) -> Row:
    return Row(
        name, 1.0, f"reference of {name}", "", Errors(of, errors, 0, 0), 50, errors, mos, None
    )


@given(words, words)
def test_alignment_costs_the_least_and_covers_both_texts(
    reference: list[str], hypothesis: list[str]
) -> None:
    steps = align(reference, hypothesis)
    kinds = [kind for kind, _ in steps]
    least = plain(reference, hypothesis)
    assert len(steps) - kinds.count("equal") == distance(reference, hypothesis) == least
    assert len(steps) - kinds.count("insert") == len(reference)
    assert len(steps) - kinds.count("delete") == len(hypothesis)
    assert [at for kind, at in steps if kind != "insert"] == list(range(len(reference)))


def test_word_errors_are_counted_by_kind() -> None:
    assert word_errors("the cat sat on the mat", "the cat sat on the mat").total == 0
    assert word_errors("the cat sat on the mat", "a cat sat the mat now") == Errors(6, 1, 1, 1)
    assert word_errors("a b", "").rate == 1
    assert word_errors("a", "b c d") == Errors(1, 1, 0, 2)
    assert math.isnan(word_errors("", "a").rate)
    assert distance("kitten", "sitting") == 3


def test_errors_belong_to_the_quarter_they_fall_in() -> None:
    reference = "a b c d e f g h"
    assert [part.words for part in by_quarter(reference, reference)] == [2, 2, 2, 2]
    # a is heard as x; y is heard before c; f is not heard; z and z are heard after the end.
    found = by_quarter(reference, "x b y c d e g h z z")
    assert found == [Errors(2, 1, 0, 0), Errors(2, 0, 0, 1), Errors(2, 0, 1, 0), Errors(2, 0, 0, 2)]
    assert sum(part.total for part in found) == word_errors(reference, "x b y c d e g h z z").total


def test_quarters_of_short_and_empty_texts_lose_nothing() -> None:
    assert [part.words for part in by_quarter("a b c d e f", "")] == [2, 1, 2, 1]
    assert [part.total for part in by_quarter("a", "b c")] == [2, 0, 0, 0]
    assert [part.total for part in by_quarter("", "b c")] == [2, 0, 0, 0]
    assert [part.words for part in by_quarter("a b c", "a b c", parts=3)] == [1, 1, 1]


def test_a_row_holds_what_the_listeners_say() -> None:
    item = Stimulus("one", "The cat sat, up.", sound(0.5), RATE)
    (found,) = stand_in().score([item])
    assert found.distillmos == pytest.approx(2.0)
    mos = found.distillmos
    assert found == Row(
        "one", 0.5, "the cat sat up", "the cat sat", Errors(4, 0, 1, 0), 14, 3, mos, 3.0
    )


def rated(listeners: Listeners, column: str, samples: Floats) -> Row:
    """What the listener of one column says."""
    (row,) = listeners.score([Stimulus("one", "A.", samples, RATE)], [column])
    return row


def test_only_the_columns_asked_for_are_computed() -> None:
    listeners = Listeners(dnsmos=lambda heard: 3.0)
    item = Stimulus("one", "The cat.", sound(0.5), RATE)
    assert listeners.score([item], ["dnsmos"]) == [Row("one", 0.5, "The cat.", dnsmos=3.0)]
    with pytest.raises(ConfigError, match=r"no column 'dnmos' \(did you mean 'dnsmos'"):
        listeners.score([item], ["dnmos"])
    with pytest.raises(ConfigError, match=r"'one' lasts 0\.050 s"):
        listeners.score([Stimulus("one", "The cat.", sound(0.05), RATE)], ["dnsmos"])


def test_what_is_missing_is_named_with_the_way_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SAYAHEAD_WHISPER", raising=False)
    monkeypatch.delenv("SAYAHEAD_UTMOS", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for name in ("distillmos", "faster_whisper", "speechmos", "whisper_normalizer"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    listeners = Listeners()
    why = listeners.available()
    assert list(why) == ["wer", "cer", "distillmos", "dnsmos", "utmos"]
    assert all(
        "pip install" in str(why[column]) for column in ("wer", "cer", "distillmos", "dnsmos")
    )
    there = stand_in().available()
    assert [column for column, lack in there.items() if lack] == ["utmos"]
    with pytest.raises(ConfigError, match="faster_whisper is not installed"):
        rated(listeners, "wer", sound(1))
    with pytest.raises(ConfigError, match="whisper_normalizer is not installed"):
        rated(Listeners(transcriber=lambda heard: "a"), "wer", sound(1))
    with pytest.raises(ConfigError, match="distillmos is not installed"):
        rated(listeners, "distillmos", sound(1))
    with pytest.raises(ConfigError, match="speechmos is not installed"):
        rated(listeners, "dnsmos", sound(1))


@pytest.mark.parametrize(("figures", "never"), [(True, [-1]), (False, [-1, 1, 3])])
def test_numbers_are_written_as_words_where_figures_are_unwanted(
    figures: bool, never: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Model:
        hf_tokenizer = SimpleNamespace(get_vocab=lambda: {"ten": 0, "10": 1, "<|1.0|>": 2, "Ġ9": 3})

        def __init__(self, *_: object, **__: object) -> None:
            pass

        def transcribe(self, _: object, **settings: object) -> tuple[list[SimpleNamespace], None]:
            return [SimpleNamespace(text=str(settings["suppress_tokens"]))], None

    for name in ("model.bin", "config.json", "tokenizer.json"):
        (tmp_path / name).touch()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "faster_whisper", SimpleNamespace(WhisperModel=Model))
    hears = load_whisper(tmp_path, threads=1, figures=figures)
    assert hears(sound(1)) == str(never)


def test_a_whisper_folder_is_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "SAYAHEAD_WHISPER" in str(missing_folder(None))
    assert "has no model.bin" in str(missing_folder(tmp_path))
    for name in ("model.bin", "config.json", "tokenizer.json"):
        (tmp_path / name).touch()
    assert missing_folder(tmp_path) is None
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setenv("SAYAHEAD_WHISPER", str(tmp_path))
    monkeypatch.setenv("SAYAHEAD_UTMOS", str(tmp_path / "model.pt"))
    assert "is neither a TorchScript file" in str(Listeners().available()["utmos"])
    (tmp_path / "model.pt").touch()
    assert set(Listeners().available().values()) == {None}
    assert "is not a faster-whisper model folder" in str(
        Listeners(tmp_path / "none").available()["wer"]
    )


class OneArgument(torch.nn.Module):
    """An opinion by loudness, in the form of a module that knows its rate."""

    def forward(self, wavs: torch.Tensor) -> torch.Tensor:
        return 1 + wavs.abs().mean(dim=1)


class Scored(OneArgument):
    """The same beside a method for scores."""

    @torch.jit.export
    def score(self, wavs: torch.Tensor) -> torch.Tensor:
        return self.forward(wavs) + 1


class TwoArguments(torch.nn.Module):
    """An opinion by loudness and rate."""

    def forward(self, wave: torch.Tensor, sr: int) -> torch.Tensor:
        return sr / 16000 + wave.abs().mean(dim=1)


class TwoScores(torch.nn.Module):
    """No opinion."""

    def forward(self, wavs: torch.Tensor) -> torch.Tensor:
        return wavs[0, :2]


def scripted(module: torch.nn.Module, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        script: Any = torch.jit.script
        script(module).save(str(path))
    return path


@pytest.mark.parametrize(
    ("module", "score"), [(OneArgument, 1.25), (Scored, 2.25), (TwoArguments, 1.25)]
)
def test_utmos_is_any_torchscript_that_takes_samples(
    module: type[torch.nn.Module], score: float, tmp_path: Path
) -> None:
    file = scripted(module(), tmp_path / "utmos.pt")
    for path in (file, tmp_path):
        listeners = Listeners(dnsmos=lambda heard: 3.0, utmos=path)
        assert listeners.available()["utmos"] is None
        assert rated(listeners, "utmos", sound(0.5, 0.25)).utmos == pytest.approx(score)
    (row,) = listeners.score([Stimulus("one", "A.", sound(0.5, 0.25), RATE)], ["dnsmos", "utmos"])
    assert row.dnsmos == 3.0
    assert row.utmos == pytest.approx(score)


def test_what_is_no_utmos_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_bytes(b"no model")
    with pytest.raises(ConfigError, match=r"a\.pt is not TorchScript\. Get one for example by"):
        load_utmos(tmp_path / "a.pt")
    scripted(TwoScores(), tmp_path / "b.pt")
    with pytest.raises(ConfigError, match=r"b\.pt does not take samples"):
        load_utmos(tmp_path / "b.pt")(sound(0.5))
    # Which of the two is meant?
    with pytest.raises(ConfigError, match="neither a TorchScript file nor a folder with just one"):
        load_utmos(tmp_path)
    with pytest.raises(ConfigError, match=r"in SAYAHEAD_UTMOS .*utmos_scripted\.pt"):
        load_utmos(None)


def test_stand_in_modules_go_away_again() -> None:
    with stand_ins({"no_such_parent.child": ("Something",), "json": ()}):
        import json

        import no_such_parent.child  # type: ignore[import-not-found]

        assert no_such_parent.child.Something()
        assert not hasattr(json, "dumps")
    assert "no_such_parent" not in sys.modules
    assert hasattr(sys.modules["json"], "dumps")


def test_a_summary_is_over_the_whole_set() -> None:
    # 3 errors of 110 words, not the mean of 0.3 and 0.
    found = summarize([row("a", 3), row("b", 0, mos=5.0, of=100)])
    assert found["wer"].value == pytest.approx(3 / 110)
    assert found["distillmos"].value == 4.5
    assert found["wer"].sentences == 2
    assert set(found) == {"wer", "cer", "distillmos", "duration_s"}


def test_the_interval_is_the_bootstraps_and_repeats() -> None:
    draw = np.random.default_rng(0)
    rows = [row(str(n), int(draw.integers(4)), float(draw.normal(4, 0.5))) for n in range(100)]
    found = summarize(rows, seed=1)["distillmos"]
    scores = np.array([r.distillmos for r in rows], np.float64)
    half = 1.96 * float(scores.std()) / 10
    assert found.high - found.value == pytest.approx(half, rel=0.1)
    assert found.value - found.low == pytest.approx(half, rel=0.1)
    assert found == summarize(rows, seed=1)["distillmos"]
    assert found != summarize(rows, seed=2)["distillmos"]
    assert math.isnan(summarize(rows[:1])["wer"].low)


def test_a_column_that_only_some_have_is_an_error() -> None:
    silent = Row("b", 1.0, "reference of b")
    with pytest.raises(ConfigError, match="Only 1 of 2 sentences have the column 'wer'"):
        summarize([row("a", 1), silent])
    assert set(summarize([silent])) == {"duration_s"}
    assert summarize([]) == {}
    assert math.isnan(summarize([row("a", 1, of=0), row("b", 1, of=0)])["wer"].low)


def test_equal_conditions_do_not_differ() -> None:
    rows = [row(str(n), n % 3) for n in range(20)]
    found = compare(rows, list(reversed(rows)))["wer"]
    assert (found.value, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_a_real_difference_is_found_and_its_sign_is_ours_less_theirs() -> None:
    base = [row(str(n), n % 3, 4.0 + n % 7 / 10) for n in range(60)]
    worse = [row(str(n), n % 3 + n % 2, 3.9 + n % 7 / 10) for n in range(60)]
    found = compare(worse, base)
    assert found["wer"].value == pytest.approx(0.05)
    assert 0 < found["wer"].low < 0.05 < found["wer"].high
    assert found["wer"].p < 0.001
    assert found["distillmos"].value == pytest.approx(-0.1)
    assert found["distillmos"].p < 0.001


def test_the_p_value_is_that_of_all_sign_flips() -> None:
    # Five sentences, each one error worse: 2 of the 32 ways to exchange conditions are as far
    # apart.
    rows, base = ([row(str(n), errors) for n in range(5)] for errors in (1, 0))
    assert compare(rows, base)["wer"].p == pytest.approx(2 / 32, abs=0.01)


def test_conditions_of_other_sentences_cannot_be_compared() -> None:
    with pytest.raises(ConfigError, match="same sentences"):
        compare([row("a", 1)], [row("b", 1)])
    with pytest.raises(ConfigError, match="same sentences"):
        compare([row("a", 1)], [row("a", 1), row("a", 1)])
    other = Row("a", 1.0, "another reference", "", Errors(10, 1, 0, 0))
    with pytest.raises(ConfigError, match="'a' has another reference"):
        compare([row("a", 1)], [other])


def test_figures_of_sums_are_those_of_their_values() -> None:
    draw = np.random.default_rng(2)
    x = draw.normal(100, 3, 50)
    y = draw.normal(100, 2, 50)
    y += 0.5 * x
    # The sums of two parts are those of the whole.
    sums = np.array(moments(x[:20], y[:20])) + np.array(moments(x[20:], y[20:]))
    assert rmse(sums) == pytest.approx(math.sqrt(np.mean((x - y) ** 2)))
    assert correlation(sums) == pytest.approx(np.corrcoef(x, y)[0, 1])
    constant = np.array(moments(x, np.full(50, 0.1)))
    assert math.isnan(correlation(constant))
    assert math.isnan(correlation(np.array(moments(x[:1], y[:1]))))
    assert quotient(np.array([[1.0, 4.0], [3.0, 2.0]])).tolist() == [0.25, 1.5]
    assert excess(np.array([1.0, 4.0, 1.0, 5.0])) == pytest.approx(0.05)
    assert math.isnan(excess(np.array([1.0, 4.0, 1.0, 0.0])))


def long_row(name: str, errors: Sequence[int], *, words: int = 40) -> Row:
    """A text in whose quarters so many words are heard wrongly."""
    said = [f"w{n}" for n in range(words)]
    heard = [
        f"x{n}" if n % (words // 4) < errors[n * 4 // words] else word
        for n, word in enumerate(said)
    ]
    return Row(
        name, 1.0, " ".join(said), " ".join(heard), word_errors(" ".join(said), " ".join(heard))
    )


def test_drift_shows_in_the_quarters_of_long_texts() -> None:
    rows = [long_row(str(n), (1, 2, 2, 4)) for n in range(8)]
    found = summarize([*rows, long_row("short", (5, 5, 5, 5), words=36)])
    assert [found[f"wer_quarter_{n}"].value for n in range(1, 5)] == pytest.approx(
        [0.1, 0.2, 0.2, 0.4]
    )
    assert found["wer_drift"].value == pytest.approx(0.3)
    assert found["wer_drift"].sentences == 8
    assert found["wer"].sentences == 9
    even = [long_row(str(n), (2, 2, 2, 2)) for n in range(8)]
    drifts = compare(rows, even)["wer_drift"]
    assert drifts.value == pytest.approx(0.3)
    assert drifts.p < 0.02
    assert "wer_drift" not in summarize([long_row("short", (1, 1, 1, 1), words=36)])


def seam_row(name: str, clicks: int, clicks_whole: int, *, seams: int = 10) -> Row:
    counts = {"seams": seams, "clicks": clicks, "jumps": 0, "elsewhere": 100, "clicks_elsewhere": 5}
    counts |= {
        "compared": seams,
        "clicks_whole": clicks_whole,
        "jumps_whole": 0,
        "jumps_elsewhere": 0,
    }
    return Row(
        name, 1.0, f"reference of {name}", seams={**counts, "gaps": 1, "silence_total_s": 0.1}
    )


def test_clicks_are_compared_with_the_same_places_of_the_full_sentence() -> None:
    rows = [seam_row(str(n), 3, 1) for n in range(12)]
    # The first condition's own rows are without seams: they say nothing of the difference.
    base = [seam_row(str(n), 0, 0, seams=0) for n in range(12)]
    found = summarize(rows)
    apart = compare(rows, base)
    assert found["seam_click_rate"].value == pytest.approx(0.3)
    assert found["seam_click_excess"].value == pytest.approx(0.25)
    assert found["seam_gap_rate"].value == pytest.approx(0.1)
    assert found["seams"].value == 10
    assert apart["seam_click_rate"].value == pytest.approx(0.2)
    assert apart["seam_click_rate"].p < 0.01
    assert apart["seam_jump_rate"].p == 1
    alone = summarize(base)
    assert alone["seams"].value == 0
    assert "seam_click_rate" not in alone


def test_prosody_is_compared_with_the_full_sentence_itself() -> None:
    x = np.array([10.0, 20.0, 40.0])
    y = np.array([8.0, 18.0, 38.0])
    rows = [Row(str(n), 1.0, "a", prosody={"word": moments(x + n, y + n)}) for n in range(12)]
    found = summarize(rows)
    apart = compare(rows, rows)
    assert found["word_rmse_ms"].value == pytest.approx(2)
    assert found["word_correlation"].value == pytest.approx(1)
    assert apart["word_ms"].value == pytest.approx(2)
    assert apart["word_ms"].p < 0.01
    assert "pitch_rmse_cents" not in found


def test_the_largest_difference_to_one_shot_is_that_of_all() -> None:
    rows = [
        Row(str(n), 1.0, "a", one_shot={"largest": n / 10, "equal": float(n == 0)})
        for n in range(4)
    ]
    found = summarize([*rows, Row("not looked at", 1.0, "a")])
    assert (found["one_shot_difference"].value, found["one_shot_difference"].sentences) == (0.3, 4)
    assert found["one_shot_equal"].value == 0.25


def test_words_are_heard_in_the_language_of_the_texts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = list[str]()

    def whisper(folder: object, *, threads: int, language: str) -> Callable[[Floats], str]:
        asked.append(language)
        return lambda samples: "l'ete"

    def normalizer(language: str) -> Callable[[str], str]:
        asked.append(language)
        return str.lower

    monkeypatch.setattr("sayahead_lab.eval.listening.quality.load_whisper", whisper)
    monkeypatch.setattr("sayahead_lab.eval.listening.quality.load_normalizer", normalizer)
    french = Listeners(tmp_path, language="fr")
    [row] = french.score([Stimulus("a", "L'ete", np.zeros(16000, np.float32), 16000)], ["wer"])
    assert asked == ["fr", "fr"]
    assert row.errors is not None
    assert row.errors.rate == 0
    # What another language was heard as is not taken over.
    assert french.identities()["wer"] == f"{Listeners(tmp_path).identities()['wer']}, fr"
