"""Published checkpoints: random weights in their layouts, and what these compute by their
descriptions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from lab_support.tones import Tones, tones_corpus
from sayahead import ConfigError
from sayahead.cli import main
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.corpus.frontend import PRESETS
from sayahead_lab.training.loop.published_layout import PublishedWeights, read_weights
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.saeki.network import Tacotron, Texts
from sayahead_lab.training.saeki.published import tacotron
from sayahead_lab.training.waveglow.published import waveglow

Weights = dict[str, Tensor]


def tacotron_weights(
    *, mels: int = 80, per_step: int = 1, wide: int = 12, letters: int = 9
) -> Weights:
    """Random weights in the layout of Tacotron 2: two convolutions, a prenet of (7, 6), layers of
    10 and 14."""
    torch.manual_seed(0)
    shapes: dict[str, tuple[int, ...]] = {"embedding.weight": (letters, wide)}
    for part, widths in (("encoder", (wide, wide, wide)), ("postnet", (mels, 8, mels))):
        for at, (before, after) in enumerate(itertools.pairwise(widths)):
            shapes[f"{part}.convolutions.{at}.0.conv.weight"] = (after, before, 5)
            shapes[f"{part}.convolutions.{at}.0.conv.bias"] = (after,)
            for name in ("weight", "bias", "running_mean", "running_var"):
                shapes[f"{part}.convolutions.{at}.1.{name}"] = (after,)
    for layer, inputs, size, end in (
        ("encoder.lstm", wide, wide // 2, "_l0"),
        ("encoder.lstm", wide, wide // 2, "_l0_reverse"),
        ("decoder.attention_rnn", 6 + wide, 10, ""),
        ("decoder.decoder_rnn", 10 + wide, 14, ""),
    ):
        for name, shape in (
            ("weight_ih", (inputs,)),
            ("weight_hh", (size,)),
            ("bias_ih", ()),
            ("bias_hh", ()),
        ):
            shapes[f"{layer}.{name}{end}"] = (4 * size, *shape)
    look = "decoder.attention_layer"
    shapes |= {
        "decoder.prenet.layers.0.linear_layer.weight": (7, mels * per_step),
        "decoder.prenet.layers.1.linear_layer.weight": (6, 7),
        f"{look}.query_layer.linear_layer.weight": (4, 10),
        f"{look}.memory_layer.linear_layer.weight": (4, wide),
        f"{look}.v.linear_layer.weight": (1, 4),
        f"{look}.location_layer.location_conv.conv.weight": (3, 2, 5),
        f"{look}.location_layer.location_dense.linear_layer.weight": (4, 3),
        "decoder.linear_projection.linear_layer.weight": (mels * per_step, 14 + wide),
        "decoder.linear_projection.linear_layer.bias": (mels * per_step,),
        "decoder.gate_layer.linear_layer.weight": (1, 14 + wide),
        "decoder.gate_layer.linear_layer.bias": (1,),
    }
    made = {name: 0.3 * torch.randn(shape) for name, shape in shapes.items()}
    return {
        name: value.abs() + 0.5 if "running_var" in name else value for name, value in made.items()
    }


def convolved(
    w: Weights,
    part: str,
    x: Tensor,
    last: Callable[[Tensor], Tensor],
    inner: Callable[[Tensor], Tensor],
) -> Tensor:
    """Two convolutions (1, D, N) with batch normalization, each followed by its function."""
    for at, after in enumerate((inner, last)):
        old = f"{part}.convolutions.{at}"
        x = functional.conv1d(x, w[f"{old}.0.conv.weight"], w[f"{old}.0.conv.bias"], padding=2)
        means = w[f"{old}.1.running_mean"], w[f"{old}.1.running_var"]
        x = after(functional.batch_norm(x, *means, w[f"{old}.1.weight"], w[f"{old}.1.bias"]))
    return x


def filled(layer: nn.Module, w: Weights, prefix: str) -> Any:
    """A recurrent layer of torch's with these weights."""
    layer.load_state_dict({name: w[f"{prefix}.{name}"] for name in layer.state_dict()})
    return layer


def spoken(w: Weights, embedded: Tensor, steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """Frames (S, n_mels), the same after the postnet, and stops (S,), of embedded letters (P, D),
    as published."""
    memory = convolved(w, "encoder", embedded.T[None], torch.relu, torch.relu)[0].T
    wide = embedded.shape[1]
    memory = filled(nn.LSTM(wide, wide // 2, bidirectional=True), w, "encoder.lstm")(memory)[0]
    first = filled(nn.LSTMCell(6 + wide, 10), w, "decoder.attention_rnn")
    second = filled(nn.LSTMCell(10 + wide, 14), w, "decoder.decoder_rnn")
    look = "decoder.attention_layer"
    linear = "linear_layer.weight"
    frame = torch.zeros(80)
    context = torch.zeros(wide)
    weights = torch.zeros(len(memory))
    total = weights
    states: list[Any] = [None, None]
    frames = list[Tensor]()
    stops = list[Tensor]()
    for _ in range(steps):
        x = frame
        for at in range(2):
            x = torch.relu(w[f"decoder.prenet.layers.{at}.{linear}"] @ x)
        states[0] = first(torch.cat([x, context])[None], states[0])
        place = functional.conv1d(
            torch.stack([weights, total])[None],
            w[f"{look}.location_layer.location_conv.conv.weight"],
            padding=2,
        )[0].T
        energies = (
            w[f"{look}.query_layer.{linear}"] @ states[0][0][0]
            + memory @ w[f"{look}.memory_layer.{linear}"].T
            + place @ w[f"{look}.location_layer.location_dense.{linear}"].T
        ).tanh() @ w[f"{look}.v.{linear}"][0]
        weights = energies.softmax(0)
        total = total + weights
        context = weights @ memory
        states[1] = second(torch.cat([states[0][0][0], context])[None], states[1])
        inward = torch.cat([states[1][0][0], context])
        frame, stop = (
            w[f"decoder.{name}.{linear}"] @ inward + w[f"decoder.{name}.linear_layer.bias"]
            for name in ("linear_projection", "gate_layer")
        )
        frames.append(frame)
        stops.append(stop[0])
    mel = torch.stack(frames)
    return (
        mel,
        mel + convolved(w, "postnet", mel.T[None], lambda y: y, torch.tanh)[0].T,
        torch.stack(stops),
    )


@torch.no_grad()
def test_an_imported_tacotron_speaks_as_the_published_one_whatever_its_context() -> None:
    published = tacotron_weights()
    model = tacotron(
        PublishedWeights({f"module.{name}": one for name, one in published.items()}, "x"), 5
    )
    ids = torch.tensor([[1, 4, 2, 2, 0, 3]])
    embedding = torch.randn(1, model.config.context.embedding)
    memory = model.memory(Texts(ids, torch.tensor([6])), embedding)
    state = model.decoder.initial(memory)
    frames = list[Tensor]()
    stops = list[Tensor]()
    for _ in range(7):
        frame, stop, _, state = model.decoder.advance(state, memory)
        frames.append(frame[0])
        stops.append(stop[0, 0])
    mel = torch.stack(frames)
    refined = mel + model.postnet(mel[None], torch.ones(1, 7, dtype=torch.bool))[0]
    expected = spoken(published, model.encoder.embedding(ids[0]), 7)
    for found, wanted in zip((mel, refined, torch.stack(stops)), expected, strict=True):
        assert torch.allclose(found, wanted, atol=1e-5)
    assert expected[0].std() > 0.05
    assert torch.equal(model.std, torch.ones(80))


def waveglow_weights(*, fused: bool = True, normed: bool = True, mels: int = 6) -> Weights:
    """Random weights in the layout of WaveGlow: 3 flows of groups of 8, of which 2 channels leave
    after 2 flows."""
    torch.manual_seed(1)
    made: Weights = {
        "upsample.weight": 0.2 * torch.randn(mels, mels, 48),
        "upsample.bias": 0.1 * torch.randn(mels),
    }

    def layer(name: str, out: int, inputs: int, kernel: int) -> None:
        direction = torch.randn(out, inputs, kernel) / (inputs * kernel) ** 0.5
        parts = (
            {"weight_g": 0.5 + torch.rand(out, 1, 1), "weight_v": direction}
            if normed
            else {"weight": direction}
        )
        made.update(
            {
                f"{name}.{part}": value
                for part, value in {**parts, "bias": 0.1 * torch.randn(out)}.items()
            }
        )

    for flow, channels in enumerate((8, 8, 6)):
        made[f"convinv.{flow}.conv.weight"] = torch.linalg.qr(torch.randn(channels, channels))[0][
            ..., None
        ]
        layer(f"WN.{flow}.start", 10, channels // 2, 1)
        for at in range(2):
            layer(f"WN.{flow}.in_layers.{at}", 20, 10, 3)
            layer(f"WN.{flow}.res_skip_layers.{at}", 20 if at == 0 else 10, 10, 1)
            if not fused:
                layer(f"WN.{flow}.cond_layers.{at}", 20, mels * 8, 1)
        if fused:
            layer(f"WN.{flow}.cond_layer", 40, mels * 8, 1)
        made[f"WN.{flow}.end.weight"] = 0.1 * torch.randn(channels, 10, 1)
        made[f"WN.{flow}.end.bias"] = 0.1 * torch.randn(channels)
    return made


def plain(w: Weights, name: str) -> Tensor:
    """A convolution's weight, with weight normalization or without."""
    if f"{name}.weight" in w:
        return w[f"{name}.weight"]
    direction = w[f"{name}.weight_v"]
    length: Tensor = direction.flatten(1).norm(dim=1)[:, None, None]
    return w[f"{name}.weight_g"] * direction / length


def noise_of(w: Weights, audio: Tensor, mel: Tensor, hop: int) -> Tensor:
    """(G, U) the noise that the published network makes of samples (S,) and log mel (T, n_mels)."""
    up = functional.conv_transpose1d(
        mel.T[None], w["upsample.weight"], w["upsample.bias"], stride=hop
    )[..., : len(audio)]
    # Each row's conditions: of each band the eight samples in their order.
    rows = torch.stack([up[0, :, at : at + 8].flatten() for at in range(0, len(audio), 8)], 1)[None]
    x = torch.stack([audio[at : at + 8] for at in range(0, len(audio), 8)], 1)[None]
    early = list[Tensor]()

    def run(name: str, y: Tensor, dilation: int = 1) -> Tensor:
        weight = plain(w, name)
        margin = dilation * (weight.shape[2] - 1) // 2
        return functional.conv1d(y, weight, w[f"{name}.bias"], dilation=dilation, padding=margin)

    for flow in range(3):
        if flow == 2:
            early.append(x[:, :2])
            x = x[:, 2:]
        x = functional.conv1d(x, w[f"convinv.{flow}.conv.weight"])
        half = x.shape[1] // 2
        old = f"WN.{flow}"
        y = run(f"{old}.start", x[:, :half])
        skipped = torch.zeros(())
        for at in range(2):
            if f"{old}.cond_layer.bias" in w:
                condition = run(f"{old}.cond_layer", rows)[:, 20 * at : 20 * at + 20]
            else:
                condition = run(f"{old}.cond_layers.{at}", rows)
            both = run(f"{old}.in_layers.{at}", y, 2**at) + condition
            out = run(f"{old}.res_skip_layers.{at}", both[:, :10].tanh() * both[:, 10:].sigmoid())
            if at == 0:
                y = y + out[:, :10]
                out = out[:, 10:]
            skipped = skipped + out
        change = functional.conv1d(skipped, w[f"{old}.end.weight"], w[f"{old}.end.bias"])
        x = torch.cat([x[:, :half], change[:, half:].exp() * x[:, half:] + change[:, :half]], 1)
    return torch.cat([*early, x], 1)[0]


@pytest.mark.parametrize(("fused", "normed"), [(True, True), (False, True), (True, False)])
@torch.no_grad()
def test_an_imported_waveglow_makes_the_published_ones_noise_and_sound(
    fused: bool, normed: bool
) -> None:
    published = waveglow_weights(fused=fused, normed=normed)
    model = waveglow(PublishedWeights(published, "x"), 16)
    c = model.config
    assert (c.flows, c.group, c.early_every, c.early_size, c.layers, c.channels, c.window) == (
        3,
        8,
        2,
        2,
        2,
        10,
        48,
    )
    audio = 0.3 * torch.randn(160)
    mel = torch.randn(10, 6)
    expected = noise_of(published, audio, mel, 16)
    assert torch.allclose(model(audio[None], mel[None]).z[0], expected, atol=1e-5)
    assert torch.allclose(model.infer(mel[None], expected[None])[0], audio, atol=1e-4)


def less(weights: Weights, name: str) -> Weights:
    return {key: value for key, value in weights.items() if key != name}


def more(weights: Weights, name: str, *shape: int) -> Weights:
    return {**weights, name: torch.zeros(shape)}


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            more(tacotron_weights(), "speaker_embedding.weight", 3, 4),
            "1 weights .* no place here, such as speaker_emb",
        ),
        (
            less(tacotron_weights(), "decoder.gate_layer.linear_layer.bias"),
            "has no decoder.gate_layer.linear_layer.bias",
        ),
        (tacotron_weights(per_step=2), "makes 2 frames a step with one stop"),
        (
            more(tacotron_weights(), "encoder.lstm.bias_hh_l0", 9),
            r"bias_hh_l0 is \[9\], but must be \[24\]",
        ),
        (more(tacotron_weights(), "embedding.weight", 9), "embedding.weight has 1 axes"),
    ],
)
def test_what_has_no_place_in_the_tacotron_is_an_error(made: Weights, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        tacotron(PublishedWeights(made, "x"), 5)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (more(waveglow_weights(), "speaker.weight", 3), "such as speaker.weight"),
        (less(waveglow_weights(), "WN.1.end.bias"), "has no WN.1.end.bias"),
        (more(waveglow_weights(), "convinv.1.conv.weight", 8, 8), "has 2 axes, but must have 3"),
        (more(waveglow_weights(), "upsample.weight", 6, 6, 8), "spreads a frame over 8 samples"),
    ],
)
def test_what_has_no_place_in_the_waveglow_is_an_error(made: Weights, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        waveglow(PublishedWeights(made, "x"), 16)


def test_a_file_with_code_in_it_is_not_run(tmp_path: Path) -> None:
    torch.save({"model": nn.Linear(2, 2)}, tmp_path / "whole.pt")
    with pytest.raises(ConfigError, match="Save the weights alone"):
        read_weights(tmp_path / "whole.pt")
    (tmp_path / "text.pt").write_text("no checkpoint", encoding="utf-8")
    for file, message in (
        ("text.pt", "holds more than weights|cannot be read"),
        ("none.pt", "cannot be read"),
    ):
        with pytest.raises(ConfigError, match=message):
            read_weights(tmp_path / file)
    torch.save({"state_dict": {}}, tmp_path / "empty.pt")
    with pytest.raises(ConfigError, match="holds no weights by name"):
        read_weights(tmp_path / "empty.pt")


def test_the_command_makes_runs_to_begin_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tones_corpus(tmp_path / "corpus", Tones(PRESETS["ma"]))
    torch.save({"iteration": 7, "state_dict": tacotron_weights()}, tmp_path / "tacotron2.pt")
    command = [
        "train",
        "import",
        str(tmp_path / "tacotron2.pt"),
        "--corpus",
        str(corpus.path),
        "-o",
        str(tmp_path / "run"),
    ]
    assert main(command) == 0
    assert "drawn anew" in capsys.readouterr().err
    run = load_trained(tmp_path / "run")
    assert isinstance(run.model.tacotron, Tacotron)
    assert (run.recipe.task, run.step) == ("saeki", 0)
    assert main(command) == 2
    assert "has a run already" in capsys.readouterr().err
    torch.save({"state_dict": {"weight": torch.zeros(2)}}, tmp_path / "other.pt")
    assert main([*command[:2], str(tmp_path / "other.pt"), *command[3:]]) == 2
    assert "of no layout that is known here" in capsys.readouterr().err
