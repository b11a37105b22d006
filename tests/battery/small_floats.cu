// /// battery
// about = "fp8, fp6, fp4 and ue8m0: conversions both ways, through the headers' types, on hardware and in software"
// packed = "100a O3"
// [kernels]
// fp8_from_float = { in = ["1 f32 edges"], out = ["6 u8"] }
// fp8_from_float_near = { in = ["1 f32 log 1e-4 700"], out = ["6 u8"] }
// fp8_from_others = { in = ["1 u32 edges", "1 f64 log 1e-3 600"], out = ["8 u8"] }
// fp8_to_others = { in = ["2 u8 edges"], out = ["4 f32", "4 u16"], nan = true }
// fp8_pairs = { in = ["2 f32 log 1e-4 700"], out = ["2 u16"] }
// fp6 = { in = ["1 f32 log 0.01 40", "1 u8 edges"], out = ["2 u8", "2 f32"] }
// fp4 = { in = ["2 f32 log 0.05 9", "1 u8 edges"], out = ["2 u8", "2 f32"] }
// ue8m0 = { in = ["1 f32 edges", "1 u8 edges"], out = ["4 u8", "1 u16"] }
// ///
#include "battery.cuh"
#include <cmath>
#include <cstring>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

// The references compute anew, not through the headers: a small float of `e` bits of exponent and `m` of mantissa.
struct Format {
  int e, m, bias, top;  // top: the largest finite magnitude's word
  bool infinite;        // whether words above `top` begin with infinity
};
static const Format E4M3{4, 3, 7, 0x7e, false}, E5M2{5, 2, 15, 0x7b, true}, E3M2{3, 2, 3, 0x1f, false}, E2M3{2, 3, 1, 0x1f, false},
    E2M1{2, 1, 1, 0x7, false};
static double value(Format f, unsigned word) {
  unsigned magnitude = word & ((1u << (f.e + f.m)) - 1), exponent = magnitude >> f.m, mantissa = magnitude & ((1u << f.m) - 1);
  double v = magnitude > (unsigned)f.top ? (f.infinite && magnitude == (unsigned)f.top + 1 ? INFINITY : NAN)
                                         : std::ldexp(exponent ? mantissa | 1u << f.m : mantissa, (int)(exponent ? exponent : 1) - f.bias - f.m);
  return word >> (f.e + f.m) & 1 ? -v : v;
}
// The nearest, ties to even; too large ones saturate, or become what lies above.
static unsigned nearest(Format f, double v, bool saturate) {
  unsigned sign = (unsigned)std::signbit(v) << (f.e + f.m);
  if (std::isnan(v)) return f.e + f.m == 7 ? 0x7f : f.top;
  v = std::fabs(v);
  unsigned best = f.top;
  double most = value(f, f.top);
  double beyond = most + (most - value(f, f.top - 1)) / 2;
  if (v > beyond || (v == beyond && (f.top & 1))) return sign | (saturate ? f.top : f.infinite ? f.top + 1 : 0x7f);
  for (unsigned w = 0; w <= (unsigned)f.top; ++w) {
    double d = std::fabs(value(f, w) - v), b = std::fabs(value(f, best) - v);
    if (d < b || (d == b && w % 2 == 0)) best = w;
  }
  return sign | best;
}
#define FROM_FLOAT(NAME)                                                                                    \
  HERE(NAME, float, 1, uint8_t, 6) {                                                                        \
    y[0] = __nv_fp8_e4m3(*x).__x, y[1] = __nv_fp8_e5m2(*x).__x;                                             \
    y[2] = __nv_cvt_float_to_fp8(*x, __NV_SATFINITE, __NV_E4M3), y[3] = __nv_cvt_float_to_fp8(*x, __NV_NOSAT, __NV_E4M3); \
    y[4] = __nv_cvt_float_to_fp8(*x, __NV_SATFINITE, __NV_E5M2), y[5] = __nv_cvt_float_to_fp8(*x, __NV_NOSAT, __NV_E5M2); \
  }                                                                                                         \
  THERE(NAME, float, 1, uint8_t, 6) {                                                                       \
    y[0] = y[2] = nearest(E4M3, *x, true), y[1] = y[4] = nearest(E5M2, *x, true);                           \
    y[3] = nearest(E4M3, *x, false), y[5] = nearest(E5M2, *x, false);                                       \
  }
FROM_FLOAT(fp8_from_float)
FROM_FLOAT(fp8_from_float_near)
static double of_half(uint16_t v) {
  int e = v >> 10 & 31, m = v & 1023;
  double magnitude = e == 31 ? (m ? NAN : INFINITY) : std::ldexp(e ? m | 1024 : m, (e ? e : 1) - 25);
  return v >> 15 ? -magnitude : magnitude;
}
static double of_bfloat(uint16_t v) {
  uint32_t word = (uint32_t)v << 16;
  float f;
  memcpy(&f, &word, 4);
  return f;
}
KERNEL fp8_from_others(const uint32_t *x, const double *d, uint8_t *y) {
  int t = thread_of_grid();
  y += 8 * t;
  __half h = __ushort_as_half((unsigned short)x[t]);
  __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)x[t]);
  y[0] = __nv_fp8_e4m3(h).__x, y[1] = __nv_fp8_e5m2(h).__x, y[2] = __nv_fp8_e4m3(b).__x, y[3] = __nv_fp8_e5m2(b).__x;
  y[4] = __nv_fp8_e4m3(d[t]).__x, y[5] = __nv_fp8_e5m2(d[t]).__x;
  y[6] = __nv_fp8_e4m3((int)x[t] >> 20).__x, y[7] = __nv_fp8_e5m2((unsigned short)(x[t] >> 22)).__x;
}
REFERENCE fp8_from_others_reference(const uint32_t *x, const double *d, uint8_t *y, int threads) {
  for (int t = 0; t < threads; ++t, y += 8) {
    double h = of_half(x[t]), b = of_bfloat(x[t]);
    y[0] = nearest(E4M3, h, true), y[1] = nearest(E5M2, h, true), y[2] = nearest(E4M3, b, true), y[3] = nearest(E5M2, b, true);
    y[4] = nearest(E4M3, d[t], true), y[5] = nearest(E5M2, d[t], true), y[6] = nearest(E4M3, (int)x[t] >> 20, true);
    y[7] = nearest(E5M2, x[t] >> 22, true);
  }
}
KERNEL fp8_to_others(const uint8_t *x, float *f, uint16_t *h) {
  int t = thread_of_grid();
  for (int i = 0; i < 2; ++i) {
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    a.__x = b.__x = x[2 * t + i];
    f[4 * t + i] = (float)a, f[4 * t + 2 + i] = (float)b;
    // A NaN of 16 bits as one word.
    __half ha = __half(a), hb = __half(b);
    h[4 * t + i] = __hisnan(ha) ? 1 : __half_as_ushort(ha), h[4 * t + 2 + i] = __hisnan(hb) ? 1 : __half_as_ushort(hb);
  }
}
static uint16_t to_half(double v) {
  if (std::isnan(v)) return 1;
  int e;
  uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  double m = std::frexp(std::fabs(v), &e);
  if (v == 0) return sign;
  if (std::isinf(v)) return sign | 0x7c00;
  if (e < -13) return sign | (uint16_t)std::ldexp(std::fabs(v), 24);
  return sign | (uint16_t)((e + 14) << 10 | ((int)std::ldexp(m, 11) & 1023));
}
REFERENCE fp8_to_others_reference(const uint8_t *x, float *f, uint16_t *h, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int i = 0; i < 2; ++i) {
      double a = value(E4M3, x[2 * t + i]), b = value(E5M2, x[2 * t + i]);
      f[4 * t + i] = a, f[4 * t + 2 + i] = b, h[4 * t + i] = to_half(a), h[4 * t + 2 + i] = to_half(b);
    }
}
HERE(fp8_pairs, float, 2, uint16_t, 2) {
  y[0] = __nv_fp8x2_e4m3(make_float2(x[0], x[1])).__x, y[1] = __nv_fp8x2_e5m2(make_float2(x[0], x[1])).__x;
}
THERE(fp8_pairs, float, 2, uint16_t, 2) {
  y[0] = nearest(E4M3, x[0], true) | nearest(E4M3, x[1], true) << 8, y[1] = nearest(E5M2, x[0], true) | nearest(E5M2, x[1], true) << 8;
}
KERNEL fp6(const float *x, const uint8_t *w, uint8_t *y, float *f) {
  int t = thread_of_grid();
  y[2 * t] = __nv_fp6_e3m2(x[t]).__x, y[2 * t + 1] = __nv_fp6_e2m3(x[t]).__x;
  __nv_fp6_e3m2 a;
  __nv_fp6_e2m3 b;
  a.__x = b.__x = w[t] & 63;
  f[2 * t] = (float)a, f[2 * t + 1] = (float)b;
}
REFERENCE fp6_reference(const float *x, const uint8_t *w, uint8_t *y, float *f, int threads) {
  for (int t = 0; t < threads; ++t) {
    y[2 * t] = nearest(E3M2, x[t], true), y[2 * t + 1] = nearest(E2M3, x[t], true);
    f[2 * t] = value(E3M2, w[t] & 63), f[2 * t + 1] = value(E2M3, w[t] & 63);
  }
}
KERNEL fp4(const float *x, const uint8_t *w, uint8_t *y, float *f) {
  int t = thread_of_grid();
  y[2 * t] = __nv_fp4_e2m1(x[2 * t]).__x, y[2 * t + 1] = __nv_fp4x2_e2m1(make_float2(x[2 * t], x[2 * t + 1])).__x;
  __nv_fp4_e2m1 a;
  a.__x = w[t] & 15, f[2 * t] = (float)a, a.__x = w[t] >> 4, f[2 * t + 1] = (float)a;
}
REFERENCE fp4_reference(const float *x, const uint8_t *w, uint8_t *y, float *f, int threads) {
  for (int t = 0; t < threads; ++t) {
    y[2 * t] = nearest(E2M1, x[2 * t], true), y[2 * t + 1] = nearest(E2M1, x[2 * t], true) | nearest(E2M1, x[2 * t + 1], true) << 4;
    f[2 * t] = value(E2M1, w[t] & 15), f[2 * t + 1] = value(E2M1, w[t] >> 4);
  }
}
// Powers of two: 2^(word - 127), 255 a NaN; rounded towards zero or up.
static uint8_t power(float v, bool up, bool saturate) {
  if (std::isnan(v)) return 255;
  v = std::fabs(v);
  if (std::isinf(v)) return saturate ? 254 : 255;
  if (v == 0) return 0;
  int e;
  float m = std::frexp(v, &e);
  int word = e - 1 + 127 + (up && m != 0.5f);
  return word < 0 ? 0 : word > 254 ? (saturate ? 254 : 255) : word;
}
KERNEL ue8m0(const float *x, const uint8_t *w, uint8_t *y, uint16_t *z) {
  int t = thread_of_grid();
  y[4 * t] = __nv_cvt_float_to_e8m0(x[t], __NV_SATFINITE, cudaRoundZero), y[4 * t + 1] = __nv_cvt_float_to_e8m0(x[t], __NV_SATFINITE, cudaRoundPosInf);
  y[4 * t + 2] = __nv_cvt_float_to_e8m0(x[t], __NV_NOSAT, cudaRoundZero), y[4 * t + 3] = __nv_cvt_float_to_e8m0(x[t], __NV_NOSAT, cudaRoundPosInf);
  z[t] = w[t] == 255 ? 1 : __nv_cvt_e8m0_to_bf16raw(w[t]).x;
}
REFERENCE ue8m0_reference(const float *x, const uint8_t *w, uint8_t *y, uint16_t *z, int threads) {
  for (int t = 0; t < threads; ++t) {
    y[4 * t] = power(x[t], false, true), y[4 * t + 1] = power(x[t], true, true), y[4 * t + 2] = power(x[t], false, false), y[4 * t + 3] = power(x[t], true, false);
    z[t] = w[t] == 255 ? 1 : w[t] == 0 ? 0x40 : w[t] << 7;
  }
}
