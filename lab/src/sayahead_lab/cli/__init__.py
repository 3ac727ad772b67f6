"""The laboratory's commands: ``train``, ``eval``, ``bench``, ``loadtest`` and ``measure``."""
