"""sayahead for LiveKit Agents: speech while the text is still being written, in the agent's own
process."""

from livekit.agents import Plugin
from livekit.plugins.sayahead.log import logger
from livekit.plugins.sayahead.tts import TTS, SynthesizeStream
from livekit.plugins.sayahead.version import __version__

__all__ = ["TTS", "SynthesizeStream", "__version__"]


class SayaheadPlugin(Plugin):
    """Registers the plug-in. There is nothing to download: the voice comes with the package."""

    def __init__(self) -> None:
        super().__init__(__name__, __version__, __package__ or __name__, logger)


Plugin.register_plugin(SayaheadPlugin())
