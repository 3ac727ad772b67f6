"""What the tests of protocols share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from support.servers import Running, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """A server with the toy voice, one for each module."""
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, which finds this machine by another name, too; one for each module."""
    from support.browser import NAME, chromium

    with chromium(f"--host-resolver-rules=MAP {NAME} 127.0.0.1") as found:
        yield found


@pytest.fixture
def leftovers() -> Iterator[None]:
    """Finds what a client left here, and not in a test that would mind."""
    yield
    gc.collect()
