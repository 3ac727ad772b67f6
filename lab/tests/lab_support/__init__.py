"""What the laboratory's tests share."""
