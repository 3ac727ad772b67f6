"""Hidden states as a language model of transformers tells them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from sayahead import ConfigError
from sayahead.contexts.language_model import TransformersModel


def test_transformers_states_are_those_of_a_layer_in_one_pass() -> None:
    class Model:
        base_model = staticmethod(
            lambda input_ids, output_hidden_states: type(
                "Out",
                (),
                {
                    "hidden_states": [
                        torch.full((1, input_ids.shape[1], 3), float(at)) for at in range(3)
                    ]
                },
            )
        )

    language: Any = object.__new__(TransformersModel)
    language.torch = torch
    language.model = Model()
    assert language.states([5, 6], -1).tolist() == [[2.0] * 3] * 2
    assert language.states([5, 6], 1).tolist() == [[1.0] * 3] * 2
    with pytest.raises(ConfigError, match="states of 3 layers, but not of layer 3"):
        language.states([5, 6], 3)
