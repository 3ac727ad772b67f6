"""Another package brings a policy, a context, a voice, a protocol, a command, a clock, a metric, a
reader and a model to train, by entry points alone."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import wave
from collections.abc import Mapping
from pathlib import Path

import httpx
import numpy as np
import pytest
from sayahead import load_voice
from sayahead.client import AsyncClient, ServerError
from sayahead.sound.files import write_wav

TEXT = "Polly wants a cracker. Does she?"
SPEAK = f"""
import sys
from sayahead import load_voice
voice = load_voice("polly")
sys.stdout.buffer.write(voice.synthesize({TEXT!r}, policy="parrot:words=2", context="echo:count=2").tobytes())
"""  # noqa: E501
COMMANDS = """
import json, sys
import lab_support.eager
from sayahead.cli import main
for arguments in json.loads(sys.argv[1]):
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = ended.code
    print(end="\\0")
    assert not code, (arguments, code)
"""
"""Runs several commands of the command line, one after the other, and a NUL behind the output of
each."""
MATRIX = """
count = 1
[[conditions]]
name = "parrot"
voice = "polly"
policy = "parrot:words=2"
context = "echo:count=2"
[[clocks]]
name = "beats"
kind = "beats:beat_s=0.2"
"""
RECIPE = """
task = "averages"
[model]
[data]
[train]
batch_size = 2
steps = 60
learning_rate = 0.3
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment's variables with the package installed, built from its source as any other
    is."""
    place = tmp_path_factory.mktemp("parrot")
    shutil.copytree(Path(__file__).parent / "lab_support" / "parrot", place / "source")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run(
        [*pip, "--target", str(place / "site"), str(place / "source")], check=True, timeout=120
    )
    ours = filter(None, [os.environ.get("PYTHONPATH")])
    paths = [str(place / "site"), *ours, str(Path(__file__).parent)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def output(environment: Mapping[str, str], *arguments: str) -> bytes:
    """What a Python prints; AssertionError if it fails."""
    ended = subprocess.run(
        [sys.executable, *arguments], capture_output=True, env=environment, timeout=120
    )
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout


@pytest.fixture(scope="module")
def spoken(environment: Mapping[str, str]) -> np.ndarray:
    """The samples from Python."""
    samples = np.frombuffer(output(environment, "-c", SPEAK), np.float32)
    assert len(samples)
    return samples


def test_nothing_of_it_is_known_without_it() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SPEAK], capture_output=True, text=True, timeout=60
    )
    assert "There is no voice 'polly'" in ended.stderr


def test_the_command_line_knows_all_of_it(
    environment: Mapping[str, str], spoken: np.ndarray, tmp_path: Path
) -> None:
    file = tmp_path / "out.wav"
    choice = ("--policy", "parrot:words=2", "--context", "echo:count=2")
    say = ("say", "--voice", "polly", *choice, "-o", str(file), TEXT)
    commands = (("squawk", "Polly"), ("--help",), ("serve", "--help"), ("voices",), say)
    told = output(environment, "-c", COMMANDS, json.dumps(commands)).decode()
    squawked, usage, serve, voices, *_ = told.split("\0")
    assert squawked == "Squawk, Polly!\n"
    assert "say who is there" in usage
    assert "--parrot-port" in serve
    assert "polly" in voices
    with wave.open(str(file)) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), np.int16) / np.float32(32767)
    assert np.abs(samples - spoken).max() < 1e-4


def test_an_experiment_knows_it(
    environment: Mapping[str, str], spoken: np.ndarray, tmp_path: Path
) -> None:
    (tmp_path / "matrix.toml").write_text(MATRIX, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(f"a|{TEXT}\n", encoding="utf-8")
    texts = ("--texts", str(tmp_path / "texts.csv"), "-o", str(tmp_path / "out"))
    output(environment, "-m", "sayahead", "eval", "run", str(tmp_path / "matrix.toml"), *texts)
    with wave.open(str(tmp_path / "out" / "parrot" / "wav" / "a.wav")) as sound:
        assert sound.getnframes() == len(spoken)
    trace = json.loads((tmp_path / "out" / "parrot" / "beats.jsonl").read_text().splitlines()[0])
    assert (trace["condition"], trace["clock"]) == ("parrot", "beats")
    score = ("score", str(tmp_path / "out"), "--metric", "squawks")
    output(environment, "-m", "sayahead", "eval", *score)
    (row,) = json.loads((tmp_path / "out" / "parrot" / "quality.json").read_text())["rows"]
    assert row["metrics"] == {"squawks": pytest.approx(row["duration_s"] / len(TEXT.split()))}


@pytest.mark.slow
def test_its_model_learns_from_its_reader_and_speaks(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    heart = load_voice("heart")
    (tmp_path / "nest" / "polly").mkdir(parents=True)
    for text in ("The ship has left the harbour.", "She sang of a dog in the wide field."):
        samples = heart.synthesize(text, policy="wait-all")
        name = text.lower().strip(".").replace(" ", "_")
        padded = np.pad(samples, heart.sample_rate // 5)
        write_wav(tmp_path / "nest" / "polly" / f"{name}.wav", padded, heart.sample_rate)
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    corpus, run, voice, file = (
        str(tmp_path / name) for name in ("corpus", "run", "voice", "a.wav")
    )
    nest = str(tmp_path / "nest")
    recipe = str(tmp_path / "recipe.toml")
    made = ("--acoustic", run, "--vocoder", "ma-lj", "--name", "means", "--license", "CC0-1.0")
    commands = (
        ("train", "corpus", corpus, "--recordings", nest, "--reader", "nests"),
        ("train", recipe, "--corpus", corpus, "--out", run, "--threads", "1"),
        ("train", "voice", *made, "-o", voice),
        ("say", "--voice", voice, "-o", file, "The dog left the field."),
    )
    output(environment, "-c", COMMANDS, json.dumps(commands))
    lines = (tmp_path / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    first, *_, last = (json.loads(line)["loss"] for line in lines)
    assert last < first / 2
    with wave.open(file) as sound:
        seconds = sound.getnframes() / sound.getframerate()
    assert 0.7 < seconds < 3


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_server_knows_it(environment: Mapping[str, str], spoken: np.ndarray) -> None:
    port = free_port()
    own = free_port()
    command = [
        sys.executable,
        "-m",
        "sayahead",
        "serve",
        "--voice",
        "polly",
        "--breath",
        "0",
        "--port",
        str(port),
    ]
    serving = {**environment, "SAYAHEAD_SERVE_PARROT_PORT": str(own)}
    server = subprocess.Popen(command, env=serving, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        for line in server.stderr:
            if "to try it" in line:
                break
        assert httpx.get(f"http://127.0.0.1:{port}/parrot").text == "Hello from polly."
        with socket.create_connection(("127.0.0.1", own)) as peer:
            peer.sendall(TEXT.encode() + b"\n")
            heard = b"".join(iter(lambda: peer.recv(65536), b""))
        assert len(heard) == spoken.nbytes
        assert np.abs(asyncio.run(native(port, "parrot:words=2")) - spoken).max() < 1e-4
        with pytest.raises(ServerError, match="words is 9, but must be a whole number from 1 to 8"):
            asyncio.run(native(port, "parrot:words=9"))
    finally:
        server.terminate()
        server.communicate(timeout=30)


async def native(port: int, policy: str) -> np.ndarray:
    """What the native socket says under a policy."""
    async with AsyncClient(
        f"ws://127.0.0.1:{port}", policy=policy, context="echo:count=2"
    ) as client:
        return np.concatenate(
            [chunk.samples async for chunk in client.stream([TEXT[:9], TEXT[9:]])]
        )
