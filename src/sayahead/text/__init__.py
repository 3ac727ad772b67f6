"""Text front end: fragments to final words, words to phonemes."""
