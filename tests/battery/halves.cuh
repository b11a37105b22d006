// What halves.cu and bfloats.cu examine: T is __half or __nv_bfloat16, T2 the pair, TO(float2) the name of a conversion.
// A reference is the exact value, in double, rounded once.
#include "battery.cuh"
#include <cmath>

BOTH T bits(uint16_t v) {
  T t;
  memcpy(&t, &v, 2);
  return t;
}
BOTH uint16_t bits(T t) {
  uint16_t v;
  memcpy(&v, &t, 2);
  return v;
}
BOTH uint32_t bits(T2 t) {
  uint32_t v;
  memcpy(&v, &t, 4);
  return v;
}
BOTH T2 pair(uint32_t v) {
  T2 t;
  memcpy(&t, &v, 4);
  return t;
}
static double value(T t) {
  uint16_t v = bits(t);
  int e = v >> MANTISSA & ((1 << (15 - MANTISSA)) - 1), top = (1 << (15 - MANTISSA)) - 1, m = v & ((1 << MANTISSA) - 1);
  double magnitude = e == top ? (m ? NAN : INFINITY)
                              : std::ldexp(e ? m | 1 << MANTISSA : m, (e ? e : 1) - (top >> 1) - MANTISSA);
  return v >> 15 ? -magnitude : magnitude;
}
// The value nearest to one, ties to even.
static T rounded(double v) {
  uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  const int top = (1 << (15 - MANTISSA)) - 1, bias = top >> 1;
  if (std::isnan(v)) return bits((uint16_t)0x7fff);
  v = std::fabs(v);
  int e;
  std::frexp(v, &e);
  e = e - 1 < 1 - bias || v == 0 ? 1 - bias : e - 1;
  if (std::isinf(v)) return bits((uint16_t)(sign | top << MANTISSA));
  double units = std::nearbyint(std::ldexp(v, MANTISSA - e));
  if (units >= std::ldexp(1.0, MANTISSA + 1)) units /= 2, ++e;
  if (e > bias) return bits((uint16_t)(sign | top << MANTISSA));
  int m = (int)units, exponent = m >> MANTISSA ? e + bias : 0;
  return bits((uint16_t)(sign | exponent << MANTISSA | (m & ((1 << MANTISSA) - 1))));
}
// a * b + c to odd: what a later rounding to fewer bits makes of it is right.
static double multiplied(double a, double b, double c) {
  double p = a * b, s = p + c;
  if (!std::isfinite(s)) return s;
  double t = s - p, error = (p - (s - t)) + (c - t);
  uint64_t word;
  memcpy(&word, &s, 8);
  if (error != 0 && !(word & 1)) word += (error > 0) == (s > 0) ? 1 : -1;
  memcpy(&s, &word, 8);
  return s;
}
static double saturated(double v) { return v > 0 ? v > 1 ? 1 : v : 0; }
static double least(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : a < b || (a == b && std::signbit(a)) ? a : b; }
static double most(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : a > b || (a == b && std::signbit(b)) ? a : b; }

#define OPERATIONS(OF)                                                                            \
  OF(0, __hadd_rn(a, b), u + v) OF(1, __hsub_rn(a, b), u - v) OF(2, __hmul_rn(a, b), u * v)       \
  OF(3, __hfma(a, b, c), multiplied(u, v, w)) OF(4, __hneg(a), -u) OF(5, __habs(a), std::fabs(u)) \
  OF(6, __hadd_sat(a, b), saturated(u + v)) OF(7, __hmul_sat(a, b), saturated(u * v))             \
  OF(8, __hfma_sat(a, b, c), saturated(multiplied(u, v, w))) OF(9, __hsub_sat(a, b), saturated(u - v)) \
  OF(10, __hmin(a, b), least(u, v)) OF(11, __hmax(a, b), most(u, v))                              \
  OF(12, hfloor(a), std::floor(u)) OF(13, hceil(a), std::ceil(u)) OF(14, htrunc(a), std::trunc(u)) \
  OF(15, hrint(a), std::nearbyint(u)) OF(16, a / b, u / v) OF(17, hsqrt(a), std::sqrt(u))
#define ARITHMETIC(NAME)                                                                          \
  HERE(NAME, T, 3, T, 18) {                                                                       \
    T a = x[0], b = x[1], c = x[2];                                                               \
    OPERATIONS(ON_DEVICE)                                                                         \
  }                                                                                               \
  THERE(NAME, T, 3, T, 18) {                                                                      \
    double u = value(x[0]), v = value(x[1]), w = value(x[2]);                                     \
    OPERATIONS(ON_HOST)                                                                           \
  }
#define ON_DEVICE(N, D, H) y[N] = D;
#define ON_HOST(N, D, H) y[N] = rounded(H);
ARITHMETIC(arithmetic)
ARITHMETIC(arithmetic_near)


HERE(pairs, uint32_t, 3, T, 24) {
  T2 a = pair(x[0]), b = pair(x[1]), c = pair(x[2]), r[12];
  r[0] = __hadd2_rn(a, b), r[1] = __hsub2_rn(a, b), r[2] = __hmul2_rn(a, b), r[3] = __hfma2(a, b, c);
  r[4] = __hmin2(a, b), r[5] = __hmax2(a, b), r[6] = __hneg2(a), r[7] = __habs2(b);
  r[8] = LOWS(a, b), r[9] = HIGHS(a, b), r[10] = __lowhigh2highlow(a), r[11] = __hfma2_sat(a, b, c);
  for (int i = 0; i < 12; ++i) y[2 * i] = LOW(r[i]), y[2 * i + 1] = HIGH(r[i]);
}
THERE(pairs, uint32_t, 3, T, 24) {
  for (int i = 0; i < 2; ++i) {
    T a = bits((uint16_t)(x[0] >> 16 * i)), b = bits((uint16_t)(x[1] >> 16 * i)), c = bits((uint16_t)(x[2] >> 16 * i));
    double u = value(a), v = value(b), w = value(c);
    y[i] = rounded(u + v), y[2 + i] = rounded(u - v), y[4 + i] = rounded(u * v), y[6 + i] = rounded(multiplied(u, v, w));
    y[8 + i] = rounded(least(u, v)), y[10 + i] = rounded(most(u, v)), y[12 + i] = rounded(-u), y[14 + i] = rounded(std::fabs(v));
    y[16 + i] = bits((uint16_t)x[i]), y[18 + i] = bits((uint16_t)(x[i] >> 16)), y[21 - i] = a;
    y[22 + i] = rounded(saturated(multiplied(u, v, w)));
  }
}

HERE(compare, uint32_t, 2, uint8_t, 24) {
  T a = bits((uint16_t)x[0]), b = bits((uint16_t)x[1]);
  T2 c = pair(x[0]), d = pair(x[1]);
  y[0] = __heq(a, b), y[1] = __hne(a, b), y[2] = __hlt(a, b), y[3] = __hle(a, b), y[4] = __hgt(a, b), y[5] = __hge(a, b);
  y[6] = __hequ(a, b), y[7] = __hneu(a, b), y[8] = __hltu(a, b), y[9] = __hleu(a, b), y[10] = __hgtu(a, b);
  y[11] = __hgeu(a, b), y[12] = __hisnan(a), y[13] = __hisinf(a) != 0, y[14] = a < b, y[15] = a == b;
  uint32_t lt = bits(__hlt2(c, d)), mask = __hgt2_mask(c, d), unordered = __hneu2_mask(c, d);
  y[16] = (uint16_t)lt != 0, y[17] = lt >> 16 != 0, y[18] = mask, y[19] = mask >> 31, y[20] = unordered;
  y[21] = unordered >> 31, y[22] = __hbeq2(c, d), y[23] = __hbgeu2(c, d);
}
THERE(compare, uint32_t, 2, uint8_t, 24) {
  double u = value(bits((uint16_t)x[0])), v = value(bits((uint16_t)x[1]));
  double s = value(bits((uint16_t)(x[0] >> 16))), t = value(bits((uint16_t)(x[1] >> 16)));
  bool o = std::isnan(u) || std::isnan(v), p = std::isnan(s) || std::isnan(t);
  y[0] = u == v, y[1] = !o && u != v, y[2] = u < v, y[3] = u <= v, y[4] = u > v, y[5] = u >= v;
  y[6] = o || u == v, y[7] = u != v, y[8] = !(u >= v), y[9] = !(u > v), y[10] = !(u <= v), y[11] = !(u < v);
  y[12] = std::isnan(u), y[13] = std::isinf(u), y[14] = u < v, y[15] = u == v, y[16] = u < v, y[17] = s < t;
  y[18] = u > v ? 255 : 0, y[19] = s > t, y[20] = u != v ? 255 : 0, y[21] = s != t, y[22] = u == v && s == t;
  y[23] = (o || u >= v) && (p || s >= t);
}

HERE(from_numbers, uint64_t, 1, T, 12) {
  float f = __int_as_float((int)*x);
  double d = __longlong_as_double(*x);
  y[0] = TO(int, _rn)((int)*x), y[1] = TO(uint, _rn)((unsigned)*x), y[2] = TO(ll, _rn)(*x), y[3] = TO(ull, _rn)(*x);
  y[4] = TO(short, _rn)((short)*x), y[5] = TO(ushort, _rn)((unsigned short)*x), y[6] = TO(float, _rn)(f);
  y[7] = TO(double, )(d), y[8] = TO(float, _rn)(__uint2float_rn((unsigned)*x >> 8)), y[9] = TO(int, _rn)((int)(*x & 255));
  T2 both = TO_PAIR(f, f);
  y[10] = LOW(both), y[11] = HIGH(both);
}
THERE(from_numbers, uint64_t, 1, T, 12) {
  float f;
  double d;
  int32_t low = (int32_t)*x;
  memcpy(&f, &low, 4), memcpy(&d, x, 8);
  // Of 64 bits the last one stands for all behind it: what is rounded to fewer than 53 bits stays right.
  uint64_t s = (int64_t)*x < 0 ? -*x : *x, u = *x;
  double signed_ = (double)(s >> 63 ? s >> 12 << 12 | ((s & 4095) != 0) << 12 : s >> 11 << 11 | ((s & 2047) != 0) << 11);
  if (s < (1ull << 53)) signed_ = (double)s;
  double unsigned_ = u < (1ull << 53) ? (double)u : (double)(u >> 11 << 11 | ((u & 2047) != 0) << 11);
  y[0] = rounded((int32_t)*x), y[1] = rounded((uint32_t)*x), y[2] = rounded((int64_t)*x < 0 ? -signed_ : signed_);
  y[3] = rounded(unsigned_), y[4] = rounded((int16_t)*x), y[5] = rounded((uint16_t)*x), y[6] = rounded(f), y[7] = rounded(d);
  y[8] = rounded((uint32_t)*x >> 8), y[9] = rounded(*x & 255), y[10] = y[11] = rounded(f);
}

#define TO_INTEGERS(NAME)                                                                                   \
  HERE(NAME, T, 1, uint64_t, 10) {                                                                          \
    y[0] = FROM(int, _rn)(*x), y[1] = FROM(int, _rz)(*x), y[2] = FROM(int, _rd)(*x), y[3] = FROM(int, _ru)(*x); \
    y[4] = FROM(uint, _rn)(*x), y[5] = FROM(ll, _rz)(*x), y[6] = FROM(ull, _ru)(*x), y[7] = FROM(short, _rn)(*x); \
    y[8] = FROM(ushort, _rd)(*x), y[9] = __hisnan(*x) ? 1 : __float_as_uint(FROM(float, )(*x));                                \
  }                                                                                                         \
  THERE(NAME, T, 1, uint64_t, 10) {                                                                         \
    double v = value(*x);                                                                                   \
    y[0] = to<int32_t>(std::nearbyint(v)), y[1] = to<int32_t>(std::trunc(v)), y[2] = to<int32_t>(std::floor(v)); \
    y[3] = to<int32_t>(std::ceil(v)), y[4] = to<uint32_t>(std::nearbyint(v)), y[5] = to<int64_t>(std::trunc(v)); \
    y[6] = to<uint64_t>(std::ceil(v)), y[7] = to<int16_t>(std::nearbyint(v)), y[8] = to<uint16_t>(std::floor(v)); \
    float f = (float)v;                                                                                     \
    uint32_t word;                                                                                          \
    memcpy(&word, &f, 4), y[9] = std::isnan(f) ? 1 : word;                                                                      \
  }
template <typename I> static uint64_t to(double whole) {
  if (std::isnan(whole)) return sizeof(I) == 8 ? 1ull << 63 : 0;
  bool negative = (I)-1 < 0;
  if (whole < (negative ? -std::ldexp(1.0, 8 * sizeof(I) - 1) : 0)) return negative ? (uint64_t)(I)(1ull << (8 * sizeof(I) - 1)) : 0;
  if (whole >= std::ldexp(1.0, 8 * sizeof(I) - negative)) return (I)((I)-1 >> negative & ~(negative ? 1ull << (8 * sizeof(I) - 1) : 0));
  return (uint64_t)(I)whole;
}
TO_INTEGERS(to_integers)

#define MATH(NAME, N, D, H)                                                                                 \
  HERE(NAME, T, N, T, 1) { *y = D; }                                                                        \
  THERE(NAME, T, N, double, 1) { double v = value(x[0]); *y = H; }
MATH(exp_, 1, hexp(*x), std::exp(v))
MATH(exp2_, 1, hexp2(*x), std::exp2(v))
MATH(exp10_, 1, hexp10(*x), exp10(v))
MATH(log_, 1, hlog(*x), std::log(v))
MATH(log2_, 1, hlog2(*x), std::log2(v))
MATH(log10_, 1, hlog10(*x), std::log10(v))
MATH(sin_, 1, hsin(*x), std::sin(v))
MATH(cos_, 1, hcos(*x), std::cos(v))
MATH(rsqrt_, 1, hrsqrt(*x), 1 / std::sqrt(v))
MATH(rcp_, 1, hrcp(*x), 1 / v)
MATH(tanh_, 1, htanh(*x), std::tanh(v))
MATH(tanh_approx_, 1, htanh_approx(*x), std::tanh(v))

KERNEL sum_of_many(const uint16_t *x, T *y) {
  int t = thread_of_grid();
  T s = bits((uint16_t)0);
  for (int i = 0; i < 8; ++i) s = __hfma(bits(x[16 * t + i]), bits(x[16 * t + 8 + i]), s);
  y[t] = s;
}
REFERENCE sum_of_many_reference(const uint16_t *x, T *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    T s = bits((uint16_t)0);
    for (int i = 0; i < 8; ++i) s = rounded(multiplied(value(bits(x[16 * t + i])), value(bits(x[16 * t + 8 + i])), value(s)));
    y[t] = s;
  }
}
