"""Listeners: recognizers, predicted opinion, people."""
