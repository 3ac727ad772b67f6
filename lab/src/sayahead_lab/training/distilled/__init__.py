"""The distilled context prediction network."""
