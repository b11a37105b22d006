"""Kernel arguments: from Python values to the bytes of the parameter space, by the `.entry` signature.

PTX ISA 7.1 and 11.2.1 (`.entry`), 5.1.6.1 to 5.1.6.3 (kernel parameters, `.ptr`). Every parameter lies at
the next multiple of its alignment, in the order of the signature; the space ends with the last one.

The signature's type, size and alignment decide, never the Python type:

| parameter                           | accepted                                                          |
|-------------------------------------|-------------------------------------------------------------------|
| `.u64` `.s64` `.b64`, `.ptr` or not | a device buffer (`.address`, `__cuda_array_interface__`, DLPack), |
|                                     | an int                                                            |
| `.sN`                               | an int in range (`bool` is 0 or 1)                                |
| `.uN`                               | the same, or a negative one in the signed range: its two's        |
|                                     | complement, for compilers write `.uN` for signed integers, too    |
| `.bN`                               | an int in the signed or unsigned range; a numpy or ml_dtypes      |
|                                     | float scalar of exactly N bits                                    |
| `.f16` `.f32` `.f64`                | a number, rounded to the type; not beyond its range               |
| `.f16x2`, arrays                    | a sequence of the same nesting, or an array of the same shape     |
| any                                 | an object of exactly the parameter's size: bytes, a ctypes or     |
|                                     | numpy structure, a tensor map, anything with `__bytes__`          |

`.b8` arrays, by which compilers pass structs, take the raw bytes of any array or structure of their size.
"""

from ptxkit.device.arguments.fast import REFUSED, ParameterSpace
from ptxkit.device.arguments.parameter import Parameter
from ptxkit.device.arguments.signature import Signature
from ptxkit.device.arguments.values import AddressOf, device_address

__all__ = ["REFUSED", "AddressOf", "Parameter", "ParameterSpace", "Signature", "device_address"]
