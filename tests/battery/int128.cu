// /// battery
// about = "`__int128`: sums, products, quotients, shifts, comparisons, conversions"
// packed = "80 O3"
// [kernels]
// add_sub = { in = ["4 u64 edges"], out = ["12 u64"] }
// multiply = { in = ["4 u64 edges"], out = ["6 u64"] }
// divide_signed = { in = ["4 u64 edges"], out = ["4 u64"] }
// divide_unsigned = { in = ["4 u64 edges"], out = ["4 u64"] }
// divide_by_constants = { in = ["2 u64 edges"], out = ["12 u64"] }
// shift = { in = ["4 u64 edges"], out = ["10 u64"] }
// logic = { in = ["4 u64 edges"], out = ["8 u64"] }
// compare = { in = ["4 u64 edges"], out = ["12 u8"] }
// to_floats = { in = ["2 u64 edges"], out = ["2 f64", "2 f32"] }
// from_floats = { in = ["2 f64 log 1e-3 1e37"], out = ["4 u64"] }
// sum_and_product_of_many = { in = ["16 u64 edges"], out = ["4 u64"] }
// decimal = { in = ["2 u64 edges"], out = ["40 u8"] }
// ///
#include "battery.cuh"

typedef __int128 i128;
typedef unsigned __int128 u128;

BOTH u128 load(const uint64_t *x) { return (u128)x[1] << 64 | x[0]; }
BOTH void store(uint64_t *y, u128 v) { y[0] = (uint64_t)v, y[1] = (uint64_t)(v >> 64); }
#define A load(x)
#define B load(x + 2)

EACH(add_sub, uint64_t, 4, uint64_t, 12) {
  store(y, A + B), store(y + 2, A - B), store(y + 4, B - A), store(y + 6, -A);
  store(y + 8, A + 1 - B), store(y + 10, (A + x[2]) - (B - x[0]));
}
EACH(multiply, uint64_t, 4, uint64_t, 6) {
  store(y, A * B), store(y + 2, (u128)x[0] * x[2]), store(y + 4, (i128)(int64_t)x[1] * (int64_t)x[3]);
}
BOTH bool overflows(i128 a, i128 b) { return b == -1 && a == (i128)((u128)1 << 127); }
EACH(divide_signed, uint64_t, 4, uint64_t, 4) {
  i128 a = A, b = B;
  if (b == 0 || overflows(a, b)) b = 7;
  store(y, a / b), store(y + 2, a % b);
}
EACH(divide_unsigned, uint64_t, 4, uint64_t, 4) {
  u128 a = A, b = B;
  if (b == 0) b = 7;
  store(y, a / b), store(y + 2, a % b);
}
EACH(divide_by_constants, uint64_t, 2, uint64_t, 12) {
  u128 a = A;
  i128 s = A;
  store(y, a / 10), store(y + 2, a % 1000000007), store(y + 4, s / -3), store(y + 6, s % 4096);
  store(y + 8, a / ((u128)5 << 70)), store(y + 10, s / 16);
}
EACH(shift, uint64_t, 4, uint64_t, 10) {
  u128 a = A;
  int n = x[2] & 127;
  store(y, a << n), store(y + 2, a >> n), store(y + 4, (u128)((i128)a >> n));
  store(y + 6, a << 65 | a >> 63), store(y + 8, a << n | a >> ((128 - n) & 127));
}
EACH(logic, uint64_t, 4, uint64_t, 8) {
  store(y, A & B), store(y + 2, A | B), store(y + 4, A ^ B), store(y + 6, ~A);
}
EACH(compare, uint64_t, 4, uint8_t, 12) {
  u128 a = A, b = B;
  i128 s = A, t = B;
  y[0] = a < b, y[1] = a <= b, y[2] = a == b, y[3] = a != b, y[4] = s < t, y[5] = s <= t;
  y[6] = s > t, y[7] = a > b, y[8] = s < 0, y[9] = !a, y[10] = a == a, y[11] = (a >> 64) == (b >> 64);
}

KERNEL to_floats(const uint64_t *x, double *d, float *f) {
  int t = thread_of_grid();
  u128 a = load(x + 2 * t);
  d[2 * t] = (double)a, d[2 * t + 1] = (double)(i128)a, f[2 * t] = (float)a, f[2 * t + 1] = (float)(i128)a;
}
REFERENCE to_floats_reference(const uint64_t *x, double *d, float *f, int threads) {
  for (int t = 0; t < threads; ++t) {
    u128 a = load(x + 2 * t);
    d[2 * t] = (double)a, d[2 * t + 1] = (double)(i128)a, f[2 * t] = (float)a, f[2 * t + 1] = (float)(i128)a;
  }
}
EACH(from_floats, double, 2, uint64_t, 4) {
  store(y, (u128)(x[0] < 0 ? -x[0] : x[0])), store(y + 2, (u128)(i128)x[1]);
}
EACH(sum_and_product_of_many, uint64_t, 16, uint64_t, 4) {
  u128 sum = 0;
  i128 product = 1;
  for (int i = 0; i < 16; i += 2) sum += load(x + i), product = product * 31 - (i128)(int64_t)x[i] * (int64_t)x[i + 1];
  store(y, sum), store(y + 2, product);
}
EACH(decimal, uint64_t, 2, uint8_t, 40) {
  u128 a = load(x);
  for (int i = 39; i >= 0; --i) y[i] = '0' + (int)(a % 10), a /= 10;
}
