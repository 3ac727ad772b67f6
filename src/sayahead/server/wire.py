"""Reading messages: JSON objects, and the values in them."""

from __future__ import annotations

import json
import math
from typing import Any

from sayahead.errors import SayaheadError

MOST_NAME = 128


class MessageError(SayaheadError):
    """A message that its protocol does not have; ``utterance`` is the one that it concerns."""

    def __init__(self, message: str, *, utterance: str | None = None) -> None:
        super().__init__(message)
        self.utterance = utterance


def json_object(message: str | bytes) -> dict[str, Any]:
    """A message as a JSON object. MessageError for anything else."""
    try:
        data = json.loads(message, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise MessageError("The message is not JSON.") from error
    if not isinstance(data, dict):
        raise MessageError("The message is not a JSON object.")
    return data


def no_constant(name: str) -> None:
    """Refuses NaN and Infinity, which Python reads though JSON lacks them."""
    raise ValueError(f"{name} is not JSON.")


def text_frame(message: str | bytes) -> dict[str, Any]:
    """A WebSocket's message as a JSON object. MessageError for anything else, and for binary frames."""
    if isinstance(message, bytes):
        raise MessageError("Messages are JSON in text frames, not in binary ones.")
    return json_object(message)


def compact(data: dict[str, Any]) -> str:
    """JSON without blanks."""
    return json.dumps(data, separators=(",", ":"))


def utterance_name(name: object) -> str:
    """What a client calls an utterance. MessageError if that is no string, or too long."""
    if not isinstance(name, str) or len(name) > MOST_NAME:
        raise MessageError(f"context_id must be a string of at most {MOST_NAME} characters.")
    return name


def number(value: object) -> float | None:
    """A finite number in JSON; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def whole(text: str | None) -> int | None:
    """A whole number of at most 18 digits in a query; None for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 18 else None
