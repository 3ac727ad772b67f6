"""The module for agents in a page: turns, what was heard of them, and interruptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright")

from playwright.sync_api import Browser, Page
from support.browser import chromium, drawl
from support.player_page import agent
from support.servers import Running, serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(voice=drawl()) as running:
        yield running


@pytest.fixture(scope="module")
def page(server: Running) -> Iterator[Page]:
    with chromium("--autoplay-policy=no-user-gesture-required") as browser:
        found: Browser = browser
        with agent(found, server.http, server.ws) as opened:
            yield opened


def test_a_turn_is_heard_to_its_end(page: Page) -> None:
    said: dict[str, Any] = page.evaluate("""async () => {
            const words = [];
            const turn = agent.speak("It opens at 9:30.", { onWord: (word) => words.push(word.written) });
            return { ...(await turn.finished), words, late: turn.cancel() };
        }""")  # noqa: E501
    assert (said["text"], said["unsaid"], said["interrupted"]) == ("It opens at 9:30.", "", False)
    assert said["words"] == ["It", "opens", "at", "9:30."]
    assert said["late"]["playedS"] == said["playedS"] > 1


def test_an_interruption_is_silent_at_once_and_the_next_turn_is_heard(page: Page) -> None:
    said: dict[str, Any] = page.evaluate("""async () => {
            let closed = false, told;
            const third = new Promise((resolve) => (told = resolve));
            const seen = [];
            async function* tokens() {
                try {
                    for (const word of "one two three four five six seven eight. ".split(/(?<= )/)) yield word;
                    await new Promise(() => {});
                } finally {
                    closed = true;
                }
            }
            const iterator = tokens();
            const closing = iterator.return.bind(iterator);
            iterator.return = (value) => ((closed = true), closing(value));
            const first = agent.speak(iterator, {
                onWord: ({ text }) => (seen.push(text), seen.length === 3 && told()),
            });
            await third;
            const heard = agent.cancel();
            const frozen = await first.finished;
            const pushed = agent.player.pushed;
            const next = agent.speak("Yes.");
            const late = first.cancel();
            return { heard, frozen, late, closed, pushed, next: await next.finished };
        }""")  # noqa: E501
    assert said["heard"] == said["frozen"] == said["late"]
    assert said["heard"]["interrupted"]
    assert said["heard"]["text"].split() == "one two three four".split()[: said["heard"]["words"]]
    assert 2 <= said["heard"]["words"] <= 3
    assert (
        said["heard"]["text"] + said["heard"]["unsaid"]
        == "one two three four five six seven eight. "
    )
    assert said["closed"]
    assert said["pushed"] == 0
    assert (said["next"]["text"], said["next"]["interrupted"]) == ("Yes.", False)


def test_turns_are_heard_one_after_the_other_and_end_with_the_model(page: Page) -> None:
    said: dict[str, Any] = page.evaluate("""async () => {
            const order = [];
            const first = agent.speak("one two.", { onWord: ({ text }) => order.push(text) });
            const second = agent.speak(["three ", "four."], { onWord: ({ text }) => order.push(text) });
            await second.finished;
            async function* broken() {
                yield "five ";
                throw new Error("no model");
            }
            const third = agent.speak(broken());
            const why = await third.finished.catch((error) => error.message);
            return { order, why, first: first.heard(), third: third.heard() };
        }""")  # noqa: E501
    assert said["order"] == ["one", "two.", "three", "four."]
    assert said["why"] == "no model"
    assert not said["first"]["interrupted"]
    assert said["third"]["interrupted"]
