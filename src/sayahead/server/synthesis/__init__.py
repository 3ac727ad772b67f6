"""Who is spoken to next, and in which format."""
