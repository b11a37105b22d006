// /// battery
// about = "conversions between floats and integers and IEEE arithmetic, in every direction of rounding"
// flags = ["-fmad=false"]
// [kernels]
// f32_to_integers = { in = ["1 f32 edges"], out = ["16 u64"] }
// f64_to_integers = { in = ["1 f64 edges"], out = ["16 u64"] }
// f32_to_integers_near = { in = ["1 f32 log 0.1 1e10"], out = ["16 u64"] }
// f64_to_integers_near = { in = ["1 f64 log 0.1 1e19"], out = ["16 u64"] }
// integers_to_f32 = { in = ["1 u64 edges"], out = ["16 f32"] }
// integers_to_f64 = { in = ["1 u64 edges"], out = ["16 f64"] }
// between_floats = { in = ["1 f64 edges"], out = ["5 f32"], nan = true }
// between_floats_near = { in = ["1 f64 log 1e-46 1e39"], out = ["5 f32"], nan = true }
// arithmetic_f32 = { in = ["3 f32 edges"], out = ["24 f32"], nan = true }
// arithmetic_f32_near = { in = ["3 f32 log 0.5 2"], out = ["24 f32"], nan = true }
// arithmetic_f64 = { in = ["3 f64 edges"], out = ["24 f64"], nan = true }
// arithmetic_f64_near = { in = ["3 f64 log 0.5 2"], out = ["24 f64"], nan = true }
// to_integral = { in = ["1 f64 edges"], out = ["7 f64", "7 f32"], nan = true }
// to_integral_near = { in = ["1 f64 log 0.01 1e17"], out = ["7 f64", "7 f32"], nan = true }
// parts = { in = ["2 f64 edges", "2 f32 edges"], out = ["9 f64", "9 f32"], nan = true }
// exponents = { in = ["1 f64 edges", "1 f32 edges"], out = ["8 i32"] }
// remainders = { in = ["2 f64 edges", "2 f32 edges"], out = ["2 f64", "2 f32"], nan = true }
// remainders_near = { in = ["2 f64 log 1e-9 1e9", "2 f32 log 1e-6 1e6"], out = ["2 f64", "2 f32"], nan = true }
// compare_floats = { in = ["2 f64 edges", "2 f32 edges"], out = ["28 u8"] }
// truth = { in = ["1 f64 edges", "1 f32 edges"], out = ["14 u8"] }
// ///
#include "battery.cuh"
#include <cfenv>
#include <cmath>

// `OF(rn)`, `OF(rz)` and so on: on the host the same expression under the direction.
enum Direction { rn = FE_TONEAREST, rz = FE_TOWARDZERO, ru = FE_UPWARD, rd = FE_DOWNWARD };
template <typename F> static auto under(Direction direction, F f) {
  fesetround(direction);
  auto result = f();
  fesetround(FE_TONEAREST);
  return result;
}

// As PTX converts: what is too large becomes the nearest there is, a NaN 0 from f32 to 32 bits, else the highest
// bit alone (PTX ISA, `cvt`).
template <typename I, typename F> static uint64_t to(F x, Direction direction) {
  if (std::isnan(x)) return sizeof(I) == 8 ? 1ull << 63 : sizeof(F) == 8 ? (uint64_t)(I)(1u << 31) : 0;
  double whole = under(direction, [&] { volatile double v = x; return std::nearbyint(v); });
  double low = (I)-1 < 0 ? -std::ldexp(1.0, 8 * sizeof(I) - 1) : 0;
  double high = std::ldexp(1.0, 8 * sizeof(I) - ((I)-1 < 0));
  if (whole < low) return (uint64_t)(I)(low);
  if (whole >= high) return (uint64_t)((I)-1 < 0 ? ((uint64_t)1 << (8 * sizeof(I) - 1)) - 1 : (uint64_t)(I)-1);
  return (uint64_t)(I)whole;
}
#define TO_INTEGERS(NAME, FLOAT, PREFIX)                                                          \
  HERE(NAME, FLOAT, 1, uint64_t, 16) {                                                            \
    y[0] = __##PREFIX##2int_rn(*x), y[1] = __##PREFIX##2int_rz(*x);                               \
    y[2] = __##PREFIX##2int_ru(*x), y[3] = __##PREFIX##2int_rd(*x);                               \
    y[4] = __##PREFIX##2uint_rn(*x), y[5] = __##PREFIX##2uint_rz(*x);                             \
    y[6] = __##PREFIX##2uint_ru(*x), y[7] = __##PREFIX##2uint_rd(*x);                             \
    y[8] = __##PREFIX##2ll_rn(*x), y[9] = __##PREFIX##2ll_rz(*x);                                 \
    y[10] = __##PREFIX##2ll_ru(*x), y[11] = __##PREFIX##2ll_rd(*x);                               \
    y[12] = __##PREFIX##2ull_rn(*x), y[13] = __##PREFIX##2ull_rz(*x);                             \
    y[14] = __##PREFIX##2ull_ru(*x), y[15] = __##PREFIX##2ull_rd(*x);                             \
  }                                                                                               \
  THERE(NAME, FLOAT, 1, uint64_t, 16) {                                                           \
    Direction directions[4] = {rn, rz, ru, rd};                                                   \
    for (int i = 0; i < 4; ++i) {                                                                 \
      y[i] = to<int32_t>(*x, directions[i]), y[i + 4] = to<uint32_t>(*x, directions[i]);          \
      y[i + 8] = to<int64_t>(*x, directions[i]), y[i + 12] = to<uint64_t>(*x, directions[i]);     \
    }                                                                                             \
  }
TO_INTEGERS(f32_to_integers, float, float)
TO_INTEGERS(f32_to_integers_near, float, float)
TO_INTEGERS(f64_to_integers, double, double)
TO_INTEGERS(f64_to_integers_near, double, double)

#define FROM(FLOAT, OF)                                                                           \
  OF(0, __int2##FLOAT##_rn, rn, (int32_t)*x) OF(1, __int2##FLOAT##_rz, rz, (int32_t)*x)           \
  OF(2, __int2##FLOAT##_ru, ru, (int32_t)*x) OF(3, __int2##FLOAT##_rd, rd, (int32_t)*x)           \
  OF(4, __uint2##FLOAT##_rn, rn, (uint32_t)*x) OF(5, __uint2##FLOAT##_rz, rz, (uint32_t)*x)       \
  OF(6, __uint2##FLOAT##_ru, ru, (uint32_t)*x) OF(7, __uint2##FLOAT##_rd, rd, (uint32_t)*x)       \
  OF(8, __ll2##FLOAT##_rn, rn, (int64_t)*x) OF(9, __ll2##FLOAT##_rz, rz, (int64_t)*x)             \
  OF(10, __ll2##FLOAT##_ru, ru, (int64_t)*x) OF(11, __ll2##FLOAT##_rd, rd, (int64_t)*x)           \
  OF(12, __ull2##FLOAT##_rn, rn, *x) OF(13, __ull2##FLOAT##_rz, rz, *x)                           \
  OF(14, __ull2##FLOAT##_ru, ru, *x) OF(15, __ull2##FLOAT##_rd, rd, *x)
#define ON_DEVICE(N, F, DIRECTION, V) y[N] = F(V);
#define ON_HOST(N, F, DIRECTION, V) y[N] = converted<std::remove_reference_t<decltype(*y)>>(V, DIRECTION);
template <typename F, typename I> static F converted(I v, Direction direction) {
  // Through the exact 64-bit mantissa of x87.
  long double exact = v;
  return under(direction, [&] { volatile long double e = exact; volatile F f = (F)e; return (F)f; });
}
HERE(integers_to_f32, uint64_t, 1, float, 16) { FROM(float, ON_DEVICE) }
THERE(integers_to_f32, uint64_t, 1, float, 16) { FROM(float, ON_HOST) }
#define __int2double_rz __int2double_rn
#define __int2double_ru __int2double_rn
#define __int2double_rd __int2double_rn
#define __uint2double_rz __uint2double_rn
#define __uint2double_ru __uint2double_rn
#define __uint2double_rd __uint2double_rn
HERE(integers_to_f64, uint64_t, 1, double, 16) { FROM(double, ON_DEVICE) }
THERE(integers_to_f64, uint64_t, 1, double, 16) { FROM(double, ON_HOST) }

#define BETWEEN_FLOATS(NAME)                                                                      \
  HERE(NAME, double, 1, float, 5) {                                                               \
    y[0] = __double2float_rn(*x), y[1] = __double2float_rz(*x), y[2] = __double2float_ru(*x);     \
    y[3] = __double2float_rd(*x), y[4] = (float)((double)(float)*x * 2);                          \
  }                                                                                               \
  THERE(NAME, double, 1, float, 5) {                                                              \
    Direction directions[4] = {rn, rz, ru, rd};                                                   \
    for (int i = 0; i < 4; ++i)                                                                   \
      y[i] = under(directions[i], [&] { volatile double e = *x; volatile float f = (float)e; return (float)f; }); \
    y[4] = (float)((double)(float)*x * 2);                                                        \
  }
BETWEEN_FLOATS(between_floats)
BETWEEN_FLOATS(between_floats_near)

#define ARITHMETIC(P, OF)                                                                         \
  OF(0, P##add_rn(a, b), rn, a + b) OF(1, P##add_rz(a, b), rz, a + b)                             \
  OF(2, P##add_ru(a, b), ru, a + b) OF(3, P##add_rd(a, b), rd, a + b)                             \
  OF(4, P##sub_rn(a, b), rn, a - b) OF(5, P##sub_rz(a, b), rz, a - b)                             \
  OF(6, P##sub_ru(a, b), ru, a - b) OF(7, P##sub_rd(a, b), rd, a - b)                             \
  OF(8, P##mul_rn(a, b), rn, a * b) OF(9, P##mul_rz(a, b), rz, a * b)                             \
  OF(10, P##mul_ru(a, b), ru, a * b) OF(11, P##mul_rd(a, b), rd, a * b)                           \
  OF(12, P##div_rn(a, b), rn, a / b) OF(13, P##div_rz(a, b), rz, a / b)                           \
  OF(14, P##div_ru(a, b), ru, a / b) OF(15, P##div_rd(a, b), rd, a / b)                           \
  OF(16, P##sqrt_rn(a), rn, std::sqrt(a)) OF(17, P##sqrt_rz(a), rz, std::sqrt(a))                 \
  OF(18, P##sqrt_ru(a), ru, std::sqrt(a)) OF(19, P##sqrt_rd(a), rd, std::sqrt(a))                 \
  OF(20, P##rcp_rn(a), rn, 1 / a) OF(21, P##rcp_rz(a), rz, 1 / a)                                 \
  OF(22, P##rcp_ru(a), ru, 1 / a) OF(23, P##rcp_rd(a), rd, 1 / a)
#undef ON_DEVICE
#undef ON_HOST
#define ON_DEVICE(N, F, DIRECTION, V) y[N] = F;
#define ON_HOST(N, F, DIRECTION, V) y[N] = under(DIRECTION, [&] { volatile auto v = V; return v; });
#define FOUR_RULES(NAME, FLOAT, P)                                                                \
  HERE(NAME, FLOAT, 3, FLOAT, 24) {                                                               \
    FLOAT a = x[0], b = x[1];                                                                     \
    ARITHMETIC(P, ON_DEVICE)                                                                      \
  }                                                                                               \
  THERE(NAME, FLOAT, 3, FLOAT, 24) {                                                              \
    volatile FLOAT a = x[0], b = x[1];                                                            \
    ARITHMETIC(P, ON_HOST)                                                                        \
  }
FOUR_RULES(arithmetic_f32, float, __f)
FOUR_RULES(arithmetic_f32_near, float, __f)
FOUR_RULES(arithmetic_f64, double, __d)
FOUR_RULES(arithmetic_f64_near, double, __d)

template <typename F> BOTH void integral(F v, F *y) {
  y[0] = floor(v), y[1] = ceil(v), y[2] = trunc(v), y[3] = rint(v), y[4] = round(v), y[5] = nearbyint(v);
  y[6] = v - floor(v);
}
#define TO_INTEGRAL(NAME)                                                                         \
  KERNEL NAME(const double *x, double *d, float *f) {                                             \
    int t = thread_of_grid();                                                                     \
    integral(x[t], d + 7 * t), integral((float)x[t], f + 7 * t);                                  \
  }                                                                                               \
  REFERENCE NAME##_reference(const double *x, double *d, float *f, int threads) {                 \
    for (int t = 0; t < threads; ++t) integral(x[t], d + 7 * t), integral((float)x[t], f + 7 * t);\
  }
TO_INTEGRAL(to_integral)
TO_INTEGRAL(to_integral_near)

// A kernel over doubles and floats alike.
#define IN_BOTH(NAME, n_in, OUT_D, OUT_F, n_out)                                                  \
  template <typename F, typename R> BOTH void NAME##_each(const F *x, R *y);                      \
  KERNEL NAME(const double *d, const float *f, OUT_D *y, OUT_F *z) {                              \
    int t = thread_of_grid();                                                                     \
    NAME##_each(d + n_in * t, y + n_out * t), NAME##_each(f + n_in * t, z + n_out * t);           \
  }                                                                                               \
  REFERENCE NAME##_reference(const double *d, const float *f, OUT_D *y, OUT_F *z, int threads) {  \
    for (int t = 0; t < threads; ++t)                                                             \
      NAME##_each(d + n_in * t, y + n_out * t), NAME##_each(f + n_in * t, z + n_out * t);         \
  }                                                                                               \
  template <typename F, typename R> BOTH void NAME##_each(const F *x, R *y)
#define INTO_ONE(NAME, n_in, OUT, n_out)                                                          \
  template <typename F> BOTH void NAME##_each(const F *x, OUT *y);                                \
  KERNEL NAME(const double *d, const float *f, OUT *y) {                                          \
    int t = thread_of_grid();                                                                     \
    NAME##_each(d + n_in * t, y + 2 * n_out * t), NAME##_each(f + n_in * t, y + 2 * n_out * t + n_out); \
  }                                                                                               \
  REFERENCE NAME##_reference(const double *d, const float *f, OUT *y, int threads) {              \
    for (int t = 0; t < threads; ++t)                                                             \
      NAME##_each(d + n_in * t, y + 2 * n_out * t), NAME##_each(f + n_in * t, y + 2 * n_out * t + n_out); \
  }                                                                                               \
  template <typename F> BOTH void NAME##_each(const F *x, OUT *y)

// The lesser and the greater number; a NaN is neither, and -0 is less than 0.
template <typename F> BOTH F lesser(F a, F b) {
#ifdef __CUDA_ARCH__
  return fmin(a, b);
#else
  return std::isnan(a) ? (std::isnan(b) ? a : b) : std::isnan(b) || a < b || (a == b && std::signbit(a)) ? a : b;
#endif
}
template <typename F> BOTH F greater(F a, F b) {
#ifdef __CUDA_ARCH__
  return fmax(a, b);
#else
  return std::isnan(a) ? (std::isnan(b) ? a : b) : std::isnan(b) || a > b || (a == b && std::signbit(b)) ? a : b;
#endif
}
IN_BOTH(parts, 2, double, float, 9) {
  F a = x[0], b = x[1], whole;
  int e = 0;
  y[0] = fabs(a), y[1] = copysign(a, b), y[2] = lesser(a, b), y[3] = greater(a, b), y[4] = fdim(a, b);
  y[5] = modf(a, &whole), y[6] = whole, y[7] = std::isfinite(a) ? frexp(a, &e) : a, y[8] = ldexp(b, e / 2);
}
INTO_ONE(exponents, 1, int, 4) {
  int e = 0;
  y[0] = *x == 0 || !std::isfinite(*x) ? 0 : ilogb(*x);
  if (std::isfinite(*x)) frexp(*x, &e);
  y[1] = e, y[2] = (int)lrint(lesser(greater(*x, (F)-1e9), (F)1e9)), y[3] = (int)llround(lesser(greater(*x, (F)-1e9), (F)1e9));
}
template <typename F> BOTH void remainders_of(const F *x, F *y) { y[0] = fmod(x[0], x[1]), y[1] = remainder(x[0], x[1]); }
IN_BOTH(remainders, 2, double, float, 2) { remainders_of(x, y); }
IN_BOTH(remainders_near, 2, double, float, 2) { remainders_of(x, y); }
INTO_ONE(compare_floats, 2, uint8_t, 14) {
  F a = x[0], b = x[1];
  y[0] = a < b, y[1] = a <= b, y[2] = a == b, y[3] = a != b, y[4] = a > b, y[5] = a >= b, y[6] = !(a < b);
  y[7] = !(a >= b), y[8] = a != a || b != b, y[9] = a < b || a > b, y[10] = a == a && b != b, y[11] = a < 0;
  y[12] = a ? 1 : 0, y[13] = (a < b) == (b > a);
}
INTO_ONE(truth, 1, uint8_t, 7) {
  y[0] = std::isnan(*x), y[1] = std::isinf(*x), y[2] = std::isfinite(*x), y[3] = std::signbit(*x);
  y[4] = fabs(*x) < 1, y[5] = *x == 0, y[6] = !*x;
}
