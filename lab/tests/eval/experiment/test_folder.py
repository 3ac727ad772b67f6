"""An experiment's folder: what is no file of one is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sayahead.errors import ConfigError

from sayahead_lab.eval.experiment.folder import read_experiment, read_json, save_json

NAMELESS = [
    {},
    {"conditions": ["a"]},
    {"conditions": ["a"], "clocks": []},
    {"conditions": [1], "clocks": ["c"]},
]


@pytest.mark.parametrize("content", NAMELESS)
def test_an_experiment_names_conditions_and_clocks(tmp_path: Path, content: dict[str, Any]) -> None:
    with pytest.raises(
        ConfigError, match=r"no folder of an experiment, experiment\.json is missing"
    ):
        read_experiment(tmp_path)
    (tmp_path / "experiment.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"does not name (conditions|clocks)"):
        read_experiment(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"), [("{", r"is not JSON \("), ("[1]", "is not a JSON object")]
)
def test_files_that_hold_no_json_object_are_named(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "about.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_json(path)


def test_a_file_is_written_whole_into_a_new_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "about.json"
    save_json(path, {"a": "ä"})
    assert read_json(path) == {"a": "ä"}
    assert [file.name for file in path.parent.iterdir()] == ["about.json"]
