"""The vocoder of mel frames for processors."""
