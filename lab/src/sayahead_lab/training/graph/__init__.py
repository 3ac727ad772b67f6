"""Building ONNX graphs by hand."""
