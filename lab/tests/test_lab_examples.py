"""The laboratory's examples do what they say."""

from __future__ import annotations

import importlib.util
import itertools
import wave
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.readspeak import BANDS, Recital, sentence
from sayahead import ConfigError, load_voice
from sayahead.research import LookaheadK
from sayahead.types import Floats
from support.toy import toy_session

from sayahead_lab.eval.listening.metrics import SpokenSentence
from sayahead_lab.training.mohan.environment import PathEpisodes, RewardConfig, wait_end, walk

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_custom_peer() -> None:
    made = example("custom_peer").main("One sentence. And another.")
    assert [chunk.samples for chunk in made.chunks] == [800 * 13, 800 * 12]
    assert [chunk.read for chunk in made.chunks] == [15, 26]


def test_custom_metric() -> None:
    tone = np.sin(np.arange(24_000)).astype(np.float32)
    error = example("custom_metric").loudness_error
    assert error(SpokenSentence(tone, 24_000, "Ah.", tone)) == 0
    assert error(SpokenSentence(tone / np.float32(10), 24_000, "Ah.", tone)) == pytest.approx(
        20, abs=0.01
    )


def test_custom_policy() -> None:
    phrases = example("custom_policy").main("When the rain stops, and it will, we go out.")
    words = [word for phrase in phrases for word in phrase]
    assert words == ["When", "the", "rain", "stops,", "and", "it", "will,", "we", "go", "out."]
    assert len(phrases) == 3


def test_custom_context() -> None:
    with_script, without = example("custom_context").main()
    assert with_script != without


def test_shadow(tmp_path: Path) -> None:
    shadow = example("shadow")
    rate = shadow.RECOGNITION_RATE
    script = ["We", "moved", "to", "Paris", "in", "the", "spring,", "and", "stayed."]
    mistakes = {"Paris": "Berlim", "spring,": "sprint"}
    ends = [0.5 * (i + 1) for i in range(len(script))]

    def recognizer(samples: Floats) -> list[Any]:
        # It hears each word when it ends, and two of them right only 0.8 s later.
        seconds = len(samples) / rate
        heard = [(word, end) for word, end in zip(script, ends, strict=True) if end <= seconds]
        return [
            shadow.Word(mistakes.get(word, word) if seconds < end + 0.8 else word, end)
            for word, end in heard
        ]

    # Each time it takes 0.1 s.
    ticks = itertools.count()
    session = toy_session(LookaheadK(1))
    recording = np.zeros(6 * rate, np.float32)
    playback, heard, revisions = shadow.shadow(
        recording, recognizer, session, timer=lambda: 0.1 * next(ticks)
    )
    assert [word.text for word in heard] == script
    assert [word.text for word in playback.words] == script
    assert revisions == 2
    rows = shadow.lags(playback.words, heard)
    assert [text for text, _ in rows] == script
    assert all(0.1 < lag_s < 3.0 for _, lag_s in rows)
    assert all(
        one[0] + len(one[1]) / session.sample_rate <= two[0] + 1e-9
        for one, two in pairwise(playback.chunks)
    )
    shadow.save(str(tmp_path / "both.wav"), np.ones(100, np.float32), playback, session.sample_rate)
    with wave.open(str(tmp_path / "both.wav")) as file:
        assert (file.getnchannels(), file.getframerate()) == (2, session.sample_rate)
        both = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
    begin_s, samples = playback.chunks[1]
    at = round(begin_s * session.sample_rate)
    assert np.abs(both[at : at + len(samples), 1] / 32767 - samples).max() < 1e-4
    assert both[:100, 0].min() == 32767
    assert not both[100:, 0].any()


def test_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    module = example("interpreter")
    phrasebook = module.Phrasebook(module.PHRASES)
    words = [module.Word(text, end) for text, end in module.GREETING]
    assert [word.text for word in phrasebook(words[:1])] == ["good"]
    assert phrasebook(words[:2]) == [module.Word("good afternoon", 0.7)]
    assert [word.text for word in phrasebook([*words, module.Word("Li", 3.0)])][-2:] == [
        "gentlemen.",
        "Li",
    ]

    # Recognition takes 0.1 s each time.
    ticks = itertools.count()
    session = load_voice("heart").session()
    recording = np.zeros(round(2.4 * module.RECOGNITION_RATE), np.float32)
    heard_by = module.transcript(module.GREETING)
    playback, heard, revisions = module.shadow(
        recording, heard_by, session, timer=lambda: 0.1 * next(ticks), translate=phrasebook
    )
    assert [word.text for word in heard] == [text for text, _ in module.GREETING]
    assert [word.text for word in playback.words] == [
        "good",
        "afternoon",
        "ladies",
        "and",
        "gentlemen.",
    ]
    assert revisions == 1
    found = module.latencies(playback, 2.4)
    onsets = [1000 * word.time_s for word in playback.words if word.time_s < 2.4]
    assert found["YAAL"] == pytest.approx(
        np.mean([at - i * 2400 / 5 for i, at in enumerate(onsets)])
    )
    assert 900 < found["YAAL"] < found["ATD"] < 2500
    incremental = pytest.importorskip(
        "simulstream.server.speech_processors.incremental_output", reason="simulstream"
    )
    speech = module.SpokenOutput(load_voice("heart").session())
    chunks = speech.take(incremental.IncrementalOutput(["my"], "my ", [], ""))
    chunks += (
        speech.take(incremental.IncrementalOutput(["ladies"], "ladies ", ["my"], "my "))
        + speech.end()
    )
    assert [word.text for chunk in chunks for word in chunk.words] == ["ladies"]


# The checker advises bounds; frames have none.
@pytest.mark.filterwarnings("ignore:.*Box observation space (minimum|maximum) value is -?infinity")
@pytest.mark.parametrize("taught", [True, False])
def test_gymnasium_environment(taught: bool) -> None:
    checker = pytest.importorskip(
        "gymnasium.utils.env_checker", reason="needs gymnasium: pip install gymnasium"
    )
    module = example("gymnasium_environment")
    sentences = [sentence(n, 5 + n) for n in range(4)]
    world = module.ReadSpeak(
        Recital(), sentences, RewardConfig(), scale=torch.ones(BANDS), taught=taught
    )
    checker.check_env(world, skip_render_check=True)
    first, about = world.reset(seed=3)
    again, same = world.reset(seed=3)
    assert np.array_equal(first, again)
    assert about == same
    assert 0 < module.main(world)["d_T"] <= 1
    _, named = world.reset(options={"sentence": 2})
    assert named == {"sentence": 2}
    ended = False
    total = 0.0
    info = dict[str, Any]()
    while not ended:
        _, reward, ended, cut, info = world.step(np.int64(0))
        total += reward
        assert not cut
    episodes = PathEpisodes(
        Recital(), [sentences[2]], RewardConfig(), scale=torch.ones(BANDS), taught=taught
    )
    assert total == pytest.approx(walk(episodes, wait_end).rewards.sum().item())
    assert (info["read"], info["d_T"]) == (7, 1.0)
    with pytest.raises(ConfigError, match="0 \\(READ\\) or 1 \\(SPEAK\\)"):
        world.step(np.int64(2))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_tested(path: Path) -> None:
    assert f"def test_{path.stem}(" in Path(__file__).read_text(encoding="utf-8")
