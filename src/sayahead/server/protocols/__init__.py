"""One file a protocol."""
