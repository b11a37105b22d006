// /// battery
// about = "-use_fast_math: the approximate functions with the errors that the CUDA C++ Programming Guide gives"
// packed = "86 O3"
// flags = ["-use_fast_math"]
// [defaults]
// grid = 2
// block = 128
// out = ["1 f32"]
// [kernels]
// sin_ = { in = ["1 f32 range -3.14159 3.14159"], ulp = 0, absolute = 3.6e-7 }
// cos_ = { in = ["1 f32 range -3.14159 3.14159"], ulp = 0, absolute = 4.2e-7 }
// exp_ = { in = ["1 f32 range -80 80"], ulp = 95 }
// exp10_ = { in = ["1 f32 range -30 30"], ulp = 120 }
// log_ = { in = ["1 f32 range 2 1000"], ulp = 3 }
// log_near_one = { in = ["1 f32 range 0.5 2"], ulp = 0, absolute = 3.6e-7 }
// log2_ = { in = ["1 f32 range 2.1 1000"], ulp = 2 }
// log10_ = { in = ["1 f32 range 2.1 1000"], ulp = 3 }
// divide = { in = ["2 f32 log 1e-15 1e15"], ulp = 2 }
// sqrt_ = { in = ["1 f32 range 1e-20 1e20"], ulp = 3 }
// rsqrt_ = { in = ["1 f32 range 1e-20 1e20"], ulp = 2 }
// reciprocal = { in = ["1 f32 log 1e-30 1e30"], ulp = 1 }
// pow_ = { in = ["2 f32 range 1 6"], ulp = 40 }
// flushed = { in = ["2 f32 log 1e-30 1e-14"], ulp = 0 }
// fused = { in = ["3 f32 log 0.1 10"], ulp = 0 }
// saturate_ = { in = ["2 f32 range -2 2"], ulp = 0 }
// tanh_ = { in = ["1 f32 range -4 4"], ulp = 0, absolute = 1.5e-3 }
// ///
#include "battery.cuh"
#include <cmath>

#define FUNCTION(NAME, n_in, DEVICE, HOST)                                                        \
  HERE(NAME, float, n_in, float, 1) { *y = DEVICE; }                                              \
  THERE(NAME, float, n_in, double, 1) { *y = HOST; }
#define X0 (double)x[0]
#define X1 (double)x[1]
FUNCTION(sin_, 1, sinf(x[0]), std::sin(X0))
FUNCTION(cos_, 1, cosf(x[0]), std::cos(X0))
FUNCTION(exp_, 1, expf(x[0]), std::exp(X0))
FUNCTION(exp10_, 1, exp10f(x[0]), std::pow(10.0, X0))
FUNCTION(log_, 1, logf(x[0]), std::log(X0))
FUNCTION(log_near_one, 1, logf(x[0]), std::log(X0))
FUNCTION(log2_, 1, log2f(x[0]), std::log2(X0))
FUNCTION(log10_, 1, log10f(x[0]), std::log10(X0))
FUNCTION(divide, 2, x[0] / x[1], X0 / X1)
FUNCTION(sqrt_, 1, sqrtf(x[0]), std::sqrt(X0))
FUNCTION(rsqrt_, 1, rsqrtf(x[0]), 1 / std::sqrt(X0))
FUNCTION(reciprocal, 1, 1 / x[0], 1 / X0)
FUNCTION(pow_, 2, powf(x[0], x[1]), std::pow(X0, X1))
static double flush(double v) { return std::fabs(v) < 0x1p-126 ? std::copysign(0.0, v) : (double)(float)v; }
FUNCTION(flushed, 2, x[0] * x[1], flush(X0 * X1))
FUNCTION(fused, 3, fmaf(x[0], x[1], x[2]), std::fma(x[0], x[1], x[2]))
FUNCTION(saturate_, 2, __saturatef(x[0] + x[1]), std::fmin(std::fmax(x[0] + x[1], 0.0f), 1.0f))
FUNCTION(tanh_, 1, tanhf(x[0]), std::tanh(X0))
