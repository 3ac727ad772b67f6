"""sayahead for Pipecat: speech while the text is still being written, in the bot's own process."""

from pipecat_sayahead.tts import SayaheadTTSService, SayaheadTTSSettings

__all__ = ["SayaheadTTSService", "SayaheadTTSSettings"]
