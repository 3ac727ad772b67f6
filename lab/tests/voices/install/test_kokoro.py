"""Kokoro added from its files: its parts are the whole, its styles are measured, and what is wrong
is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from lab_support.tiny_kokoro import ROWS, STYLE, VOCAB, kokoro, tiny_kokoro
from onnxruntime.quantization import QuantType, quantize_dynamic
from sayahead import ConfigError, VoiceError, load_voice
from sayahead.types import Floats, Ids
from sayahead.voices.install.kokoro import voice as install
from sayahead.voices.install.kokoro.files import LANGUAGES, read_files
from sayahead.voices.install.kokoro.parts import Parts, StyleMeasures, averaged
from sayahead.voices.install.kokoro.voice import (
    about,
    add_kokoro,
    check_steps,
    check_whole,
    measure,
    readable,
    spoken,
)
from sayahead.voices.install.onnx.dequantize import dequantized, product_of
from sayahead.voices.install.onnx.graph import Graph
from sayahead.voices.install.trial import samples

ROW = np.random.default_rng(1).uniform(0.1, 0.5, 2 * STYLE).astype(np.float32)


def phonemes(text: str) -> Ids:
    return np.array([VOCAB[symbol] for symbol in text], np.int64)


IDS = phonemes("ðə kwˈɪk bɹˈWn fˈɑks.")


def test_parts_are_the_whole_at_the_same_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Parts(Graph(kokoro(), where="toy"), integers=False)
    check_whole(parts, IDS, ROW)
    at = parts.style.norms.index("generator/resblocks.4/adain2.1")
    wrong = np.zeros(sum(parts.style.widths), np.float32)
    wrong[sum(parts.style.widths[:at])] = 1.0
    monkeypatch.setattr(Parts, "measured", moved(Parts.measured, wrong))
    with pytest.raises(VoiceError, match="differs from its parts in its sound"):
        check_whole(parts, phonemes("wˈʌn."), ROW)


def moved(measured: Callable[..., StyleMeasures], by: Floats) -> Callable[..., StyleMeasures]:
    """What measures the same, with other means."""
    return lambda *given: replace(found := measured(*given), mean=found.mean + by)


def test_a_graph_of_integers_is_read_as_what_it_is(tmp_path: Path) -> None:
    onnx.save(kokoro(), tmp_path / "floats.onnx")
    only = {"op_types_to_quantize": ["Conv", "MatMul"], "extra_options": {"MatMulConstBOnly": True}}
    options: dict[str, Any] = {"weight_type": QuantType.QUInt8, **only}
    quantize_dynamic(tmp_path / "floats.onnx", tmp_path / "integers.onnx", **options)
    graph, whole = (
        Graph(onnx.load(tmp_path / f"{name}.onnx"), where=name) for name in ("integers", "floats")
    )
    products = [
        node
        for node in whole.of_type("Conv", "MatMul")
        if product_of(whole, node.output[0]) is not None
    ]
    assert len(products) == len(graph.of_type("ConvInteger", "MatMulInteger")) > 60
    for node in products:
        one, expected = (product_of(each, node.output[0]) for each in (graph, whole))
        assert one is not None
        assert expected is not None
        assert one.rows == expected.rows
        assert one.weight.dtype == np.uint8
        assert bool(one.bias) == bool(expected.bias)
        assert np.abs(one.floats - expected.floats).max() <= 0.51 * one.scale.max()
    assert not dequantized(graph).of_type("ConvInteger", "MatMulInteger", "DynamicQuantizeLinear")


def test_ranges_leave_out_the_rarest_extremes_most_of_the_generator_s() -> None:
    parts = Parts(Graph(kokoro(), where="toy"))
    made = [parts.run(ids, ROW) for ids in (IDS, phonemes("wˈʌn."))]
    found = averaged(map(parts.measured, made))
    assert len(found.low) == len(parts.ranges)
    generator = slice(
        parts.ranges.index(parts.kokoro.product("generator/ups.0/ConvTranspose").rows), None
    )
    shares = np.full(len(parts.ranges), 0.8)
    shares[generator] = 0.6
    assert 0 < generator.start < len(shares) / 2
    for kind, ranges in (("Min", found.low), ("Max", found.high)):
        extremes = np.mean(
            [[float(run[f"{kind}{n}"]) for n in range(len(ranges))] for run in made], axis=0
        )
        assert np.allclose(ranges, shares * extremes, atol=1e-6)


def test_statistics_of_several_sentences_are_those_of_all_their_units() -> None:
    units = [
        np.random.default_rng(n).normal(n, 1 + n, (length, 3))
        for n, length in enumerate((5, 40, 12))
    ]
    nothing = np.zeros(1, np.float32)
    runs = [
        StyleMeasures(rows.mean(0), rows.var(0), nothing, nothing, 100.0 + len(rows), len(rows))
        for rows in units
    ]
    found = averaged(runs)
    all_ = np.concatenate(units)
    assert np.allclose(found.mean, all_.mean(0))
    assert np.allclose(found.variance, all_.var(0))
    assert (found.length, found.middle) == (57, 112.0)


def test_styles_are_measured_with_sentences_of_several_kinds() -> None:
    for language in LANGUAGES.values():
        said = samples()[language.split("-")[0]]
        lengths = sorted(map(len, said))
        assert len(said) == 4
        assert sum("?" in sentence or "？" in sentence for sentence in said) == 1, language
        assert lengths[-1] > 1.8 * lengths[0], language
    texts = spoken("en-US", VOCAB)
    assert len(texts) == len(samples()["en"])
    parts = Parts(Graph(kokoro(), where="toy"))
    found = measure(parts, texts, ROW)
    assert found.length == sum(measure(parts, [ids], ROW).length for ids in texts)


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kokoro")
    given = tiny_kokoro(
        folder / "given", tokens="input_ids", styles=("am_a", "bf_b", "ff_c", "zm_e")
    )
    with pytest.MonkeyPatch.context() as patch:
        # Another test measures several sentences.
        patch.setattr(install, "spoken", lambda *asked: spoken(*asked)[:1])
        add_kokoro(given, None, folder / "voice")
    return folder / "voice"


def test_steps_that_are_not_the_whole_are_refused(
    added: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_steps(added, IDS)
    monkeypatch.setattr(install, "RIGHT", 3)
    with pytest.raises(VoiceError, match="differ in steps"):
        check_steps(added, IDS)


def test_each_style_speaks_the_language_of_its_name(added: Path) -> None:
    voice = load_voice(added)
    assert (voice.config.language, list(voice.config.speakers)) == (
        "en-US",
        ["am_a", "bf_b", "ff_c", "zm_e"],
    )
    assert voice.read_for("am_a") is voice
    french = voice.read_for("ff_c")
    assert french is voice.read_for(2)
    assert french.config.language == "fr-FR"
    assert voice.read_for("zm_e").config.language == "zh"
    assert voice.read_for("ff_c:3+am_a").config.language == "fr-FR"
    own, other = (voice.synthesize("Une table.", speaker=name) for name in ("am_a", "ff_c"))
    assert len(own) != len(other)
    assert np.array_equal(other, french.synthesize("Une table.", speaker="ff_c"))


def test_a_language_that_is_named_is_that_of_all_styles(tmp_path: Path) -> None:
    given = tiny_kokoro(tmp_path / "given", styles=("bf_a", "jf_c"), language="en-US")
    assert read_files(given, None).languages == {"bf_a": "en-US", "jf_c": "en-US"}


def test_styles_of_every_language_of_kokoro_have_one(tmp_path: Path) -> None:
    names = ("af_a", "bf_b", "ef_c", "ff_d", "hf_e", "if_f", "jf_g", "pf_h", "zf_i")
    given = tiny_kokoro(tmp_path / "given", styles=names)
    tags = ("en-US", "en-GB", "es", "fr-FR", "hi", "it", "ja", "pt-BR", "zh")
    assert read_files(given, None).languages == dict(zip(names, tags, strict=True))


def test_styles_of_a_language_that_nothing_here_reads_are_left_out_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    missing = "Japanese is read by OpenJTalk, which is not installed: pip install 'sayahead[ja]'."

    def fails(text: str) -> None:
        raise ConfigError(missing)

    monkeypatch.setattr("sayahead.text.saying.japanese.front_end.morphemes", fails)
    given = read_files(tiny_kokoro(tmp_path / "one", styles=("af_a", "jf_b", "jf_c")), None)
    files, texts = readable(given)
    assert (list(files.languages), list(texts)) == (["af_a"], ["en-US"])
    assert f"jf_b, jf_c left out: {missing}" in caplog.text
    with pytest.raises(ConfigError, match=r"pip install 'sayahead\[ja\]'"):
        readable(read_files(tiny_kokoro(tmp_path / "two", styles=("jf_b",)), None))


def test_a_voice_says_which_styles_are_poor_or_in_dialect(tmp_path: Path) -> None:
    given = tiny_kokoro(tmp_path / "given", styles=("zf_xiaoni", "zm_yunxi", "zm_yunxia"))
    said = about(read_files(given, None))["description"]
    assert said == ("Kokoro, 3 styles; 24 kHz; in dialect: zf_xiaoni; of poor quality: zm_yunxia")


def test_styles_may_be_files_of_their_own(tmp_path: Path) -> None:
    file = tiny_kokoro(tmp_path / "given")
    (tmp_path / "given" / "voices.npz").unlink()
    (tmp_path / "given" / "voices").mkdir()
    for name in ("af_x", "af_y"):
        np.zeros((ROWS, 256), np.float32).tofile(tmp_path / "given" / "voices" / f"{name}.bin")
    with pytest.raises(VoiceError, match=r"256 numbers, but .* takes 6"):
        add_kokoro(file, None, tmp_path / "voice")
    assert not (tmp_path / "voice").exists()


def test_what_is_missing_or_damaged_is_said_by_name(tmp_path: Path) -> None:
    file = tiny_kokoro(tmp_path / "given", styles=("xf_one",))
    with pytest.raises(VoiceError, match="are of no language that sayahead reads"):
        add_kokoro(file, None, tmp_path / "voice")
    (tmp_path / "given" / "voices.npz").write_bytes(b"PK\3\4 no archive")
    with pytest.raises(
        VoiceError, match=r"needs styles beside it|cannot be read as styles|make no rows"
    ):
        add_kokoro(file, None, tmp_path / "voice")
    (tmp_path / "given" / "voices.npz").unlink()
    with pytest.raises(VoiceError, match="needs styles beside it"):
        add_kokoro(file, None, tmp_path / "voice")
    for content, message in (
        ("[]", "vocab is"),
        ("{", "cannot be read as JSON"),
        ('{"vocab": {"ab": 1}}', "vocab is"),
    ):
        (tmp_path / "given" / "config.json").write_text(content, "utf-8")
        with pytest.raises(VoiceError, match=message):
            add_kokoro(file, None, tmp_path / "voice")
    (tmp_path / "given" / "config.json").unlink()
    with pytest.raises(VoiceError, match=r"needs the model's config\.json"):
        add_kokoro(file, None, tmp_path / "voice")
    assert not (tmp_path / "voice").exists()


def test_another_export_is_refused(tmp_path: Path) -> None:
    file = tiny_kokoro(tmp_path / "given")
    model = onnx.load(file)
    for node in model.graph.node:
        node.output[:] = [name.replace("asr_res", "asr") for name in node.output]
        node.input[:] = [name.replace("asr_res", "asr") for name in node.input]
    onnx.save(model, file)
    with pytest.raises(VoiceError, match=r"no Kokoro that this version knows: it has no asr_res"):
        add_kokoro(file, None, tmp_path / "voice")
    assert not (tmp_path / "voice").exists()
