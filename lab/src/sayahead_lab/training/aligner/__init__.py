"""The aligner: when each phoneme of a recording begins."""
