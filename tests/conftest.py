"""Fixtures shared by all tests."""

import pytest

from sayahead import Voice, load_voice


@pytest.fixture(scope="session")
def heart() -> Voice:
    """The default voice, loaded once."""
    return load_voice("heart")
