"""The laboratory's commands: ``sayahead train``, ``eval``, ``bench`` and ``loadtest``."""
