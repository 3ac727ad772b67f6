"""What is English about reading text."""
