"""The modified Tacotron 2 of Mohan et al.: spelling, scope, training at once, graphs, policies over
characters."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lab_support.tiny import trained, vocoder
from lab_support.tiny_mohan import CONFIG, tacotron, tiny_mohan
from lab_support.tiny_training import lessons
from sayahead import ConfigError, Voice, VoiceError, load_voice
from sayahead.engine.letters import Letters
from sayahead.engine.policy import READ, LetterPolicy, LetterView, Steps, check_policy
from sayahead.policies.characters import WaitEnd, WaitKSteps
from sayahead.research import LookaheadK, Policy, RandomWords
from sayahead.systems.mohan import CharacterAcoustic, CharacterState
from sayahead.text import front_end
from sayahead.text.saying.english.spelling import EnglishSpeller
from sayahead.text.saying.letters import ALPHABET
from sayahead.types import Floats, Rendering, Segment, SynthesizedAudio, Word
from support.effort import examples
from support.texts import splits, texts

from sayahead_lab.training.corpus.store import Item
from sayahead_lab.training.deferred_gradient import Deferred
from sayahead_lab.training.loop.recipe import load_recipe
from sayahead_lab.training.mohan.network import ModifiedTacotron, ModifiedTacotronConfig
from sayahead_lab.training.mohan.task import MohanTask, Spelling, spelling
from sayahead_lab.training.voice import make_voice

RENDERING = Rendering()
SPELLER = EnglishSpeller()


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> Voice:
    return tiny_mohan(tmp_path_factory.mktemp("mohan"))


def acoustic_of(voice: Voice) -> CharacterAcoustic:
    synthesizer: Any = voice.synthesizer
    acoustic = synthesizer.acoustic
    assert isinstance(acoustic, CharacterAcoustic)
    return acoustic


def read(text: str, *, ends: bool = True, words: tuple[tuple[int, int], ...] = ()) -> Segment:
    return Segment(SPELLER.ids(text), 0, words, ends, steps=0)


def spoken(steps: int, *, ends: bool = True) -> Segment:
    return Segment(np.zeros(0, np.int64), 0, (), ends, steps=steps)


# --- spelling
# -------------------------------------------------------------------------------------------------------  # noqa: E501


@pytest.mark.parametrize(
    ("word", "letters", "mark"),
    [
        ("Hello,", "hello", ","),
        ("it’s", "it's", "."),
        ("twenty-two.", "twenty-two", "."),
        ("five million dollars?", "five million dollars", "?"),
        ("Stop!”", "stop", "!"),
        ("naïve", "naive", "."),
        ("(so)", "so", "."),
        ("—", "", ","),
        ("wait…", "wait", "."),
        ("12", "twelve", "."),
        ("1,234,", "one thousand two hundred thirty-four", ","),
        ("1984.", "nineteen eighty-four", "."),
        ("1906", "nineteen oh six", "."),
        ("1900", "nineteen hundred", "."),
        ("2005", "two thousand five", "."),
        ("1990s", "nineteen nineties", "."),
        ("3.5", "three point five", "."),
        ("21st", "twenty-first", "."),
        ("20th", "twentieth", "."),
        ("112TH", "one hundred twelfth", "."),
        ("$12.50,", "twelve dollars and fifty cents", ","),
        ("$1", "one dollar", "."),
        ("£0.01", "one penny", "."),
        ("€2.5", "two point five euros", "."),
        ("0 0 7", "zero zero seven", "."),
        ("COVID-19?", "covid nineteen", "?"),
        ("B2B", "b two b", "."),
        ("U.S.", "u s", "."),
        ("7" * 16, " ".join(["seven"] * 16), "."),
        ("Café,", "cafe", ","),
        ("STRASSE", "strasse", "."),
        ("Straße", "strasse", "."),
        ("ẞ", "ss", "."),
        ("Ærø", "aero", "."),
        ("œuvre?", "oeuvre", "?"),
        ("Łódź", "lodz", "."),
        ("cafe\u0301s", "cafes", "."),
        ("ǿ", "o", "."),
        ("ﬁancée’s", "fiancee's", "."),
        ("Москва", "", "."),
    ],
)
def test_words_are_spelled(word: str, letters: str, mark: str) -> None:
    assert SPELLER.spelled(word) == letters
    assert SPELLER.final_mark(word) == mark
    assert "".join(ALPHABET[i] for i in SPELLER.ids(letters + mark)) == letters + mark


@pytest.mark.parametrize(
    ("language", "word", "letters"),
    [
        ("fr-FR", "L’ÉTÉ,", "l'été"),
        ("fr", "cœur", "cœur"),
        ("fr", "Noe\u0308l", "noël"),
        ("fr", "España", "espana"),
        ("fr", "Straße", "strasse"),
        ("de", "Straße", "straße"),
        ("es-419", "¿Cómo?", "cómo"),
        ("pt-BR", "São", "são"),
        ("it", "perché", "perché"),
        ("nl", "reëel", "reëel"),
    ],
)
def test_other_languages_keep_their_letters_with_marks(
    language: str, word: str, letters: str
) -> None:
    speller = front_end(language).speller()
    assert speller.spelled(word) == letters
    assert "".join(speller.alphabet[i] for i in speller.ids(letters)) == letters
    assert speller.alphabet.startswith(ALPHABET)
    assert len(set(speller.alphabet)) == len(speller.alphabet)


def test_letters_of_a_language_without_a_record_are_an_error() -> None:
    with pytest.raises(ConfigError, match="do not know those of the language 'ru'"):
        front_end("ru").speller()


def test_letters_give_each_character_once_and_the_mark_at_the_end() -> None:
    letters = Letters(WaitEnd(), EnglishSpeller())
    text = ""
    places = list[tuple[int, int]]()
    spoken = list[Word]()
    words = [Word("Oh,", 0, 3), Word("—", 4, 5), Word("my.", 6, 9, ends=True)]
    letters.take(words)
    while (segment := letters.next(None)) is not None and segment.steps == 0:
        text += ALPHABET[segment.ids[0]]
        places += segment.spans
        assert segment.ends == (text == "oh my.")
        spoken += letters.done(SynthesizedAudio(np.zeros(0, np.float32), ()))
    assert segment is not None
    assert segment.steps == 1
    assert text == "oh my."
    assert places == [(0, 2), (2, 2), (3, 5)]
    assert spoken == words


def test_words_with_letters_outside_the_alphabet_keep_their_places_in_the_source() -> None:
    letters = Letters(WaitEnd(), EnglishSpeller())
    text = ""
    words = [Word("Straße", 3, 9), Word("Москва", 10, 16), Word("œuvres.", 17, 24, ends=True)]
    letters.take(words)
    spoken = list[Word]()
    places = list[tuple[int, int]]()
    while (segment := letters.next(None)) is not None and segment.steps == 0:
        text += ALPHABET[segment.ids[0]]
        places += segment.spans
        spoken += letters.done(SynthesizedAudio(np.zeros(0, np.float32), ()))
    assert text == "strasse oeuvres."
    assert [text[first:end] for first, end in places] == ["strasse", "", "oeuvres"]
    assert [(word.start, word.end) for word in spoken] == [(3, 9), (10, 16), (17, 24)]


def item(text: str, words: list[tuple[int, int]], durations: list[int]) -> Item:
    frames = sum(durations)
    ids = len(durations) - 2
    mel = np.random.default_rng(frames).normal(size=(frames, 4)).astype(np.float16)
    return Item(
        "one",
        text,
        np.arange(ids, dtype=np.int16),
        np.array(words, np.int16),
        np.array(durations, np.int16),
        np.zeros(frames, np.float16),
        mel,
    )


def test_characters_share_their_words_phonemes() -> None:
    # Two words of 2 and 3 phonemes with a space between them; pads at both ends.
    made = spelling(item("Know me.", [(0, 2), (3, 6)], [2, 4, 6, 3, 2, 2, 2, 5, 4]), SPELLER)
    assert made is not None
    assert "".join(ALPHABET[i] for i in made.ids) == "know me."
    # The first letter has the first pad; letters of "know" have half a phoneme each, the mark has
    # all that is behind.
    assert made.edges.tolist() == [0, 4, 6, 9, 12, 15, 18, 21, 30]
    assert made.groups.tolist() == [[0, 4]] * 4 + [[4, 7]] * 3 + [[7, 7]]
    assert (
        spelling(item("Know it me.", [(0, 2), (3, 6)], [2, 4, 6, 3, 2, 2, 2, 5, 4]), SPELLER)
        is None
    )


# --- the network
# ----------------------------------------------------------------------------------------------------  # noqa: E501


def test_the_paper_preset_has_tacotron_2_s_sizes() -> None:
    """Embedding, one LSTM, prenet, two LSTMs with attention between, frames and stop: no
    convolution, no postnet."""
    parts = {
        "embedding": len(ALPHABET) * 512,
        "encoder": 4 * 512 * (512 + 512 + 2),
        "prenet": 2 * 128 * 256 + 256 * 256,
        "attention rnn": 4 * 1024 * (256 + 512 + 1024 + 2),
        "attention": 128 * (1024 + 512 + 32 + 1) + 32 * 2 * 31,
        "decoder": 4 * 1024 * (1024 + 512 + 1024 + 2),
        "outputs": (1024 + 512 + 1) * (2 * 128 + 1),
    }
    recipe = load_recipe(Path(__file__).parents[2] / "recipes" / "mohan" / "tts-paper.toml")
    assert recipe.model == {"reduction": 2, "context_teaches": True}
    assert recipe.data == {}
    with torch.device("meta"):
        model = ModifiedTacotron(ModifiedTacotronConfig(**recipe.model))
    assert sum(p.numel() for p in model.parameters()) == sum(parts.values()) == 20_689_217


@pytest.mark.slow
def test_the_paper_preset_takes_a_training_step() -> None:
    model = ModifiedTacotron(ModifiedTacotronConfig())
    made = model(torch.zeros(1, 3, dtype=torch.long), torch.full((1, 2), 3), torch.zeros(1, 2, 128))
    loss = made.frames.square().mean() + made.stop.square().mean()
    before = model.stop.weight.detach().clone()
    optimizer = torch.optim.Adam(model.parameters())
    loss.backward()
    optimizer.step()
    assert not torch.equal(before, model.stop.weight)


def drive(model: ModifiedTacotron, ids: Any, scope: Any, frames: Any) -> tuple[Any, Any, Any]:
    """Frames, stops and weights of steps one by one, each after the true frames before it."""
    size, steps = scope.shape
    memory = model.memory(model.encode(ids))
    state = model.initial(memory)
    shape = (size, model.config.reduction, model.config.n_mels)
    previous = torch.zeros(shape)
    made = []
    for at in range(steps):
        step = model.step(memory, scope[:, at], state, previous)
        made.append((step.frames, step.stop, step.look.weights))
        state = step.state
        previous = frames[:, at].view(shape)
    parts = list(zip(*made, strict=True))
    return torch.cat(parts[0], 1), torch.stack(parts[1], 1), torch.stack(parts[2], 1)


def batch(
    seed: int = 0, size: int = 3, characters: int = 14, steps: int = 20
) -> tuple[Any, Any, Any]:
    torch.manual_seed(seed)
    ids = torch.randint(0, len(ALPHABET), (size, characters))
    frames = torch.randn(size, steps, 160)
    return ids, torch.randint(1, characters + 1, (size, steps)).cummax(1).values, frames


@pytest.mark.parametrize("window", [(), (2, 3)])
def test_training_step_by_step_equals_speaking(window: tuple[int, ...]) -> None:
    model = tacotron(dataclasses.replace(CONFIG, window=window))
    ids, scope, frames = batch()
    made = model(ids, scope, frames)
    mel, stop, weights = drive(model, ids, scope, frames)
    assert torch.allclose(made.frames, mel, atol=1e-5)
    assert torch.allclose(made.stop, stop, atol=1e-5)
    assert torch.allclose(made.weights.exp(), weights, atol=1e-5)


@pytest.mark.parametrize("teaches", [True, False])
def test_the_encoder_learns_through_what_attention_saw_before_if_told_to(teaches: bool) -> None:
    model = tacotron(dataclasses.replace(CONFIG, context_teaches=teaches))
    ids, scope, frames = batch(2)
    gradients = []
    for made in (model(ids, scope, frames).frames, drive(model, ids, scope, frames)[0]):
        model.zero_grad()
        made.square().mean().backward()
        assert model.embedding.weight.grad is not None
        gradients.append(model.embedding.weight.grad.clone())
    assert torch.allclose(gradients[0], gradients[1], rtol=1e-3, atol=1e-7) == teaches


def test_training_at_once_equals_speaking_where_attention_is_where_it_is_taken_to_be() -> None:
    model = tacotron(dataclasses.replace(CONFIG, window=(2, 3)))
    ids, scope, frames = batch(1)
    slow = model(ids, scope, frames)
    fast = model(ids, scope, frames, 0.0, slow.weights.exp())
    assert torch.allclose(slow.frames, fast.frames, atol=1e-5)
    assert torch.allclose(slow.weights.exp(), fast.weights.exp(), atol=1e-5)
    elsewhere = model(ids, scope, frames, 0.0, torch.full_like(slow.weights, 1 / 14))
    assert not torch.allclose(slow.frames, elsewhere.frames, atol=1e-3)


def test_later_characters_change_no_earlier_state_and_nothing_outside_the_scope_is_heard() -> None:
    model = tacotron(dataclasses.replace(CONFIG, window=()))
    ids, _, frames = batch()
    other = ids.clone()
    other[:, 5:] = (other[:, 5:] + 1) % len(ALPHABET)
    assert torch.allclose(model.encode(ids)[:, :5], model.encode(other)[:, :5])
    few = torch.full((3, 20), 5)
    assert torch.allclose(
        model(ids, few, frames).frames, model(other, few, frames).frames, atol=1e-6
    )
    more = torch.full((3, 20), 6)
    assert not torch.allclose(
        model(ids, more, frames).frames, model(other, more, frames).frames, atol=1e-4
    )


def test_deferred_gradients_are_those_of_each_step() -> None:
    torch.manual_seed(0)
    weight = torch.randn(5, 3, requires_grad=True)
    x = torch.randn(2, 3, requires_grad=True)

    def loop(step: Any) -> Any:
        state = x
        for _ in range(4):
            state = step(state).tanh()[:, :3]
        return state.square().sum()

    plain = torch.autograd.grad(loop(lambda state: state @ weight.t()), [weight, x])
    deferred = torch.autograd.grad(loop(Deferred(weight)), [weight, x])
    for one, other in zip(plain, deferred, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


# --- the task
# -------------------------------------------------------------------------------------------------------  # noqa: E501


def task(model: dict[str, Any], data: dict[str, Any], language: str = "en-US") -> MohanTask:
    bands = {"front_end": SimpleNamespace(n_mels=4), "mel_mean": np.zeros(4, np.float32)}
    source = {"language": language}
    corpus: Any = SimpleNamespace(
        info=SimpleNamespace(**bands, mel_std=np.ones(4, np.float32), source=source)
    )
    small = {
        "n_mels": 4,
        "reduction": 2,
        "embedding": 8,
        "encoder": 8,
        "prenet": [8, 8],
        "attention_rnn": 8,
        "decoder_rnn": 8,
        "attention": 4,
        "location_filters": 2,
        "location_kernel": 3,
    }
    return MohanTask({**small, **model}, data, corpus)


def row(one: Item) -> tuple[int, Item, Spelling]:
    made = spelling(one, SPELLER)
    assert made is not None
    return 7, one, made


ONE = item("Know me.", [(0, 2), (3, 6)], [2, 4, 6, 3, 2, 2, 2, 5, 4])


def test_attention_is_meant_to_be_at_the_spoken_character_and_what_follows_in_its_word_and_in_view() -> (  # noqa: E501
    None
):
    own = task({}, {"meant": [0.1, 0.4, 0.3, 0.2]})
    made = own.batch([row(ONE)], None)
    assert made["own"][0, :4].tolist() == [0, 0, 1, 2]
    meant = own.meant(made)[0]
    assert torch.allclose(meant.sum(-1), torch.ones(len(meant)))
    assert meant[2].tolist() == pytest.approx([0.1, 0.4, 0.3, 0.2, 0, 0, 0, 0])
    # The last letter of a word sees the space behind it, and no further.
    last = made["own"][0].tolist().index(3)
    assert meant[last].tolist() == pytest.approx([0, 0, 0.125, 0.5, 0.375, 0, 0, 0])
    made["scope"][0, 2] = 2
    assert own.meant(made)[0, 2].tolist() == pytest.approx([0.2, 0.8, 0, 0, 0, 0, 0, 0])


def test_some_sentences_are_seen_as_policies_see_them() -> None:
    own = task({}, {"scope_share": 1.0, "scope_margins": [2]})
    made = own.batch([row(ONE)], np.random.default_rng(0))
    assert made["scope"][0].tolist() == [min(8, at + 3) for at in made["own"][0].tolist()]
    assert set(own.batch([row(ONE)], None)["scope"][0].tolist()) == {8}


@pytest.mark.parametrize("at_once", [False, True])
def test_the_task_learns_a_sentence(at_once: bool) -> None:
    own = task(
        {"window": [2, 4], "prenet_dropout": 0.0, "rnn_dropout": 0.0},
        {"at_once": at_once, "alignment_weight": 1.0, "sampling_share": 0.2, "sampling_start": 20},
    )
    torch.manual_seed(0)
    model = own.model()
    made = own.batch([row(ONE)], None)
    losses = [parts["alignment"] + parts["l2"] for parts in lessons(own, model, [made] * 60, 0.02)]
    assert losses[-1] < 0.6 * losses[0]


def test_settings_that_do_not_go_together_are_named() -> None:
    for model, data, message in (
        ({"n_mels": 80}, {}, "mel bands"),
        ({}, {"at_once": True}, "window"),
        ({}, {"scope_margins": [0]}, "scope_margins"),
    ):
        with pytest.raises(ConfigError, match=message):
            task(model, data)


# --- at run time
# ----------------------------------------------------------------------------------------------------  # noqa: E501


def run(
    acoustic: CharacterAcoustic, segments: list[Segment], *, hold_back: int = 0
) -> tuple[Floats, CharacterState]:
    state = acoustic.initial()
    out = []
    for segment in segments:
        frames, state = acoustic.step(segment, state, RENDERING, hold_back=hold_back)
        out.append(frames.final)
        if frames.ended:
            break
    return np.concatenate(out), state


@pytest.mark.parametrize("window", [(), (3, 6)])
def test_graphs_speak_as_the_network(tmp_path: Path, window: tuple[int, ...]) -> None:
    config = dataclasses.replace(CONFIG, window=window)
    model = tacotron(config)
    acoustic = acoustic_of(tiny_mohan(tmp_path, config))
    text = "so it was."
    scope = [3, 3, 3, 5, 5, 6, 8, 8, 9, 10, 10, 10]
    numbers = torch.from_numpy(SPELLER.ids(text))[None]
    memory = model.memory(model.encode(numbers))
    read_so_far = 0
    segments = []
    state = model.initial(memory)
    previous = torch.zeros(1, 2, 80)
    made = []
    looks = []
    for count in scope:
        segments += [read(text[at], ends=at == 9) for at in range(read_so_far, count)] + [
            spoken(1, ends=False)
        ]
        read_so_far = count
        step = model.step(memory, torch.tensor([count]), state, previous)
        state = step.state
        previous = step.frames
        made.append(step.frames[0] * model.std + model.mean)
        looks.append(step.look)
    # No step is the last one: what stops a sentence is tested below.
    got, after = run(acoustic, segments)
    assert np.allclose(got, torch.cat(made).detach().numpy(), atol=2e-4)
    assert np.allclose(after.decoder.weights, looks[-1].weights[0].detach().numpy(), atol=1e-4)
    look = model.look(memory, torch.tensor([10]), state, previous)
    assert np.allclose(after.look[1], look.context.detach().numpy(), atol=1e-4)
    observed = acoustic.step(spoken(0), after, RENDERING, hold_back=0)[0].observation
    assert observed is not None
    wanted = torch.cat([look.context[0], look.weights[0, -5:], previous[0, -1]])
    assert np.allclose(observed, wanted.detach().numpy(), atol=1e-4)


def test_what_is_observed_early_is_padded(voice: Voice) -> None:
    acoustic = acoustic_of(voice)
    made, _ = acoustic.step(read("a", ends=False), acoustic.initial(), RENDERING, hold_back=0)
    assert made.observation is not None
    assert made.observation.shape == (24 + 5 + 80,)
    assert made.observation[24:29].tolist() == [0, 0, 0, 0, 1]
    assert not made.observation[29:].any()
    assert not len(made.final)


def test_steps_twice_from_one_state_give_one_result_and_hold_back_keeps_that_much(
    voice: Voice,
) -> None:
    acoustic = acoustic_of(voice)
    _, state = run(acoustic, [read(c, ends=False) for c in "hello"] + [spoken(3, ends=False)])
    one, two = (
        acoustic.step(spoken(2, ends=False), state, RENDERING, hold_back=3)[0] for _ in range(2)
    )
    assert np.array_equal(one.final, two.final)
    assert len(one.final) == 1
    assert len(one.right) == 3
    free, _ = acoustic.step(spoken(2, ends=False), state, RENDERING, hold_back=0)
    assert np.array_equal(free.final, np.concatenate([one.final, one.right]))


def test_a_sentence_of_a_random_network_comes_to_an_end(voice: Voice) -> None:
    acoustic = acoustic_of(voice)
    segments = [read(c, ends=c == ".") for c in "hello there."] + [spoken(1)] * 5000
    frames, state = run(acoustic, segments)
    assert 0 < len(frames) < 5000
    assert not len(state.text.rows)


def policies(voice: Voice) -> list[Policy]:
    return [WaitEnd(), WaitKSteps(2), WaitKSteps(3), voice.policy("agent")]


@settings(
    max_examples=examples(12),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_split_gives_the_same_words_and_audio(voice: Voice, data: st.DataObject) -> None:
    text = data.draw(texts())[:60]
    fragments = data.draw(splits(text))
    policy = data.draw(st.sampled_from(policies(voice)))
    whole = list(voice.stream([text], policy=policy))
    parts = list(voice.stream(fragments, policy=policy))
    sounds = [[chunk.samples for chunk in chunks] for chunks in (whole, parts)]
    assert np.array_equal(np.concatenate([[0], *sounds[0]]), np.concatenate([[0], *sounds[1]]))
    words = [word for chunk in whole for word in chunk.words]
    assert words == [word for chunk in parts for word in chunk.words]
    for chunk in whole:
        assert all(
            chunk.start_samples <= word.onset_samples < chunk.start_samples + len(chunk.samples)
            for word in chunk.words
        )
    edges = [edge for word in words for edge in (word.onset_samples, word.offset_samples)]
    assert edges == sorted(edges)


def test_the_agent_decides_as_its_network_and_remembers(voice: Voice) -> None:
    agent: Any = voice.policy("agent")
    draw = np.random.default_rng(0)
    observations = draw.normal(size=(6, 24 + 5 + 80)).astype(np.float32)
    memory = None
    path = []
    for number, observation in enumerate(observations):
        action = agent.decide(LetterView(number + 1, 0, 0, False, observation, memory))
        path.append(action.memory)
        memory = action.memory
    assert all(one is not None for one in path)
    again = agent.decide(LetterView(1, 0, 0, False, observations[0]))
    assert again.memory is not None
    assert np.array_equal(again.memory, np.asarray(path[0]))
    over = agent.decide(LetterView(9, 0, 0, True, observations[0]))
    assert over == Steps(1)


@pytest.mark.parametrize(
    ("policy", "path"),
    [
        (WaitEnd(), "RRRRRSSS"),
        (WaitKSteps(2), "RSRSRSRSR"),
        (WaitKSteps(3), "RSSRSSRSSRSSR"),
        (WaitKSteps(3, head=2), "RRRSSRSSRSSSS"),
    ],
)
def test_benchmark_policies_walk_as_in_the_paper(policy: LetterPolicy, path: str) -> None:
    seen = 1
    walked = "R"
    steps = 0
    while len(walked) < len(path):
        action = policy.decide(LetterView(seen, steps, 0, seen == 5))
        walked += "R" if action == READ else "S"
        seen = seen + (action == READ)
        steps = steps + (action != READ)
    assert walked == path


def test_policies_and_voices_that_do_not_fit_are_told(voice: Voice) -> None:
    with pytest.raises(ConfigError, match=r"LookaheadK.*words.*characters.*wait-k-steps"):
        voice.session(policy=LookaheadK(1))
    with pytest.raises(ConfigError, match="takes no context"):
        voice.session(context=RandomWords())
    with pytest.raises(ConfigError, match=r"WaitEnd.*characters.*words.*lookahead"):
        check_policy(WaitEnd(), "words")
    with pytest.raises(ConfigError, match="k is 1"):
        WaitKSteps(1)
    with pytest.raises(ConfigError, match="no policy 'learned'"):
        voice.policy("learned")


def test_a_voice_without_agent_waits_and_says_so(tmp_path: Path) -> None:
    tiny_mohan(tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "bare")
    about = json.loads((tmp_path / "bare" / "voice.json").read_text())
    del about["agent"]
    (tmp_path / "bare" / "voice.json").write_text(json.dumps(about))
    bare = load_voice(tmp_path / "bare")
    with pytest.raises(ConfigError, match="no policy 'agent'"):
        bare.policy("agent")
    assert np.array_equal(
        bare.synthesize("One two."), bare.synthesize("One two.", policy=WaitKSteps(2))
    )
    about["model"]["alphabet"] = "abc"
    (tmp_path / "bare" / "voice.json").write_text(json.dumps(about))
    with pytest.raises(VoiceError, match="alphabet"):
        load_voice(tmp_path / "bare")


def test_only_an_agent_joins_a_voice(tmp_path: Path) -> None:
    voice = tiny_mohan(tmp_path / "voice")
    assert voice.config.phonemes == {}
    assert voice.config.agent is not None
    assert voice.config.agent.hidden == 16
    acoustic = trained("mohan", tacotron())
    with pytest.raises(ConfigError, match="no agent"):
        make_voice(acoustic, "ma-lj", tmp_path / "other", name="other", agent=acoustic)


def test_flush_speaks_what_is_there_and_a_new_sentence_begins(voice: Voice) -> None:
    session = voice.session(policy=WaitKSteps(2))
    session.push("one two thr")
    session.flush()
    before = list(session.chunks())
    assert [w.text for c in before for w in c.words] == ["one", "two", "thr"]
    assert not session.finished
    session.push("ee four. ")
    session.finish()
    after = list(session.chunks())
    assert [(w.text, w.start) for c in after for w in c.words] == [("ee", 11), ("four.", 14)]
    assert session.finished


def test_words_without_letters_are_timed_all_the_same(voice: Voice) -> None:
    for text in ("— —", "12 ... 5", "..."):
        chunks = list(voice.stream([text], policy=WaitEnd()))
        assert all(
            word.onset_samples <= word.offset_samples for chunk in chunks for word in chunk.words
        )


# --- languages
# --------------------------------------------------------------------------------------------------------  # noqa: E501


def test_a_french_tacotron_knows_the_letters_of_an_english_one() -> None:
    english = task({}, {})
    french = task({}, {}, "fr-FR")
    assert english.config.characters == len(ALPHABET)
    assert french.config.characters == len(french.speller.alphabet) > len(ALPHABET)
    torch.manual_seed(0)
    before = english.model().state_dict()
    fresh = french.model().state_dict()
    carried = french.carried(before, english.corpus.info, fresh)
    assert {name: value.shape for name, value in carried.items()} == {
        name: value.shape for name, value in fresh.items()
    }
    rows = carried["embedding.weight"]
    numbers = french.speller.ids
    assert torch.equal(rows[: len(ALPHABET)], before["embedding.weight"])
    assert torch.equal(rows[numbers("é")[0]], rows[numbers("e")[0]])
    assert torch.allclose(rows[numbers("œ")[0]], rows[numbers("oe")].mean(0))
    assert english.carried(before, english.corpus.info, fresh) is before
    assert english.carried(before, None, fresh) is before


def test_a_french_corpus_is_spelled_with_its_accents_and_learned_from() -> None:
    french = task({}, {}, "fr-FR")
    one = item("L'été!", [(0, 5)], [2, 4, 6, 3, 2, 2, 5])
    made = spelling(one, french.speller)
    assert made is not None
    assert "".join(french.speller.alphabet[i] for i in made.ids) == "l'été!"
    model = french.model()
    loss: Any = french.loss(model, french.batch([(0, one, made)], None), 0)[0]
    loss.backward()
    gradient = model.embedding.weight.grad
    assert gradient is not None
    assert gradient[french.speller.ids("é")].abs().sum() > 0


def test_a_french_voice_reads_letters_with_accents(tmp_path: Path) -> None:
    letters = front_end("fr-FR").speller().alphabet
    config = dataclasses.replace(CONFIG, characters=len(letters))
    source = {"kind": "kokoro", "voice": "kokoro, ff_siwis", "language": "fr-FR"}
    made = trained("mohan", tacotron(config), source=source)
    with pytest.raises(ConfigError, match="name its licence"):
        make_voice(made, trained("mel", vocoder("mel")), tmp_path, name="french")
    make_voice(made, trained("mel", vocoder("mel")), tmp_path, name="french", license="Apache-2.0")
    french = load_voice(tmp_path)
    assert (french.config.language, french.config.model["alphabet"]) == ("fr-FR", letters)
    assert french.config.description.startswith("French; the modified Tacotron 2")
    assert "Taught by speech of Kokoro-82M" in (tmp_path / "NOTICE").read_text(encoding="utf-8")
    chunks = list(french.stream("Voilà l'été, 12 heures.", policy="wait-end"))
    assert [word.text for chunk in chunks for word in chunk.words] == [
        "Voilà",
        "l'été,",
        "douze",
        "heures.",
    ]
