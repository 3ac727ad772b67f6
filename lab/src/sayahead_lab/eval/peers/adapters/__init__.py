"""Adapters: functions that a peer's process calls (``worker``). Those of others import nothing of
sayahead."""
