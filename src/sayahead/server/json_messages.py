"""Parsing of JSON messages and the values in them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from sayahead.config import unknown
from sayahead.errors import SayaheadError

T = TypeVar("T")
MAX_NAME = 128

_COMPACT = json.JSONEncoder(separators=(",", ":")).encode
_HALF = re.compile(r"[\ud800-\udfff]")
TEXTS = ("text", "transcript")
"""Fields with text to be spoken, which a client may cut anywhere."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class MessageError(SayaheadError):
    """An invalid message; ``utterance``: the utterance that it concerns."""

    def __init__(self, message: str, *, utterance: str | None = None) -> None:
        super().__init__(message)
        self.utterance = utterance


def json_object(message: str | bytes, *, halves: Collection[str] = ()) -> dict[str, Any]:
    """Parse a message as a JSON object. MessageError for anything else.

    ``halves``: fields that may have half of a surrogate pair, as at the end of a text that was cut
    inside one.
    """
    try:
        text = message if isinstance(message, str) else message.decode()
        data = json.loads(text, parse_constant=no_constant, parse_float=finite)
        if _SURROGATE.search(text):
            checked_fields = (
                {k: v for k, v in data.items() if k not in halves}
                if isinstance(data, dict)
                else data
            )
            # Fails for half of a pair: UnicodeEncodeError.
            json.dumps(checked_fields, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise MessageError(
            "The message has half of a surrogate pair: an escape from \\ud800 to \\udfff by itself."
        ) from error
    except (ValueError, RecursionError) as error:
        raise MessageError("The message is not JSON.") from error
    if not isinstance(data, dict):
        raise MessageError("The message is not a JSON object.")
    return data


def no_constant(name: str) -> None:
    """Reject NaN and Infinity, which Python's parser accepts."""
    raise ValueError(f"{name} is not JSON.")


def finite(digits: str) -> float:
    """Parse a number; MessageError if it is too large for a float."""
    value = float(digits)
    if math.isinf(value):
        raise MessageError(f"The number {digits[:80]} is too large.")
    return value


def text_frame(message: str | bytes) -> dict[str, Any]:
    """Parse a WebSocket message as a JSON object. MessageError for anything else, binary frames
    included."""
    if isinstance(message, bytes):
        raise MessageError("Messages must be JSON in text frames, not in binary ones.")
    return json_object(message, halves=TEXTS)


def by_type(data: Mapping[str, Any], kinds: Mapping[str, T]) -> T:
    """Return the entry of ``kinds`` for a message's ``type``. MessageError for an unknown or
    missing type."""
    kind = data.get("type")
    if not isinstance(kind, str):
        raise MessageError("A message needs a type, a string.")
    if kind not in kinds:
        raise MessageError(f"The type {unknown(kind, kinds)}.")
    return kinds[kind]


def text_in(data: Mapping[str, Any], what: str) -> str:
    """Return the text in a message of the type ``what``. MessageError if there is none."""
    text = data.get("text")
    if not isinstance(text, str):
        raise MessageError(f"{what} needs text, a string.")
    return text


def without_half(text: str) -> tuple[str, str]:
    """Return a text without the first half of a surrogate pair at its end, and that half or "".

    The next text may complete the half. Other unpaired halves become U+FFFD, which is silent.
    """
    half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    text = text.removesuffix(half)
    if _HALF.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text, half


def compact(data: dict[str, Any]) -> str:
    """Return JSON without spaces."""
    return _COMPACT(data)


def utterance_name(name: object) -> str:
    """Return a client's name of an utterance. MessageError if it is not a string or too long."""
    if not isinstance(name, str) or len(name) > MAX_NAME:
        raise MessageError(f"context_id must be a string of at most {MAX_NAME} characters.")
    return name


def mark_of(data: dict[str, Any], field: str) -> str | int | None:
    """Return a client's mark of a flush or revision; None if it is neither a string nor a number.
    MessageError if it is too long."""
    mark = data.get(field)
    if not isinstance(mark, str | int):
        return None
    is_too_long = len(mark) > MAX_NAME if isinstance(mark, str) else abs(mark) >= 2**63
    if is_too_long:
        raise MessageError(
            f"{field} must be a string of at most {MAX_NAME} characters, or a number below 2^63."
        )
    return mark


def number(value: object) -> float | None:
    """Return a finite JSON number as a float; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def whole(text: str | None) -> int | None:
    """Parse a whole number of at most 18 digits from a query; None for anything else."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 18 else None
