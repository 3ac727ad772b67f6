"""WaveRNN in sub-bands."""
