"""Context predictors: what stands in for the future."""
