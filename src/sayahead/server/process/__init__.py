"""The server as a process: the application, its start and its end, and what is checked before."""
