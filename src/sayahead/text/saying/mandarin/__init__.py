"""Mandarin: its words without spaces, their readings in running speech, and these as phonemes."""
