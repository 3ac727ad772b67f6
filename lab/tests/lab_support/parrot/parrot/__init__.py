"""A package of somebody else's, which sayahead has never heard of."""
