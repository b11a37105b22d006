"""This machine: what it has for ptxkit, and the provenance of what is measured on it."""
