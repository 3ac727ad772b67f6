"""Fixtures shared by all tests."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sayahead import Voice, load_voice


@pytest.fixture(scope="session")
def heart() -> Voice:
    """The default voice, loaded once."""
    return load_voice("heart")
