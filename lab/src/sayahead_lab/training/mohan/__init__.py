"""Mohan et al.: Tacotron 2 on characters, and the agent that reads and speaks."""
