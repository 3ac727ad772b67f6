"""The front end of Mandarin: words by the dictionary, figures by the rules of its data file,
phonemes as Kokoro reads them."""

from __future__ import annotations

from sayahead.text.saying.front_end import UnspacedFrontEnd
from sayahead.text.saying.mandarin.sounds import MandarinSounds


class Mandarin(UnspacedFrontEnd):
    """Mandarin in simplified or traditional characters."""

    def sounds(self) -> MandarinSounds:
        return MandarinSounds()
