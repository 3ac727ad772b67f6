"""ClariNet's student in a voice: whether the graphs say what the network says.

    python lab/benchmarks/ma/clarinet.py voices/ma-clarinet --run runs/clarinet-small --corpus \
        corpus/ma \
        [--results FILE]

RUN is the student's. On the mel of the validation split's first sentences. Needs the train extra.
Steps against the whole, and the cost, beside other vocoders: lab/benchmarks/vocoders.py.
"""

from __future__ import annotations

import numpy as np
import torch
from sayahead import load_voice
from sayahead.engine.synthesizer import TwoStage
from sayahead.types import Floats
from sayahead.vocoders.clarinet import ClariNetVocoder
from sayahead.vocoders.pulses import pitch_curve, pulse_train

from sayahead_lab.results import options, tell
from sayahead_lab.training.clarinet.network import EndToEndClariNet, GaussianIAF
from sayahead_lab.training.corpus.store import Corpus
from sayahead_lab.training.loop.saved_run import load_trained


def against_torch(vocoder: ClariNetVocoder, model: GaussianIAF, mel: Floats) -> tuple[float, float]:
    """Largest difference of the graphs from the network: samples in 16-bit steps, pitch in Hz."""
    c = model.config.conditioner
    net = EndToEndClariNet(model)
    z = np.random.default_rng(0).standard_normal((len(mel), c.hop)).astype(np.float32)
    tensor = torch.from_numpy(mel)
    hertz = np.zeros(0, np.float32)
    rows = None
    off = 0.0
    with torch.no_grad():
        if vocoder._pulses is not None and model.conditioner.pitch is not None:
            hertz = vocoder._pulses.hertz(mel)
            normalized = model.conditioner.normalized(tensor[None])
            off = float(np.abs(hertz - model.conditioner.pitch.hertz(normalized)[0].numpy()).max())
            curve = pitch_curve(hertz, None, hop=c.hop)
            turns = np.cumsum(curve, dtype=np.float64) / vocoder._model.sample_rate
            rows = np.hstack([part.reshape(-1, c.hop) for part in pulse_train(turns, curve)])
        meant = net(
            tensor, torch.from_numpy(z), None if rows is None else torch.from_numpy(rows)
        ).numpy()
    said = vocoder._render(mel if rows is None else np.hstack([mel, rows]), z)
    return 32768 * float(np.abs(said - meant).max()), off


def main() -> None:
    arguments = options(__doc__, "VOICE", "corpus", "results", run=..., count=20).parse_args()
    torch.set_num_threads(1)
    mels = [
        item.mel.astype(np.float32)
        for item in Corpus(arguments.corpus).split("val")[: arguments.count]
    ]
    synthesizer = load_voice(arguments.voice).synthesizer
    assert isinstance(synthesizer, TwoStage)
    student = synthesizer.vocoder
    model = load_trained(arguments.run, corpus=arguments.corpus).model
    assert isinstance(student, ClariNetVocoder)
    assert isinstance(model, GaussianIAF)
    samples, hertz = (
        max(values)
        for values in zip(*(against_torch(student, model, mel) for mel in mels), strict=True)
    )
    parameters = sum(weight.numel() for weight in model.parameters())
    text = (
        f"`python lab/benchmarks/ma/clarinet.py`: on the mel of {len(mels)} validation sentences"
        f" the student of {parameters:,} parameters and its graphs differ by {samples:.2g} 16-bit"
        f" steps at most, in pitch by {hertz:.2g} Hz."
    )
    tell([text], arguments.results)


if __name__ == "__main__":
    main()
