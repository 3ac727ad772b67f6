"""Kokoro's graph, its phonemes and its styles as a voice that speaks word by word."""
