"""All tests share the fixtures of ``support.fixtures``, and train without torch's compiler."""

pytest_plugins = ["support.fixtures", "lab_support.eager"]
