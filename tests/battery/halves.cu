// /// battery
// about = "half and half2: arithmetic, comparisons, conversions, functions"
// [kernels]
// arithmetic = { in = ["3 f16 edges"], out = ["18 f16"], nan = true }
// arithmetic_near = { in = ["3 f16 log 0.03 30"], out = ["18 f16"], nan = true }
// pairs = { in = ["3 u32 edges"], out = ["24 f16"], nan = true }
// compare = { in = ["2 u32 edges"], out = ["24 u8"] }
// from_numbers = { in = ["1 u64 edges"], out = ["12 f16"], nan = true }
// to_integers = { in = ["1 f16 edges"], out = ["10 u64"] }
// exp_ = { in = ["1 f16 edges"], out = ["1 f16"], ulp = 1 }
// exp2_ = { in = ["1 f16 range -16 16"], out = ["1 f16"], ulp = 1 }
// exp10_ = { in = ["1 f16 range -5 5"], out = ["1 f16"], ulp = 1 }
// log_ = { in = ["1 f16 edges"], out = ["1 f16"], ulp = 1 }
// log2_ = { in = ["1 f16 edges"], out = ["1 f16"], ulp = 1 }
// log10_ = { in = ["1 f16 edges"], out = ["1 f16"], ulp = 1 }
// sin_ = { in = ["1 f16 range -100 100"], out = ["1 f16"], ulp = 1 }
// cos_ = { in = ["1 f16 range -100 100"], out = ["1 f16"], ulp = 1 }
// rsqrt_ = { in = ["1 f16 edges"], out = ["1 f16"], ulp = 1 }
// rcp_ = { in = ["1 f16 edges"], out = ["1 f16"], ulp = 1 }
// tanh_ = { in = ["1 f16 range -5 5"], out = ["1 f16"], ulp = 1 }
// tanh_approx_ = { in = ["1 f16 range -5 5"], out = ["1 f16"], ulp = 2, absolute = 0.0005 }
// sum_of_many = { in = ["16 u16 range 15360 16384"], out = ["1 f16"] }
// ///
#include <cstring>
#include <cuda_fp16.h>
#define T __half
#define T2 __half2
#define MANTISSA 10
#define LOW __low2half
#define HIGH __high2half
#define LOWS __lows2half2
#define HIGHS __highs2half2
#define TO(FROM_, HOW) __##FROM_##2half##HOW
#define FROM(TO_, HOW) __half2##TO_##HOW
#define TO_PAIR __floats2half2_rn
#include "halves.cuh"
