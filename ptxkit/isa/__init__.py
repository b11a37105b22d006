"""The instruction set as data: one row a form, in the manual's own notation, a file a chapter. PTX ISA 9.7.

forms("ld")                           every form of an opcode
spelling("ld", ("global", "u32"))     the forms that these modifiers fit, or why none does
"""
