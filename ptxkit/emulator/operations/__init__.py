"""The operations of the emulator, a file for each section of the manual's chapter 9.7.

Importing a file registers its operations; `ptxkit.emulator.opcodes` says which file an opcode needs.
"""
