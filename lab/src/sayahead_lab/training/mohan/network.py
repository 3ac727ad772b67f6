"""The modified Tacotron 2 of Mohan et al. (Interspeech 2020, section 3): characters to mel, one
character at a time.

Axes: B batch, P characters, S decoder steps of r frames, F = r * n_mels, T frames, D channels, M
those of the encoder.

What is modified: the encoder has no convolutions and one LSTM, in reading order alone, so that a
prefix's states are a prefix of the states; there is no postnet; attention stays soft, and its scope
is the characters *read* so far. Whoever decides what is read and when to speak, a policy, an agent
or its environment, drives it so:

    memory = model.memory(model.encode(ids))            once for a text: later characters change no
    earlier state state = model.initial(memory)
    look = model.look(memory, read, state, previous)    what attention sees before a step, with
    ``read`` (B,) characters made = model.step(memory, read, state, previous)    one SPEAK: r
    frames; ``made.look`` is what it saw state, previous = made.state, made.frames           (or the
    true frames: teacher forcing)

A READ is ``read + 1``: what attention sees then is another ``look`` from the same state. States are
values: none is changed in place. An observation (4.3.1) is ``look.context``, the last of
``look.weights[:read]``, and the last of the ``previous`` frames. Frames are normalized by the
buffers ``mean`` and ``std``; the first previous ones are zeros."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import torch
from sayahead.text.saying.letters import ALPHABET
from torch import Tensor, nn
from torch.nn import functional

from sayahead_lab.training.deferred_gradient import Deferred
from sayahead_lab.training.layers import Scaled

UNSEEN = -1e9
"""Energy of a character outside the scope."""


@dataclass(frozen=True, slots=True)
class ModifiedTacotronConfig:
    """Sizes; the defaults are Tacotron 2's (Shen et al. 2018) and the paper's 128 bands."""

    characters: int = len(ALPHABET)
    """Number of ids, of which the corpus's language decides."""
    n_mels: int = 128
    """Mel bands."""
    reduction: int = 1
    """r: frames a decoder step, which is one SPEAK."""
    embedding: int = 512
    """D of a character."""
    encoder: int = 512
    """D of the encoder's LSTM, whose outputs are attended to."""
    prenet: tuple[int, ...] = (256, 256)
    """Widths of the layers that the previous frames go through."""
    attention_rnn: int = 1024
    """D of the first recurrent layer, whose state is the query."""
    decoder_rnn: int = 1024
    """D of the second."""
    attention: int = 128
    """Width in which queries, keys and places are compared."""
    location_filters: int = 32
    """The attention's features of its past positions."""
    location_kernel: int = 31
    """Characters of that which each place sees."""
    window: tuple[int, ...] = ()
    """Characters before and after the place it looked at most that attention can look at; none:
    all."""
    prenet_dropout: float = 0.5
    """Behind each layer of the prenet, in training."""
    rnn_dropout: float = 0.1
    """Of the recurrent layers' outputs, in training."""
    context_teaches: bool = False
    """Whether what attention saw before a step teaches the encoder through it, too, as in Tacotron
    2's routine."""


class CharacterMemory(NamedTuple):
    """The decoder's memory."""

    rows: Tensor
    """(B, P, M) states of the encoder."""
    keys: Tensor
    """(B, P, A)."""


class DecodingState(NamedTuple):
    """The state of step-by-step decoding, besides the previous frames."""

    attention: tuple[Tensor, Tensor]
    """(B, D) output and cell of the first recurrent layer."""
    decoder: tuple[Tensor, Tensor]
    """The second's."""
    context: Tensor
    """(B, M) what attention saw in the step before."""
    weights: Tensor
    """(B, P) where it looked then; zeros at the start."""
    seen: Tensor
    """(B, P) sum of the weights so far."""


class Look(NamedTuple):
    """The attention's input in a step."""

    context: Tensor
    """(B, M), c of Eq. 1."""
    weights: Tensor
    """(B, P), alpha; zero where nothing has been read."""
    asked: tuple[Tensor, Tensor]
    """(B, D) output and cell of the first recurrent layer, the same whatever has been read."""


class SpokenStep(NamedTuple):
    """The output of one SPEAK."""

    frames: Tensor
    """(B, r, n_mels) normalized log mel."""
    stop: Tensor
    """(B,) logit of the probability that it is the sentence's last."""
    look: Look
    """What attention saw."""
    state: DecodingState
    """For the next."""


class SpokenSteps(NamedTuple):
    """All steps of a batch of sentences."""

    frames: Tensor
    """(B, T, n_mels) normalized log mel."""
    stop: Tensor
    """(B, S) logits."""
    weights: Tensor
    """(B, S, P) logarithms of the attention's weights."""


class Attention(nn.Module):
    """First recurrent layer and location-sensitive attention: all of a step that its scope bears
    upon."""

    def __init__(self, config: ModifiedTacotronConfig) -> None:
        super().__init__()
        self.reach = config.location_kernel // 2
        self.rnn = nn.LSTMCell(config.prenet[-1] + config.encoder, config.attention_rnn)
        self.query = nn.Linear(config.attention_rnn, config.attention, bias=False)
        self.key = nn.Linear(config.encoder, config.attention, bias=False)
        self.place = nn.Linear(2 * config.location_kernel, config.location_filters, bias=False)
        self.placed = nn.Linear(config.location_filters, config.attention, bias=False)
        self.energy = nn.Linear(config.attention, 1, bias=False)

    def ask(self, before: Tensor, state: DecodingState) -> tuple[Tensor, Tensor]:
        """(B, D) output and cell after the prenet's view (B, D) of the previous frames."""
        out: tuple[Tensor, Tensor] = self.rnn(
            torch.cat([before, state.context], -1), state.attention
        )
        return out

    def around(self, state: DecodingState) -> Tensor:
        """(B, P, 2 K) where attention was in the step before and in all, around each character."""
        past = functional.pad(torch.stack([state.weights, state.seen], 1), (self.reach, self.reach))
        return past.unfold(2, 2 * self.reach + 1, 1).transpose(1, 2).flatten(2)

    def logits(self, query: Tensor, keys: Tensor, state: DecodingState, visible: Tensor) -> Tensor:
        """(B, P) how much each character is wanted, of a query (B, D); ``visible`` (B, P) is the
        scope."""
        compared = self.query(query)[:, None] + keys + self.placed(self.place(self.around(state)))
        energy: Tensor = self.energy(compared.tanh())[..., 0]
        return energy.float().masked_fill(~visible, UNSEEN)


class ModifiedTacotron(Scaled):
    """Characters to mel frames; see the module's text for how it is driven."""

    def __init__(self, config: ModifiedTacotronConfig) -> None:
        super().__init__(config.n_mels)
        if config.characters < 1 or config.location_kernel % 2 == 0:
            raise ValueError("there are characters, and an odd number of places at least")
        self.config = config
        size = config.reduction * config.n_mels
        self.embedding = nn.Embedding(config.characters, config.embedding)
        self.encoder = nn.LSTM(config.embedding, config.encoder, batch_first=True)
        widths = (size, *config.prenet)
        self.prenet = nn.ModuleList(
            nn.Linear(a, b, bias=False) for a, b in itertools.pairwise(widths)
        )
        self.attention = Attention(config)
        self.decoder = nn.LSTM(
            config.attention_rnn + config.encoder, config.decoder_rnn, batch_first=True
        )
        inward = config.decoder_rnn + config.encoder
        self.frames = nn.Linear(inward, size)
        self.stop = nn.Linear(inward, 1)

    def encode(self, ids: Tensor) -> Tensor:
        """States (B, P, M) of character ids (B, P); those of a prefix are a prefix of them."""
        rows: Tensor = self.encoder(self.embedding(ids))[0]
        return rows.contiguous()

    def memory(self, rows: Tensor) -> CharacterMemory:
        """The decoder's memory of states (B, P, M)."""
        return CharacterMemory(rows, self.attention.key(rows))

    def initial(self, memory: CharacterMemory) -> DecodingState:
        """The state before a sentence's first step."""
        size, characters, wide = memory.rows.shape
        config = self.config
        zeros = memory.rows.new_zeros
        nowhere = zeros(size, characters)
        asks, makes = (zeros(size, d) for d in (config.attention_rnn, config.decoder_rnn))
        return DecodingState((asks, asks), (makes, makes), zeros(size, wide), nowhere, nowhere)

    def look(
        self, memory: CharacterMemory, read: Tensor, state: DecodingState, previous: Tensor
    ) -> Look:
        """What attention sees of the first ``read`` (B,) characters after the frames (B, r, n_mels)
        before.

        It is what a SPEAK would see now, and changes no state.
        """
        query = self.attention.ask(self.before(previous.flatten(1)), state)
        visible = self.visible(read, state.weights)
        weights = self.attention.logits(self.forget(query[0]), memory.keys, state, visible).softmax(
            -1
        )
        context = (weights[:, None].to(memory.rows.dtype) @ memory.rows)[:, 0]
        return Look(context, weights, query)

    def step(
        self,
        memory: CharacterMemory,
        read: Tensor,
        state: DecodingState,
        previous: Tensor,
        *,
        look: Look | None = None,
    ) -> SpokenStep:
        """One SPEAK on the first ``read`` (B,) characters; ``look``: what attention sees, if that
        is known already."""
        look = look or self.look(memory, read, state, previous)
        inward = torch.cat([self.forget(look.asked[0]), look.context], -1)
        # As one row through the layer, which would first lay out its weights anew.
        output, cell = torch.lstm_cell(inward, state.decoder, *self.decoder.all_weights[0])
        frames, stop = self.outward(output, look.context)
        after = DecodingState(
            look.asked, (output, cell), look.context, look.weights, state.seen + look.weights
        )
        return SpokenStep(frames.view(len(frames), self.config.reduction, -1), stop, look, after)

    def visible(self, read: Tensor, weights: Tensor) -> Tensor:
        """(B, P) what attention can look at, of ``read`` (B,) characters, after a step with weights
        (B, P)."""
        places = torch.arange(weights.shape[1], device=read.device)
        mask = places < read[:, None]
        if self.config.window:
            apart = places - weights.argmax(-1, keepdim=True)
            mask = mask & (apart >= -self.config.window[0]) & (apart <= self.config.window[1])
        return mask

    def forward(
        self,
        ids: Tensor,
        scope: Tensor,
        frames: Tensor,
        sampling: float = 0.0,
        meant: Tensor | None = None,
    ) -> SpokenSteps:
        """All steps of sentences (B, P), each after the true frames (B, S, F) before it.

        ``scope`` (B, S): characters that attention may see in each step. A share ``sampling`` of
        the previous frames is the network's own, made in a first pass. With ``meant`` (B, S, P),
        attention is taken to have looked there in each step, and all are made at once; in the
        second pass, for such a share, where it looked in the first."""
        memory = self.memory(self.encode(ids))
        previous = functional.pad(frames, (0, 0, 1, 0))[:, :-1]
        if sampling > 0:
            with torch.no_grad():
                predicted, _, weights = self.steps(memory, scope, previous, meant)
            own = torch.rand(frames.shape[:2], device=frames.device)[..., None] < sampling
            previous = functional.pad(
                torch.where(own, predicted.to(frames.dtype), frames), (0, 0, 1, 0)
            )[:, :-1]
            if meant is not None:
                whose = torch.rand(len(meant), 1, 1, device=meant.device) < sampling
                meant = torch.where(whose, weights.exp(), meant)
        decoded, stop, weights = self.steps(memory, scope, previous, meant)
        return SpokenSteps(
            decoded.view(len(decoded), -1, self.config.n_mels), stop.float(), weights
        )

    def steps(
        self, memory: CharacterMemory, scope: Tensor, previous: Tensor, meant: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Frames (B, S, F), stops (B, S) and log weights (B, S, P) after the frames (B, S, F)
        before each step."""
        if meant is None:
            return self.one_by_one(memory, scope, previous)
        return self.at_once(memory, scope, previous, meant)

    def at_once(
        self, memory: CharacterMemory, scope: Tensor, previous: Tensor, meant: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """As ``one_by_one``, but that attention is taken to have been where it was meant to be, not
        where it was."""
        attention = self.attention
        config = self.config
        (size, steps, characters) = meant.shape
        back, ahead = config.window
        past = functional.pad(meant, (0, 0, 1, 0))[:, :-1]
        rnn = attention.rnn
        before = self.before(previous)
        inward = torch.cat([before, past.to(memory.rows.dtype) @ memory.rows], -1)
        zeros = inward.new_zeros(1, size, rnn.hidden_size)
        weights = [rnn.weight_ih, rnn.weight_hh, rnn.bias_ih, rnn.bias_hh]
        queries = self.forget(
            torch.lstm(inward, (zeros, zeros), weights, True, 1, 0.0, self.training, False, True)[0]
        )

        last = past.argmax(-1, keepdim=True)
        first = (last - back).clamp(min=0)
        places = first + torch.arange(back + ahead + 1, device=first.device)
        inside = places.clamp(max=characters - 1)
        flat = inside.flatten(1)[..., None].expand(-1, -1, config.attention)
        keys = memory.keys.gather(1, flat).view(size, steps, -1, config.attention)
        span = first + torch.arange(back + ahead + 1 + 2 * attention.reach, device=first.device)
        wide = functional.pad(
            torch.stack([past, past.cumsum(1)], 2),
            (attention.reach, attention.reach + back + ahead),
        )
        around = wide.gather(3, span[:, :, None].expand(-1, -1, 2, -1)).unfold(
            3, 2 * attention.reach + 1, 1
        )
        placed = functional.linear(
            around.transpose(2, 3).flatten(3), attention.placed.weight @ attention.place.weight
        )
        energy = attention.energy((attention.query(queries)[:, :, None] + keys + placed).tanh())[
            ..., 0
        ].float()
        log = energy.masked_fill(
            (places >= scope[..., None]) | (places > last + ahead), UNSEEN
        ).log_softmax(-1)
        logs = log.new_full((size, steps, characters + back + ahead + 1), UNSEEN).scatter(
            2, places, log
        )[..., :characters]
        contexts = logs.exp().to(memory.rows.dtype) @ memory.rows
        outputs, _ = self.decoder(torch.cat([queries, contexts], -1))
        return *self.outward(outputs, contexts), logs

    def one_by_one(
        self, memory: CharacterMemory, scope: Tensor, previous: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Frames (B, S, F), stops (B, S) and log weights (B, S, P) after the frames (B, S, F)
        before each step.

        As ``step``, but for what does not wait for attention, which is made for all steps at once.
        """
        attention = self.attention
        rnn = self.attention.rnn
        state = self.initial(memory)
        wide = self.config.prenet[-1]
        inward = functional.linear(
            self.before(previous), rnn.weight_ih[:, :wide], rnn.bias_ih + rnn.bias_hh
        )
        onward = Deferred(torch.cat([rnn.weight_ih[:, wide:], rnn.weight_hh], 1))
        query = Deferred(attention.query.weight)
        around = Deferred(attention.placed.weight @ attention.place.weight)
        masks = self.forget(
            torch.ones(len(inward), previous.shape[1], rnn.hidden_size, device=inward.device)
        )
        # Else what goes back to the queries teaches attention alone: the encoder takes as long as
        # all the rest.
        rows = memory.rows if self.config.context_teaches else memory.rows.detach()
        queries = list[Tensor]()
        looked = list[Tensor]()
        # Unbound, as the gradient of each part else is a whole by itself.
        for gates, keep, read in zip(
            inward.unbind(1), masks.unbind(1), scope.unbind(1), strict=True
        ):
            past = torch.cat(
                [state.context.to(gates.dtype), state.attention[0].to(gates.dtype)], -1
            )
            first, forget, new, last = (gates + onward(past)).float().chunk(4, -1)
            cell = forget.sigmoid() * state.attention[1] + first.sigmoid() * new.tanh()
            output = last.sigmoid() * cell.tanh()
            queries.append(output * keep)
            places = around(attention.around(state).flatten(0, 1)).view(memory.keys.shape)
            compared = (query(queries[-1])[:, None] + memory.keys + places).tanh()
            energy = (
                attention.energy(compared)[..., 0]
                .float()
                .masked_fill(~self.visible(read, state.weights), UNSEEN)
            )
            log = energy.log_softmax(-1)
            weights = log.exp()
            context = (weights[:, None].to(rows.dtype) @ rows)[:, 0]
            state = DecodingState(
                (output, cell), state.decoder, context, weights, state.seen + weights
            )
            looked.append(log)
        logs = torch.stack(looked, 1)
        contexts = logs.exp().to(rows.dtype) @ memory.rows
        outputs, _ = self.decoder(torch.cat([torch.stack(queries, 1), contexts], -1))
        return *self.outward(outputs, contexts), logs

    def before(self, previous: Tensor) -> Tensor:
        """(..., D) of the frames (..., F) of the step before."""
        for layer in self.prenet:
            previous = functional.dropout(
                layer(previous).relu(), self.config.prenet_dropout, self.training
            )
        return previous

    def outward(self, output: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """Frames (..., F) and stops (...) of the second layer's output and what attention saw."""
        inward = torch.cat([self.forget(output), context], -1)
        return self.frames(inward), self.stop(inward)[..., 0]

    def forget(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.config.rnn_dropout, self.training)


@torch.no_grad()
def generate(
    model: ModifiedTacotron, ids: Tensor, *, most: int = 12, stop: float = 0.5
) -> tuple[Tensor, Tensor]:
    """Log mel (T, n_mels) of one sentence's ids (P,), all read first, and the attention's weights
    (S, P).

    Ends with the first step whose stop is above ``stop`` while attention is at the last three
    characters, or after ``most`` frames a character.
    """
    memory = model.memory(model.encode(ids[None]))
    state = model.initial(memory)
    read = torch.tensor([len(ids)], device=ids.device)
    previous = model.mean.new_zeros(1, model.config.reduction, model.config.n_mels)
    frames = list[Tensor]()
    looked = list[Tensor]()
    while len(frames) * model.config.reduction < most * len(ids):
        step = model.step(memory, read, state, previous)
        state = step.state
        previous = step.frames
        frames.append(previous[0])
        looked.append(step.look.weights[0])
        if float(torch.sigmoid(step.stop[0])) > stop and int(looked[-1].argmax()) >= len(ids) - 3:
            break
    return torch.cat(frames) * model.std + model.mean, torch.stack(looked)
