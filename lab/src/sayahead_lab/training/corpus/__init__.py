"""Corpora: making, storing and reading them."""
