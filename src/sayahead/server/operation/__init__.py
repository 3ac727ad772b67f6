"""What an operator decides and sees: settings with all limits and timeouts, keys, quotas, rate
limits, usage, metrics, logs, connections."""
