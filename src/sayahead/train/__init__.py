"""Making voices: needs the train extra; nothing at run time imports it."""
