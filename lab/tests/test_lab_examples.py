"""The laboratory's examples do what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lab_support.readspeak import BANDS, Recital, sentence
from sayahead import ConfigError

from sayahead_lab.training.mohan.environment import PathEpisodes, RewardConfig, wait_end, walk

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_custom_peer() -> None:
    made = example("custom_peer").main("One sentence. And another.")
    assert [chunk.samples for chunk in made.chunks] == [800 * 13, 800 * 12]
    assert [chunk.read for chunk in made.chunks] == [15, 26]


# The checker advises bounds; frames have none.
@pytest.mark.filterwarnings("ignore:.*Box observation space (minimum|maximum) value is -?infinity")
@pytest.mark.parametrize("taught", [True, False])
def test_gymnasium_environment(taught: bool) -> None:
    checker = pytest.importorskip("gymnasium.utils.env_checker", reason="needs gymnasium: pip install gymnasium")
    module = example("gymnasium_environment")
    sentences = [sentence(n, 5 + n) for n in range(4)]
    world = module.ReadSpeak(Recital(), sentences, RewardConfig(), scale=torch.ones(BANDS), taught=taught)
    checker.check_env(world, skip_render_check=True)
    first, about = world.reset(seed=3)
    again, same = world.reset(seed=3)
    assert np.array_equal(first, again)
    assert about == same
    assert 0 < module.main(world)["d_T"] <= 1
    _, named = world.reset(options={"sentence": 2})
    assert named == {"sentence": 2}
    ended, total, info = False, 0.0, dict[str, Any]()
    while not ended:
        _, reward, ended, cut, info = world.step(np.int64(0))
        total += reward
        assert not cut
    episodes = PathEpisodes(Recital(), [sentences[2]], RewardConfig(), scale=torch.ones(BANDS), taught=taught)
    assert total == pytest.approx(walk(episodes, wait_end).rewards.sum().item())
    assert (info["read"], info["d_T"]) == (7, 1.0)
    with pytest.raises(ConfigError, match="0 \\(READ\\) or 1 \\(SPEAK\\)"):
        world.step(np.int64(2))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_tested(path: Path) -> None:
    assert f"def test_{path.stem}(" in Path(__file__).read_text(encoding="utf-8")
