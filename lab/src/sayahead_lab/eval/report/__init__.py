"""Tables, plots and pages of an experiment."""
