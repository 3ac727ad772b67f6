"""Training; needs torch, and nothing outside imports it but its commands."""
