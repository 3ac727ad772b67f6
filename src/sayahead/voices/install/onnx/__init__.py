"""ONNX graphs rewritten: what they compute stays, how they compute it changes."""
