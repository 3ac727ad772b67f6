"""The voice mohan-lj: the modified Tacotron 2 with its agent and ma-lj's vocoder, as they are
shipped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sayahead import Voice, installed_voices
from sayahead.engine.onnx import OnnxGraph
from sayahead.policies.characters import WaitEnd, WaitKSteps
from sayahead.research import Policy
from support.command import Command, kept
from support.splits import same_by_letters

from sayahead_lab.training.loop.publish import unpack_release
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.voice import make_voice

TEXT = "Nobody had told them, so they came 12 days too late. We knew."
NAMES = ["agent", "wait-end", "wait-2", "wait-3"]
QUICK = ("agent", "wait-2")
RUNS = Path(__file__).parents[3] / "archives" / "runs" / "mohan.tar.xz"
SEED = 2
"""Of the agent that the voice has."""


@pytest.fixture(scope="module")
def voice() -> Voice:
    return kept("mohan-lj")


def policy(voice: Voice, name: str) -> Policy:
    known: dict[str, Policy] = {
        "wait-end": WaitEnd(),
        "wait-2": WaitKSteps(2),
        "wait-3": WaitKSteps(3),
    }
    return known.get(name) or voice.policy("agent")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NAMES],
)
def test_any_split_gives_the_same_sound_and_takes_as_long_as_speech_does(
    voice: Voice, name: str
) -> None:
    whole = same_by_letters(voice, TEXT, TEXT.replace("12", "twelve"), policy=policy(voice, name))
    assert 2.5 < len(whole) / 24000 < 7


def test_policies_that_read_less_speak_earlier(voice: Voice) -> None:
    def needed(name: str) -> int:
        """Characters that must be there for the first sound."""
        session = voice.session(policy=policy(voice, name))
        for count, character in enumerate(TEXT, 1):
            session.push(character)
            if session.pull() is not None:
                return count
        return len(TEXT) + 1

    found = {name: needed(name) for name in NAMES}
    assert found["wait-end"] > TEXT.index(".")
    assert found["wait-3"] <= found["wait-2"] < found["wait-end"]
    assert found["agent"] < found["wait-end"]


def test_the_voice_is_small_and_borrows_its_vocoder(voice: Voice) -> None:
    files = list(installed_voices()["mohan-lj"].iterdir())
    assert sum(path.stat().st_size for path in files) < 4.2e6
    assert voice.config.model["vocoder"]["voice"] == "ma-lj"
    assert voice.config.agent is not None


def test_its_published_runs_make_it(tmp_path: Path) -> None:
    unpack_release(RUNS, tmp_path)
    acoustic = load_trained(tmp_path / "tts-longer")
    agent = load_trained(tmp_path / f"agent-longer-{SEED}")
    make_voice(acoustic, "ma-lj", made := tmp_path / "voice", name="mohan-lj", agent=agent)
    shipped = installed_voices()["mohan-lj"]
    # One weight of this graph is a product of two, whose last bits depend on the processor.
    sizes = {"query": (1, 64), "rows": (3, 256), "keys": (3, 64), "seen": (3, 30)}
    feed = {name: np.ones(size, np.float32) for name, size in sizes.items()}
    one, other = (OnnxGraph(folder / "attend.onnx")(**feed) for folder in (made, shipped))
    assert all(np.allclose(one[name], other[name], atol=1e-5) for name in other)
    # The columns of this graph's inner matrix are scaled before they are rounded, those of the run
    # after it.
    draw = np.random.default_rng(0)
    walks = [OnnxGraph(folder / "agent.onnx") for folder in (made, shipped)]
    size = int(walks[0].shapes["observation"][0])
    hidden = np.zeros(512, np.float32)
    for _ in range(50):
        observation = draw.normal(size=size).astype(np.float32)
        one, other = (graph(observation=observation, hidden=hidden) for graph in walks)
        assert np.allclose(one["logits"], other["logits"], atol=0.05, rtol=0.02)
        hidden = other["next_hidden"]
    one, other = (
        json.loads((folder / "voice.json").read_text(encoding="utf-8"))
        for folder in (made, shipped)
    )
    assert all(
        config["files"].pop(name)
        for config in (one, other)
        for name in ("attend.onnx", "agent.onnx")
    )
    assert one == other


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--policy agent",
        "--policy wait-end",
        "--policy wait-k-steps",
        "--policy wait-k-steps -k 3",
    ],
)
def test_policies_on_the_command_line(sayahead: Command, options: str, tmp_path: Path) -> None:
    path = tmp_path / "one.wav"
    sayahead("say", "--voice", "mohan-lj", *options.split(), "-q", "-o", str(path), "We knew it.")
    assert path.stat().st_size > 24000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--voice", "mohan-lj", "--policy", "lookahead"],
            "decides on words, but this voice reads characters",
        ),
        (["--voice", "mohan-lj", "-k", "1"], "choose an agent, wait-end or wait-k-steps"),
        (["--policy", "wait-end"], "decides on characters, but this voice reads words"),
        (["--policy", "agent"], "'heart' has no policy 'agent'"),
        (["--voice", "mohan-lj", "--policy", "wait-k-steps", "-k", "1"], "at least 2"),
        (
            ["--voice", "mohan-lj", "--policy", "wait-end", "-k", "2"],
            "policy 'wait-end': unknown option 'k'",
        ),
        (["--voice", "mohan-lj", "--context", "random"], "takes no context"),
    ],
)
def test_what_does_not_fit_is_said(sayahead: Command, options: list[str], message: str) -> None:
    _, stderr = sayahead("say", *options, "-q", "-o", "never.wav", "Hello.", code=2)
    assert message in stderr
    assert not Path("never.wav").exists()


def test_it_speaks_without_torch() -> None:
    code = (
        "import sys, sayahead; v = sayahead.load_voice('mohan-lj'); v.synthesize('Hi.',"
        " policy='agent'); sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
