"""Sound and word timings as files, on devices, as subtitles."""
