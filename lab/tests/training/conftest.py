"""What all tests of training share."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def undrawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No curve of losses and an empty picture of a sample, which take longer than a tiny network's
    training, but where a test looks at them."""
    if "curve" not in request.node.name:
        monkeypatch.setattr("sayahead_lab.training.loop.run.draw_losses", lambda log, path: None)
    if "samples_are_written" not in request.node.name:
        monkeypatch.setattr("sayahead_lab.training.loop.pictures.spectrogram", undrawn_picture)


def undrawn_picture(path: Path, *spectra: object, **options: object) -> None:
    """An empty file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
