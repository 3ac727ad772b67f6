"""The server as processes: the application and what guards it, start and end, ``serve --check``."""
