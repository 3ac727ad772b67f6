"""Fixtures shared by all tests."""

import os

# Tests run side by side: threads of one would only wait for those of another. Read when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Voices that were added on this machine are no part of the tests.
os.environ["SAYAHEAD_VOICES"] = os.path.join(os.path.dirname(__file__), "no-voices")

from pathlib import Path

import pytest
from hypothesis import settings

from sayahead import Voice
from support.command import Command, in_process, kept

# A busy machine is no error.
settings.register_profile("sayahead", deadline=None)
settings.load_profile("sayahead")


@pytest.fixture(scope="session")
def heart() -> Voice:
    """The default voice, loaded once."""
    return kept("heart")


@pytest.fixture
def sayahead(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Command:
    """The command line, run in this process."""
    folder: Path = tmp_path_factory.mktemp("command")
    return in_process(capfdbinary, monkeypatch, folder)
