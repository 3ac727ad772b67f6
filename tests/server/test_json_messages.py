"""Reading messages."""

from __future__ import annotations

import pytest

from sayahead.server.json_messages import (
    MAX_NAME,
    MessageError,
    json_object,
    number,
    text_frame,
    utterance_name,
    whole,
)


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ("{", "not JSON"),
        (b"\xff", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"speed": NaN}', "not JSON"),
        ("[]", "not a JSON object"),
        ("5", "not a JSON object"),
    ],
)
def test_what_is_no_object_is_refused(message: str | bytes, complaint: str) -> None:
    with pytest.raises(MessageError, match=complaint):
        json_object(message)


def test_objects_come_in_text_frames() -> None:
    assert text_frame('{"a": [1, null]}') == json_object(b'{"a": [1, null]}') == {"a": [1, None]}
    with pytest.raises(MessageError, match="text frames"):
        text_frame(b"{}")


def test_names_are_strings_of_a_length() -> None:
    assert utterance_name("a" * MAX_NAME) == "a" * MAX_NAME
    for name in (5, None, "a" * (MAX_NAME + 1)):
        with pytest.raises(MessageError, match="context_id must be a string"):
            utterance_name(name)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1.0),
        (0.5, 0.5),
        (True, None),
        ("1", None),
        (None, None),
        (float("inf"), None),
        (10**400, None),
    ],
)
def test_numbers_are_finite(value: object, expected: float | None) -> None:
    assert number(value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("-1", None),
        ("1.0", None),
        ("²", None),
        ("", None),
        (None, None),
    ],
)
def test_whole_numbers_of_a_query(text: str | None, expected: int | None) -> None:
    assert whole(text) == expected
