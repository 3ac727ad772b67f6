"""Sound and word timings: encodings, files, devices, loudness, subtitles."""
