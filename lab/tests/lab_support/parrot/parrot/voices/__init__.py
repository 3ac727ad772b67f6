"""Voices that come with the parrot."""
