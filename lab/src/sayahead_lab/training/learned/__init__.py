"""The policy over words that a voice learns."""
