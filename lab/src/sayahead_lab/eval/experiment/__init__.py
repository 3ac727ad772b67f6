"""Running an experiment: conditions, clocks, traces, peers."""
