"""The module for agents in a page (web/player), in a real browser at a server's own address."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page

INDEX = Path(__file__).parents[2] / "web/player/index.js"
PLACE = "page/agent.js"
"""Where the page finds it: the server has what it is packed with there."""


@contextlib.contextmanager
def agent(browser: Browser, http: str, ws: str) -> Iterator[Page]:
    """A page whose ``agent`` is connected, and may sound."""
    context = browser.new_context()
    try:
        page = context.new_page()
        page.route(
            f"**/{PLACE}", lambda route: route.fulfill(path=INDEX, content_type="text/javascript")
        )
        # The server's own page: browsers let no other one speak to this machine.
        page.goto(http)
        page.evaluate(
            """async ([place, url]) => {
                window.connect = (await import(`/${place}`)).connect;
                const { token } = await (await fetch("/v1/tokens", { method: "POST" })).json();
                window.agent = await connect(`${url}?token=${token}`);
            }""",
            [PLACE, f"{ws}/v1/stream"],
        )
        page.mouse.click(5, 5)
        page.evaluate("agent.open()")
        yield page
    finally:
        context.close()
