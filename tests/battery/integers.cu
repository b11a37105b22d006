// /// battery
// about = "integer division and modulo of every width, bit intrinsics, SIMD-in-a-word intrinsics"
// packed = "75 O3"
// [kernels]
// divide_64 = { in = ["2 u64 edges"], out = ["8 u64"] }
// divide_32 = { in = ["2 u32 edges"], out = ["8 u32"] }
// divide_16_and_8 = { in = ["2 u16 edges"], out = ["8 u16"] }
// divide_by_constants = { in = ["1 u64 edges"], out = ["12 u64"] }
// power_modulo = { in = ["3 u64 edges"], out = ["1 u64"] }
// greatest_common_divisor = { in = ["2 u64 edges"], out = ["1 u64"] }
// bits_32 = { in = ["4 u32 edges"], out = ["14 u32"] }
// bits_64 = { in = ["2 u64 edges"], out = ["10 u64"] }
// products = { in = ["2 u64 edges"], out = ["10 u64"] }
// dot_products = { in = ["3 u32 edges"], out = ["8 u32"] }
// halfwords = { in = ["3 u32 edges"], out = ["40 u32"] }
// bytes = { in = ["3 u32 edges"], out = ["40 u32"] }
// add_carry_chain = { in = ["16 u32 edges"], out = ["16 u32"] }
// narrow = { in = ["4 u32 edges"], out = ["16 u32"] }
// ///
#include "battery.cuh"

BOTH uint64_t other(uint64_t b) { return b ? b : 3; }
EACH(divide_64, uint64_t, 2, uint64_t, 8) {
  uint64_t a = x[0], b = other(x[1]);
  int64_t s = a, t = b;
  if (t == -1) t = -7;
  y[0] = a / b, y[1] = a % b, y[2] = s / t, y[3] = s % t;
  y[4] = a / (uint32_t)other((uint32_t)b), y[5] = s % (int32_t)((b & 0x7fffffff) + 1);
  y[6] = (a >> 32) / other(b >> 40), y[7] = s / ((t >> 33) | 1 << 20);
}
EACH(divide_32, uint32_t, 2, uint32_t, 8) {
  uint32_t a = x[0], b = (uint32_t)other(x[1]);
  int32_t s = a, t = b;
  if (t == -1) t = -7;
  y[0] = a / b, y[1] = a % b, y[2] = s / t, y[3] = s % t;
  y[4] = a / 7, y[5] = s / 7, y[6] = s % -10, y[7] = a % 641;
}
EACH(divide_16_and_8, uint16_t, 2, uint16_t, 8) {
  uint16_t a = x[0], b = (uint16_t)other(x[1]);
  int16_t s = a, t = b;
  uint8_t c = a, d = (uint8_t)other((uint8_t)(b >> 3));
  int8_t u = a, v = d;
  y[0] = a / b, y[1] = a % b, y[2] = s / t, y[3] = s % t, y[4] = c / d, y[5] = c % d, y[6] = u / v, y[7] = u % v;
}
EACH(divide_by_constants, uint64_t, 1, uint64_t, 12) {
  uint64_t a = x[0];
  int64_t s = a;
  y[0] = a / 3, y[1] = a / 1000000007, y[2] = a % 0xffffffffffffffc5, y[3] = s / -5, y[4] = s % 365, y[5] = s / 8;
  y[6] = a / 641, y[7] = s / 1000000000000, y[8] = a % 10, y[9] = s % -4096, y[10] = a / 0x8000000000000001;
  y[11] = s / 0x7fffffffffffffff;
}
EACH(power_modulo, uint64_t, 3, uint64_t, 1) {
  uint64_t m = (x[2] >> 33) + 2, base = x[0] % m, result = 1;
  for (uint64_t e = x[1]; e; e >>= 1, base = base * base % m)
    if (e & 1) result = result * base % m;
  y[0] = result;
}
EACH(greatest_common_divisor, uint64_t, 2, uint64_t, 1) {
  uint64_t a = x[0], b = x[1];
  while (b) {
    uint64_t r = a % b;
    a = b, b = r;
  }
  y[0] = a;
}

// ---- intrinsics; what the host has in their place is written out

BOTH uint32_t reversed(uint32_t v) {
  uint32_t r = 0;
  for (int i = 0; i < 32; ++i) r |= (v >> i & 1) << (31 - i);
  return r;
}
BOTH uint64_t reversed_64(uint64_t v) { return (uint64_t)reversed((uint32_t)v) << 32 | reversed(v >> 32); }
static uint32_t permuted(uint32_t a, uint32_t b, uint32_t s) {
  uint64_t both = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (int i = 0; i < 4; ++i) r |= (uint32_t)(both >> (s >> 4 * i & 7) * 8 & 255) << 8 * i;
  return r;
}
static uint32_t leading(uint32_t v) { return v ? __builtin_clz(v) : 32; }
static uint32_t leading_64(uint64_t v) { return v ? __builtin_clzll(v) : 64; }
HERE(bits_32, uint32_t, 4, uint32_t, 14) {
  y[0] = __clz(x[0]), y[1] = __popc(x[0]), y[2] = __brev(x[0]), y[3] = __ffs(x[0]);
  y[4] = __byte_perm(x[0], x[1], x[2] & 0x7777), y[5] = __funnelshift_l(x[0], x[1], x[2]);
  y[6] = __funnelshift_r(x[0], x[1], x[2]), y[7] = __funnelshift_lc(x[0], x[1], x[2]);
  y[8] = __funnelshift_rc(x[0], x[1], x[2]), y[9] = __sad(x[0], x[1], x[2]), y[10] = __usad(x[0], x[1], x[2]);
  y[11] = __hadd(x[0], x[1]), y[12] = __rhadd(x[0], x[1]), y[13] = __uhadd(x[0], x[1]) ^ __urhadd(x[2], x[3]);
}
THERE(bits_32, uint32_t, 4, uint32_t, 14) {
  uint64_t both = (uint64_t)x[1] << 32 | x[0];
  int n = x[2] & 31, c = x[2] > 32 ? 32 : x[2];
  int64_t a = (int32_t)x[0], b = (int32_t)x[1];
  y[0] = leading(x[0]), y[1] = __builtin_popcount(x[0]), y[2] = reversed(x[0]), y[3] = __builtin_ffs(x[0]);
  y[4] = permuted(x[0], x[1], x[2]), y[5] = (uint32_t)(both << n >> 32), y[6] = (uint32_t)(both >> n);
  y[7] = c == 32 ? x[0] : (uint32_t)(both << c >> 32), y[8] = c == 32 ? x[1] : (uint32_t)(both >> c);
  y[9] = (uint32_t)(a > b ? a - b : b - a) + x[2];
  y[10] = (x[0] > x[1] ? x[0] - x[1] : x[1] - x[0]) + x[2], y[11] = (uint32_t)((a + b) >> 1);
  y[12] = (uint32_t)((a + b + 1) >> 1);
  y[13] = (uint32_t)(((uint64_t)x[0] + x[1]) >> 1) ^ (uint32_t)(((uint64_t)x[2] + x[3] + 1) >> 1);
}
HERE(bits_64, uint64_t, 2, uint64_t, 10) {
  y[0] = __clzll(x[0]), y[1] = __popcll(x[0]), y[2] = __brevll(x[0]), y[3] = __ffsll(x[0]);
  int n = x[1] & 63;
  y[4] = x[0] << n | x[0] >> (64 - n & 63), y[5] = (int64_t)x[0] >> n, y[6] = __umul64hi(x[0], x[1]);
  y[7] = __mul64hi(x[0], x[1]), y[8] = min((long long)x[0], (long long)x[1]);
  y[9] = max((unsigned long long)x[0], (unsigned long long)x[1]);
}
THERE(bits_64, uint64_t, 2, uint64_t, 10) {
  y[0] = leading_64(x[0]), y[1] = __builtin_popcountll(x[0]), y[2] = reversed_64(x[0]), y[3] = __builtin_ffsll(x[0]);
  int n = x[1] & 63;
  y[4] = x[0] << n | x[0] >> (64 - n & 63), y[5] = (int64_t)x[0] >> n;
  y[6] = (uint64_t)((unsigned __int128)x[0] * x[1] >> 64);
  y[7] = (uint64_t)((__int128)(int64_t)x[0] * (int64_t)x[1] >> 64);
  y[8] = (int64_t)x[0] < (int64_t)x[1] ? x[0] : x[1], y[9] = x[0] > x[1] ? x[0] : x[1];
}
static int64_t low_24(uint32_t v) { return (int32_t)(v << 8) >> 8; }
HERE(products, uint64_t, 2, uint64_t, 10) {
  uint32_t a = x[0], b = x[1], c = x[0] >> 32, d = x[1] >> 32;
  y[0] = __umulhi(a, b), y[1] = (uint32_t)__mulhi((int)a, (int)b), y[2] = (uint32_t)__mul24(a, b);
  y[3] = __umul24(a, b), y[4] = (uint64_t)a * b + x[1], y[5] = (int64_t)(int)c * (int)d + (int64_t)x[0];
  y[6] = x[0] * x[1] + 77, y[7] = (uint16_t)a * (uint16_t)b + c, y[8] = (int16_t)a * (int16_t)d;
  y[9] = (uint64_t)(int8_t)a * (uint8_t)b;
}
THERE(products, uint64_t, 2, uint64_t, 10) {
  uint32_t a = x[0], b = x[1], c = x[0] >> 32, d = x[1] >> 32;
  y[0] = (uint64_t)a * b >> 32, y[1] = (uint32_t)((int64_t)(int)a * (int)b >> 32);
  y[2] = (uint32_t)(low_24(a) * low_24(b)), y[3] = (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff));
  y[4] = (uint64_t)a * b + x[1], y[5] = (int64_t)(int)c * (int)d + (int64_t)x[0];
  y[6] = x[0] * x[1] + 77, y[7] = (uint16_t)a * (uint16_t)b + c, y[8] = (int16_t)a * (int16_t)d;
  y[9] = (uint64_t)(int8_t)a * (uint8_t)b;
}
template <typename S, typename T> static uint32_t dot(uint32_t a, uint32_t b, uint32_t c, int n, int step, int from) {
  for (int i = 0; i < n; ++i) c += (int32_t)(S)(a >> step * i) * (int32_t)(T)(b >> 8 * (i + from));
  return c;
}
HERE(dot_products, uint32_t, 3, uint32_t, 8) {
  y[0] = __dp4a((int)x[0], (int)x[1], (int)x[2]), y[1] = __dp4a(x[0], x[1], x[2]);
  y[2] = __dp2a_lo((int)x[0], (int)x[1], (int)x[2]), y[3] = __dp2a_lo(x[0], x[1], x[2]);
  y[4] = __dp2a_hi((int)x[0], (int)x[1], (int)x[2]), y[5] = __dp2a_hi(x[0], x[1], x[2]);
  y[6] = __vsads4(x[0], x[1]), y[7] = __vsadu4(x[0], x[1]);
}
THERE(dot_products, uint32_t, 3, uint32_t, 8) {
  y[0] = dot<int8_t, int8_t>(x[0], x[1], x[2], 4, 8, 0), y[1] = dot<uint8_t, uint8_t>(x[0], x[1], x[2], 4, 8, 0);
  y[2] = dot<int16_t, int8_t>(x[0], x[1], x[2], 2, 16, 0), y[3] = dot<uint16_t, uint8_t>(x[0], x[1], x[2], 2, 16, 0);
  y[4] = dot<int16_t, int8_t>(x[0], x[1], x[2], 2, 16, 2), y[5] = dot<uint16_t, uint8_t>(x[0], x[1], x[2], 2, 16, 2);
  y[6] = y[7] = 0;
  for (int i = 0; i < 32; i += 8) {
    int s = (int8_t)(x[0] >> i) - (int8_t)(x[1] >> i), u = (uint8_t)(x[0] >> i) - (uint8_t)(x[1] >> i);
    y[6] += s < 0 ? -s : s, y[7] += u < 0 ? -u : u;
  }
}

// The operations on the parts of a word: each as the intrinsic, and part by part in 64 bits.
#define PARTS(W)                                                                                          \
  F(0, __vadd##W(a, b), u + v) F(1, __vsub##W(a, b), u - v)                                               \
  F(2, __vaddss##W(a, b), clamped<S>(s + t)) F(3, __vaddus##W(a, b), clamped<U>(u + v))                   \
  F(4, __vsubss##W(a, b), clamped<S>(s - t)) F(5, __vsubus##W(a, b), clamped<U>(u - v))                   \
  F(6, __vmaxs##W(a, b), s > t ? s : t) F(7, __vmaxu##W(a, b), u > v ? u : v)                             \
  F(8, __vmins##W(a, b), s < t ? s : t) F(9, __vminu##W(a, b), u < v ? u : v)                             \
  F(10, __vabs##W(a), s < 0 ? -s : s) F(11, __vabsss##W(a), clamped<S>(s < 0 ? -s : s))                   \
  F(12, __vneg##W(a), -s) F(13, __vnegss##W(a), clamped<S>(-s))                                           \
  F(14, __vabsdiffs##W(a, b), s > t ? s - t : t - s) F(15, __vabsdiffu##W(a, b), u > v ? u - v : v - u)   \
  F(16, __vavgs##W(a, b), (s + t + (s + t >= 0)) >> 1) F(17, __vavgu##W(a, b), (u + v + 1) >> 1)          \
  F(18, __vhaddu##W(a, b), (u + v) >> 1)                                                                  \
  F(19, __vcmpeq##W(a, b), -(u == v)) F(20, __vcmpne##W(a, b), -(u != v))                                 \
  F(21, __vcmpges##W(a, b), -(s >= t)) F(22, __vcmpgeu##W(a, b), -(u >= v))                               \
  F(23, __vcmpgts##W(a, b), -(s > t)) F(24, __vcmpgtu##W(a, b), -(u > v))                                 \
  F(25, __vcmples##W(a, b), -(s <= t)) F(26, __vcmpleu##W(a, b), -(u <= v))                               \
  F(27, __vcmplts##W(a, b), -(s < t)) F(28, __vcmpltu##W(a, b), -(u < v))                                 \
  F(29, __vseteq##W(a, b), u == v) F(30, __vsetne##W(a, b), u != v)                                       \
  F(31, __vsetges##W(a, b), s >= t) F(32, __vsetgeu##W(a, b), u >= v)                                     \
  F(33, __vsetgts##W(a, b), s > t) F(34, __vsetgtu##W(a, b), u > v)                                       \
  F(35, __vsetles##W(a, b), s <= t) F(36, __vsetleu##W(a, b), u <= v)                                     \
  F(37, __vsetlts##W(a, b), s < t) F(38, __vsetltu##W(a, b), u < v) F(39, a ^ b, u ^ v)
template <typename T> static int64_t clamped(int64_t v) {
  int64_t low = (T)-1 < 0 ? -((int64_t)1 << (8 * sizeof(T) - 1)) : 0;
  int64_t high = low + ((int64_t)1 << 8 * sizeof(T)) - 1;
  return v < low ? low : v > high ? high : v;
}
#define OF_WORDS(NAME, W, SIGNED, UNSIGNED)                                       \
  KERNEL NAME(const uint32_t *x, uint32_t *y) {                                   \
    uint32_t a = x[3 * thread_of_grid()], b = x[3 * thread_of_grid() + 1];        \
    y += 40 * thread_of_grid();                                                   \
    PARTS(W)                                                                      \
  }
#define F(N, HERE, THERE) y[N] = HERE;
OF_WORDS(halfwords, 2, int16_t, uint16_t)
OF_WORDS(bytes, 4, int8_t, uint8_t)
#undef F
#define F(N, HERE, THERE) y[N] |= (uint32_t)(U)(THERE) << i;
template <typename S, typename U> static void by_parts(const uint32_t *x, uint32_t *y, int threads) {
  for (int t_ = 0; t_ < threads; ++t_, x += 3, y += 40)
    for (int i = 0; i < 32; i += 8 * sizeof(S)) {
      int64_t s = (S)(x[0] >> i), t = (S)(x[1] >> i), u = (U)(x[0] >> i), v = (U)(x[1] >> i);
      PARTS(_)
    }
}
REFERENCE halfwords_reference(const uint32_t *x, uint32_t *y, int threads) { by_parts<int16_t, uint16_t>(x, y, threads); }
REFERENCE bytes_reference(const uint32_t *x, uint32_t *y, int threads) { by_parts<int8_t, uint8_t>(x, y, threads); }

// ---- long additions, and what the compiler makes of narrow types

EACH(add_carry_chain, uint32_t, 16, uint32_t, 16) {
  uint64_t carry = 0, borrow = 0;
  for (int i = 0; i < 8; ++i) {
    carry += (uint64_t)x[i] + x[i + 8], y[i] = (uint32_t)carry, carry >>= 32;
    uint64_t d = (uint64_t)x[i] - x[i + 8] - borrow;
    y[i + 8] = (uint32_t)d, borrow = d >> 63;
  }
}
EACH(narrow, uint32_t, 4, uint32_t, 16) {
  int8_t a = x[0];
  uint8_t b = x[1];
  int16_t c = x[2];
  uint16_t d = x[3];
  y[0] = (int8_t)(a + b), y[1] = (uint8_t)(a * b), y[2] = (int16_t)(c - d), y[3] = (uint16_t)(c * d);
  y[4] = a >> 3, y[5] = (uint8_t)(b << 3), y[6] = c >> (b & 15), y[7] = d >> (a & 15), y[8] = a < c, y[9] = b > d;
  y[10] = (uint32_t)(int64_t)a, y[11] = (int8_t)~b, y[12] = (uint16_t)-c, y[13] = (x[0] >> 5) & 0x7f;
  y[14] = (int32_t)(x[1] << 11) >> 19, y[15] = (x[2] & ~0xff00u) | (x[3] & 0xff) << 8;
}
