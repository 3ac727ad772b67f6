"""WaveGlow, the vocoder of Saeki et al. (Prenger et al. 2018)."""
