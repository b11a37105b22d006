// /// battery
// about = "CUB's warp collectives, of whole warps and of parts: scan, reduce, exchange, merge sort, load and store"
// [defaults]
// grid = 2
// block = 96
// [kernels]
// warp_sums = { in = ["1 i32 edges"], out = ["6 i32"] }
// warp_reductions = { in = ["1 i32 edges"], out = ["6 i32"] }
// warp_reductions_by_shared_memory = { in = ["1 i64 edges"], out = ["2 i64"] }
// warp_segments = { in = ["1 i32 range -99 99", "1 i32 range 0 4"], out = ["2 i32"] }
// warp_structs = { in = ["3 i32 range -99 99"], out = ["3 i32"] }
// warp_exchange = { in = ["4 i32 ramp"], out = ["12 i32"] }
// warp_merge_sort = { in = ["3 i32 edges"], out = ["3 i32", "3 u8"] }
// warp_load_store = { in = ["4 i32 edges"], out = ["4 i32"] }
// thread_operators = { in = ["8 i32 edges"], out = ["10 i32"] }
// ///
#include "battery.cuh"
#include <algorithm>
#include <cub/thread/thread_reduce.cuh>
#include <cub/thread/thread_scan.cuh>
#include <cub/thread/thread_search.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>

struct Plus {
  BOTH int operator()(int a, int b) const { return (int)((unsigned)a + (unsigned)b); }
};
struct Most {
  template <typename T> BOTH T operator()(T a, T b) const { return a > b ? a : b; }
};
template <int PART> __device__ void sum_by(int v, int *y) {
  using Scan = cub::WarpScan<int, PART>;
  __shared__ typename Scan::TempStorage storage[96 / PART + 1];
  Scan(storage[threadIdx.x / PART]).InclusiveScan(v, y[0], Plus());
  __syncwarp();
  Scan(storage[threadIdx.x / PART]).ExclusiveScan(v, y[1], 7, Plus());
}
KERNEL warp_sums(const int *x, int *y) {
  int t = thread_of_grid();
  sum_by<32>(x[t], y + 6 * t), sum_by<8>(x[t], y + 6 * t + 2), sum_by<2>(x[t], y + 6 * t + 4);
}
REFERENCE warp_sums_reference(const int *x, int *y, int threads) {
  int parts[3] = {32, 8, 2};
  for (int t = 0; t < threads; ++t)
    for (int p = 0; p < 3; ++p) {
      int sum = 0, first = t / parts[p] * parts[p];
      for (int i = first; i < t; ++i) sum = Plus()(sum, x[i]);
      y[6 * t + 2 * p] = Plus()(sum, x[t]), y[6 * t + 2 * p + 1] = Plus()(sum, 7);
    }
}
template <int PART> __device__ void reduce_by(int v, int *y) {
  using Reduce = cub::WarpReduce<int, PART>;
  __shared__ typename Reduce::TempStorage storage[96 / PART + 1];
  int sum = Reduce(storage[threadIdx.x / PART]).Reduce(v, Plus());
  __syncwarp();
  int most = Reduce(storage[threadIdx.x / PART]).Reduce(v, Most(), PART - 1);
  if (threadIdx.x % PART == 0) y[0] = sum, y[1] = most;
}
KERNEL warp_reductions(const int *x, int *y) {
  int t = thread_of_grid();
  reduce_by<32>(x[t], y + 6 * t), reduce_by<16>(x[t], y + 6 * t + 2), reduce_by<4>(x[t], y + 6 * t + 4);
}
REFERENCE warp_reductions_reference(const int *x, int *y, int threads) {
  int parts[3] = {32, 16, 4};
  for (int t = 0; t < threads; ++t)
    for (int p = 0; p < 3; ++p)
      if (t % parts[p] == 0) {
        int sum = 0, most = x[t];
        for (int i = 0; i < parts[p]; ++i) {
          sum = Plus()(sum, x[t + i]);
          if (i < parts[p] - 1) most = Most()(most, x[t + i]);
        }
        y[6 * t + 2 * p] = sum, y[6 * t + 2 * p + 1] = most;
      }
}
// 24 lanes, which is no power of two: through shared memory.
KERNEL warp_reductions_by_shared_memory(const int64_t *x, int64_t *y) {
  using Reduce = cub::WarpReduce<int64_t, 24>;
  __shared__ typename Reduce::TempStorage storage[3];
  int t = thread_of_grid(), lane = threadIdx.x % 32;
  if (lane < 24) {
    int64_t most = Reduce(storage[threadIdx.x / 32]).Reduce(x[t], Most());
    if (lane == 0) y[2 * t] = most;
  }
  y[2 * t + 1] = lane;
}
REFERENCE warp_reductions_by_shared_memory_reference(const int64_t *x, int64_t *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    y[2 * t + 1] = t % 32;
    if (t % 32 == 0) y[2 * t] = *std::max_element(x + t, x + t + 24);
  }
}
KERNEL warp_segments(const int *x, const int *heads, int *y) {
  using Reduce = cub::WarpReduce<int>;
  __shared__ typename Reduce::TempStorage storage[3];
  int t = thread_of_grid(), lane = threadIdx.x % 32;
  bool head = heads[t] == 0 || lane == 0;
  int sum = Reduce(storage[threadIdx.x / 32]).HeadSegmentedSum(x[t], head);
  __syncwarp();
  int most = Reduce(storage[threadIdx.x / 32]).TailSegmentedReduce(x[t], heads[t] == 1 || lane == 31, Most());
  bool after = lane == 0 || heads[t - 1] == 1;
  y[2 * t] = head ? sum : 0, y[2 * t + 1] = after ? most : 0;
}
REFERENCE warp_segments_reference(const int *x, const int *heads, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    if (heads[t] == 0 || t % 32 == 0) {
      y[2 * t] = x[t];
      for (int i = t + 1; i % 32 && heads[i]; ++i) y[2 * t] += x[i];
    }
    if (t % 32 == 0 || heads[t - 1] == 1) {
      y[2 * t + 1] = x[t];
      for (int i = t; heads[i] != 1 && i % 32 != 31;) ++i, y[2 * t + 1] = std::max(y[2 * t + 1], x[i]);
    }
  }
}
struct Three {
  int a, b, c;
};
struct Composed {
  BOTH Three operator()(Three u, Three v) const { return {u.a + v.a, u.b > v.b ? u.b : v.b, u.c ^ v.c}; }
};
KERNEL warp_structs(const int *x, int *y) {
  using Scan = cub::WarpScan<Three>;
  __shared__ typename Scan::TempStorage storage[3];
  int t = thread_of_grid();
  Three v{x[3 * t], x[3 * t + 1], x[3 * t + 2]}, s;
  Scan(storage[threadIdx.x / 32]).InclusiveScan(v, s, Composed());
  y[3 * t] = s.a, y[3 * t + 1] = s.b, y[3 * t + 2] = s.c;
}
REFERENCE warp_structs_reference(const int *x, int *y, int threads) {
  Three s{};
  for (int t = 0; t < threads; ++t) {
    Three v{x[3 * t], x[3 * t + 1], x[3 * t + 2]};
    s = t % 32 ? Composed()(s, v) : v;
    y[3 * t] = s.a, y[3 * t + 1] = s.b, y[3 * t + 2] = s.c;
  }
}
KERNEL warp_exchange(const int *x, int *y) {
  using Exchange = cub::WarpExchange<int, 4, 32>;
  using Quarter = cub::WarpExchange<int, 4, 8>;
  __shared__ typename Exchange::TempStorage storage[3];
  __shared__ typename Quarter::TempStorage quarters[12];
  int t = thread_of_grid(), warp = threadIdx.x / 32, lane = threadIdx.x % 32, a[4], b[4], c[4], ranks[4];
  for (int i = 0; i < 4; ++i) a[i] = b[i] = c[i] = x[4 * t + i], ranks[i] = (4 * lane + i) * 3 % 128;
  Exchange(storage[warp]).BlockedToStriped(a, a);
  __syncwarp();
  Exchange(storage[warp]).ScatterToStriped(b, ranks);
  Quarter(quarters[threadIdx.x / 8]).StripedToBlocked(c, c);
  for (int i = 0; i < 4; ++i) y[12 * t + i] = a[i], y[12 * t + 4 + i] = b[i], y[12 * t + 8 + i] = c[i];
}
REFERENCE warp_exchange_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int i = 0; i < 4; ++i) {
      int warp = t / 32 * 32, lane = t % 32, to = (4 * lane + i) * 3 % 128, eight = t / 8 * 8, from = 4 * (t % 8) + i;
      y[12 * t + i] = x[4 * warp + 32 * i + lane];
      y[12 * (warp + to % 32) + 4 + to / 32] = x[4 * t + i];
      y[12 * t + 8 + i] = x[4 * (eight + from % 8) + from / 8];
    }
}
struct Lower {
  BOTH bool operator()(int a, int b) const { return (a & 0xffff) < (b & 0xffff); }
};
KERNEL warp_merge_sort(const int *x, int *y, uint8_t *z) {
  using Sort = cub::WarpMergeSort<int, 3, 16, uint8_t>;
  __shared__ typename Sort::TempStorage storage[6];
  int t = thread_of_grid(), k[3];
  uint8_t v[3];
  for (int i = 0; i < 3; ++i) k[i] = x[3 * t + i], v[i] = 3 * t + i;
  Sort(storage[threadIdx.x / 16]).StableSort(k, v, Lower());
  for (int i = 0; i < 3; ++i) y[3 * t + i] = k[i], z[3 * t + i] = v[i];
}
REFERENCE warp_merge_sort_reference(const int *x, int *y, uint8_t *z, int threads) {
  for (int b = 0; b < 3 * threads; b += 48) {
    int order[48];
    for (int i = 0; i < 48; ++i) order[i] = b + i;
    std::stable_sort(order, order + 48, [=](int a, int c) { return Lower()(x[a], x[c]); });
    for (int i = 0; i < 48; ++i) y[b + i] = x[order[i]], z[b + i] = order[i];
  }
}
KERNEL warp_load_store(const int *x, int *y) {
  using Load = cub::WarpLoad<int, 4, cub::WARP_LOAD_TRANSPOSE>;
  using Store = cub::WarpStore<int, 4, cub::WARP_STORE_STRIPED>;
  __shared__ typename Load::TempStorage load[3];
  __shared__ typename Store::TempStorage store[3];
  int warp = threadIdx.x / 32, first = (blockIdx.x * 3 + warp) * 128, items[4];
  Load(load[warp]).Load(x + first, items, 120, -5);
  Store(store[warp]).Store(y + first, items);
}
REFERENCE warp_load_store_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int i = 0; i < 4; ++i) {
      int from = 4 * (t % 32) + i;
      y[t / 32 * 128 + 32 * i + t % 32] = from < 120 ? x[t / 32 * 128 + from] : -5;
    }
}
KERNEL thread_operators(const int *x, int *y) {
  int t = thread_of_grid(), v[8], s[8];
  for (int i = 0; i < 8; ++i) v[i] = x[8 * t + i];
  y[10 * t] = cub::ThreadReduce(v, Plus());
  y[10 * t + 1] = cub::UpperBound(v, 8, 5) & 0;
  for (int i = 0, sum = 0; i < 8; ++i) s[i] = sum = Plus()(sum, v[i]);
  for (int i = 0; i < 8; ++i) y[10 * t + 2 + i] = s[i];
}
REFERENCE thread_operators_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int sum = 0;
    for (int i = 0; i < 8; ++i) y[10 * t + 2 + i] = sum = Plus()(sum, x[8 * t + i]);
    y[10 * t] = sum;
  }
}
