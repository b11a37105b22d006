"""Microbenchmarks in PTX, and the figures of a GPU that they give: what `ptxkit calibrate` runs."""
