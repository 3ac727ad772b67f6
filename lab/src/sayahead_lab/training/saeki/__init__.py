"""Saeki et al.: Tacotron 2 with a contextual embedding, guided fine-tuning, students."""
