"""Everything that the page can do, in a real browser; ``test_page_speaks.py`` is the short form."""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route
from support.browser import NAME, Seat, drawl, seated
from support.servers import KEY, Running, serving
from support.toy_voices import toy

from sayahead import Voice
from sayahead.voices import installed_voices

pytestmark = pytest.mark.slow
TEXT = "Hello there, how are you today? I am fine, thank you. "
SENTENCE = "one two three four five six seven eight nine ten, eleven twelve. "
LONG = SENTENCE * 40
HAS_SOUND = ("ready", "now", "heard")


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(voice=drawl()) as running:
        yield running


def choose_sentences(page: Page) -> None:
    page.locator("#mode label", has_text="Sentence by sentence").click()


# Speaking.


def test_a_language_models_pace_leaves_no_gap(browser: Browser) -> None:
    with serving(voice=drawl()) as server, seated(browser, server.http) as seat:
        text = (
            "The quick brown fox jumps over the lazy dog, and nobody minds. It does so every day of"
            " the year."
        )
        seat.paste(text)
        seat.until("window.loud() > 0.02")
        # Where other programs take the processor away, any player stops: one of three takes must be
        # whole.
        for _ in range(3):
            late = server.metric("tts_underruns_total")
            seat.until_heard()
            assert seat.lit == text.split()
            if seat.cell("gaps", 0) == "0" and server.metric("tts_underruns_total") == late:
                return
            seat.page.click("#reset")
            seat.page.keyboard.press("Control+Enter")
            seat.until("document.body.dataset.busy === 'true'")
        raise AssertionError("There was a gap in each of three takes.")


def test_a_gap_is_counted_where_the_server_is_late(browser: Browser) -> None:
    with serving(voice=drawl(step_s=0.8)) as slow, seated(browser, slow.http) as seat:
        seat.paste(TEXT)
        seat.until_heard()
        assert seat.lit == TEXT.split()
        assert int(seat.cell("gaps", 0)) > 0


def test_the_switch_makes_it_wait_for_sentences(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        choose_sentences(seat.page)
        seat.page.select_option("#pace", "slow")
        seat.paste(TEXT)
        seat.until_heard()
        assert seat.lit == TEXT.split()
        assert seat.cell("first", 2) != "–"
        states = seat.value("window.seen")
        begun = next(
            i for i, (text, state) in enumerate(states) if text == "Hello" and state in HAS_SOUND
        )
        assert begun > states.index(["today?", "typed"])


def test_the_choices_reach_the_server(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.page.focus("#speed")
        seat.page.keyboard.press("ArrowRight")
        seat.page.select_option("#lookahead", "lookahead:k=3")
        choose_sentences(seat.page)
        seat.type(TEXT)
        seat.until_heard()
        updates = [json.loads(m)["session"] for m in seat.sent if '"session.update"' in m]
        assert "lookahead:k=3" in [update["policy"] for update in updates]
        assert updates[-1] == {
            "voice": "toy",
            "policy": "wait-all",
            "speed": 1.05,
            "sample_rate": 24000,
            "idle_s": 60,
            "breath_s": 0,
        } | {"voice": updates[-1]["voice"]}
        assert updates[-1]["voice"] in (None, "toy")
        # The voice's own range.
        assert seat.value("document.getElementById('speed').max") == "2"
        assert (
            seat.value("[...document.getElementById('voice').options].map((o) => o.value)")[0]
            == "toy"
        )


def test_typed_and_pasted_text_are_spoken_the_same_way(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.type("Hello there ")
        seat.until_heard()
        seat.page.keyboard.press("Escape")
        seat.page.locator("#editor").fill("")
        seat.paste(TEXT)
        seat.until_heard()
        updates = [json.loads(m)["session"] for m in seat.sent if '"session.update"' in m]
        assert len(updates) >= 2
        assert all(update == updates[0] for update in updates)


def test_the_first_word_may_be_typed_before_the_socket_is_open(
    server: Running, browser: Browser
) -> None:
    held = list[Route]()
    with seated(browser, server.http) as seat:
        # Without a token nobody can connect.
        seat.page.route("**/v1/tokens", lambda route: held.append(route))
        seat.open(server.http)
        seat.type("Hello there ")
        seat.until("document.querySelector('#mirror .typed') !== null")
        assert seat.sent == []
        while held:
            held.pop().continue_()
        seat.until_heard()
        assert seat.lit == ["Hello", "there"]
        messages = [json.loads(message) for message in seat.sent]
        first = next(
            i for i, message in enumerate(messages) if message["type"] == "input_text.append"
        )
        update = messages[first - 1]
        assert (update["type"], update["session"]["policy"]) == ("session.update", None)


def race(seat: Seat) -> tuple[float, float]:
    """The seconds to the first sound of both lanes."""
    seat.page.click("#go")
    seat.until("document.body.dataset.racing === 'true'")
    seat.until("document.body.dataset.racing === 'false'")
    clocks = seat.value("[...document.querySelectorAll('.clock')].map((each) => each.textContent)")
    words, sentences = (
        float(n) / (1000 if unit == "ms" else 1) for n, unit in (each.split() for each in clocks)
    )
    return words, sentences


def test_the_race_is_won_word_by_word_and_heard_alone(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.page.select_option("#race-pace", "slow")
        seat.page.click("#go")
        seat.until("document.querySelector('#by-word').dataset.state === 'speaking'")
        assert seat.value("document.querySelector('#by-sentence').dataset.state") == "waiting"
        seat.until("window.loud() > 0.05")
        # The clock of a lane that is silent counts on.
        first = seat.page.inner_text("#by-sentence .clock")
        seat.until(f"document.querySelector('#by-sentence .clock').textContent !== '{first}'")
        seat.until("document.body.dataset.racing === 'false'")
        assert "sooner" in seat.page.inner_text("#verdict")
        text = seat.page.inner_text("#by-word .script")
        for lane in ("#by-word", "#by-sentence"):
            assert seat.page.inner_text(f"{lane} .script") == text
            assert seat.value(f"document.querySelectorAll('{lane} .script .heard').length") == len(
                text.split()
            )
        policies = [
            json.loads(m)["session"]["policy"] for m in seat.sent if '"session.update"' in m
        ]
        assert policies[-3:] == [None, "wait-all", None]
        # Each can be heard again.
        seat.page.click("#by-sentence button")
        seat.until("window.loud() > 0.05")
        seat.page.keyboard.press("Escape")
        seat.until("window.loud() === 0")
        # A text goes on as ever.
        seat.type("Hello there. ")
        seat.until_heard()
        assert seat.page.inner_text("#last-first") != "–"
        assert seat.page.inner_text("#last-ready") != "–"


def test_a_race_stops_at_a_key_and_starts_again(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        for _ in range(2):
            seat.page.click("#go")
            seat.until("document.querySelector('#by-word').dataset.state === 'speaking'")
            seat.page.keyboard.press("Escape")
            seat.until("document.body.dataset.racing === 'false'")
            seat.until("window.loud() === 0")
        assert sum("input_text.cancel" in message for message in seat.sent) == 4
    server.settle()


def test_every_installed_voice_speaks_on_the_page(browser: Browser) -> None:
    with serving(voice=drawl(), installed=()) as every, seated(browser, every.http) as seat:
        seat.type("Hello. ")
        seat.until_heard()
        names = seat.value(
            "[...document.getElementById('voice').options].map((option) => option.value)"
        )
        assert set(installed_voices()) <= set(names)
        for name in installed_voices():
            seat.page.select_option("#voice", name)
            heard = len(seat.lit)
            seat.put("")
            seat.put(f"This is a voice, {name.split('-')[0]}.")
            seat.until(f"window.lit.size > {heard} && document.body.dataset.busy === 'false'")
            assert seat.lit[heard:][:4] == ["This", "is", "a", "voice,"]
            assert seat.page.inner_text("#problem") == ""
            assert seat.page.inner_text("#hint").startswith(f"{name}: ")
            words, sentences = race(seat)
            assert 0 < words < sentences


def test_a_voice_of_characters_speaks_in_both_modes(browser: Browser) -> None:
    with serving(voice=toy("mohan")) as characters, seated(browser, characters.http) as seat:
        seat.type("Hello there. ")
        seat.until("window.loud() > 0.02")
        seat.until_heard()
        assert seat.lit == ["Hello", "there."]
        assert seat.page.locator("#lookahead").is_disabled()
        assert "there is no lookahead to choose" in seat.page.inner_text("#hint")
        choose_sentences(seat.page)
        seat.page.keyboard.press("Control+Enter")
        seat.until("document.body.dataset.busy === 'true'")
        seat.until_heard()
        assert seat.cell("first", 2) != "–"
        assert [json.loads(m)["session"]["voice"] for m in seat.sent if '"session.update"' in m][
            -1
        ] == "tiny"


def test_a_policy_that_the_voice_lacks_is_explained(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.type("Hello there. ")
        seat.until_heard()
        seat.page.select_option("#lookahead", "learned")
        seat.until(
            "document.getElementById('problem').textContent.includes(\"has no policy 'learned'\")"
        )
        seat.page.select_option("#lookahead", "")
        seat.until("document.getElementById('problem').textContent === ''")
        seat.type("And on it goes. ")
        seat.until_heard()
        assert seat.lit[-1] == "goes."


def test_a_change_of_speed_goes_on_from_the_next_word(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        text = " ".join(f"word{i}" for i in range(24))
        seat.paste(text)
        seat.until("window.seen.some(([text, state]) => text === 'word9' && state === 'now')")
        seat.page.focus("#speed")
        seat.page.keyboard.press("ArrowLeft")
        seat.until_heard()
        assert seat.lit == text.split()
        assert any("input_text.cancel" in message for message in seat.sent)


# Barge-in.


# Editing.


def test_what_was_sent_and_not_heard_is_taken_back(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.page.select_option("#pace", "once")
        text = SENTENCE * 3
        seat.paste(text + "The end is bad.")
        seat.until("document.querySelector('#mirror span:last-child').className === 'ready'")
        seat.put(text + "The end is good.")
        seat.until_heard()
        assert seat.lit == (text + "The end is good.").split()


REPLACE = """() => {
  const next = [...document.querySelectorAll('#mirror .ready')][1].textContent;
  const editor = document.getElementById('editor');
  editor.value = editor.value.replace(next, 'something');
  editor.dispatchEvent(new InputEvent('input'));
  return next;
}"""


def test_a_word_whose_sound_waits_in_the_browser_can_be_another(
    server: Running, browser: Browser
) -> None:
    words = (
        "Nobody remembers whether president considered everything everywhere yesterday afternoon"
        " together.".split()
    )
    with seated(browser, server.http) as seat:
        seat.page.select_option("#pace", "once")
        seat.paste(" ".join(words))
        # All of its sound is in the browser, and some of it was heard.
        seat.until("document.querySelector('#mirror span:last-child').className === 'ready'")
        seat.until("document.querySelectorAll('#mirror :is(.now, .heard)').length > 0")
        taken = seat.value(REPLACE)
        seat.until_heard()
        assert seat.lit == ["something" if word == taken else word for word in words]
        assert [
            text
            for text, state in seat.value("window.seen")
            if text == taken and state in ("now", "heard")
        ] == []
        # What is saved is what was heard: each word once.
        with seat.page.expect_download() as saved:
            seat.page.click("#srt")
        lines = saved.value.path().read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if taken in line] == []


def test_a_word_that_was_not_spoken_is_revised_where_it_stands(
    server: Running, browser: Browser
) -> None:
    with seated(browser, server.http) as seat:
        seat.page.select_option("#lookahead", "lookahead:k=1")
        # The last word waits for the next one.
        seat.put("I live in Berlim ")
        seat.until("document.querySelectorAll('#mirror .now').length > 0")
        seat.put("I live in Paris now. ")
        seat.until_heard()
        assert seat.lit == ["I", "live", "in", "Paris", "now."]
        assert seat.said == "I live in Paris now. "
        assert "input_text.revise" in seat.kinds()
        assert "input_text.cancel" not in seat.kinds()


def test_backspaces_are_followed_while_it_speaks(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.type("One two three 🙂 fuor ")
        for _ in range(4):
            seat.page.keyboard.press("Backspace")
        seat.type("our five. ")
        seat.until_heard()
        assert seat.lit[:3] == ["One", "two", "three"]
        assert seat.lit[-2:] == ["four", "five."]
        assert "fuor" not in seat.lit


def test_a_selection_is_replaced_while_text_arrives(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        # What the lookahead waits for was sent, and can be changed.
        seat.page.select_option("#lookahead", "lookahead:k=5")
        seat.page.select_option("#pace", "slow")
        words = [f"word{i}" for i in range(12)]
        seat.paste(" ".join(words))
        seat.until("document.querySelectorAll('#mirror .ready').length > 0")
        # The last word that was sent whole.
        last = seat.value("[...document.querySelectorAll('#mirror .typed')].at(-2).textContent")
        at = " ".join(words).index(last + " ")
        seat.page.locator("#editor").evaluate(
            "(editor, [start, end]) => editor.setSelectionRange(start, end)", [at, at + len(last)]
        )
        seat.page.keyboard.insert_text("something else")
        seat.until_heard()
        wanted = ["something else" if word == last else word for word in words]
        assert seat.lit == " ".join(wanted).split()
        assert seat.said == " ".join(wanted)
        assert "input_text.revise" in seat.kinds()


def test_what_the_server_spoke_meanwhile_is_not_heard(browser: Browser) -> None:
    with serving(voice=drawl(step_s=1.0), step_words=1) as slow, seated(browser, slow.http) as seat:
        seat.page.select_option("#lookahead", "lookahead:k=0")
        seat.put("One two three ")
        # The third word is being spoken; nobody knows yet.
        seat.until("document.querySelectorAll('#mirror :is(.ready, .now, .heard)').length === 2")
        seat.put("One two four five. ")
        seat.until("window.seen.some(([text, state]) => text === 'five.' && state === 'now')")
        seat.until_heard()
        assert seat.lit == ["One", "two", "four", "five."]
        assert {"input_text.revise", "input_text.cancel"} <= seat.kinds()


def test_a_correction_of_what_was_heard_is_silent(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.type("Helo my friend. ")
        seat.until_heard()
        seat.page.keyboard.press("Control+Home")
        for _ in range(3):
            seat.page.keyboard.press("ArrowRight")
        seat.page.keyboard.type("l")
        seat.page.keyboard.press("Control+End")
        seat.type("And 🙂 more. ")
        seat.until_heard()
        assert seat.said == "Helo my friend. And 🙂 more. "
        assert seat.lit[-1] == "more."
        assert seat.page.inner_text("#mirror").startswith("Hello my friend. And 🙂 more.")


def test_an_empty_text_is_silent_and_another_begins_anew(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        seat.put(LONG)
        seat.until("window.loud() > 0.05")
        seat.put("")
        seat.until_heard()
        seat.page.wait_for_timeout(300)
        assert seat.value("window.loud()") == 0
        assert seat.page.inner_text("#verb") == "Play an example"
        assert seat.page.locator("#wav").is_disabled()
        said = len(seat.lit)
        seat.type("Anew. ")
        seat.until_heard()
        assert seat.lit[said:] == ["Anew."]


def test_another_text_is_spoken_even_if_it_begins_and_ends_as_the_last_did(
    server: Running, browser: Browser
) -> None:
    with seated(browser, server.http) as seat:
        seat.paste("This is one.")
        seat.until_heard()
        seat.page.keyboard.press("Control+A")
        seat.paste("That was the other one.")
        seat.until_heard()
        assert seat.said == "This is one.That was the other one."
        assert seat.lit == ["This", "is", "one.", "That", "was", "the", "other"]


# Files to take away.


def test_the_sound_that_is_saved_is_the_voices_to_the_bit(
    heart: Voice, browser: Browser, tmp_path: Path
) -> None:
    text = "One day, the fox jumps. It is Dr. Smith who sees it!"
    with serving(voice=heart, step_words=1) as server, seated(browser, server.http) as seat:
        seat.paste(text)
        seat.until_heard()
        with seat.page.expect_download() as found:
            seat.page.click("#wav")
        assert found.value.suggested_filename == "sayahead.wav"
        with wave.open(io.BytesIO(found.value.path().read_bytes())) as file:
            assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24000, 1, 2)
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        whole = heart.synthesize(text)
        assert len(samples) == len(whole)
        assert np.abs(samples - whole * 32767).max() <= 1
        with seat.page.expect_download() as found:
            seat.page.click("#srt")
        blocks = found.value.path().read_text(encoding="utf-8").strip().split("\n\n")
        assert blocks[0].split("\n")[2] == "One day, the fox jumps."
        assert blocks[0].split("\n")[0] == "1"
        assert blocks[0].split("\n")[1].startswith("00:00:00,")
        assert [block.split("\n")[2] for block in blocks[1:]] == ["It is Dr. Smith who sees it!"]
        seat.page.check("#spoken")
        with seat.page.expect_download() as found:
            seat.page.click("#srt")
        assert "It is Doctor Smith who sees it!" in found.value.path().read_text(encoding="utf-8")


# Where things go wrong.


def test_a_key_is_asked_for_until_it_is_right(browser: Browser) -> None:
    with (
        serving(voice=drawl(), keys=(KEY,)) as server,
        seated(browser, server.http, clean=False) as seat,
    ):
        # Before anybody types.
        seat.page.wait_for_selector("#ask[open]")
        seat.page.fill("#key", "wrong-key-of-theirs")
        seat.page.keyboard.press("Enter")
        seat.until("document.getElementById('ask-text').textContent.startsWith('That key')")
        seat.page.fill("#key", KEY)
        seat.page.keyboard.press("Enter")
        seat.type("Hello ")
        seat.until("window.loud() > 0.05")
        assert not any(KEY in message for message in seat.sent)
        seat.until_heard()
        assert seat.lit == ["Hello"]


def test_who_gives_no_key_is_told_so(browser: Browser) -> None:
    with serving(keys=(KEY,)) as server, seated(browser, server.http, clean=False) as seat:
        seat.page.wait_for_selector("#ask[open]")
        seat.page.click("#ask button:has-text('Cancel')")
        seat.until("document.getElementById('problem').textContent === 'This server needs a key.'")
        assert seat.page.locator("#problem").get_attribute("role") == "alert"


def test_plain_http_from_another_machine_speaks_too(browser: Browser) -> None:
    with (
        serving(voice=drawl(), hosts=(NAME,)) as server,
        seated(browser, f"http://{NAME}:{server.port}/") as seat,
    ):
        assert seat.value("isSecureContext") is False
        seat.type(TEXT)
        seat.until("window.loud() > 0.05")
        seat.until_heard()
        assert seat.lit == TEXT.split()
        assert seat.value("document.body.dataset.way") == "scheduled"
        assert seat.page.locator("#note").is_visible()


# For everybody.


def test_it_works_by_keys_and_everything_has_a_name(server: Running, browser: Browser) -> None:
    with seated(browser, server.http) as seat:
        tree = seat.page.locator("body").aria_snapshot()
        for line in (
            'textbox "Text to speak, while you type"',
            'button "Play an example"',
            'radio "Word by word" [checked]',
            'radio "Sentence by sentence"',
            'combobox "A pasted text arrives like"',
            'combobox "Voice"',
            'combobox "Lookahead"',
            'slider "Speed',
            'heading "Speech that starts with the first word" [level=1]',
            'button "Race"',
            'combobox "The text arrives like"',
        ):
            assert line in tree, tree
        # What would be empty is not there yet.
        for empty in ("#timeline", "#last-first", "#first"):
            assert not seat.page.locator(empty).is_visible()
        assert (
            seat.page.inner_text("#by-word .script")
            == seat.page.inner_text("#by-sentence .script")
            != ""
        )
        seat.page.focus("#editor")
        seat.page.keyboard.press("Control+Enter")
        seat.until("window.loud() > 0.05")
        tree = seat.page.locator("body").aria_snapshot()
        for line in (
            'button "Save sound (WAV)"',
            'rowheader "First sound',
            'img "When each word was typed',
        ):
            assert line in tree, tree
        reached = []
        for _ in range(15):
            seat.page.keyboard.press("Tab")
            reached.append(
                seat.value(
                    "['id', 'name', 'textContent'].map((key) => document.activeElement[key])"
                    ".find(Boolean)"
                )
            )
        assert reached == [
            "play",
            "mode",
            "Styles",
            "Stress and pauses",
            "share",
            "Who speaks, and how",
            "pace",
            "voice",
            "mine",
            "lookahead",
            "speed",
            "wav",
            "srt",
            "spoken",
            "reset",
        ]
        seat.page.focus("#play")
        seat.page.keyboard.press("Enter")
        seat.until_heard()
        assert seat.page.locator("#play").inner_text() == "Play"


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_cut_off_on_any_screen(server: Running, browser: Browser, width: int) -> None:
    with seated(browser, server.http, viewport={"width": width, "height": 800}) as seat:
        seat.put(LONG)
        assert seat.value("document.documentElement.scrollWidth") <= width
        # The letters that are seen stand where the editor's are.
        sizes = (
            "['mirror', 'editor'].map((id) => document.getElementById(id)).map((e) =>"
            " [e.clientWidth, e.scrollHeight])"
        )
        mirror, editor = seat.value(sizes)
        assert mirror == editor
        assert seat.value("document.getElementById('editor').scrollTop") == 0
