"""What the tests of protocols share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from support.servers import Running, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """A server with the toy voice, one for each module."""
    with serving() as running:
        yield running


@pytest.fixture
def leftovers() -> Iterator[None]:
    """Finds what a client left here, and not in a test that would mind."""
    yield
    gc.collect()
