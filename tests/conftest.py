"""All tests share the fixtures of ``support.fixtures``."""

pytest_plugins = ["support.fixtures"]
