"""Textures and surfaces on a GPU and the emulator: random objects and fetches, and what each gives."""
