"""Speed and load on this machine."""
