"""SSML: what is read instead of what is written, and how."""
