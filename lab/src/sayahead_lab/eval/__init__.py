"""Measuring: latency, speed, quality."""
