"""WaveGlow."""
