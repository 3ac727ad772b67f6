"""sayahead-web as somebody's page uses it, in Chromium and in Firefox, and its types."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.browser import chromium
from support.browser_tab import WEB, hosted, log_distance_db, script
from support.firefox import FIREFOX, firefox

from sayahead import Voice, load_voice
from sayahead.sound.pcm import to_pcm16

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

Ask = Callable[[str], Any]
FAMILY = WEB.parent / "voices" / "family" / "src" / "sayahead_voices_family"
TEXT = "The quick brown fox jumps over the lazy dog."
BARE = {"/bare.html": b"<!doctype html>"}
LOAD = 'const { load } = await import("./sayahead-web/index.js"); window.voice ??= load();'
NEAR_DB = 2.0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    script("build").build(folder, WEB / ".cache")
    return folder


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def ask(request: pytest.FixtureRequest, site: Path) -> Iterator[Ask]:
    """Runs the body of an async function, with ``voice`` loaded, in a page of a browser."""
    if request.param == "firefox" and not FIREFOX:
        pytest.skip("no firefox-esr is on PATH")
    with hosted(site, BARE) as address:
        if request.param == "firefox":
            with firefox() as page:
                page.goto(f"{address}bare.html")
                yield lambda body: page.evaluate(
                    f"async () => {{ {LOAD} const voice = await window.voice; {body} }}"
                )
        else:
            with chromium() as browser:
                tab = browser.new_page()
                tab.goto(f"{address}bare.html")
                yield lambda body: tab.evaluate(
                    f"async () => {{ {LOAD} const voice = await window.voice; {body} }}"
                )


def test_it_speaks_as_python_does(ask: Ask, heart: Voice) -> None:
    found = ask(f"""
        const words = [], samples = [];
        for await (const chunk of voice.speak({json.dumps([f"{word} " for word in TEXT.split()])})) {{
          words.push(...chunk.words.map(({{ text, start, end }}) => [text, start, end]));
          samples.push(...chunk.samples);
          if (chunk.sampleRate !== 24000) throw new Error(chunk.sampleRate);
        }}
        return {{ words, samples }};
        """)  # noqa: E501
    assert found["words"] == [
        [match[0], match.start(), match.end()] for match in re.finditer(r"\S+", TEXT)
    ]
    here = to_pcm16(heart.synthesize(TEXT))
    there = to_pcm16(np.array(found["samples"], np.float32))
    assert abs(len(here) - len(there)) < 0.08 * heart.sample_rate
    if len(here) == len(there):
        assert log_distance_db(here, there) < NEAR_DB


@pytest.mark.parametrize(
    ("voices", "name", "text"),
    [
        ("english", "bf_emma", TEXT),
        ("english", "am_puck", TEXT),
        ("spanish", "ef_dora", "El tren sale a las nueve y media, señora."),
        ("french", "ff_siwis", "Le train part à neuf heures et demie, madame."),
        ("italian", "if_sara", "Il treno parte alle nove e mezza, signora."),
        ("portuguese", "pm_alex", "O trem parte às nove e meia, senhora."),
    ],
)
def test_other_languages_are_pythons(ask: Ask, voices: str, name: str, text: str) -> None:
    samples = ask(f"""
        const others = await load({{ voices: {json.dumps(voices)} }});
        const speech = others.speak({json.dumps(text)}, {{ voice: {json.dumps(name)} }});
        const samples = Array.from(await speech.all());
        others.close();
        return samples;
        """)
    here = to_pcm16(load_voice(FAMILY / name).synthesize(text))
    there = to_pcm16(np.array(samples, np.float32))
    assert abs(len(here) - len(there)) < 0.08 * 24000
    if len(here) == len(there):
        assert log_distance_db(here, there) < NEAR_DB


def test_options_are_a_sessions(ask: Ask, heart: Voice) -> None:
    sizes = ask("""
        const size = async (text, options) => (await voice.speak(text, options).all()).length;
        return [
          await size("Hello there, you.", {}),
          await size("Hello there, you.", { speed: 2, voice: "heart-low", policy: "wait-all" }),
          await size("Hello there, you.", { sample_rate: 48000, pitch: 2, policy: "learned" }),
          await size('Hello <break time="1s"/> there, you.', { markup: "ssml" }),
          await size("Hello there, you.", { lexicon: { you: "incomprehensibility" }, policy: "lookahead:k=0" }),
          await size("Zyxqorp.", { keep_up: true, volume: 0.5 }),
        ];
        """)  # noqa: E501
    plain, fast, fine, broken, long, unknown = sizes
    assert abs(plain - len(heart.synthesize("Hello there, you."))) < 0.08 * heart.sample_rate
    assert fast < plain < fine
    assert broken > plain + 0.8 * heart.sample_rate
    assert long > plain + 0.4 * heart.sample_rate
    assert unknown > 0.5 * heart.sample_rate


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("{ speed: 9 }", "speed is 9.0"),
        ("{ voice: 'nobody' }", "There is no voice 'nobody'"),
        ("{ policy: 'lookahed' }", "did you mean 'lookahead'"),
        ("{ k2: 1 }", "k2 cannot be chosen in a browser"),
        ("{ context: 'distilled' }", "context cannot be chosen in a browser"),
    ],
)
def test_mistakes_are_told(ask: Ask, options: str, says: str) -> None:
    told = ask(
        f"return voice.speak('Hello.', {options}).all().then(() => 'nothing', ({{ message }}) =>"
        " message);"
    )
    assert says in told


def test_what_is_pushed_is_spoken_when_it_is_flushed_and_a_cancelled_speech_ends(ask: Ask) -> None:
    first, after = ask("""
        const speech = voice.speak().push("Hello ").push("there. ").flush();
        const chunks = speech[Symbol.asyncIterator]();
        const { value } = await chunks.next();
        speech.cancel();
        return [value.words.map(({ text }) => text), await chunks.next()];
        """)
    assert first[0] == "Hello"
    assert after["done"] is True


def test_its_types_are_those_of_its_use(site: Path, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not on PATH")
    readme = (WEB / "package" / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```js\n(.*?)```", readme, re.DOTALL)
    assert example is not None
    assert example[1] in (WEB.parent / "docs" / "how-to" / "browser.md").read_text(encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "use.ts").write_text(example[1])
    (tmp_path / "wrong.ts").write_text(example[1].replace('speak("Hello there.")', "speak(7)"))
    install = [
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "typescript@5.9.3",
        str(site / "sayahead-web"),
    ]
    subprocess.run(install, cwd=tmp_path, check=True)
    check = [
        "npx",
        "tsc",
        "--noEmit",
        "--strict",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--lib",
        "es2022,dom",
    ]
    done = subprocess.run([*check, "use.ts"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert subprocess.run([*check, "wrong.ts"], cwd=tmp_path, capture_output=True).returncode != 0
