"""NVIDIA's tools: the assembler, the disassembler, compute-sanitizer."""
