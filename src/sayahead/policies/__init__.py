"""Policies: when to speak."""
