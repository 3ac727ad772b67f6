"""Commands, events, error codes (``messages.py``), places (``capacity.py``), whose step is next
(``threads.py``, ``pacing.py``), traces."""
