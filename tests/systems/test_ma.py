"""Deep Voice 3 at run time: its graphs against torch, words as they come against the whole, and that it always ends."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sayahead_lab.training.ma.export import export
from sayahead_lab.training.ma.network import DeepVoice3, DeepVoice3Config, generate
from support import tiny
from support.effort import examples
from support.texts import splits, texts

from sayahead import AudioChunk, ConfigError, LookaheadK, Policy, Session, Voice, WaitAll
from sayahead.config import from_mapping
from sayahead.engine.onnx import OnnxGraph
from sayahead.systems.ma import AttentionAcoustic, AttentionConfig, AttentionState
from sayahead.text.english.normalizer import normalize
from sayahead.types import Floats, Rendering, Segment

PLAIN = Rendering(hold_back_s=0.0)
SPACE = 16
IDS = np.array([50, 83, 54, 156, 31, SPACE, 81, 156, 86, 123, 44, SPACE, 45, 62, SPACE, 48, 57, 60, 61, 4])
WORDS = ((0, 5), (5, 11), (11, 14), (14, 20))
"""First and end id of each word of IDS, with the space before it."""


class Spy:
    """A graph that remembers what it was given, and may be changed."""

    def __init__(self, graph: OnnxGraph) -> None:
        self.graph, self.calls = graph, list[dict[str, Any]]()

    def __call__(self, **inputs: Any) -> dict[str, Any]:
        self.calls.append(inputs)
        return self.graph(**inputs)


def acoustic(model: DeepVoice3, folder: Path, **changes: Any) -> tuple[AttentionAcoustic, Spy, Spy]:
    """The run-time model with its two graphs, and entries of its table changed."""
    paths, about = export(model, folder, frame_s=0.0125)
    encoder, decoder = (Spy(OnnxGraph(path)) for path in paths)
    graphs: Any = (encoder, decoder)
    table = from_mapping(AttentionConfig, {**about, **changes}, where="acoustic")
    empty, space = np.zeros(0, np.int64), np.array([SPACE])
    made = AttentionAcoustic(graphs[0], graphs[1], table, right_frames=9, pad=0, continuations=(empty, space))
    return made, encoder, decoder


def segment(first: int, end: int, shown: int | None = None) -> Segment:
    """The words ``first`` up to ``end`` of IDS, with those up to ``shown`` visible (None: all)."""
    last = len(WORDS) if shown is None else min(shown, len(WORDS))
    begin, stop, seen = WORDS[first][0], WORDS[end - 1][1], WORDS[last - 1][1]
    spans = tuple((a - begin + (IDS[a] == SPACE), b - begin - (IDS[b - 1] == 4)) for a, b in WORDS[first:end])
    return Segment(IDS[begin:seen], stop - begin, spans, last == len(WORDS))


def word_by_word(
    model: AttentionAcoustic, lookahead: int | None, rendering: Rendering = PLAIN, hold_back: int = 0
) -> tuple[list[Any], list[AttentionState]]:
    """Frames of each word's step, and the states before and after it."""
    states, made = [model.initial()], []
    for word in range(len(WORDS)):
        shown = None if lookahead is None else word + 1 + lookahead
        frames, state = model.step(segment(word, word + 1, shown), states[-1], rendering, hold_back=hold_back)
        made.append(frames)
        states.append(state)
    return made, states


@pytest.mark.parametrize("config", tiny.CONFIGS, ids=lambda c: f"{c.clock}-{c.own_windows}-{c.weight_norm}")
def test_a_step_of_the_graphs_is_a_step_of_torch(config: DeepVoice3Config, tmp_path: Path) -> None:
    model = tiny.deepvoice3(config)
    (encoder, decoder), _ = export(model, tmp_path, frame_s=0.0125)
    first = 7
    with torch.no_grad():
        keys, values = model.encode(torch.from_numpy(IDS))
        memory = OnnxGraph(encoder)(ids=IDS, places=np.arange(first, first + len(IDS)))
        past, graph = model.initial()._replace(attended=torch.tensor([first, first])), OnnxGraph(decoder)
        cache = np.zeros((config.decoder_layers, (config.decoder_kernel - 1) * config.embedding), np.float32)
        previous = np.zeros((1, 4 * 80), np.float32)
        for _ in range(40):
            leads = [past.attended[i if config.own_windows else 0] for i in (0, 1)]
            stayed = [past.stayed[i if config.own_windows else 0] for i in (0, 1)]
            clocks = [past.number] * 2
            if config.clock == "attended":
                clocks = [a * config.key_rate + s for a, s in zip(leads, stayed, strict=True)]
            rows = [slice(int(a) - first, int(a) - first + config.window) for a in leads]
            out = graph(
                frames=previous,
                cache=cache,
                memory1=memory["memory1"][rows[0]],
                memory2=memory["memory2"][rows[1]],
                positions=np.array([[float(clock)] for clock in clocks], np.float32),
            )
            frames, stop, weights, past = model.step(past, keys, values, torch.tensor(first))
            assert np.abs(out["next_frames"][0] - frames.numpy()).max() < 1e-4
            assert np.abs(out["mel"] - (frames.view(4, 80) * model.std + model.mean).numpy()).max() < 2e-4
            assert abs(float(out["stop"][0, 0]) - float(stop)) < 1e-4
            for i in (0, 1):
                seen = out[f"weights{i + 1}"][0]
                assert np.abs(seen - weights[i][: len(seen)].numpy()).max() < 1e-4
            taken = past.caches.flatten(1).numpy()
            assert np.abs(out["next_cache"] - taken).max() < 1e-4
            previous, cache = frames.numpy()[None], taken
    assert int(past.attended[0]) > first


@pytest.mark.parametrize("config", tiny.CONFIGS, ids=lambda c: f"{c.clock}-{c.own_windows}-{c.weight_norm}")
def test_a_whole_sentence_is_what_torch_speaks(config: DeepVoice3Config, tmp_path: Path) -> None:
    model = tiny.deepvoice3(config)
    runtime, _, _ = acoustic(model, tmp_path, longest=200)
    frames, _ = runtime.step(segment(0, len(WORDS)), runtime.initial(), PLAIN, hold_back=0)
    ids = torch.tensor([0, *IDS.tolist(), 0])
    mel, _ = generate(model, ids, stop=2.0, most=12)
    # Torch's own loop rests on a phoneme for as long as it likes, and stops elsewhere.
    same = min(len(mel), len(frames.final))
    assert same >= 40
    assert np.abs(frames.final[:same] - mel[:same].numpy()).max() < 1e-3


@pytest.mark.parametrize("config", tiny.CONFIGS, ids=lambda c: f"{c.clock}-{c.own_windows}-{c.weight_norm}")
def test_words_that_see_enough_are_the_whole_sentence(config: DeepVoice3Config, tmp_path: Path) -> None:
    runtime, encoder, _ = acoustic(tiny.deepvoice3(config), tmp_path)
    whole, _ = runtime.step(segment(0, len(WORDS)), runtime.initial(), PLAIN, hold_back=0)
    for hold_back in (0, 4, 10):
        encoder.calls.clear()
        made, states = word_by_word(runtime, None, hold_back=hold_back)
        joined = np.concatenate([frames.final for frames in made])
        assert joined.shape == whole.final.shape
        assert np.abs(joined - whole.final).max() < 1e-3
        assert tuple(word for frames in made for word in frames.words) == whole.words
        assert [frames.ended for frames in made] == [False] * 3 + [True]
        # With the past forgotten but for what the encoder sees, and what is held back.
        assert states[3].first > 0
        assert min(call["places"][0] for call in encoder.calls) == 0
        assert encoder.calls[-1]["places"][0] == states[3].first


def test_what_is_expected_is_what_comes(tmp_path: Path) -> None:
    runtime, _, _ = acoustic(tiny.deepvoice3(), tmp_path)
    whole, _ = runtime.step(segment(0, len(WORDS)), runtime.initial(), PLAIN, hold_back=0)
    made, _ = word_by_word(runtime, None, hold_back=6)
    free, _ = word_by_word(runtime, None)
    # Cut between steps, and never less held back than was asked for.
    assert len(free[0].final) - len(made[0].final) == 8
    at = 0
    for frames in made[:-1]:
        at += len(frames.final)
        # For the nine frames that the vocoder sees.
        assert len(frames.right) == 12
        right = whole.final[at : at + len(frames.right)]
        assert np.abs(frames.right[: len(right)] - right).max() < 1e-3
    assert len(made[-1].right) == 0


@pytest.mark.parametrize("lookahead", [0, 1, 2])
def test_phonemes_come_in_order_and_none_is_left_out(lookahead: int, tmp_path: Path) -> None:
    runtime, encoder, decoder = acoustic(tiny.deepvoice3(seed=lookahead), tmp_path)
    made, states = word_by_word(runtime, lookahead, hold_back=3)
    shown = dict[int, int]()
    for call in encoder.calls:
        assert np.array_equal(np.diff(call["places"]), np.ones(len(call["ids"]) - 1))
        shown |= zip(call["places"].tolist(), call["ids"].tolist(), strict=True)
    assert [shown[place] for place in range(len(IDS) + 2)] == [0, *IDS.tolist(), 0]
    assert len(encoder.calls) == len(WORDS)
    # Where nothing is visible behind a word, a space is what attention can go on to.
    for call, (_, end) in zip(encoder.calls, WORDS[lookahead:-1], strict=False):
        assert call["ids"].tolist()[-4:] == (
            [*IDS[end - 3 : end], SPACE] if lookahead == 0 else list(IDS[end - 4 : end])
        )
    # What attention leaves never comes back, and it never jumps further than its window.
    edges = [place for a, b in (pair for frames in made for pair in frames.words) for place in (a, b)]
    assert edges == sorted(edges)
    assert edges[-1] <= sum(len(frames.final) for frames in made)
    attended = [state.past.attended[0] for state in states[:-1]]
    assert attended == sorted(attended)
    for (_, end), state in zip(WORDS, states[1:-1], strict=False):
        last = state.held[-1][0] if state.held else state.past.attended[0]
        assert end - 2 <= last <= end
    assert all(call["memory1"].shape[0] <= 3 for call in decoder.calls)


def test_a_state_stays_as_it_was(tmp_path: Path) -> None:
    runtime, _, _ = acoustic(tiny.deepvoice3(), tmp_path)
    _, states = word_by_word(runtime, 1, hold_back=4)
    past, ids = states[1].past, states[1].ids
    before = past.frames.copy(), past.cache.copy(), ids.copy()
    one, two = (runtime.step(segment(1, 2, 3), states[1], PLAIN, hold_back=4) for _ in range(2))
    assert np.array_equal(one[0].final, two[0].final)
    assert np.array_equal(one[1].past.cache, two[1].past.cache)
    assert np.array_equal(before[0], past.frames)
    assert np.array_equal(before[1], past.cache)
    assert np.array_equal(before[2], ids)


@pytest.mark.parametrize(
    ("rendering", "provisional"),
    [(PLAIN, 3), (replace(PLAIN, delta=0), 1), (replace(PLAIN, k2=1), 1), (replace(PLAIN, delta=5), 2)],
)
def test_nothing_provisional_is_made_that_nobody_hears(rendering: Rendering, provisional: int, tmp_path: Path) -> None:
    runtime, _, decoder = acoustic(tiny.deepvoice3(), tmp_path)
    frames, state = runtime.step(segment(0, 1, 3), runtime.initial(), rendering, hold_back=0)
    assert len(frames.final) == 4 * state.past.number > 0
    # The step at which attention is behind the words is always made: nothing else tells that they are done.
    assert len(decoder.calls) == state.past.number + provisional
    assert len(frames.right) == (4 * provisional if provisional > 1 else 0)


@pytest.mark.parametrize("lookahead", [0, 1, None])
@pytest.mark.parametrize("seed", range(4))
def test_any_network_comes_to_an_end(seed: int, lookahead: int | None, tmp_path: Path) -> None:
    config = tiny.CONFIGS[seed]
    model = tiny.deepvoice3(config, seed=seed, scale=(0.0, 1.0, 5.0, 30.0)[seed])
    with torch.no_grad():
        model.decoder.stop.bias.fill_(-1e3 if seed % 2 else 1e3)
    runtime, _, decoder = acoustic(model, tmp_path, longest=6)
    made, states = word_by_word(runtime, lookahead)
    assert [frames.ended for frames in made] == [False] * 3 + [True]
    assert len(decoder.calls) <= 6 * (len(IDS) + 2) + 3 * len(WORDS)
    assert sum(len(frames.final) for frames in made) > 0
    assert states[-1].past.number == 0


@pytest.mark.parametrize(("stop", "steps"), [(-1e3, 5 * (len(IDS) + 2)), (1e3, 5 * len(IDS) + 1)])
def test_attention_that_rests_too_long_is_moved_on(stop: float, steps: int, tmp_path: Path) -> None:
    model = tiny.deepvoice3(scale=0.0)  # All weights equal: the first of the window is always the greatest.
    with torch.no_grad():
        model.decoder.stop.bias.fill_(stop)
    runtime, _, _ = acoustic(model, tmp_path, longest=5)
    frames, _ = runtime.step(segment(0, len(WORDS)), runtime.initial(), PLAIN, hold_back=0)
    # A stop is believed once attention is behind the last phoneme that sounds, which the period follows here.
    assert len(frames.final) == 4 * steps
    assert frames.words[0] == (4 * 5, 4 * 5 * 6)
    assert frames.words[-1] == (4 * 5 * 16, 4 * 5 * 20)


def test_a_stop_inside_a_sentence_is_not_believed(tmp_path: Path) -> None:
    model = tiny.deepvoice3(scale=0.0)
    with torch.no_grad():
        model.decoder.stop.bias.fill_(1e3)
    runtime, _, _ = acoustic(model, tmp_path, longest=5)
    # Its last two ids are a comma's, say.
    frames, _ = runtime.step(Segment(IDS, 5, ((0, 3),), True), runtime.initial(), PLAIN, hold_back=0)
    assert len(frames.final) == 4 * 5 * 6
    assert frames.words == ((4 * 5, 4 * 5 * 4),)


@pytest.mark.parametrize("ahead", [(0, 2), (2, 0)])
def test_attentions_that_part_stay_in_view(ahead: tuple[int, int], tmp_path: Path) -> None:
    runtime, _, decoder = acoustic(tiny.deepvoice3(tiny.CONFIGS[0]), tmp_path, longest=5)

    def steered(**inputs: Any) -> dict[str, Any]:
        sizes = [len(inputs[f"memory{i + 1}"]) for i in (0, 1)]
        went = {f"weights{i + 1}": np.eye(sizes[i])[[min(ahead[i], sizes[i] - 1)]] for i in (0, 1)}
        return {**decoder(**inputs), **went}

    runtime._decoder = steered  # type: ignore[assignment]
    _, states = word_by_word(runtime, 2)
    for before, state in itertools.pairwise(states[:-1]):
        assert state.past.attended[1] >= before.first
    # Words that were predicted, and seen, do not come: the text is shorter than it was.
    _, state = runtime.step(segment(0, 1, 3), runtime.initial(), PLAIN, hold_back=0)
    last, _ = runtime.step(Segment(np.zeros(0, np.int64), 0, (), True), state, PLAIN, hold_back=0)
    assert last.ended
    assert len(last.final) > 0


def test_without_a_continuation_a_word_ends_when_its_last_phoneme_has_lasted(tmp_path: Path) -> None:
    model = tiny.deepvoice3(scale=0.0)
    runtime, _, _ = acoustic(model, tmp_path, longest=5)
    runtime._blind_continuation = np.zeros(0, np.int64)
    frames, _ = runtime.step(segment(0, 1, 1), runtime.initial(), PLAIN, hold_back=0)
    assert len(frames.final) == 4 * (5 * 6 - 1)


def test_a_sentence_may_be_closed_without_words(tmp_path: Path) -> None:
    runtime, _, _ = acoustic(tiny.deepvoice3(), tmp_path)
    nothing = np.zeros(0, np.int64)
    for hold_back in (0, 8):
        first, state = runtime.step(segment(0, 1, 1), runtime.initial(), PLAIN, hold_back=hold_back)
        # A word without a sound says nothing and changes nothing.
        silent, same = runtime.step(Segment(nothing, 0, ((0, 0),), False), state, PLAIN, hold_back=hold_back)
        end = 4 * (state.past.number + len(state.held))
        assert (len(silent.final), silent.words, silent.ended) == (0, ((end, end),), False)
        assert same is state
        last, state = runtime.step(Segment(nothing, 0, (), True), state, PLAIN, hold_back=hold_back)
        assert (last.words, last.ended, len(state.ids)) == ((), True, 0)
        assert len(first.final) + len(last.final) >= end >= first.words[0][1]


@pytest.fixture(scope="module", params=["mel", "clarinet"])
def voice(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Voice:
    number = 1 + (request.param == "clarinet")
    return tiny.tiny_voice(tmp_path_factory.mktemp("voice"), request.param, tiny.CONFIGS[number], seed=number)


POLICIES: list[Policy] = [LookaheadK(0), LookaheadK(1), LookaheadK(2, first_chunk=18, chunk=6), WaitAll()]


def chunks(session: Session, fragments: list[str]) -> list[AudioChunk]:
    made = list[AudioChunk]()
    for fragment in fragments:
        session.push(fragment)
        made += session.chunks()
    session.finish()
    return [*made, *session.chunks()]


def sound(made: list[AudioChunk]) -> Floats:
    return np.concatenate([np.zeros(0, np.float32), *(chunk.samples for chunk in made)])


@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(st.data())
def test_sessions_keep_their_promises(voice: Voice, data: st.DataObject) -> None:
    text = data.draw(texts())
    fragments = data.draw(splits(text))
    options: dict[str, Any] = {
        "policy": data.draw(st.sampled_from(POLICIES)),
        "hold_back_s": data.draw(st.sampled_from([0.0, 0.05, 0.12])),
        "k2": data.draw(st.integers(0, 2)),
        "delta": data.draw(st.sampled_from([None, 0, 3])),
    }
    whole, parts = (chunks(voice.session(**options), pushed) for pushed in ([text], fragments))
    assert np.array_equal(sound(whole), sound(parts))
    timings = [timing for chunk in whole for timing in chunk.words]
    assert timings == [timing for chunk in parts for timing in chunk.words]
    assert [(w.text, w.start, w.end) for w in timings] == [(w.text, w.start, w.end) for w in normalize(text)]
    ends = [word.ends for word in normalize(text)]
    for ended, timing, after in zip(ends, timings, timings[1:], strict=False):
        assert timing.onset <= timing.offset
        assert timing.onset <= after.onset
        assert ended or timing.offset <= after.onset
    assert not timings or timings[-1].offset <= len(sound(whole))


def test_a_pace_that_it_does_not_have_is_refused(voice: Voice) -> None:
    with pytest.raises(ConfigError, match=r"speed is 1\.5, but must be a number from 1 to 1"):
        voice.session(speed=1.5)
