"""The one training loop."""
