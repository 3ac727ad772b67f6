"""sayahead-lab: how the voices of sayahead are trained, and how it is measured beside others."""

__version__ = "0.2.0"
