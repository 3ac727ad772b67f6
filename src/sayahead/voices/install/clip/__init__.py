"""A clip as a voice: a few seconds of one person become a speaker of a family of voices."""
