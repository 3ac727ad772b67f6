"""All tests share the fixtures of ``support.fixtures``, train without torch's compiler, and draw
coarsely."""

pytest_plugins = ["support.fixtures", "support.left_out", "lab_support.eager", "lab_support.coarse"]
