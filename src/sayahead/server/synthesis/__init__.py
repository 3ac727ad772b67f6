"""Commands, events and error codes (``messages.py``), places, and whose step is next."""
