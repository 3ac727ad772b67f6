"""An output module of Speech Dispatcher: what screen readers on Linux speak through."""
