"""The front end of Japanese: words by OpenJTalk's accent phrases, figures by the rules of its data
file, phonemes as Kokoro reads them."""

from __future__ import annotations

from sayahead.text.saying.front_end import UnspacedFrontEnd
from sayahead.text.saying.japanese.openjtalk import morphemes
from sayahead.text.saying.japanese.sounds import JapaneseSounds


class Japanese(UnspacedFrontEnd):
    """Japanese."""

    def sounds(self) -> JapaneseSounds:
        """ConfigError where OpenJTalk is not installed."""
        morphemes("")
        return JapaneseSounds()
