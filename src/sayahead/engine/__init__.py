"""The incremental engine: its loop, and the seams between its parts."""
