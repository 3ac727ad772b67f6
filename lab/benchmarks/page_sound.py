"""When the first sound is heard in Chromium: by `<audio>` in each container, and by the module for
agents.

    python lab/benchmarks/page_sound.py [--out lab/benchmarks/results/page_sound.json]

`live` is an answer that is spoken while it is sent, `whole` the same bytes at once: what is left is
the container's and the browser's. Times are seconds from the request (or, for the module, from
`speak`) to the element's `playing`, and to a time in it above 0: for the module, to the first
sample that is heard."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from sayahead import load_voice
from sayahead.sound.formats import ENCODINGS, AudioFormat
from support.browser import chromium
from support.player_page import agent
from support.servers import serving

TEXT = (
    "The museum opens at half past nine, and tickets cost twelve euros. Children under six are free"
    " of charge."
)
FORMATS = ("wav", "flac", "mp3", "opus", "aac")
ELEMENT = """async (url) => {
    const audio = new Audio();
    const begun = performance.now();
    const at = {};
    const done = new Promise((resolve, reject) => {
        audio.onerror = () => reject(new Error("it does not play"));
        audio.onplaying = () => (at.playing ??= performance.now() - begun);
        const look = () => {
            if (audio.currentTime > 0) at.moving ??= performance.now() - begun;
            if (at.moving && at.playing) resolve();
            else setTimeout(look, 2);
        };
        look();
    });
    audio.src = url;
    audio.play();
    await done;
    audio.pause();
    audio.src = "";
    return at;
}"""
MODULE = """async (text) => {
    const begun = performance.now();
    const turn = agent.speak(text);
    while (agent.player.heard() === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    const at = { moving: performance.now() - begun };
    turn.cancel();
    return at;
}"""


def app() -> Starlette:
    """A page's server: each format, live and whole."""
    voice = load_voice("heart")
    kept = {
        name: b"".join(part.data for part in voice.speak(TEXT).encoded(name)) for name in FORMATS
    }

    async def live(request: Request) -> Response:
        name = request.path_params["name"]

        async def parts() -> AsyncIterator[bytes]:
            async for part in voice.speak(TEXT).encoded(name):
                yield part.data

        return StreamingResponse(parts(), media_type=AudioFormat(name).media_type)

    async def whole(request: Request) -> Response:
        name = request.path_params["name"]
        return Response(kept[name], media_type=ENCODINGS[name])

    async def page(request: Request) -> Response:
        return HTMLResponse("<!doctype html><title>Sound</title>")

    return Starlette(
        routes=[Route("/", page), Route("/live/{name}", live), Route("/whole/{name}", whole)]
    )


def measured(page: Page, script: str, argument: str, count: int) -> dict[str, float]:
    """The medians of so many trials, the first of which does not count."""
    trials: list[dict[str, float]] = [page.evaluate(script, argument) for _ in range(count + 1)][1:]
    return {
        key: round(statistics.median(each[key] for each in trials) / 1000, 3) for key in trials[0]
    }


def measure(browser: Browser, count: int) -> list[dict[str, Any]]:
    """A row for each way."""
    server = uvicorn.Server(uvicorn.Config(app(), port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    page = browser.new_page()
    page.goto(address)
    rows = [
        {
            "way": f"<audio>, {name}",
            "source": kind,
            **measured(page, ELEMENT, f"/{kind}/{name}", count),
        }
        for kind in ("live", "whole")
        for name in FORMATS
    ]
    server.should_exit = True
    with (
        serving(voice=load_voice("heart")) as running,
        agent(browser, running.http, running.ws) as opened,
    ):
        rows.append(
            {"way": "sayahead-player", "source": "live", **measured(opened, MODULE, TEXT, count)}
        )
    return rows


def main() -> None:
    """Measure, and write the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("lab/benchmarks/results/page_sound.json"))
    parser.add_argument("--count", type=int, default=9)
    args = parser.parse_args()
    with chromium("--autoplay-policy=no-user-gesture-required") as browser:
        rows = measure(browser, args.count)
    args.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
