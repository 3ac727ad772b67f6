"""A web relay with FastAPI: text of your program in, speech out to browsers, by HTTP and by a
socket.

pip install '.[codecs]' fastapi uvicorn websockets
python -m uvicorn examples.relay:app            # http://127.0.0.1:8000/speech?text=Hello,
ws://127.0.0.1:8000/speech

Over the socket, each text message is more text, an empty one ends it; the answers are binary mp3,
and a JSON message for each word with the seconds at which it is heard.
"""

import asyncio
from collections.abc import AsyncIterator

from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from fastapi.responses import StreamingResponse

from sayahead import load_voice

app = FastAPI(title="Speech")
voice = load_voice()


@app.get("/speech")
async def speech_of_a_text(text: str, speed: float = 1.0) -> StreamingResponse:
    """Speak a text, sent while it is made: as FLAC, which browsers begin to play soonest."""

    async def body() -> AsyncIterator[bytes]:
        async for chunk in voice.astream([text], format="flac", speed=speed):
            yield chunk.data

    return StreamingResponse(body(), media_type="audio/flac")


@app.websocket("/speech")
async def speech_of_a_stream(socket: WebSocket) -> None:
    """Speak text while it comes."""
    await socket.accept()
    speech = voice.open_speech()

    async def send() -> None:
        async for chunk in speech.encoded("mp3"):
            for word in chunk.words:
                await socket.send_json(
                    {"word": word.text, "start_s": word.onset_samples / chunk.sample_rate}
                )
            if chunk.data:
                await socket.send_bytes(chunk.data)
        await socket.close()

    sending = asyncio.create_task(send())
    try:
        while text := await socket.receive_text():
            speech.push(text)
        speech.finish()
        await sending
    except WebSocketDisconnect:
        # The listener has left: nothing more is made.
        speech.cancel()
        await asyncio.gather(sending, return_exceptions=True)
