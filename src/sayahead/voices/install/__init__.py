"""Adding voices: files of other makers, archives and addresses become folders in the user's own."""
