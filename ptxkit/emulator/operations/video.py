"""Video instructions. PTX ISA 9.7.18."""
