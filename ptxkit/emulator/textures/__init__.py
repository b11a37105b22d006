"""Fetches from textures and accesses to surfaces by the lanes of a set: `handles` finds the objects that they
name, `fetch` reads texels, `surfaces` finds bytes. PTX ISA 9.7.10, 9.7.11; the objects are in
`ptxkit.emulator.texels`.
"""
