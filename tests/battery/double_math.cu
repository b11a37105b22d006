// /// battery
// about = "libdevice in f64 against long double: the error in units in the last place that the CUDA C++ Programming Guide gives"
// [defaults]
// grid = 2
// block = 128
// out = ["1 f64"]
// [kernels]
// rsqrt_ = { in = ["1 f64 range 1e-30 1e30"], ulp = 1 }
// cbrt_ = { in = ["1 f64 edges"], ulp = 1 }
// rcbrt_ = { in = ["1 f64 log 1e-200 1e200"], ulp = 1 }
// hypot_ = { in = ["2 f64 log 1e-200 1e200"], ulp = 2 }
// rhypot_ = { in = ["2 f64 log 1e-100 1e100"], ulp = 1 }
// norm3d_ = { in = ["3 f64 log 1e-100 1e100"], ulp = 2 }
// rnorm3d_ = { in = ["3 f64 log 1e-100 1e100"], ulp = 1 }
// norm4d_ = { in = ["4 f64 log 1e-100 1e100"], ulp = 2 }
// rnorm4d_ = { in = ["4 f64 log 1e-100 1e100"], ulp = 1 }
// exp_ = { in = ["1 f64 range -750 712"], ulp = 1 }
// exp_edges = { in = ["1 f64 edges"], ulp = 1 }
// exp2_ = { in = ["1 f64 range -1080 1030"], ulp = 1 }
// exp10_ = { in = ["1 f64 range -325 310"], ulp = 1 }
// expm1_ = { in = ["1 f64 range -40 712"], ulp = 1 }
// log_ = { in = ["1 f64 range 0.01 100"], ulp = 1 }
// log_edges = { in = ["1 f64 edges"], ulp = 1 }
// log2_ = { in = ["1 f64 edges"], ulp = 1 }
// log10_ = { in = ["1 f64 edges"], ulp = 1 }
// log1p_ = { in = ["1 f64 range -0.999 9"], ulp = 1 }
// sin_ = { in = ["1 f64 range -20 20"], ulp = 2 }
// sin_large = { in = ["1 f64 log 1e3 1e300"], ulp = 2 }
// cos_ = { in = ["1 f64 range -20 20"], ulp = 2 }
// cos_large = { in = ["1 f64 edges"], ulp = 2 }
// tan_ = { in = ["1 f64 range -20 20"], ulp = 2 }
// tan_large = { in = ["1 f64 log 1e3 1e300"], ulp = 2 }
// sincos_ = { in = ["1 f64 range -200000 200000"], out = ["2 f64"], ulp = 2 }
// sinpi_ = { in = ["1 f64 range -20 20"], ulp = 2 }
// cospi_ = { in = ["1 f64 range -20 20"], ulp = 2 }
// asin_ = { in = ["1 f64 range -1 1"], ulp = 2 }
// acos_ = { in = ["1 f64 range -1 1"], ulp = 2 }
// atan_ = { in = ["1 f64 log 1e-6 1e6"], ulp = 2 }
// atan2_ = { in = ["2 f64 edges"], ulp = 2 }
// sinh_ = { in = ["1 f64 range -712 712"], ulp = 2 }
// cosh_ = { in = ["1 f64 range -712 712"], ulp = 1 }
// tanh_ = { in = ["1 f64 log 1e-5 20"], ulp = 1 }
// asinh_ = { in = ["1 f64 edges"], ulp = 3 }
// acosh_ = { in = ["1 f64 range 1 100"], ulp = 3 }
// atanh_ = { in = ["1 f64 range -1 1"], ulp = 2 }
// pow_ = { in = ["1 f64 range 0.001 40", "1 f64 range -20 20"], ulp = 2 }
// pow_edges = { in = ["1 f64 edges", "1 f64 edges"], ulp = 2 }
// erf_ = { in = ["1 f64 log 1e-6 6"], ulp = 2 }
// erfc_ = { in = ["1 f64 range -5 27"], ulp = 5 }
// erfcx_ = { in = ["1 f64 range -4 40"], ulp = 4 }
// erfinv_ = { in = ["1 f64 range -1 1"], ulp = 5 }
// erfcinv_ = { in = ["1 f64 range 0 2"], ulp = 6 }
// normcdf_ = { in = ["1 f64 range -38 6"], ulp = 5 }
// normcdfinv_ = { in = ["1 f64 range 0 1"], ulp = 8 }
// lgamma_ = { in = ["1 f64 log 0.001 1e6"], ulp = 4, absolute = 5e-15 }
// tgamma_ = { in = ["1 f64 range -170 172"], ulp = 10 }
// fma_ = { in = ["3 f64 edges"], ulp = 0 }
// j0_ = { in = ["1 f64 range -30 30"], ulp = 7, absolute = 5e-12 }
// j1_ = { in = ["1 f64 range -30 30"], ulp = 7, absolute = 5e-12 }
// y0_ = { in = ["1 f64 range 0.01 30"], ulp = 7, absolute = 5e-12 }
// y1_ = { in = ["1 f64 range 0.01 30"], ulp = 7, absolute = 5e-12 }
// ///
#define FLOAT double
#define WIDE long double
#define OF(NAME) NAME
#include "math.cuh"
