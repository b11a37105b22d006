"""Tensor memory and the fifth-generation tensor cores: `tcgen05.*`. PTX ISA 9.7.16."""
