"""The incremental engine: a session with its options, its loop, and the seams between its parts."""
