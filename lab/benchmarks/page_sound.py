"""When the first sound is heard in Chromium and Firefox: by `<audio>` in each container, and by the
module for agents.

    python lab/benchmarks/page_sound.py [--out lab/benchmarks/results/page_sound.json] \
        [--machine busy]

`live` is an answer that is spoken while it is sent, `whole` the same bytes at once: what is left is
the container's and the browser's. Times are seconds from the request (or, for the module, from
`speak`) to the element's `playing`, and to a time in it above 0: for the module, to the first
sample that is heard."""

from __future__ import annotations

import itertools
import json
import statistics
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import uvicorn
import with_tests  # noqa: F401
from sayahead import load_voice
from sayahead.sound.formats import ENCODINGS, AudioFormat
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from support.browser import chromium
from support.firefox import firefox
from support.player_page import INDEX, PLACE, agent
from support.servers import Running, serving

from sayahead_lab.results import keep_figures, kept, options

TEXT = (
    "The museum opens at half past nine, and tickets cost twelve euros. Children under six are free"
    " of charge."
)
SERVED = Path(__file__).parents[2] / "src/sayahead/server/page"
"""What the module imports."""
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
    audio.src = `${url}?${Math.random()}`;
    audio.play();
    await done;
    audio.pause();
    audio.src = "";
    return at;
}"""
OPEN = """async (url) => {
    window.agent = await (await import("/page/agent.js")).connect(url);
    await agent.open();
    return {};
}"""
MODULE = """async (text) => {
    const begun = performance.now();
    const turn = agent.speak(text);
    // More often, and Firefox reads no socket meanwhile.
    while (agent.player.heard() === 0) await new Promise((resolve) => setTimeout(resolve, 10));
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

    async def module(request: Request) -> Response:
        return Response(INDEX.read_bytes(), media_type="text/javascript")

    return Starlette(
        routes=[
            Route("/", page),
            Route(f"/{PLACE}", module),
            Mount("/page", StaticFiles(directory=SERVED)),
            Route("/live/{name}", live),
            Route("/whole/{name}", whole),
        ]
    )


Evaluate = Callable[[str, str], dict[str, float]]
"""Runs a script of one argument in a page."""


def measured(evaluate: Evaluate, script: str, argument: str, count: int) -> dict[str, float]:
    """The medians of so many trials, the first of which does not count."""
    trials = [evaluate(script, argument) for _ in range(count + 1)][1:]
    return {
        key: round(statistics.median(each[key] for each in trials) / 1000, 3) for key in trials[0]
    }


def elements(evaluate: Evaluate, count: int) -> Iterator[dict[str, Any]]:
    """A row for each container of an audio element."""
    for kind, name in itertools.product(("live", "whole"), FORMATS):
        found = measured(evaluate, ELEMENT, f"/{kind}/{name}", count)
        yield {"way": f"<audio>, {name}", "source": kind, **found}


def in_chromium(address: str, running: Running, count: int) -> Iterator[dict[str, Any]]:
    """All ways in Chromium."""
    with chromium("--autoplay-policy=no-user-gesture-required") as browser:
        page = browser.new_page()
        page.goto(address)
        yield from elements(page.evaluate, count)
        with agent(browser, running.http, running.ws) as opened:
            yield {**OWN, **measured(opened.evaluate, MODULE, TEXT, count)}


def in_firefox(address: str, running: Running, count: int) -> Iterator[dict[str, Any]]:
    """All ways in Firefox, which needs a sound device, such as PulseAudio's null sink."""
    with firefox(PLAYS) as page:

        def evaluate(script: str, argument: str) -> dict[str, float]:
            found: dict[str, float] = page.evaluate(f"() => ({script})({json.dumps(argument)})")
            return found

        page.goto(address)
        yield from elements(evaluate, count)
        page.goto(address)
        evaluate(OPEN, f"{running.ws}/v1/stream")
        yield {**OWN, **measured(evaluate, MODULE, TEXT, count)}


PLAYS = {"media.autoplay.default": 0, "media.autoplay.blocking_policy": 0}
"""Preferences by which a page may sound before anybody clicks."""
BROWSERS = {"chromium": in_chromium, "firefox": in_firefox}
OWN = {"way": "sayahead-player", "source": "live"}


def measure(browsers: Sequence[str], count: int) -> list[dict[str, Any]]:
    """A row for each browser and way."""
    server = uvicorn.Server(uvicorn.Config(app(), port=0, log_level="error"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    with serving(voice=load_voice("heart"), origins=(address,)) as running:
        rows = list[dict[str, Any]]()
        for name in browsers:
            for row in BROWSERS[name](address, running, count):
                rows.append({"browser": name, **row})
                print(rows[-1], flush=True)
    server.should_exit = True
    return rows


def main() -> None:
    """Measure, and write the rows."""
    out = Path("lab/benchmarks/results/page_sound.json")
    parser = options(__doc__, count=9, out=out, machine="quiet")
    parser.add_argument("--browsers", nargs="+", choices=BROWSERS, default=list(BROWSERS))
    args = parser.parse_args()
    rows = measure(args.browsers, args.count)
    keep_figures(kept(args.out) | {args.machine: rows}, args.out)


if __name__ == "__main__":
    main()
