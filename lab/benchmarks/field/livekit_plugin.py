"""Any of LiveKit's TTS plug-ins as it is: here sayahead's (pip install ./integrations/livekit), in
its process."""

import asyncio
import importlib
import os
import queue
import threading
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np


def peer(plugin: str = "sayahead") -> Any:
    from sayahead_lab.eval.peers.peer import Engine, has_module

    python = os.environ.get("LIVEKIT_PYTHON", "python3")
    why = (
        None
        if has_module(python, "livekit")
        else "install livekit-agents, or name its Python by LIVEKIT_PYTHON."
    )
    return Engine(
        f"livekit-{plugin}", f"{__file__}:load", "token", {"plugin": plugin}, python, lambda: why
    )


def load(plugin: str) -> Any:
    engine = importlib.import_module(f"livekit.plugins.{plugin}").TTS()
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def speak(text: Iterator[str], whole: bool, seed: int) -> Iterator[np.ndarray]:
        heard: queue.SimpleQueue[Any] = queue.SimpleQueue()

        async def converse() -> None:
            def feed() -> None:
                for piece in text:
                    loop.call_soon_threadsafe(stream.push_text, piece)

            async with engine.stream() as stream:
                fed = loop.run_in_executor(None, feed)
                fed.add_done_callback(lambda _: stream.end_input())
                async for event in stream:
                    heard.put(event.frame)

        speaking = asyncio.run_coroutine_threadsafe(converse(), loop)
        speaking.add_done_callback(lambda _: heard.put(None))
        try:
            while frame := heard.get():
                yield np.frombuffer(frame.data, np.int16) / np.float32(32768)
            speaking.result()
        finally:
            speaking.cancel()

    about = {
        "version": version("livekit-agents"),
        "licence": "Apache-2.0",
        "threads": 1,
        "simulates": False,
    }
    return {"rate": engine.sample_rate, **about}, speak
