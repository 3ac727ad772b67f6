"""A fleet on Ray: its configuration, and a local cluster that is spoken to, hurt and scaled."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.servers import LEAVING_SOCKETS, free_port

from sayahead.client import AsyncClient
from sayahead.deploy.ray import ENVIRONMENT, Fleet, build, parsed, samples
from sayahead.errors import ConfigError
from sayahead.server.operation.metrics import Metrics
from sayahead.voice import load_voice

# Ray uses what pydantic is to lose.
pytestmark = LEAVING_SOCKETS
WORDS = (
    "Every word of this text is spoken while the text is still being written, and none of them is"
    " lost. ".split()
)


def test_a_replica_has_the_settings_of_a_server() -> None:
    settings = Fleet(
        cores=2, serve={"voices": ["heart"], "keys": ["me:12345678"], "limits.idle_s": 60}
    ).settings()
    assert (settings.host, settings.workers, settings.limits.sessions) == ("0.0.0.0", 2, 32)
    assert settings.voices == ("heart",)
    assert settings.limits.idle_s == 60
    # All replicas take each other's tokens, and speak to the end of an hour's call.
    assert settings.token_secret
    assert settings.drain_s == 3600


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(ConfigError, match="port is not a replica's"):
        Fleet(serve={"port": 9000}).settings()
    with pytest.raises(ConfigError, match="at least 3 replicas"):
        Fleet(replicas=3, most_replicas=2)
    with pytest.raises(ConfigError, match="load"):
        Fleet(load=2.0)
    with pytest.raises(ConfigError, match=r"limits\.sesions"):
        Fleet(serve={"limits.sesions": 3}).settings()


def test_arguments_of_serve_run_are_texts() -> None:
    given = {
        "replicas": "2",
        "load": "0.5",
        "serve.voices": "heart",
        "serve": {"limits.sessions": 4},
    }
    assert parsed(given) == {
        "replicas": 2,
        "load": 0.5,
        "serve": {"voices": "heart", "limits.sessions": 4},
    }


def test_ray_is_told_all_that_the_server_counts() -> None:
    metrics = Metrics()
    metrics.first_audio.labels("first_text").observe(0.02)
    metrics.sessions.labels("native", "done").inc(3)
    told = {
        (sample.name, *sample.labels.values()): sample.value for sample in samples(metrics.registry)
    }
    assert told["tts_sessions_total", "native", "done"] == 3
    assert told["tts_first_audio_seconds_bucket", "first_text", "0.02"] == 1
    assert told["tts_rejected_total", "quota"] == 0
    assert not [
        name
        for name, *_ in told
        if name.startswith(("process", "python")) or name.endswith("_created")
    ]


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'sayahead\[ray\]'"):
        build()


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[Any, int]]:
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    # The path of its socket must be short.
    folder = Path(tempfile.mkdtemp(prefix="ha"))
    places = {
        "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": f"{folder}/haproxy.cfg",
        "RAY_SERVE_HAPROXY_SOCKET_PATH": f"{folder}/admin.sock",
        "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": str(folder),
        "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": f"{folder}/state",
        "RAY_SERVE_HAPROXY_METRICS_PORT": str(free_port()),
        "RAY_SERVE_HAPROXY_STATS_PORT": str(free_port()),
    }
    os.environ.update(ENVIRONMENT | places | {"RAY_AUTH_MODE": "disabled"})
    # Ray's processes would compile all modules anew, which on a loaded machine takes longer than
    # Ray waits.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    source = str(Path(__file__).parents[2] / "src")
    os.environ["PYTHONPATH"] = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
    ray.init(num_cpus=6, include_dashboard=False, log_to_driver=False)
    from ray import serve

    port = free_port()
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    yield serve, port
    serve.shutdown()
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


def run(ray_serve: Any, **arguments: Any) -> None:
    # Word by word, as the voice says what it is compared with.
    arguments["serve"] = {"voices": ["heart"], "step_words": 1, **arguments.get("serve", {})}
    ray_serve.run(build(arguments), name="sayahead", route_prefix="/")


def running(serve: Any) -> int:
    deployments = serve.status().applications["sayahead"].deployments
    return int(deployments["sayahead"].replica_states.get("RUNNING", 0))


def wait_until(condition: Callable[[], bool], timeout_s: float) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.2)


async def written(times: int, pause_s: float) -> AsyncIterator[str]:
    for word in WORDS * times:
        yield word + " "
        await asyncio.sleep(pause_s)


async def session(port: int, times: int, pause_s: float = 0.05) -> tuple[float, float]:
    """Seconds of sound, and the longest wait for more of it since it began."""
    seconds = 0.0
    worst = 0.0
    last = 0.0
    async with AsyncClient([f"ws://127.0.0.1:{port}"] * 3) as client:
        async for chunk in client.stream(written(times, pause_s)):
            now = time.monotonic()
            worst = max(worst, now - last) if last else 0.0
            last = now
            seconds += chunk.duration_s
    return seconds, worst


def speak_by_http(port: int, text: str) -> bytes:
    body = json.dumps(
        {"model": "tts-1", "voice": "heart", "input": text, "response_format": "pcm"}
    ).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/audio/speech", body)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        data: bytes = answer.read()
    return data


def replica_processes() -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if (
                folder.name.isdecimal()
                and b"ServeReplica:sayahead" in (folder / "cmdline").read_bytes()
            ):
                found.append(int(folder.name))
    return found


def check_told() -> None:
    """Ray's exporter and its logs tell what the replicas do."""
    import ray

    (node,) = ray.nodes()
    logs = Path(node["ObjectStoreSocketName"]).parents[1] / "logs"

    def exported() -> bool:
        address = f"http://127.0.0.1:{node['MetricsExportPort']}/metrics"
        text = urllib.request.urlopen(address, timeout=10).read().decode()
        return all(
            name in text
            for name in ("ray_tts_sessions_total", "ray_tts_first_audio_seconds_bucket")
        )

    wait_until(exported, 60)
    lines = [
        line
        for path in logs.glob("worker-*.err")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    closed = [line for line in lines if " info closed " in line]
    assert any("protocol=openai" in line for line in closed), lines[-20:]
    # The client ends its sessions: none of them is a failure.
    assert all("outcome=done" in line for line in closed if " texts=0 " not in line), closed


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_protocols_and_a_replica_that_is_killed(cluster: tuple[Any, int]) -> None:
    serve, port = cluster
    run(serve, replicas=2, cores=1, serve={"limits.sessions": 8})
    wait_until(lambda: running(serve) == 2, 120)
    text = " ".join(WORDS)
    expected = len(load_voice("heart").synthesize(text + " ")) / 24000

    data = speak_by_http(port, text)
    assert len(data) / 48000 == pytest.approx(expected, abs=0.01)
    assert np.frombuffer(data, "<i2").any()
    seconds, _ = asyncio.run(session(port, 1))
    assert seconds == pytest.approx(expected, abs=0.01)

    check_told()

    async def main() -> list[tuple[float, float]]:
        talks = [asyncio.create_task(session(port, 8)) for _ in range(6)]
        await asyncio.sleep(3.0)
        os.kill(replica_processes()[0], signal.SIGKILL)
        return await asyncio.gather(*talks)

    # Those of the killed one go on elsewhere.
    ended = asyncio.run(main())
    one = len(load_voice("heart").synthesize(" ".join(WORDS * 8) + " ")) / 24000
    assert all(seconds == pytest.approx(one, abs=0.2) for seconds, _ in ended), ended
    assert all(worst < 10.0 for _, worst in ended), ended
    # A new one comes, and speaks.
    wait_until(lambda: running(serve) == 2 and len(replica_processes()) == 2, 120)
    assert asyncio.run(session(port, 1))[0] == pytest.approx(expected, abs=0.01)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_scaling_up_and_down_cuts_nobody(cluster: tuple[Any, int]) -> None:
    serve, port = cluster
    bounds = {"replicas": 1, "most_replicas": 2, "load": 0.5, "grow_s": 1.0, "shrink_s": 2.0}
    run(serve, **bounds, cores=1, serve={"limits.sessions": 4})
    wait_until(lambda: running(serve) == 1, 120)
    seen: set[int] = set()

    async def watch(done: asyncio.Event) -> None:
        while not done.is_set():
            seen.add(await asyncio.to_thread(running, serve))
            await asyncio.sleep(0.5)

    async def main() -> list[tuple[float, float]]:
        done = asyncio.Event()
        watching = asyncio.create_task(watch(done))
        # The long ones write for 90 s, the others for 20: these end, and one replica is enough,
        # while those go on.
        long = [asyncio.create_task(session(port, 24, 0.2)) for _ in range(2)]
        short = [asyncio.create_task(session(port, 20, 0.05)) for _ in range(2)]
        ended = await asyncio.gather(*long, *short)
        # What is left needs one replica.
        while await asyncio.to_thread(running, serve) != 1:
            await asyncio.sleep(0.5)
        done.set()
        await watching
        return ended

    ended = asyncio.run(asyncio.wait_for(main(), 400))
    assert seen >= {1, 2}, seen
    lengths = {
        times: len(load_voice("heart").synthesize(" ".join(WORDS * times) + " ")) / 24000
        for times in (20, 24)
    }
    for (seconds, _), times in zip(ended, (24, 24, 20, 20), strict=True):
        assert seconds == pytest.approx(lengths[times], abs=0.5)
