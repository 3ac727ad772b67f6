"""What the default voice's linear layers are given while it speaks: the ranges with which they
compute in integers.

    python lab/benchmarks/ranges.py lab/recipes/heart/ranges.json --texts val.csv [--acoustic \
        RUN] [--count 16]

``--acoustic`` names the run whose networks they are; without one, they are those of hibari-tts. Of
a trained voice's folder, the decoder's first layer is observed alone, and the other ranges stay as
they are in the file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sayahead.voices.write import write_voice

from sayahead_lab.results import load_figures, options
from sayahead_lab.scripts import texts_at
from sayahead_lab.training.graph.builder import Range
from sayahead_lab.training.heart.export import decoder_graph, export
from sayahead_lab.training.heart.quantization import load_ranges, observe, save_ranges
from sayahead_lab.training.hibari import heart_weights
from sayahead_lab.training.loop.saved_run import load_trained
from sayahead_lab.training.voice import make_heart

FIRST = "m.dec_in"
"""The decoder's first layer; its columns' ranges begin so, too."""


def observed(folder: Path, ranges: Mapping[str, Range]) -> None:
    """Give a voice's folder a decoder that is observed, its other layers in integers as they
    are."""
    decoder_graph(heart_weights(), ranges=ranges, observed=True).save(str(folder / "decoder.onnx"))
    sealed(folder)


def sealed(folder: Path) -> None:
    """Write the digests of a voice's graphs, some of which have been replaced."""
    config = load_figures(folder / "voice.json")
    write_voice(folder, config, [folder / name for name in config["files"]])


def main() -> None:
    settings = Path("lab/recipes/heart/voice.toml")
    arguments = options(
        __doc__, "RANGES", "texts", settings=settings, acoustic=Path, count=16
    ).parse_args()
    texts = texts_at(arguments.texts, arguments.count)
    with tempfile.TemporaryDirectory() as passing:
        if arguments.acoustic is not None and (arguments.acoustic / "voice.json").is_file():
            shutil.copytree(arguments.acoustic, passing, dirs_exist_ok=True)
            merged = load_ranges(arguments.ranges)
            observed(
                Path(passing),
                {name: one for name, one in merged.items() if not name.startswith(FIRST)},
            )
            seen = {
                name: one
                for name, one in observe(Path(passing), [("", text) for text in texts]).items()
                if name.startswith(FIRST)
            }
            merged = dict(sorted({**merged, **seen}.items()))
        else:
            run = None if arguments.acoustic is None else load_trained(arguments.acoustic)
            make_heart(arguments.settings, Path(passing), acoustic=run)
            export(run, Path(passing), observed=True)
            sealed(Path(passing))
            merged = observe(Path(passing), [("", text) for text in texts])
    save_ranges(merged, arguments.ranges)
    print(f"{len(merged)} ranges of {len(texts)} texts: {arguments.ranges}")


if __name__ == "__main__":
    main()
