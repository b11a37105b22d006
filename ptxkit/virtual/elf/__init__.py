"""Shared libraries for Linux, written without a compiler: symbols that jump to where Python says.

`write.shared_object` makes the bytes of one; `assembly` says what its code does, `x86_64` and `aarch64` say
it in machine code.
"""
