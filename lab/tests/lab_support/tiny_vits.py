"""VITS voices of every shape that Piper's have, small and with random weights, exported as Piper's
are.

The networks follow Kim et al., ICML 2021; sizes that Piper has are scaled down.
"""

from __future__ import annotations

import io
import json
import math
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from sayahead import Voice, load_voice
from sayahead.voices.install.vits.voice import add_piper
from torch import Tensor, nn
from torch.nn import functional

LETTERS = " !',-.:;?abcdefghijklmnopqrstuvwxyzäöüßéèñ"
SYMBOLS = 178
BINS = 10
BOUND = 5.0


@dataclass(frozen=True, slots=True)
class Shape:
    """What tells Piper's voices apart."""

    hidden: int = 12
    channels: int = 8
    speakers: int = 1
    stochastic: bool = True
    first: int = 16
    """Channels of the decoder's first layer."""
    rates: tuple[int, ...] = (8, 8, 4)
    kernels: tuple[int, ...] = (16, 16, 8)
    deep: bool = False
    """Whether its blocks are of two convolutions each, as in high voices."""
    rate: int = 22050

    @property
    def hop(self) -> int:
        return math.prod(self.rates)


HIGH: dict[str, Any] = {"rates": (8, 8, 2, 2), "kernels": (16, 16, 4, 4), "deep": True}
SHAPES = {
    "x_low": Shape(hidden=8, channels=6, first=12, rate=16000),
    "medium": Shape(),
    "medium, several": Shape(speakers=3),
    "medium, fixed durations": Shape(stochastic=False),
    "high": Shape(first=16, **HIGH),
    "high, several, fixed durations": Shape(first=16, speakers=5, stochastic=False, **HIGH),
}


class Attention(nn.Module):
    """A head of self-attention and two convolutions, each added and normalized."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.three = nn.Conv1d(size, 3 * size, 1)
        self.out = nn.Conv1d(size, size, 1)
        self.wide = nn.Conv1d(size, 2 * size, 3, padding=1)
        self.narrow = nn.Conv1d(2 * size, size, 3, padding=1)
        self.norms = nn.ModuleList([nn.LayerNorm(size), nn.LayerNorm(size)])

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        q, k, v = self.three(x).chunk(3, 1)
        scores = torch.matmul(q.transpose(1, 2), k) / x.shape[1] ** 0.5
        scores = scores.masked_fill(mask.transpose(1, 2) * mask == 0, -1e4)
        x = x + self.out(torch.matmul(v, torch.softmax(scores, -1).transpose(1, 2)))
        x = self.norms[0](x.transpose(1, 2)).transpose(1, 2)
        x = x + self.narrow(torch.relu(self.wide(x * mask)) * mask)
        done: Tensor = self.norms[1](x.transpose(1, 2)).transpose(1, 2) * mask
        return done


class Separable(nn.Module):
    """Dilated depthwise convolutions, as stochastic durations have them."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.wide = nn.ModuleList(
            [nn.Conv1d(size, size, 3, groups=size, dilation=d, padding=d) for d in (1, 3)]
        )
        self.deep = nn.ModuleList([nn.Conv1d(size, size, 1) for _ in range(2)])

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        for wide, deep in zip(self.wide, self.deep, strict=True):
            x = x + functional.gelu(deep(functional.gelu(wide(x * mask))))
        return x * mask


class SplineFlow(nn.Module):
    """Half of the channels through a rational quadratic spline that the other half describes;
    inverse."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.pre = nn.Conv1d(1, size, 1)
        self.convs = Separable(size)
        self.proj = nn.Conv1d(size, 3 * BINS - 1, 1)
        self.size = size

    def forward(self, x: Tensor, mask: Tensor, given: Tensor) -> Tensor:
        x0, x1 = torch.split(x, [1, 1], 1)
        h = self.proj(self.convs(self.pre(x0) + given, mask)) * mask
        h = h.transpose(1, 2)
        x1 = spline(
            x1[:, 0],
            h[..., :BINS] / self.size**0.5,
            h[..., BINS : 2 * BINS] / self.size**0.5,
            h[..., 2 * BINS :],
        )
        return torch.cat([x0, x1[:, None]], 1) * mask


def spline(y: Tensor, widths: Tensor, heights: Tensor, slopes: Tensor) -> Tensor:
    """The inverse of a monotonic spline (Durkan et al., NeurIPS 2019) in [-5, 5]; outside of it,
    the identity."""
    least = 1e-3

    def knots(sizes: Tensor) -> tuple[Tensor, Tensor]:
        sizes = least + (1 - least * BINS) * torch.softmax(sizes, -1)
        ends = functional.pad(torch.cumsum(sizes, -1), [1, 0]) * 2 * BOUND - BOUND
        return ends, ends[..., 1:] - ends[..., :-1]

    edge = math.log(math.exp(1 - least) - 1)
    slope = least + functional.softplus(functional.pad(slopes, [1, 1], value=edge))
    (xs, width) = knots(widths)
    (ys, height) = knots(heights)
    inside = (y >= -BOUND) & (y <= BOUND)
    at = (torch.clamp(y, -BOUND, BOUND)[..., None] >= ys[..., :-1]).sum(-1, keepdim=True) - 1

    def of(table: Tensor) -> Tensor:
        return table.gather(-1, at)[..., 0]

    x0 = of(xs)
    w = of(width)
    y0 = of(ys)
    h = of(height)
    d0 = of(slope)
    d1 = of(slope[..., 1:])
    steep = h / w
    off = torch.clamp(y, -BOUND, BOUND) - y0
    bent = d0 + d1 - 2 * steep
    a = h * (steep - d0) + off * bent
    b = h * d0 - off * bent
    c = -steep * off
    root = 2 * c / (-b - torch.sqrt(b * b - 4 * a * c))
    return torch.where(inside, root * w + x0, y)


class Coupling(nn.Module):
    """Half of the channels less what gated convolutions of the other half say."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        size = shape.hidden
        half = shape.channels // 2
        self.part = half
        self.size = size
        self.pre = nn.Conv1d(half, size, 1)
        self.post = nn.Conv1d(size, half, 1)
        self.inner = nn.ModuleList([nn.Conv1d(size, 2 * size, 5, padding=2) for _ in range(4)])
        self.skips = nn.ModuleList(
            [nn.Conv1d(size, size if i == 3 else 2 * size, 1) for i in range(4)]
        )
        self.cond = nn.Conv1d(size, 8 * size, 1) if shape.speakers > 1 else None

    def forward(self, x: Tensor, mask: Tensor, g: Tensor | None) -> Tensor:
        x0, x1 = torch.split(x, [self.part, self.part], 1)
        h = self.pre(x0) * mask
        out = torch.zeros_like(h)
        conditions = None if g is None or self.cond is None else self.cond(g)
        for i, (inner, skip) in enumerate(zip(self.inner, self.skips, strict=True)):
            both = inner(h)
            begin = 2 * self.size * i
            both = both + (
                torch.zeros_like(both)
                if conditions is None
                else conditions[:, begin : begin + 2 * self.size]
            )
            gated = skip(torch.tanh(both[:, : self.size]) * torch.sigmoid(both[:, self.size :]))
            if i < 3:
                h = (h + gated[:, : self.size]) * mask
                out = out + gated[:, self.size :]
            else:
                out = out + gated
        moved = self.post(out * mask) * mask
        return torch.cat([x0, (x1 - moved) * torch.exp(-torch.zeros_like(moved)) * mask], 1)


class Block(nn.Module):
    """Dilated convolutions around a path that skips them."""

    def __init__(self, size: int, kernel: int, *, deep: bool) -> None:
        super().__init__()
        dilations = (1, 3, 5) if deep else (1, 3)
        self.wide = nn.ModuleList(
            [
                nn.Conv1d(size, size, kernel, dilation=d, padding=d * (kernel - 1) // 2)
                for d in dilations
            ]
        )
        self.plain = nn.ModuleList(
            [nn.Conv1d(size, size, kernel, padding=(kernel - 1) // 2) for _ in dilations]
            if deep
            else []
        )

    def forward(self, x: Tensor) -> Tensor:
        for i, wide in enumerate(self.wide):
            h = wide(functional.leaky_relu(x, 0.1))
            if len(self.plain):
                h = self.plain[i](functional.leaky_relu(h, 0.1))
            x = x + h
        return x


class Decoder(nn.Module):
    """HiFi-GAN's generator (Kong et al., NeurIPS 2020)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.pre = nn.Conv1d(shape.channels, shape.first, 7, padding=3)
        self.cond = nn.Conv1d(shape.hidden, shape.first, 1) if shape.speakers > 1 else None
        sizes = [max(2, shape.first >> i) for i in range(len(shape.rates) + 1)]
        self.ups = nn.ModuleList(
            [
                nn.ConvTranspose1d(
                    sizes[i], sizes[i + 1], kernel, rate, padding=(kernel - rate) // 2
                )
                for i, (rate, kernel) in enumerate(zip(shape.rates, shape.kernels, strict=True))
            ]
        )
        self.blocks = nn.ModuleList(
            [Block(size, k, deep=shape.deep) for size in sizes[1:] for k in (3, 5, 7)]
        )
        self.post = nn.Conv1d(sizes[-1], 1, 7, padding=3, bias=False)

    def forward(self, z: Tensor, g: Tensor | None) -> Tensor:
        x = self.pre(z)
        if g is not None and self.cond is not None:
            x = x + self.cond(g)
        for number, up in enumerate(self.ups):
            x = up(functional.leaky_relu(x, 0.1))
            x = sum(block(x) for block in self.blocks[3 * number : 3 * number + 3]) / 3
        return torch.tanh(self.post(functional.leaky_relu(x)))


class Vits(nn.Module):
    """The whole, at inference."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        size = shape.hidden
        self.table = nn.Embedding(SYMBOLS, size)
        self.layers = nn.ModuleList([Attention(size) for _ in range(2)])
        self.prior = nn.Conv1d(size, 2 * shape.channels, 1)
        self.speakers = nn.Embedding(shape.speakers, size) if shape.speakers > 1 else None
        self.before = nn.Conv1d(size, size, 1)
        self.dds = Separable(size)
        self.after = nn.Conv1d(size, size if shape.stochastic else 1, 1)
        self.splines = nn.ModuleList(
            [SplineFlow(size) for _ in range(2 if shape.stochastic else 0)]
        )
        self.couplings = nn.ModuleList([Coupling(shape) for _ in range(4)])
        self.decoder = Decoder(shape)

    def durations(self, x: Tensor, mask: Tensor, noise_w: Tensor) -> Tensor:
        """(1, 1, P) logarithms."""
        h: Tensor = self.after(self.dds(self.before(x), mask)) * mask
        if not self.shape.stochastic:
            return h
        z = torch.randn(x.shape[0], 2, x.shape[2]).to(x) * noise_w
        for flow in self.splines:
            z = flow(torch.flip(z, [1]), mask, h)
        return z[:, :1]

    def forward(
        self, ids: Tensor, lengths: Tensor, scales: Tensor, sid: Tensor | None = None
    ) -> Tensor:
        g = None if self.speakers is None or sid is None else self.speakers(sid)[..., None]
        x = (self.table(ids) * self.shape.hidden**0.5).transpose(1, 2)
        mask = (torch.arange(x.shape[2])[None] < lengths[:, None])[:, None].to(x.dtype)
        x = x * mask
        for layer in self.layers:
            x = layer(x, mask)
        mean, log_deviation = (self.prior(x) * mask).chunk(2, 1)
        lasting = torch.exp(self.durations(x if g is None else x + g, mask, scales[2]) * 0.3 + 1.0)
        frames = torch.ceil(lasting * mask * scales[1])
        total = torch.clamp_min(frames.sum([1, 2]), 1).long()
        places = torch.arange(total.max())  # type: ignore[call-overload]
        frame_mask = (places[None] < total[:, None])[:, None].to(mask.dtype)
        ends = torch.cumsum(frames[:, 0], -1)
        before = (places[None, :, None] < ends[:, None]).to(mask.dtype)
        path = before - functional.pad(before, [1, 0])[..., :-1]
        mean = torch.matmul(path, mean.transpose(1, 2)).transpose(1, 2)
        log_deviation = torch.matmul(path, log_deviation.transpose(1, 2)).transpose(1, 2)
        z = mean + torch.randn_like(mean) * torch.exp(log_deviation) * scales[0]
        for coupling in self.couplings:
            z = coupling(torch.flip(z, [1]), frame_mask, g)
        made: Tensor = self.decoder(z * frame_mask, g)[:, None]
        return made


def tiny_vits(folder: Path, name: str = "medium", **changes: Any) -> Path:
    """An ``.onnx`` in a folder, with its ``.onnx.json`` and a card; ``changes`` are keys of the
    description."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "xx_XX-tiny-medium.onnx"
    path.write_bytes(exported(name))
    path.with_name(f"{path.name}.json").write_text(
        json.dumps(description(SHAPES[name]) | changes), encoding="utf-8"
    )
    (folder / "MODEL_CARD").write_text("# Model card\n\n* License: CC0\n", encoding="utf-8")
    return path


@cache
def exported(name: str) -> bytes:
    """The graph of a shape."""
    shape = SHAPES[name]
    file: Any = io.BytesIO()
    torch.manual_seed(1)
    model = Vits(shape).eval()
    with torch.no_grad():
        model.decoder.post.weight *= 30
    given: list[Any] = [
        torch.randint(3, 20, (1, 30)),
        torch.tensor([30]),
        torch.tensor([0.667, 1.0, 0.8]),
    ]
    names = ["input", "input_lengths", "scales"]
    if shape.speakers > 1:
        given = [*given, torch.tensor([1])]
        names = [*names, "sid"]
    axes = {
        "input": {0: "batch", 1: "phonemes"},
        "input_lengths": {0: "batch"},
        "output": {0: "batch", 3: "time"},
    }
    options: Any = {
        "input_names": names,
        "output_names": ["output"],
        "dynamic_axes": axes,
        "dynamo": False,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, tuple(given), file, opset_version=15, **options)
    return bytes(file.getvalue())


def added_vits(folder: Path, name: str = "medium", **changes: Any) -> Voice:
    """Such a voice, added and loaded; ``changes`` are keys of its ``model`` table."""
    add_piper(tiny_vits(folder, name), None, folder / "voice")
    path = folder / "voice" / "voice.json"
    about = json.loads(path.read_text(encoding="utf-8"))
    about["model"] |= changes
    path.write_text(json.dumps(about), encoding="utf-8")
    return load_voice(folder / "voice")


def description(shape: Shape) -> dict[str, Any]:
    """An ``.onnx.json`` of a voice that reads English letters."""
    named = (
        {f"speaker {number}": number for number in range(shape.speakers)}
        if shape.speakers > 1
        else {}
    )
    return {
        "audio": {"sample_rate": shape.rate, "quality": "medium"},
        "espeak": {"voice": "en-us"},
        "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8},
        "phoneme_type": "text",
        "phoneme_id_map": {symbol: [number] for number, symbol in enumerate("_^$" + LETTERS)},
        "num_symbols": SYMBOLS,
        "num_speakers": shape.speakers,
        "speaker_id_map": named,
        "piper_version": "1.0.0",
        "language": {"code": "en_US", "name_english": "English"},
    }
