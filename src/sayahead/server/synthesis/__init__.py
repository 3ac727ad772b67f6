"""What a client asks for, who is spoken to next, and in which format."""
