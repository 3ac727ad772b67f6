"""Kokoro by whole utterances: added from its files, and spoken by sentence or in pieces of one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.tiny_kokoro import ROWS, SAMPLES, VOCAB, WIDTH, tiny_kokoro

from sayahead import ConfigError, Independent, Voice, VoiceError, load_voice
from sayahead.text.espeak.misaki import spelled
from sayahead.types import WordTiming
from sayahead.voices.install.kokoro import add_kokoro

TEXT = "One two. And three, four!"


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> Voice:
    folder = tmp_path_factory.mktemp("kokoro")
    add_kokoro(tiny_kokoro(folder / "given"), None, folder / "voice")
    return load_voice(folder / "voice")


def spoken(voice: Voice, fragments: list[str], **options: object) -> tuple[list[int], list[WordTiming]]:
    chunks = list(voice.stream(fragments, **options))  # type: ignore[arg-type]
    return [len(chunk.samples) for chunk in chunks], [word for chunk in chunks for word in chunk.words]


def test_it_says_whole_sentences_however_the_text_comes(voice: Voice) -> None:
    sizes, words = spoken(voice, [TEXT])
    assert (sizes, words) == spoken(voice, list(TEXT))
    assert len([size for size in sizes if size]) == 2
    assert [word.text for word in words] == TEXT.split()
    assert all(word.onset < word.offset for word in words)
    assert words[1].offset < sizes[0] <= words[2].onset


def test_pieces_of_a_sentence_are_said_at_once(voice: Voice) -> None:
    sizes, words = spoken(voice, list("One two three four."), policy=Independent(words=2))
    assert len([size for size in sizes if size]) == 2
    assert [word.text for word in words] == ["One", "two", "three", "four."]


def test_speed_style_and_pause_are_options(voice: Voice) -> None:
    plain, pause = voice.synthesize("One two."), round(voice.config.pause_s * voice.sample_rate)
    assert len(voice.synthesize("One two.", speed=2.0)) - pause == pytest.approx((len(plain) - pause) / 2, rel=0.1)
    assert np.array_equal(plain, voice.synthesize("One two.", speaker="af_one"))
    assert not np.array_equal(plain, voice.synthesize("One two.", speaker="am_two"))
    with pytest.raises(ConfigError, match="has no speaker"):
        voice.session(speaker="bm_none")


def test_long_utterances_are_said_in_parts(tmp_path: Path) -> None:
    add_kokoro(tiny_kokoro(tmp_path / "given"), None, tmp_path / "voice")
    about = json.loads((tmp_path / "voice" / "voice.json").read_text("utf-8"))
    about["model"]["longest"] = 9
    (tmp_path / "voice" / "voice.json").write_text(json.dumps(about), "utf-8")
    short, text = load_voice(tmp_path / "voice"), "One two three four five six seven eight nine ten."
    sizes, words = spoken(short, [text])
    assert [word.text for word in words] == text.split()
    # Two more tokens, the edges, for each part but the first.
    assert sum(sizes) > len(words) * 3 * SAMPLES


def test_the_language_is_the_first_style_s_or_the_one_that_is_named(tmp_path: Path) -> None:
    british = tiny_kokoro(tmp_path / "given", tokens="input_ids", styles=("bf_a", "bm_b", "ff_c", "jf_d"))
    add_kokoro(british, None, tmp_path / "british-voice")
    made = load_voice(tmp_path / "british-voice")
    assert (made.config.kind, made.config.language) == ("kokoro", "en-GB")
    assert list(made.config.speakers) == ["bf_a", "bm_b"]
    assert len(made.synthesize("One.")) > SAMPLES
    french = tiny_kokoro(tmp_path / "french", styles=("bf_a", "ff_c"), language="fr-FR")
    add_kokoro(french, None, tmp_path / "voice")
    other = load_voice(tmp_path / "voice")
    assert (other.config.language, list(other.config.speakers)) == ("fr-FR", ["bf_a", "ff_c"])
    assert len(other.synthesize("Bonjour.")) > SAMPLES


def test_styles_may_be_files_of_their_own(tmp_path: Path) -> None:
    file = tiny_kokoro(tmp_path / "given")
    (tmp_path / "given" / "voices.npz").unlink()
    (tmp_path / "given" / "voices").mkdir()
    for name in ("af_x", "af_y"):
        np.zeros((ROWS, 256), np.float32).tofile(tmp_path / "given" / "voices" / f"{name}.bin")
    add_kokoro(file, None, tmp_path / "voice")
    assert np.load(tmp_path / "voice" / "styles.npy").shape == (2, ROWS, 256)
    with pytest.raises(VoiceError, match=rf"must be \(speakers, rows, {WIDTH}\)"):
        load_voice(tmp_path / "voice")


def test_what_is_missing_or_damaged_is_said_by_name(tmp_path: Path) -> None:
    file = tiny_kokoro(tmp_path / "given", styles=("jf_one",))
    with pytest.raises(VoiceError, match="Japanese needs its own front end"):
        add_kokoro(file, None, tmp_path / "voice")
    (tmp_path / "given" / "voices.npz").write_bytes(b"PK\3\4 no archive")
    with pytest.raises(VoiceError, match=r"needs styles beside it|cannot be read as styles|make no rows"):
        add_kokoro(file, None, tmp_path / "voice")
    (tmp_path / "given" / "voices.npz").unlink()
    with pytest.raises(VoiceError, match="needs styles beside it"):
        add_kokoro(file, None, tmp_path / "voice")
    for content, message in (("[]", "vocab is"), ("{", "cannot be read as JSON"), ('{"vocab": {"ab": 1}}', "vocab is")):
        (tmp_path / "given" / "config.json").write_text(content, "utf-8")
        with pytest.raises(VoiceError, match=message):
            add_kokoro(file, None, tmp_path / "voice")
    (tmp_path / "given" / "config.json").unlink()
    with pytest.raises(VoiceError, match=r"needs the model's config\.json"):
        add_kokoro(file, None, tmp_path / "voice")
    assert not (tmp_path / "voice").exists()


@pytest.mark.parametrize(
    ("given", "language", "expected"),
    [
        ("dʒˈʌdʒ tʃˈeɪn", "en-US", "ʤˈʌʤ ʧˈAn"),
        ("ɡˈoʊ bˈɜːd", "en-US", "ɡˈO bˈɜɹd"),
        ("bˈʌɾɚ sˈiː", "en-US", "bˈʌTəɹ sˈi"),
        ("ɡˈəʊ sˈiː", "en-GB", "ɡˈQ sˈiː"),
        ("tʃˈao mɔʁsˈo", "fr-FR", "ʧˈao mɔʁsˈo"),
    ],
)
def test_phonemes_are_spelled_as_it_reads_them(given: str, language: str, expected: str) -> None:
    assert spelled(given, language) == expected
    assert all(len(symbol) == 1 for symbol in VOCAB)
