"""Weights as published runs keep them: a graph in int8 has the same ones, and rounding twice is
rounding once."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from sayahead.errors import ConfigError
from sayahead.voices.install import catalogue
from sayahead.voices.install.fetch import Digest
from torch import Tensor

from sayahead_lab.training.graph.builder import quantized
from sayahead_lab.training.loop import publish
from sayahead_lab.training.loop.rounding import LEVELS, Rounded, rounded, unrounded

ARCHIVES = Path(__file__).parents[3] / "archives"


@pytest.fixture
def weights() -> dict[str, Tensor]:
    draw = torch.Generator().manual_seed(0)
    shapes = {
        "layer.weight": (40, 60),
        "bias": (40,),
        "rnn.weight_ih": (64, 50),
        "rnn.weight_hh": (64, 40),
    }
    found = {
        name: torch.randn(shape, generator=draw).half().float() for name, shape in shapes.items()
    }
    found["layer.weight"][3] = 0
    return found | {"count": torch.tensor(7)}


def entries(weights: dict[str, Rounded]) -> list[Tensor]:
    return [
        part
        for value in weights.values()
        for part in ((value,) if isinstance(value, Tensor) else value)
    ]


def test_a_graph_of_rounded_weights_is_that_of_the_weights(weights: dict[str, Tensor]) -> None:
    after = unrounded(rounded(weights))
    assert torch.equal(after["bias"].float(), weights["bias"])
    assert after["count"] == 7
    for names in (["layer.weight"], ["rnn.weight_ih", "rnn.weight_hh"]):
        one, other = (
            quantized(torch.cat([part[name].float() for name in names], 1).numpy().T)
            for part in (weights, after)
        )
        assert (one[0] == other[0]).all()
        assert (one[1] == other[1])[one[1] > 1e-6].all()


@pytest.mark.parametrize("levels", [LEVELS, 63, 31, 1])
def test_rounding_twice_is_rounding_once(weights: dict[str, Tensor], levels: int) -> None:
    once = rounded(weights, levels)
    assert len(torch.unique(entries(once)[0])) <= 2 * levels + 1
    assert (
        max(
            float((one.float() - weights[name]).abs().max())
            for name, one in unrounded(once).items()
        )
        < 3 / levels
    )
    twice = rounded(unrounded(once))
    assert all(
        torch.equal(one, other) for one, other in zip(entries(once), entries(twice), strict=True)
    )


def test_the_archives_to_download_are_those_that_lie_here() -> None:
    rows = [line.split("  ")[::-1] for line in catalogue.SUMS.read_text().splitlines()]
    runs = {name.removeprefix("runs/"): digest for name, digest in rows if name.startswith("runs/")}
    assert runs == {f"{name}.tar.xz": digest for name, digest in publish.offered().items()}
    assert sorted(runs) == sorted(path.name for path in (ARCHIVES / "runs").iterdir())


def test_an_archive_is_unpacked_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = list[str]()

    def fetch(address: str, target: Path, digest: Digest) -> None:
        asked.append(f"{address} {digest.value}")
        target.write_bytes((ARCHIVES / "runs" / target.name).read_bytes())

    monkeypatch.setattr(publish, "fetch", fetch)
    assert tmp_path / "runs" / "dv3-whole-small" in publish.unpack_release(
        Path("ma"), tmp_path / "runs"
    )
    assert asked[0].endswith(f"/ma.tar.xz {publish.offered()['ma']}")
    with pytest.raises(
        ConfigError,
        match=r"There is no mma: name an archive, or one to download: family, ma, mohan",
    ):
        publish.unpack_release(Path("mma"), tmp_path / "runs")
