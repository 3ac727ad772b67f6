"""Fixtures shared by all tests."""

import functools
import gc
import os
import signal
import ssl
from collections.abc import Iterator

# Tests run side by side: threads of one would only wait for those of another. Read when torch is
# imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Voices that were added on this machine are no part of the tests.
os.environ["SAYAHEAD_VOICES"] = os.path.join(os.path.dirname(__file__), "no-voices")

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from sayahead import Voice
from support.command import Command, in_process, kept

# Python looks for garbage after every 700 new objects: a seventh of the tests' time.
gc.set_threshold(100_000, 50, 50)
# A busy machine is no error.
settings.register_profile("sayahead", deadline=None)
settings.load_profile("sayahead")


def pytest_collection_finish() -> None:
    """What was imported stays: that garbage is looked for among it, too, takes a twentieth of the
    tests' time."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Every client of httpx reads the world's certificates (20 ms), those of plain http too: once a
    process will do.

    A test that names certificates of its own has these, as they are.
    """
    read = ssl.create_default_context
    cached = functools.cache(ssl.create_default_context)

    def context(*arguments: Any, **options: Any) -> ssl.SSLContext:
        return (read if "SSL_CERT_FILE" in os.environ else cached)(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", context)
        yield


@pytest.fixture(scope="session")
def heart() -> Voice:
    """The default voice, loaded once."""
    return kept("heart")


@pytest.fixture
def sayahead(
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Command:
    """The command line, run in this process."""
    folder: Path = tmp_path_factory.mktemp("command")
    return in_process(capfdbinary, monkeypatch, folder)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Children get SIGINT's default even where the tests themselves run in the background, without
    it."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)
