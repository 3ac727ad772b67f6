"""Words to phonemes or letters: lexicons, and how each language is pronounced."""
