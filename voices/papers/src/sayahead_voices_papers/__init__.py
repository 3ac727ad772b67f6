"""Three research voices for sayahead, one for each founding system of incremental speech synthesis:
folders here."""

__version__ = "0.2.0"
