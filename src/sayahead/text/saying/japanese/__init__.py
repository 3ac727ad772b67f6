"""Japanese: accent phrases for words, readings by OpenJTalk, and these as phonemes."""
