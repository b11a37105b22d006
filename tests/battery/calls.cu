// /// battery
// about = "calls: virtual functions, pointers to functions and members, recursion, alloca, structs by value, long parameter lists, printf"
// packed = "90a O1"
// [defaults]
// block = 32
// [kernels]
// virtual_calls = { in = ["1 i32 range 0 100"], out = ["2 f64"] }
// function_pointers = { in = ["2 i32 edges"], out = ["4 i32"] }
// tables_in_memory = { in = ["2 i32 edges"], out = ["1 i32"] }
// recursion = { in = ["1 u32 range 0 12"], out = ["3 u32"] }
// mutual_recursion = { in = ["1 u32 range 0 40"], out = ["1 u32"] }
// alloca_ = { in = ["1 u32 range 1 40"], out = ["1 u32"] }
// structs_by_value = { in = ["6 u32 edges"], out = ["8 u32"] }
// struct_parameters = { in = ["4 f64 range -9 9"], out = ["2 f64"] }
// long_parameter_list = { in = ["16 i32 edges"], out = ["2 i32"] }
// small_results = { in = ["2 u32 edges"], out = ["6 u32"] }
// lambdas = { in = ["4 i32 edges"], out = ["3 i32"] }
// divergent_calls = { in = ["1 i32 range 0 6"], out = ["1 i32"] }
// printed = { in = ["1 i32 ramp"], out = ["1 i32"], block = 2, grid = 1, prints = ["0  0.00 even a 1234567 0   |%|0.000000e+00", "1  0.50 odd b 2468ace 1   |%|1.000000e+10"] }
// ///
#include "battery.cuh"
#include <cstdio>
#define APART __host__ __device__ __noinline__

struct Shape {
  __host__ __device__ virtual double area() const = 0;
  __host__ __device__ virtual int corners() const { return 0; }
  __host__ __device__ virtual ~Shape() {}
};
struct Square : Shape {
  double a;
  __host__ __device__ Square(double a) : a(a) {}
  __host__ __device__ double area() const override { return a * a; }
  __host__ __device__ int corners() const override { return 4; }
};
struct Disc : Shape {
  double r;
  __host__ __device__ Disc(double r) : r(r) {}
  __host__ __device__ double area() const override { return 3 * r * r; }
};
struct Prism final : Square {
  double h;
  __host__ __device__ Prism(double a, double h) : Square(a), h(h) {}
  __host__ __device__ double area() const override { return 2 * Square::area() + 4 * a * h; }
};
EACH(virtual_calls, int, 1, double, 2) {
  Square square(x[0]);
  Disc disc(x[0] + 1);
  Prism prism(x[0], 3);
  const Shape *shapes[3] = {&square, &disc, &prism};
  double total = 0;
  int corners = 0;
  for (int i = 0; i < 5; ++i) total = total * 2 + shapes[(x[0] + i) % 3]->area(), corners += shapes[(x[0] + i * i) % 3]->corners();
  y[0] = total, y[1] = corners;
}

APART int plus(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
APART int times(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
APART int neither(int a, int b) { return ~(a | b); }
typedef int (*Binary)(int, int);
APART int twice(Binary f, int a, int b) { return f(f(a, b), b); }
struct Cell {
  int v;
  APART int add(int a) const { return (int)((unsigned)v + (unsigned)a); }
  APART int exclude(int a) const { return v & ~a; }
};
EACH(function_pointers, int, 2, int, 4) {
  Binary functions[3] = {plus, times, neither};
  unsigned which = (unsigned)x[0] % 3;
  y[0] = functions[which](x[0], x[1]), y[1] = twice(functions[(which + 1) % 3], x[0], x[1]);
  int (Cell::*member)(int) const = x[1] & 1 ? &Cell::add : &Cell::exclude;
  Cell cell{x[0]};
  y[2] = (cell.*member)(x[1]), y[3] = functions[x[1] & 1] == plus;
}
__device__ Binary device_table[4] = {plus, times, neither, plus};
static Binary host_table[4] = {plus, times, neither, plus};
HERE(tables_in_memory, int, 2, int, 1) { *y = device_table[x[1] & 3](x[0], device_table[x[0] & 3](x[1], 3)); }
THERE(tables_in_memory, int, 2, int, 1) { *y = host_table[x[1] & 3](x[0], host_table[x[0] & 3](x[1], 3)); }

APART uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
APART uint32_t ackermann(uint32_t m, uint32_t n) { return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1)); }
APART uint32_t depth(const uint32_t *held, uint32_t n) {
  uint32_t own[4] = {n, held[0], held[1] ^ n, held[2] + 1};
  return n == 0 ? own[1] + own[2] * 3 + own[3] : depth(own, n - 1) * 5 + own[n & 3];
}
EACH(recursion, uint32_t, 1, uint32_t, 3) {
  uint32_t seed[3] = {x[0], 7, 9};
  y[0] = fibonacci(x[0] % 9), y[1] = ackermann(x[0] & 1, x[0]), y[2] = depth(seed, x[0]);
}
APART bool odd(uint32_t n);
APART bool even(uint32_t n) { return n == 0 ? true : odd(n - 1); }
APART bool odd(uint32_t n) { return n == 0 ? false : even(n - 1); }
EACH(mutual_recursion, uint32_t, 1, uint32_t, 1) { *y = even(*x) * 2 + odd(*x); }
APART uint32_t of_stack(uint32_t n) {
  uint32_t *held = (uint32_t *)__builtin_alloca(n * 4), total = 0;
  for (uint32_t i = 0; i < n; ++i) held[i] = i * i + n;
  for (uint32_t i = 0; i < n; ++i) total = total * 3 + held[n - 1 - i];
  return n > 8 ? total + of_stack(n / 2) : total;
}
EACH(alloca_, uint32_t, 1, uint32_t, 1) { *y = of_stack(*x); }

struct Odd {
  uint8_t a;
  uint16_t b;
  uint32_t c[3];
  uint8_t d[5];
};
struct Pair {
  uint64_t first;
  uint16_t second;
};
APART Odd mixed(Odd o, Pair p) {
  o.a ^= (uint8_t)p.first, o.b += p.second, o.c[1] -= o.c[2], o.d[4] = o.a + o.d[0];
  return o;
}
EACH(structs_by_value, uint32_t, 6, uint32_t, 8) {
  Odd o{(uint8_t)x[0], (uint16_t)x[1], {x[2], x[3], x[4]}, {(uint8_t)x[5], 2, 3, 4, 5}};
  Pair p{(uint64_t)x[0] << 32 | x[5], (uint16_t)x[2]};
  Odd r = mixed(mixed(o, p), p);
  y[0] = r.a, y[1] = r.b, y[2] = r.c[0], y[3] = r.c[1], y[4] = r.c[2], y[5] = r.d[0], y[6] = r.d[4], y[7] = sizeof(Odd);
}
struct Big {
  double v[4];
  float f;
  char c[3];
};
APART double weigh(Big b, double by, Big other) {
  double total = b.f + other.c[1];
  for (int i = 0; i < 4; ++i) total += b.v[i] * by - other.v[3 - i];
  return total;
}
EACH(struct_parameters, double, 4, double, 2) {
  Big b{{floor(x[0]), floor(x[1]), floor(x[2]), floor(x[3])}, 2.5f, {1, 2, 3}}, o = b;
  o.v[0] = 8, o.c[1] = -4;
  y[0] = weigh(b, 2, o), y[1] = weigh(o, 0.5, b);
}
APART int many(int8_t a, int b, uint16_t c, int64_t d, int e, float f, double g, int h, bool i, int j, int k, uint8_t l, int m, int n, short o, int p) {
  return (int)(a + (unsigned)b * 3 + c * 5 + (uint64_t)d * 7 + (unsigned)e * 11 + (unsigned)(int)f + (unsigned)(int)g + (unsigned)h * 13 +
               i * 17 + (unsigned)j * 19 + (unsigned)k * 23 + l * 29 + (unsigned)m * 31 + (unsigned)n * 37 + o * 41 + (unsigned)p * 43);
}
EACH(long_parameter_list, int, 16, int, 2) {
  y[0] = many(x[0], x[1], x[2], x[3], x[4], (float)(x[5] & 1023), (double)(x[6] & 4095), x[7], x[8] & 1, x[9], x[10], x[11], x[12], x[13], x[14], x[15]);
  y[1] = many(x[15], x[14], x[13], x[12], x[11], 2, 3, x[8], x[7] > 0, x[6], x[5], x[4], x[3], x[2], x[1], x[0]);
}
APART int8_t small(uint32_t a) { return (int8_t)a; }
APART uint16_t half(uint32_t a) { return (uint16_t)(a * 3); }
APART bool truth(uint32_t a, uint32_t b) { return a > b; }
APART uint2 two(uint32_t a, uint32_t b) { return {b, a ^ b}; }
EACH(small_results, uint32_t, 2, uint32_t, 6) {
  uint2 pair = two(x[0], x[1]);
  y[0] = small(x[0]), y[1] = half(x[1]), y[2] = truth(x[0], x[1]), y[3] = pair.x, y[4] = pair.y, y[5] = small(x[1]) * half(x[0]);
}
template <typename F> APART int applied(F f, int n) {
  int v = 0;
  for (int i = 0; i < n; ++i) v = f(v, i);
  return v;
}
EACH(lambdas, int, 4, int, 3) {
  int a = x[0], b = x[1];
  y[0] = applied([=](int v, int i) { return (int)((unsigned)v * 3 + (i & 1 ? a : b)); }, 5);
  y[1] = applied([&](int v, int i) { return v ^ x[i & 3]; }, 7);
  y[2] = applied([](int v, int i) { return v + i; }, (x[3] & 7) + 1);
}
APART int down(int n, int v);
APART int up(int n, int v) { return n == 0 ? v : v & 1 ? down(n - 1, v * 3 + 1) : up(n - 1, v / 2 + n); }
APART int down(int n, int v) { return n == 0 ? -v : v & 2 ? up(n - 1, v - 5) : down(n - 1, v + 7); }
EACH(divergent_calls, int, 1, int, 1) {
  Binary functions[2] = {up, down};
  int v = 0;
  for (int i = 0; i < x[0]; ++i) v = functions[(i + x[0]) & 1](x[0] + i, v + i);
  *y = v;
}
KERNEL printed(const int *x, int *y) {
  int t = thread_of_grid();
  y[t] = printf("%d %5.2f %s %c %llx %-4u|%%|%e\n", x[t], x[t] * 0.5, t & 1 ? "odd" : "even", 'a' + t, 0x1234567ull << t, t, 1e10 * t);
}
REFERENCE printed_reference(const int *, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = 7;
}
