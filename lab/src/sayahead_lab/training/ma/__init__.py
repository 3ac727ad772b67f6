"""Ma et al.: Deep Voice 3."""
