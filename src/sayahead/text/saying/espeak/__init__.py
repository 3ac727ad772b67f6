"""Phonemes by espeak-ng: a worker process that loads the library, and a front end for every
language that it has."""
