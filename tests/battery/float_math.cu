// /// battery
// about = "libdevice in f32 against long double: the error in units in the last place that the CUDA C++ Programming Guide gives"
// [defaults]
// grid = 2
// block = 128
// out = ["1 f32"]
// [kernels]
// rsqrt_ = { in = ["1 f32 range 1e-30 1e30"], ulp = 2 }
// cbrt_ = { in = ["1 f32 edges"], ulp = 1 }
// rcbrt_ = { in = ["1 f32 log 1e-30 1e30"], ulp = 1 }
// hypot_ = { in = ["2 f32 log 1e-30 1e30"], ulp = 3 }
// rhypot_ = { in = ["2 f32 log 1e-15 1e15"], ulp = 2 }
// norm3d_ = { in = ["3 f32 log 1e-15 1e15"], ulp = 3 }
// rnorm3d_ = { in = ["3 f32 log 1e-15 1e15"], ulp = 2 }
// norm4d_ = { in = ["4 f32 log 1e-15 1e15"], ulp = 3 }
// rnorm4d_ = { in = ["4 f32 log 1e-15 1e15"], ulp = 2 }
// exp_ = { in = ["1 f32 range -110 95"], ulp = 2 }
// exp_edges = { in = ["1 f32 edges"], ulp = 2 }
// exp2_ = { in = ["1 f32 range -155 130"], ulp = 2 }
// exp10_ = { in = ["1 f32 range -46 39"], ulp = 2 }
// expm1_ = { in = ["1 f32 range -20 90"], ulp = 1 }
// log_ = { in = ["1 f32 range 0.01 100"], ulp = 1 }
// log_edges = { in = ["1 f32 edges"], ulp = 1 }
// log2_ = { in = ["1 f32 edges"], ulp = 1 }
// log10_ = { in = ["1 f32 edges"], ulp = 2 }
// log1p_ = { in = ["1 f32 range -0.999 9"], ulp = 1 }
// sin_ = { in = ["1 f32 range -20 20"], ulp = 2 }
// sin_large = { in = ["1 f32 log 1e3 1e38"], ulp = 2 }
// cos_ = { in = ["1 f32 range -20 20"], ulp = 2 }
// cos_large = { in = ["1 f32 edges"], ulp = 2 }
// tan_ = { in = ["1 f32 range -20 20"], ulp = 4 }
// tan_large = { in = ["1 f32 log 1e3 1e38"], ulp = 4 }
// sincos_ = { in = ["1 f32 range -200000 200000"], out = ["2 f32"], ulp = 2 }
// sinpi_ = { in = ["1 f32 range -20 20"], ulp = 2 }
// cospi_ = { in = ["1 f32 range -20 20"], ulp = 2 }
// asin_ = { in = ["1 f32 range -1 1"], ulp = 4 }
// acos_ = { in = ["1 f32 range -1 1"], ulp = 3 }
// atan_ = { in = ["1 f32 log 1e-6 1e6"], ulp = 2 }
// atan2_ = { in = ["2 f32 edges"], ulp = 3 }
// sinh_ = { in = ["1 f32 range -91 91"], ulp = 3 }
// cosh_ = { in = ["1 f32 range -91 91"], ulp = 2 }
// tanh_ = { in = ["1 f32 log 1e-5 20"], ulp = 2 }
// asinh_ = { in = ["1 f32 edges"], ulp = 3 }
// acosh_ = { in = ["1 f32 range 1 100"], ulp = 4 }
// atanh_ = { in = ["1 f32 range -1 1"], ulp = 3 }
// pow_ = { in = ["1 f32 range 0.001 40", "1 f32 range -20 20"], ulp = 9 }
// pow_edges = { in = ["1 f32 edges", "1 f32 edges"], ulp = 9 }
// erf_ = { in = ["1 f32 log 1e-6 6"], ulp = 2 }
// erfc_ = { in = ["1 f32 range -4 10"], ulp = 4 }
// erfcx_ = { in = ["1 f32 range -4 40"], ulp = 4 }
// erfinv_ = { in = ["1 f32 range -1 1"], ulp = 2 }
// erfcinv_ = { in = ["1 f32 range 0 2"], ulp = 4 }
// normcdf_ = { in = ["1 f32 range -10 5"], ulp = 5 }
// normcdfinv_ = { in = ["1 f32 range 0 1"], ulp = 5 }
// lgamma_ = { in = ["1 f32 log 0.001 1e6"], ulp = 6, absolute = 5e-6 }
// tgamma_ = { in = ["1 f32 range -33 35"], ulp = 11 }
// fma_ = { in = ["3 f32 edges"], ulp = 0 }
// j0_ = { in = ["1 f32 range -30 30"], ulp = 9, absolute = 2.2e-6 }
// j1_ = { in = ["1 f32 range -30 30"], ulp = 9, absolute = 2.2e-6 }
// y0_ = { in = ["1 f32 range 0.01 30"], ulp = 9, absolute = 2.2e-6 }
// y1_ = { in = ["1 f32 range 0.01 30"], ulp = 9, absolute = 2.2e-6 }
// ///
#define FLOAT float
#define WIDE double
#define OF(NAME) NAME##f
#include "math.cuh"
