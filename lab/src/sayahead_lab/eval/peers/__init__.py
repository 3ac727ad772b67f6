"""Other engines, and our own, in processes of their own: text in by pieces, sound out by packets,
on the wall clock."""
