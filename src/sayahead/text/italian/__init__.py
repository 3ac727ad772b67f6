"""Italian: numbers, and a record of what is read how."""
