"""A clip as a voice: the network that makes a speaker of the family of a speaker embedding."""
