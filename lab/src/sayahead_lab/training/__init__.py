"""Training: a folder for each system, and one loop for all of them; needs torch."""
