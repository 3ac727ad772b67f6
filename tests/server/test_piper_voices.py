"""A German and a French Piper voice of random weights, through the clients of three protocols."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.servers import Running, free_port, serving
from support.toy_voices import changed

from sayahead import Voice
from sayahead.types import Floats

openai = pytest.importorskip("openai", reason="needs sayahead[test-all]")

IPA = "_^$ .,;:!?'-ˈˌːaɑɐbβcdðeɛəfɡɣhiɪjʝklʎmnɲŋoɔøœpɾɹʁrsʃtθuʊvwxyʏzʒçɥ̧̃"
SPOKEN = {
    "de-DE": ("Am 3. März kostet es 12 €.", "Am dritten März kostet es zwölf Euro."),
    "fr-FR": ("À 21 h, les amis arrivent.", "À vingt et une heures, les amis arrivent."),
}
"""A text in each language, and the same as it is read."""
LANGUAGE = pytest.mark.parametrize("language", SPOKEN)
# Clients leave sockets of theirs to the garbage collector, and Wyoming's imports audioop.
pytestmark = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning",
    "ignore::ResourceWarning",
    "ignore:'audioop' is deprecated:DeprecationWarning",
)


@pytest.fixture(autouse=True)
def leftovers() -> Iterator[None]:
    yield
    gc.collect()


@pytest.fixture(scope="module")
def voices(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Voice]:
    folder = tmp_path_factory.mktemp("voices")
    made = dict[str, Voice]()
    ids = {symbol: number for number, symbol in enumerate(dict.fromkeys(IPA))}
    for language in SPOKEN:
        name = f"{language.replace('-', '_')}-tiny-medium"
        model = {"spelling": "espeak", "espeak": language[:2]}
        made[language] = changed(
            "vits", folder / name, name=name, language=language, phonemes=ids, model=model
        )
    return made


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def server(voices: dict[str, Voice], port: int) -> Iterator[Running]:
    # Word by word, as the voices say what it is compared with.
    with serving(wyoming=f"tcp://127.0.0.1:{port}", step_words=1) as running:
        for voice in voices.values():
            running.hub.voices.put(voice)
        yield running


def heard(data: bytes) -> Floats:
    return np.asarray(np.frombuffer(data, "<i2") / 32767, np.float32)


def check(said: Floats, voice: Voice) -> None:
    """The sound of a voice's text, which its language reads so."""
    text, read = SPOKEN[voice.config.language]
    chunks = list(voice.stream([text]))
    assert " ".join(word.text for chunk in chunks for word in chunk.words) == read
    expected = np.concatenate([chunk.samples for chunk in chunks])
    assert len(said) == len(expected)
    # Random weights may be louder than a sample can be.
    assert np.abs(said - np.clip(expected, -1, 1)).max() < 1e-4
    assert np.abs(expected).max() > 0.01


@LANGUAGE
def test_home_assistant(
    server: Running, port: int, voices: dict[str, Voice], language: str
) -> None:
    pytest.importorskip("wyoming", reason="needs sayahead[compat]")
    from wyoming.audio import AudioChunk, AudioStop
    from wyoming.client import AsyncTcpClient
    from wyoming.info import Describe, Info
    from wyoming.tts import Synthesize, SynthesizeVoice

    voice = voices[language]

    async def run(choice: SynthesizeVoice) -> bytes:
        async with AsyncTcpClient("127.0.0.1", port) as client:
            await client.write_event(Describe().event())
            event = await asyncio.wait_for(client.read_event(), 20)
            assert event is not None
            listed = {one.name: one.languages for one in Info.from_event(event).tts[0].voices}
            assert listed[voice.config.name] == [language]
            await client.write_event(Synthesize(text=SPOKEN[language][0], voice=choice).event())
            data = b""
            while (
                event := await asyncio.wait_for(client.read_event(), 20)
            ) and not AudioStop.is_type(event.type):
                if AudioChunk.is_type(event.type):
                    data += AudioChunk.from_event(event).audio
            return data

    for choice in (
        SynthesizeVoice(name=voice.config.name),
        SynthesizeVoice(language=language.replace("-", "_")),
    ):
        check(heard(asyncio.run(run(choice))), voice)


@LANGUAGE
def test_elevenlabs(server: Running, voices: dict[str, Voice], language: str) -> None:
    sdk = pytest.importorskip("elevenlabs.client", reason="needs sayahead[compat]")
    client = sdk.ElevenLabs(api_key="some-key", base_url=server.http)
    voice = voices[language]
    listed = {one.voice_id: one.labels["language"] for one in client.voices.get_all().voices}
    assert listed[voice.config.name] == language
    text = SPOKEN[language][0]
    form = "pcm_22050"
    named = client.text_to_speech.convert(voice.config.name, text=text, output_format=form)
    check(heard(b"".join(named)), voice)
    chosen = client.text_to_speech.convert(
        "any", text=text, output_format=form, language_code=language[:2]
    )
    check(heard(b"".join(chosen)), voice)


@LANGUAGE
def test_openai(server: Running, voices: dict[str, Voice], language: str) -> None:
    voice = voices[language]
    text = SPOKEN[language][0]
    with openai.OpenAI(api_key="some-key", base_url=server.http + "/v1", max_retries=0) as client:
        listed: Any = client.get("/audio/voices", cast_to=dict[str, Any])
        assert {row["id"]: row["language"] for row in listed["details"]}[
            voice.config.name
        ] == language
        wanted = len(voice.synthesize(text)) / voice.sample_rate
        for choice, more in ((voice.config.name, {}), ("alloy", {"language": language[:2]})):
            made = client.audio.speech.create(
                model="tts-1", voice=choice, input=text, response_format="pcm", extra_body=more
            )
            said = heard(made.content)
            assert len(said) / 24000 == pytest.approx(wanted, abs=0.02)
            assert np.abs(said).max() > 0.01
