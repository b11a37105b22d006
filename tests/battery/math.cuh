// The functions of libdevice that float_math.cu and double_math.cu examine: FLOAT is the type, OF(sin) the
// function's name in it, WIDE the type of the exact result.
#include "battery.cuh"
#include <cmath>

typedef long double L;
#define FUNCTION(NAME, n_in, DEVICE, HOST)                                                        \
  HERE(NAME, FLOAT, n_in, FLOAT, 1) { *y = DEVICE; }                                              \
  THERE(NAME, FLOAT, n_in, WIDE, 1) { *y = HOST; }
#define X0 (L) x[0]
#define X1 (L) x[1]

static const L PI = 3.14159265358979323846264338327950288L;
static L whole_turns(L v) { return v - 2 * std::floor(v / 2); }
static L sin_of_pi(L v) {
  L r = whole_turns(std::fabs(v)), s = v < 0 ? -1 : 1;
  if (r >= 1) r -= 1, s = -s;
  return r == 0 ? s * 0 : s * (r <= 0.25L ? std::sin(PI * r) : r <= 0.75L ? std::cos(PI * (r - 0.5L)) : std::sin(PI * (1 - r)));
}
static L cos_of_pi(L v) { return std::fabs(v) < 0.25L ? std::cos(PI * v) : sin_of_pi(v + 0.5L); }
// Newton's method on a function of known derivative.
template <typename F, typename D> static L solve(F f, D d, L guess) {
  for (int i = 0; i < 60; ++i) {
    L step = f(guess) / d(guess);
    guess -= step;
    if (std::fabs(step) <= std::fabs(guess) * 1e-19L) break;
  }
  return guess;
}
static L inverse_erfc(L v) {
  if (v <= 0) return v == 0 ? (L)INFINITY : (L)NAN;
  if (v >= 2) return v == 2 ? -(L)INFINITY : (L)NAN;
  if (v > 1) return -inverse_erfc(2 - v);
  L guess = 0;
  if (v < 0.5L) {
    L q = std::sqrt(-2 * std::log(v / 2));
    guess = (q - (2.30753L + 0.27061L * q) / (1 + q * (0.99229L + 0.04481L * q))) / std::sqrt(2.0L);
  }
  L logarithm = std::log(v);
  return solve([=](L g) { return v < 0.5L ? std::log(std::erfc(g)) - logarithm : v - 1 + std::erf(g); },
               [=](L g) {
                 L slope = 2 / std::sqrt(PI) * std::exp(-g * g);
                 return v < 0.5L ? -slope / std::erfc(g) : slope;
               }, guess);
}
static L inverse_erf(L v) {
  if (std::fabs(v) > 0.5L) return v > 0 ? inverse_erfc(1 - v) : -inverse_erfc(1 + v);
  return solve([=](L g) { return std::erf(g) - v; }, [](L g) { return 2 / std::sqrt(PI) * std::exp(-g * g); }, v);
}
static L scaled_erfc(L v) {
  if (v < 9) return std::exp(v * v) * std::erfc(v);
  L fraction = 0;
  for (int k = 60; k > 0; --k) fraction = k / 2.0L / (v + fraction);
  return 1 / (std::sqrt(PI) * (v + fraction));
}

FUNCTION(rsqrt_, 1, OF(rsqrt)(x[0]), 1 / std::sqrt(X0))
FUNCTION(cbrt_, 1, OF(cbrt)(x[0]), std::cbrt(X0))
FUNCTION(rcbrt_, 1, OF(rcbrt)(x[0]), 1 / std::cbrt(X0))
FUNCTION(hypot_, 2, OF(hypot)(x[0], x[1]), std::hypot(X0, X1))
FUNCTION(rhypot_, 2, OF(rhypot)(x[0], x[1]), 1 / std::hypot(X0, X1))
FUNCTION(norm3d_, 3, OF(norm3d)(x[0], x[1], x[2]), std::hypot(X0, X1, (L)x[2]))
FUNCTION(rnorm3d_, 3, OF(rnorm3d)(x[0], x[1], x[2]), 1 / std::hypot(X0, X1, (L)x[2]))
FUNCTION(norm4d_, 4, OF(norm4d)(x[0], x[1], x[2], x[3]), std::hypot(std::hypot(X0, X1), std::hypot((L)x[2], (L)x[3])))
FUNCTION(rnorm4d_, 4, OF(rnorm4d)(x[0], x[1], x[2], x[3]), 1 / std::hypot(std::hypot(X0, X1), std::hypot((L)x[2], (L)x[3])))
FUNCTION(exp_, 1, OF(exp)(x[0]), std::exp(X0))
FUNCTION(exp_edges, 1, OF(exp)(x[0]), std::exp(X0))
FUNCTION(exp2_, 1, OF(exp2)(x[0]), std::exp2(X0))
FUNCTION(exp10_, 1, OF(exp10)(x[0]), exp10l(X0))
FUNCTION(expm1_, 1, OF(expm1)(x[0]), std::expm1(X0))
FUNCTION(log_, 1, OF(log)(x[0]), std::log(X0))
FUNCTION(log_edges, 1, OF(log)(x[0]), std::log(X0))
FUNCTION(log2_, 1, OF(log2)(x[0]), std::log2(X0))
FUNCTION(log10_, 1, OF(log10)(x[0]), std::log10(X0))
FUNCTION(log1p_, 1, OF(log1p)(x[0]), std::log1p(X0))
FUNCTION(sin_, 1, OF(sin)(x[0]), std::sin(X0))
FUNCTION(sin_large, 1, OF(sin)(x[0]), std::sin(X0))
FUNCTION(cos_, 1, OF(cos)(x[0]), std::cos(X0))
FUNCTION(cos_large, 1, OF(cos)(x[0]), std::cos(X0))
FUNCTION(tan_, 1, OF(tan)(x[0]), std::tan(X0))
FUNCTION(tan_large, 1, OF(tan)(x[0]), std::tan(X0))
HERE(sincos_, FLOAT, 1, FLOAT, 2) { OF(sincos)(x[0], y, y + 1); }
THERE(sincos_, FLOAT, 1, WIDE, 2) { y[0] = std::sin(X0), y[1] = std::cos(X0); }
FUNCTION(sinpi_, 1, OF(sinpi)(x[0]), sin_of_pi(X0))
FUNCTION(cospi_, 1, OF(cospi)(x[0]), cos_of_pi(X0))
FUNCTION(asin_, 1, OF(asin)(x[0]), std::asin(X0))
FUNCTION(acos_, 1, OF(acos)(x[0]), std::acos(X0))
FUNCTION(atan_, 1, OF(atan)(x[0]), std::atan(X0))
FUNCTION(atan2_, 2, OF(atan2)(x[0], x[1]), std::atan2(X0, X1))
FUNCTION(sinh_, 1, OF(sinh)(x[0]), std::sinh(X0))
FUNCTION(cosh_, 1, OF(cosh)(x[0]), std::cosh(X0))
FUNCTION(tanh_, 1, OF(tanh)(x[0]), std::tanh(X0))
FUNCTION(asinh_, 1, OF(asinh)(x[0]), std::asinh(X0))
FUNCTION(acosh_, 1, OF(acosh)(x[0]), std::acosh(X0))
FUNCTION(atanh_, 1, OF(atanh)(x[0]), std::atanh(X0))
#define OF_TWO(NAME, DEVICE, HOST)                                                                \
  KERNEL NAME(const FLOAT *x, const FLOAT *z, FLOAT *y) {                                         \
    int t = thread_of_grid();                                                                     \
    y[t] = DEVICE(x[t], z[t]);                                                                    \
  }                                                                                               \
  REFERENCE NAME##_reference(const FLOAT *x, const FLOAT *z, WIDE *y, int threads) {              \
    for (int t = 0; t < threads; ++t) y[t] = HOST((L)x[t], (L)z[t]);                              \
  }
OF_TWO(pow_, OF(pow), std::pow)
OF_TWO(pow_edges, OF(pow), std::pow)
FUNCTION(erf_, 1, OF(erf)(x[0]), std::erf(X0))
FUNCTION(erfc_, 1, OF(erfc)(x[0]), std::erfc(X0))
FUNCTION(erfcx_, 1, OF(erfcx)(x[0]), scaled_erfc(X0))
FUNCTION(erfinv_, 1, OF(erfinv)(x[0]), inverse_erf(X0))
FUNCTION(erfcinv_, 1, OF(erfcinv)(x[0]), inverse_erfc(X0))
FUNCTION(normcdf_, 1, OF(normcdf)(x[0]), std::erfc(-X0 / std::sqrt(2.0L)) / 2)
FUNCTION(normcdfinv_, 1, OF(normcdfinv)(x[0]), -std::sqrt(2.0L) * inverse_erfc(2 * X0))
FUNCTION(lgamma_, 1, OF(lgamma)(x[0]), std::lgamma(X0))
FUNCTION(tgamma_, 1, OF(tgamma)(x[0]), std::tgamma(X0))
FUNCTION(fma_, 3, OF(fma)(x[0], x[1], x[2]), OF(std::fma)(x[0], x[1], x[2]))
FUNCTION(j0_, 1, OF(j0)(x[0]), j0l(X0))
FUNCTION(j1_, 1, OF(j1)(x[0]), j1l(X0))
FUNCTION(y0_, 1, OF(y0)(x[0]), y0l(X0))
FUNCTION(y1_, 1, OF(y1)(x[0]), y1l(X0))
