"""What an operator decides and sees: settings, keys, logs, metrics, connections."""
