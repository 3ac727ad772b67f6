"""A Piper voice as parts that speak word by word."""
