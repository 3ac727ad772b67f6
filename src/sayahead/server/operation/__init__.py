"""Running the server: settings, keys, logs, metrics."""
