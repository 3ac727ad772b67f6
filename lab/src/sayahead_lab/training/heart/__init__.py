"""The default voice: import, training on prefixes, student, export."""
