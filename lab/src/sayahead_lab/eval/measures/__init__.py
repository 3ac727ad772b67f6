"""Measures of traces and sounds."""
