"""Canonical shared-memory layouts of matrix operands: where every element of a tile lies.

PTX ISA 9.7.15.5.1.2 (wgmma), 9.7.16.3.3 and 9.7.16.10.6 (tcgen05). A tile is MN x K elements: M x K for
A, N x K for B. It is made of swizzle atoms: 8 rows of `row_bytes` for K-major tiles; `row_bytes` of
MN by 8 steps of K (4 with the 32-byte atom) for MN-major ones. Atoms follow each other without gaps,
along MN first or along K first.

    tile = SharedTile(mn=128, k=64, dtype="bf16", major="K", swizzle="128B")
    tile.descriptor(address=0x400)          # smem.tcgen05, with LBO and SBO
    tile.pack(matrix, address=0x400)        # the bytes to put there
    tile.k_advance(16)                      # bytes to add to the address for the second K step
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ptxkit.diagnostics import error
from ptxkit.dtypes import DTYPES
from ptxkit.encodings.shared_memory import SmemDescTcgen05, SmemDescWgmma
from ptxkit.layouts.bitpacking import gather, scatter
from ptxkit.layouts.swizzle import LAYOUT_ARGUMENT, LAYOUT_UNSUPPORTED, pattern, swizzle_address

OFF_ATOM = "P472"
ABSOLUTE = "PTX ISA 9.7.16.3.1.2, restrictions on the absolute address stride mode"
CHUNK = 16
"""Bytes that never part: the unit of every layout."""


@dataclass(frozen=True)
class SharedTile:
    """A matrix operand in shared memory.

    Attributes:
        mn: rows: M of A, N of B.
        k: columns, elements along K (the stored ones, half of K where A is sparse).
        dtype: element type by PTX name.
        major: `K` or `MN`: which dimension is contiguous.
        swizzle: `none`, `32B`, `64B`, `128B` or `128B-32B-atom`.
        order: `MN` or `K`: along which dimension neighbouring atoms follow each other in memory.
        padded: 4-bit and 6-bit elements 16 to 16 bytes with gaps, as `.kind::f8f6f4` and
            `.kind::mxf8f6f4` want them (9.7.16.10.4.4); else they are packed.

    Raises:
        PtxkitError: P470 a wrong argument, P471 no such layout, P472 a size that is no whole atoms.
    """

    mn: int
    k: int
    dtype: str
    major: str = "K"
    swizzle: str = "128B"
    order: str = "MN"
    padded: bool = False

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES or self.bits not in (4, 6, 8, 16, 32):
            raise error(LAYOUT_ARGUMENT, f"`dtype` must be a type of 4 to 32 bits, found `{self.dtype}`")
        for name in ("major", "order"):
            if getattr(self, name) not in ("MN", "K"):
                raise error(LAYOUT_ARGUMENT, f"`{name}` must be MN or K, found {getattr(self, name)}")
        pattern(self.swizzle)
        if self.swizzle not in ("none", "32B", "64B", "128B", "128B-32B-atom"):
            raise error(LAYOUT_UNSUPPORTED, f"matrix operands have no `swizzle` {self.swizzle}")
        if self.swizzle == "128B-32B-atom" and self.major == "K":
            message = "`swizzle` 128B-32B-atom is for MN-major matrices, found K-major"
            raise error(LAYOUT_UNSUPPORTED, message, notes=("PTX ISA 9.7.16.10.6, table 55",))
        if self.padded and self.bits not in (4, 6):
            raise error(LAYOUT_ARGUMENT, f"`padded` is for 4-bit and 6-bit types, found `{self.dtype}`")
        if self.bits == 6 and not self.padded:
            raise error(LAYOUT_ARGUMENT, f"`{self.dtype}` is stored padded, 16 elements to 16 bytes")
        if self.bits < 8 and self.major == "MN":
            message = f"`{self.dtype}` must be K-major, found MN-major"
            raise error(LAYOUT_UNSUPPORTED, message, notes=("PTX ISA 9.7.16.10.3, table 54",))
        rows, columns = self.atom
        for name, size, step in (("mn", self.mn, rows), ("k", self.k, columns)):
            if size <= 0 or size % step:
                message = f"`{name}` must be a multiple of {step} (an atom of `{self.swizzle}`), found {size}"
                raise error(OFF_ATOM, message)

    # ---- sizes

    @property
    def bits(self) -> int:
        """Bits of one element."""
        return DTYPES[self.dtype].bits

    @property
    def per_chunk(self) -> int:
        """Elements in 16 bytes: T of the manual's canonical layouts."""
        return 16 if self.padded else CHUNK * 8 // self.bits

    @property
    def row_chunks(self) -> int:
        """Chunks along the contiguous dimension of an atom."""
        return pattern(self.swizzle).row_bytes // CHUNK

    @property
    def atom_rows(self) -> int:
        """Rows of an atom: 8, but 4 with the 32-byte atom."""
        return 4 if self.swizzle == "128B-32B-atom" else 8

    @property
    def atom(self) -> tuple[int, int]:
        """Elements of an atom along MN and K (9.7.16.10.6, table 55)."""
        along = self.row_chunks * self.per_chunk
        return (self.atom_rows, along) if self.major == "K" else (along, self.atom_rows)

    @property
    def atom_bytes(self) -> int:
        """Bytes of an atom."""
        return self.atom_rows * self.row_chunks * CHUNK

    @property
    def atoms(self) -> tuple[int, int]:
        """Atoms along MN and K."""
        return self.mn // self.atom[0], self.k // self.atom[1]

    @property
    def nbytes(self) -> int:
        """Bytes of the tile."""
        return self.atoms[0] * self.atoms[1] * self.atom_bytes

    @property
    def alignment(self) -> int:
        """Address alignment that lets the base offset be 0."""
        return 1024 if self.swizzle.startswith("128B") else max(CHUNK, 8 * pattern(self.swizzle).row_bytes)

    @property
    def mn_step(self) -> int:
        """Bytes from one atom to the next along MN."""
        return self.atom_bytes * (1 if self.order == "MN" else self.atoms[1])

    @property
    def k_step(self) -> int:
        """Bytes from one atom to the next along K."""
        return self.atom_bytes * (self.atoms[0] if self.order == "MN" else 1)

    @property
    def leading_byte_offset(self) -> int:
        """LBO of the descriptor; 16 where the hardware does not read it (swizzled, K-major).

        K-major without swizzle: between the two 16-byte columns. MN-major: between atoms along K
        without swizzle, along MN with one (9.7.16.3.1.1).
        """
        if self.major == "K":
            return self.k_step if self.swizzle == "none" else CHUNK
        return self.k_step if self.swizzle == "none" else self.mn_step

    @property
    def stride_byte_offset(self) -> int:
        """SBO of the descriptor (9.7.16.3.2).

        K-major: between groups of 8 rows. MN-major: between 16-byte pieces of MN without swizzle,
        between atoms along K with one.
        """
        if self.major == "K":
            return self.mn_step
        return self.mn_step if self.swizzle == "none" else self.k_step

    # ---- where elements lie

    @cached_property
    def _linear_bits(self) -> np.ndarray:
        mn, k = np.indices((self.mn, self.k))
        along, across = (k, mn) if self.major == "K" else (mn, k)
        chunk, inside = np.divmod(along, self.per_chunk)
        atom_along, chunk = np.divmod(chunk, self.row_chunks)
        atom_across, row = np.divmod(across, self.atom_rows)
        along_step, across_step = (
            (self.k_step, self.mn_step) if self.major == "K" else (self.mn_step, self.k_step)
        )
        start = atom_along * along_step + atom_across * across_step
        return (start + row * self.row_chunks * CHUNK + chunk * CHUNK) * 8 + inside * self.bits

    def element_bits(self, address: int = 0) -> np.ndarray:
        """Bit offset of every element from the start of the tile, swizzled; shape (mn, k).

        Args:
            address: where the tile lies in shared memory; the swizzle follows absolute addresses.
        """
        byte, bit = np.divmod(self._linear_bits, 8)
        return (swizzle_address(byte + address, self.swizzle) - address) * 8 + bit

    def element_bytes(self, address: int = 0) -> np.ndarray:
        """Shared-memory address of the byte in which every element begins; shape (mn, k)."""
        return self.element_bits(address) // 8 + address

    def pack(self, matrix: np.ndarray, address: int = 0) -> np.ndarray:
        """The bytes of the tile, uint8, gaps zero.

        Args:
            matrix: (mn, k) of a numpy type as wide as the elements, or of unsigned codes.
            address: where the tile will lie.
        """
        if matrix.shape != (self.mn, self.k):
            raise error(
                LAYOUT_ARGUMENT, f"`matrix` must have shape {(self.mn, self.k)}, found {matrix.shape}"
            )
        return scatter(matrix, self.element_bits(address), self.bits, self.nbytes)

    def unpack(self, data: np.ndarray, address: int = 0) -> np.ndarray:
        """The element codes (unsigned) of the tile's bytes; undoes `pack`."""
        return gather(data, self.element_bits(address), self.bits)

    # ---- descriptors

    def descriptor(self, address: int = 0, kind: str = "smem.tcgen05") -> SmemDescTcgen05 | SmemDescWgmma:
        """The matrix descriptor of the tile at `address`.

        Raises:
            PtxkitError: P471, `smem.wgmma` has no such layout; or what the descriptor refuses.
        """
        fields = {
            "address": address,
            "leading_byte_offset": self.leading_byte_offset,
            "stride_byte_offset": self.stride_byte_offset,
            "swizzle": self.swizzle,
        }
        if kind == "smem.tcgen05":
            return SmemDescTcgen05(**fields)
        if self.swizzle == "128B-32B-atom" or (self.major == "MN" and self.bits != 16) or self.bits < 8:
            message = f"wgmma has no {self.major}-major `{self.dtype}` with `swizzle` {self.swizzle}"
            raise error(LAYOUT_UNSUPPORTED, message, help="wgmma transposes 16-bit types only")
        return SmemDescWgmma(**fields)

    def step_of_48_bytes(self, k: int, address: int = 0) -> SmemDescTcgen05:
        """The descriptor of an instruction that takes 48 bytes along K from column `k` of the tile on.

        Where the 48 bytes leave an atom, the rest is at the start of the next one. The leading dimension is
        the absolute address of the atom where they end, as CUTLASS has it (PTX ISA 9.7.16.3.1.2).

        Raises:
            PtxkitError: P471, the tile is not K-major with `swizzle` 128B; P472, `k` is not where a step
                begins.
        """
        if self.major != "K" or self.swizzle != "128B":
            message = f"steps of 48 bytes need K-major and `swizzle` 128B, found {self.major}-major"
            raise error(LAYOUT_UNSUPPORTED, f"{message} and {self.swizzle}", notes=(ABSOLUTE,))
        last = k + 3 * self.per_chunk - 1
        end = self.k_advance(last // self.atom[1] * self.atom[1])
        return SmemDescTcgen05(
            address=address + self.k_advance(k),
            leading_byte_offset=address + end,
            stride_byte_offset=self.stride_byte_offset,
            leading_mode="absolute",
            swizzle="128B",
        )

    def k_advance(self, k: int) -> int:
        """Bytes to add to the tile's address so that the descriptor begins at column `k`.

        Inside a swizzle atom this is a plain addition to the start address: the hardware swizzles the
        sum. `k` must begin a 16-byte piece (K-major) or a group of atom rows (MN-major).

        Raises:
            PtxkitError: P472, `k` lies inside one.
        """
        step = self.per_chunk if self.major == "K" else self.atom_rows
        return self._advance("k", k, step, self.atom[1], self.k_step, self.major == "K")

    def mn_advance(self, mn: int) -> int:
        """Bytes to add to the tile's address so that the descriptor begins at row `mn`."""
        step = self.per_chunk if self.major == "MN" else self.atom_rows
        return self._advance("mn", mn, step, self.atom[0], self.mn_step, self.major == "MN")

    def _advance(self, name: str, at: int, step: int, atom: int, atom_step: int, contiguous: bool) -> int:
        size = self.k if name == "k" else self.mn
        if at % step or not 0 <= at < size:
            message = f"`{name}` must be a multiple of {step} below {size}, found {at}"
            raise error(OFF_ATOM, message)
        whole, inside = divmod(at, atom)
        return whole * atom_step + (inside // step * CHUNK if contiguous else 0)


def operand_bits(
    descriptor: SmemDescTcgen05 | SmemDescWgmma,
    mn: int,
    k: int,
    dtype: str,
    major: str = "K",
    padded: bool = False,
) -> np.ndarray:
    """What one instruction reads through a descriptor: the bit address of every element.

    Args:
        descriptor: the matrix descriptor.
        mn, k: elements that the instruction takes along MN and K, as stored.
        dtype: element type by PTX name.
        major: `K`, or `MN` where the instruction transposes the matrix.
        padded: see `SharedTile`.

    Returns:
        int64 (mn, k): bit offsets in the CTA's shared memory, by the canonical layouts of 9.7.16.3.3.
    """
    bits = DTYPES[dtype].bits
    per_chunk = 16 if padded else CHUNK * 8 // bits
    swizzle = descriptor.swizzle
    width = pattern(swizzle).row_bytes // CHUNK
    row_index, column = np.indices((mn, k))
    along, across = (column, row_index) if major == "K" else (row_index, column)
    chunk, inside = np.divmod(along, per_chunk)
    group, row = np.divmod(across, 4 if swizzle == "128B-32B-atom" else 8)
    leading, stride = descriptor.leading_byte_offset, descriptor.stride_byte_offset
    if swizzle == "none":
        along_step, across_step = (leading, stride) if major == "K" else (stride, leading)
        offset = chunk * along_step + group * across_step + row * CHUNK
    elif major == "K":
        offset = chunk * CHUNK + group * stride + row * width * CHUNK
        if isinstance(descriptor, SmemDescTcgen05) and descriptor.leading_mode == "absolute":
            # What is beyond the atom goes on at the start of another one.
            beyond = chunk + descriptor.address // CHUNK % width - width
            elsewhere = leading - descriptor.address + (beyond - chunk) * CHUNK
            offset = np.where(beyond >= 0, offset + elsewhere, offset)
    else:
        outer, chunk = np.divmod(chunk, width)
        offset = chunk * CHUNK + outer * leading + group * stride + row * width * CHUNK
    byte = swizzle_address(descriptor.address + offset, swizzle, descriptor.base_offset)
    return byte * 8 + inside * bits
