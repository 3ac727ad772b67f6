"""Voices of random weights in German, French and Spanish, chosen by language, read and speak through the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.servers import Running, serving
from support.tiny_vits import tiny_vits

from sayahead import Voice, load_voice
from sayahead.client import Client
from sayahead.voices.install.vits.voice import add_piper

IPA = "_^$ .,;:!?'-ˈˌːaɑɐbβcdðeɛəfɡɣhiɪjʝklʎmnɲŋoɔøœpɾɹʁrsʃtθuʊvwxyʏzʒçɥ̧̃"
TEXTS = {
    "de": ("Am 3. März kostet es 12,50 €.", "Am dritten März kostet es zwölf Euro fünfzig."),
    "fr": ("À 21 h, les amis ont payé 3 M€.", "À vingt et une heures, les amis ont payé trois millions d'euros."),
    "es": ("El 3 de mayo hubo 200 personas.", "El tres de mayo hubo doscientas personas."),
}


def voices(folder: Path) -> Iterator[Voice]:
    """One voice in three languages: adding it takes longest."""
    ids = {symbol: [number] for number, symbol in enumerate(dict.fromkeys(IPA))}
    german: dict[str, Any] = {"espeak": {"voice": "de"}, "language": {"code": "de_DE"}}
    add_piper(tiny_vits(folder, phoneme_type="espeak", phoneme_id_map=ids, **german), None, folder / "voice")
    path = folder / "voice" / "voice.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    assert (about["language"], about["model"]["espeak"]) == ("de-DE", "de")
    for language in TEXTS:
        about["language"] = about["model"]["espeak"] = language
        path.write_text(json.dumps(about), encoding="utf-8")
        voice = load_voice(folder / "voice")
        yield Voice(replace(voice.config, name=f"tiny-{language}"), voice.loaded)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving() as running:
        for voice in voices(tmp_path_factory.mktemp("voices")):
            running.hub.voices.put(voice)
        yield running


@pytest.mark.parametrize("language", TEXTS)
def test_a_voice_of_the_language_reads_and_speaks(server: Running, language: str) -> None:
    text, read = TEXTS[language]

    async def said(fragments: list[str]) -> tuple[str, Any]:
        async with Client(server.ws, language=language) as client:
            chunks = [chunk async for chunk in client.stream(fragments)]
        words = [word for chunk in chunks for word in chunk.words]
        assert all(text[word.start : word.end].strip() for word in words)
        return " ".join(word.text for word in words), np.concatenate([chunk.samples for chunk in chunks])

    whole, by_letters = asyncio.run(said([text])), asyncio.run(said(list(text)))
    assert whole[0] == by_letters[0] == read
    assert np.array_equal(whole[1], by_letters[1])
    assert np.abs(whole[1]).max() > 0.01
