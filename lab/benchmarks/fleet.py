"""A fleet on Ray beside the plain server, in one run: first sound, and what a killed replica costs.

    python lab/benchmarks/fleet.py --json lab/benchmarks/results/fleet.json        (needs the \
        extra ray)

Server, fleet and clients share this machine. Each session writes 20 words a second; the first sound
counts from its first word. Rounds of all ways are taken in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
from output import tell_figures
from sayahead.client import AsyncClient, ServerError
from sayahead.deploy.ray import ENVIRONMENT, build

WORDS = (
    "Every word of this text is spoken while the text is still being written, and none of them is"
    " lost. ".split()
)
ROOT = Path(__file__).parents[2]


async def session(url: str, times: int, delay_s: float = 0.0) -> tuple[float, float] | None:
    """Milliseconds to the first sound, and the longest wait for more in seconds; None if it was cut
    or refused."""
    await asyncio.sleep(delay_s)
    start_s = 0.0

    async def text() -> AsyncIterator[str]:
        nonlocal start_s
        start_s = time.perf_counter()
        for word in WORDS * times:
            yield word + " "
            await asyncio.sleep(0.05)

    first = 0.0
    last = 0.0
    worst = 0.0
    try:
        async with AsyncClient([url] * 3) as client:
            async for _ in client.stream(text()):
                now = time.perf_counter()
                first = first or 1000 * (now - start_s)
                worst = max(worst, now - last) if last else 0.0
                last = now
    except ServerError:
        return None
    return first, worst


async def at_once(url: str, sessions: int) -> list[tuple[float, float] | None]:
    """Sessions that begin within half a second."""
    return await asyncio.gather(
        *[session(url, 3, 0.5 * number / sessions) for number in range(sessions)]
    )


def plain(port: int) -> subprocess.Popen[bytes]:
    """A server without Ray, ready."""
    command = [
        sys.executable,
        "-m",
        "sayahead",
        "serve",
        "--port",
        str(port),
        "--voice",
        "heart",
        "--workers",
        "2",
    ]
    process = subprocess.Popen([*command, "--set", "limits.sessions=64"], stderr=subprocess.DEVNULL)
    wait_for(port)
    return process


def wait_for(port: int) -> None:
    """Until somebody listens."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_ray() -> tuple[Any, int]:
    """Ray Serve on this machine, behind HAProxy, and its port."""
    folder = tempfile.mkdtemp(prefix="ha")
    own = {
        name: str(free_port())
        for name in ("RAY_SERVE_HAPROXY_METRICS_PORT", "RAY_SERVE_HAPROXY_STATS_PORT")
    }
    own |= {
        "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": f"{folder}/haproxy.cfg",
        "RAY_SERVE_HAPROXY_SOCKET_PATH": f"{folder}/admin.sock",
        "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": folder,
        "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": f"{folder}/state",
        "RAY_AUTH_MODE": "disabled",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    os.environ.update(ENVIRONMENT | own)
    import ray
    from ray import serve

    ray.init(num_cpus=6, include_dashboard=False, log_to_driver=False)
    port = free_port()
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    return serve, port


def running(serve: Any) -> int:
    """Replicas that run."""
    states = serve.status().applications["sayahead"].deployments["sayahead"].replica_states
    return int(states.get("RUNNING", 0))


def fleet(serve: Any, replicas: int) -> None:
    """So many replicas of one core, all running."""
    settings = {"voices": ["heart"], "limits.sessions": 64}
    serve.run(
        build({"replicas": replicas, "cores": 1, "serve": settings}),
        name="sayahead",
        route_prefix="/",
    )
    while running(serve) != replicas:
        time.sleep(0.2)


def replicas() -> list[int]:
    """Processes of replicas."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if (
                folder.name.isdecimal()
                and b"ServeReplica:sayahead" in (folder / "cmdline").read_bytes()
            ):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def row(way: str, sessions: int, results: list[tuple[float, float] | None]) -> dict[str, Any]:
    """A line of the table."""
    ended = [each for each in results if each is not None]
    first = [each[0] for each in ended]
    return {
        "way": way,
        "sessions": sessions,
        "cut_or_refused": len(results) - len(ended),
        "first_ms": {
            "p50": round(statistics.median(first)),
            "p95": round(float(np.quantile(first, 0.95))),
        },
        "longest_wait_s": round(max(each[1] for each in ended), 2),
    }


async def killed(serve: Any, url: str, sessions: int) -> dict[str, Any]:
    """One of two replicas dies under so many sessions."""
    talks = [asyncio.create_task(session(url, 8, 0.05 * number)) for number in range(sessions)]
    await asyncio.sleep(4.0)
    os.kill(replicas()[0], signal.SIGKILL)
    start_s = time.monotonic()
    while len(replicas()) < 2 or await asyncio.to_thread(running, serve) < 2:
        await asyncio.sleep(0.2)
    back_s = time.monotonic() - start_s
    results = await asyncio.gather(*talks)
    ended = [each for each in results if each is not None]
    return {
        "sessions": sessions,
        "cut": len(results) - len(ended),
        "longest_wait_of_the_others_s": round(max(each[1] for each in ended), 2),
        "two_replicas_again_s": round(back_s, 1),
    }


def main() -> int:
    """Measure and print; --json keeps it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 8, 16])
    arguments = parser.parse_args()
    serve, port = start_ray()
    alone = free_port()
    server = plain(alone)
    kept: dict[tuple[str, int], list[tuple[float, float] | None]] = {}
    for count in (1, 2):
        fleet(serve, count)
        # Both in turn: the machine's other load is then the same for both.
        name = f"{count} replica{'s' * (count > 1)}"
        ways = {
            f"plain server, beside {name}": f"ws://127.0.0.1:{alone}",
            f"Ray, {name}": f"ws://127.0.0.1:{port}",
        }
        for _ in range(arguments.rounds):
            for sessions in arguments.sessions:
                for way, url in ways.items():
                    kept.setdefault((way, sessions), []).extend(asyncio.run(at_once(url, sessions)))
    rows = [row(way, sessions, results) for (way, sessions), results in sorted(kept.items())]
    result = {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "rounds": arguments.rounds,
        "rows": rows,
        "killed": asyncio.run(killed(serve, f"ws://127.0.0.1:{port}", 8)),
    }
    server.terminate()
    server.wait(60)
    serve.shutdown()
    tell_figures(result, arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
