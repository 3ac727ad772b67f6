"""A voice of one's own recordings, in one command."""
