"""The server as processes: the application with what is before it (proxies, hosts, origins), start
and end, ``serve --check``."""
