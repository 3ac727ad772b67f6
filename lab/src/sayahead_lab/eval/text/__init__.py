"""Suites of texts and what is to be said of them, made by others: how much a front end reads as
they want it."""
