"""The version of this package, which `ptxkit.__version__` gives to its users."""

VERSION = "0.1.0"
