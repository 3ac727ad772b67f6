"""The server: what others speak on a socket, as commands and events around one
``driver.py``; ``hub.py`` decides who gets a place."""
