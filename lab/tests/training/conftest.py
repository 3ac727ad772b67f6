"""What all tests of training share."""

import pytest


@pytest.fixture(autouse=True)
def undrawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No curve of losses, which takes longer than a tiny network's training, but where a test looks
    at it."""
    if "curve" not in request.node.name:
        monkeypatch.setattr("sayahead_lab.training.loop.run.draw_losses", lambda log, path: None)
