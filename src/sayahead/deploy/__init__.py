"""Running on more than one machine."""
