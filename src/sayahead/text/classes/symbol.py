"""Signs that have a name."""
