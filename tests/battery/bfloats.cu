// /// battery
// about = "bfloat16 and pairs of it: arithmetic, comparisons, conversions, functions"
// since = 80
// [kernels]
// arithmetic = { in = ["3 bf16 edges"], out = ["18 bf16"], nan = true }
// arithmetic_near = { in = ["3 bf16 log 0.03 30"], out = ["18 bf16"], nan = true }
// pairs = { in = ["3 u32 edges"], out = ["24 bf16"], nan = true }
// compare = { in = ["2 u32 edges"], out = ["24 u8"] }
// from_numbers = { in = ["1 u64 edges"], out = ["12 bf16"], nan = true }
// to_integers = { in = ["1 bf16 edges"], out = ["10 u64"] }
// exp_ = { in = ["1 bf16 edges"], out = ["1 bf16"], ulp = 1 }
// exp2_ = { in = ["1 bf16 range -16 16"], out = ["1 bf16"], ulp = 1 }
// exp10_ = { in = ["1 bf16 range -5 5"], out = ["1 bf16"], ulp = 1 }
// log_ = { in = ["1 bf16 edges"], out = ["1 bf16"], ulp = 1 }
// log2_ = { in = ["1 bf16 edges"], out = ["1 bf16"], ulp = 1 }
// log10_ = { in = ["1 bf16 edges"], out = ["1 bf16"], ulp = 1 }
// sin_ = { in = ["1 bf16 range -100 100"], out = ["1 bf16"], ulp = 1 }
// cos_ = { in = ["1 bf16 range -100 100"], out = ["1 bf16"], ulp = 1 }
// rsqrt_ = { in = ["1 bf16 edges"], out = ["1 bf16"], ulp = 1 }
// rcp_ = { in = ["1 bf16 edges"], out = ["1 bf16"], ulp = 1 }
// tanh_ = { in = ["1 bf16 range -5 5"], out = ["1 bf16"], ulp = 1 }
// tanh_approx_ = { in = ["1 bf16 range -5 5"], out = ["1 bf16"], ulp = 2, absolute = 0.004 }
// sum_of_many = { in = ["16 u16 range 15360 16384"], out = ["1 bf16"] }
// ///
#include <cstring>
#include <cuda_bf16.h>
#define T __nv_bfloat16
#define T2 __nv_bfloat162
#define MANTISSA 7
#define LOW __low2bfloat16
#define HIGH __high2bfloat16
#define LOWS __lows2bfloat162
#define HIGHS __highs2bfloat162
#define TO(FROM_, HOW) __##FROM_##2bfloat16##HOW
#define FROM(TO_, HOW) __bfloat162##TO_##HOW
#define TO_PAIR __floats2bfloat162_rn
#include "halves.cuh"
