"""Arrays of texels in global memory, the objects that are made of them, and which texels a fetch takes.

`formats` is what a channel of a texel is, `arrays` where texels lie, `objects` what handles stand for;
`coordinates` turns coordinates into texels and weights, `cubes` directions into faces, `levels` derivatives
into levels of a mipmap, `sampling` puts them together, and `queries` answers what an object is. PTX ISA 5.3,
9.7.10; CUDA C++ Programming Guide, "Texture fetching". `ptxkit.emulator.textures` fetches with them.
"""
