"""The encodings behind `ptxkit.descriptors`."""
