"""Twelve voices for sayahead in one network, taught by Kokoro: folders here, which share the
networks of ``family``."""

__version__ = "0.2.0"
