"""Voices of random weights in German, French and Spanish, chosen by language, read and speak
through the server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.servers import Running, serving
from support.toy_voices import changed

from sayahead import Voice
from sayahead.client import AsyncClient

IPA = "_^$ .,;:!?'-ˈˌːaɑɐbβcdðeɛəfɡɣhiɪjʝklʎmnɲŋoɔøœpɾɹʁrsʃtθuʊvwxyʏzʒçɥ̧̃"
TEXTS = {
    "de": ("Am 3. März kostet es 12,50 €.", "Am dritten März kostet es zwölf Euro fünfzig."),
    "fr": (
        "À 21 h, les amis ont payé 3 M€.",
        "À vingt et une heures, les amis ont payé trois millions d'euros.",
    ),
    "es": ("El 3 de mayo hubo 200 personas.", "El tres de mayo hubo doscientas personas."),
}


def voices(folder: Path) -> Iterator[Voice]:
    """One voice in three languages."""
    ids = {symbol: number for number, symbol in enumerate(dict.fromkeys(IPA))}
    for language in TEXTS:
        model = {"spelling": "espeak", "espeak": language}
        yield changed(
            "vits",
            folder / language,
            name=f"tiny-{language}",
            language=language,
            phonemes=ids,
            model=model,
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    # Letter by letter as whole, so word by word.
    with serving(step_words=1) as running:
        for voice in voices(tmp_path_factory.mktemp("voices")):
            running.hub.voices.put(voice)
        yield running


@pytest.mark.parametrize("language", TEXTS)
def test_a_voice_of_the_language_reads_and_speaks(server: Running, language: str) -> None:
    text, read = TEXTS[language]

    async def said(fragments: list[str]) -> tuple[str, Any]:
        async with AsyncClient(server.ws, language=language) as client:
            chunks = [chunk async for chunk in client.stream(fragments)]
        words = [word for chunk in chunks for word in chunk.words]
        assert all(text[word.start : word.end].strip() for word in words)
        return " ".join(word.text for word in words), np.concatenate(
            [chunk.samples for chunk in chunks]
        )

    whole = asyncio.run(said([text]))
    by_letters = asyncio.run(said(list(text)))
    assert whole[0] == by_letters[0] == read
    assert np.array_equal(whole[1], by_letters[1])
    assert np.abs(whole[1]).max() > 0.01
