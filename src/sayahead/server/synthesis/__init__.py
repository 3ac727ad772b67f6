"""Commands, events and error codes (``messages.py``), places, whose step is next, traces."""
