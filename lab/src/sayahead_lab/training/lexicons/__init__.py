"""What makes the lists of words and signs that the package ships, and prose to learn from.

Run each as a module, such as ``python -m sayahead_lab.training.lexicons.sign_names``."""
