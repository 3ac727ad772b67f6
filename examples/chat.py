"""Chat by voice: type a question, and hear the answer while the language model still writes it.

pip install '.[play]' openai
python examples/chat.py --model gpt-5-mini                  # OPENAI_API_KEY in the environment
python examples/chat.py --ollama --model llama3.2           # a local model, without a key

Press Enter while it speaks to interrupt: the model is told what you heard of its answer, not what
it had written."""

import argparse
import json
import queue
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sayahead import Heard, Player, Voice, load_voice

Message = dict[str, Any]
Model = Callable[[list[Message]], Iterator[str]]
"""From a conversation to the pieces of an answer, as they are written."""
OLLAMA = "http://127.0.0.1:11434"
SYSTEM = "You are talking with somebody. Answer in one to three short sentences."


def openai_model(model: str, url: str | None = None) -> Model:
    """A model of OpenAI, or of any server with its API."""
    from openai import OpenAI

    api = OpenAI(base_url=url)

    def answer(messages: list[Message]) -> Iterator[str]:
        completions: Any = api.chat.completions
        stream = completions.create(model=model, messages=messages, stream=True)
        for event in stream:
            if event.choices and event.choices[0].delta.content:
                yield event.choices[0].delta.content

    return answer


def ollama_model(model: str, url: str | None = None) -> Model:
    """A model of Ollama, by its own API: a line of JSON for each piece."""

    def answer(messages: list[Message]) -> Iterator[str]:
        body = json.dumps({"model": model, "messages": messages}).encode()
        request = urllib.request.Request(
            f"{url or OLLAMA}/api/chat", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as lines:
            for line in lines:
                yield json.loads(line)["message"]["content"]

    return answer


def turn(
    voice: Voice, model: Model, history: list[Message], player: Player, said: str, lines: "Lines"
) -> Heard:
    """One question and its answer; a line that is typed meanwhile interrupts it, and is the next
    question.

    The history has what was heard of the answer.
    """
    history.append({"role": "user", "content": said})
    speech = voice.speak(model(history))
    # A line that comes later cancels what is over: that does nothing.
    lines.when_one_comes(speech.cancel)
    heard = speech.play(player)
    history += heard.messages()
    return heard


class Lines:
    """What is typed, read by a thread, so that a line can interrupt."""

    def __init__(self, source: Iterable[str]) -> None:
        self._lines = queue.Queue[str | None]()
        self._interrupt = threading.Lock()
        self._call: Callable[[], object] = lambda: None
        threading.Thread(target=self._read, args=(source,), daemon=True).start()

    def _read(self, source: Iterable[str]) -> None:
        for line in source:
            self._lines.put(line.strip())
            with self._interrupt:
                self._call()
        self._lines.put(None)

    def when_one_comes(self, call: Callable[[], object]) -> None:
        """What a line does besides waiting to be asked for."""
        with self._interrupt:
            self._call = call

    def __iter__(self) -> Iterator[str]:
        while (line := self._lines.get()) is not None:
            yield line


def main(source: Iterable[str] = sys.stdin, command: list[str] | None = None) -> list[Message]:
    """Chat until the end of input; the conversation."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--ollama", action="store_true", help="ask Ollama instead of OpenAI")
    parser.add_argument(
        "--url", help="where the model is, if it is neither OpenAI's nor on this machine"
    )
    parser.add_argument("--voice", default="heart")
    arguments = parser.parse_args(command)
    make = ollama_model if arguments.ollama else openai_model
    model = make(arguments.model, arguments.url)
    voice = load_voice(arguments.voice)
    history = [{"role": "system", "content": SYSTEM}]
    lines = Lines(source)
    with Player(voice.sample_rate) as player:
        for line in lines:
            if line:
                print(turn(voice, model, history, player, line, lines).text, flush=True)
    return history


if __name__ == "__main__":
    main()
