// /// battery
// about = "CUB's block collectives: every algorithm of scan and reduce, radix and merge sort, exchange, load and store, histogram, discontinuity, shuffle"
// [defaults]
// grid = 2
// block = 128
// [kernels]
// block_scans = { in = ["4 i32 range -1000 1000"], out = ["12 i32", "1 i64"] }
// block_scans_of_pairs = { in = ["2 i32 range -99 99"], out = ["2 i32"] }
// block_reductions = { in = ["4 i32 edges"], out = ["total 12 i64"] }
// block_reductions_partial = { in = ["1 f64 range 0 1000"], out = ["total 4 f64"], block = 96 }
// block_radix_sort = { in = ["4 u32 edges"], out = ["4 u32", "4 u32"] }
// block_radix_sort_floats = { in = ["2 f32 log 1e-30 1e30"], out = ["2 f32"] }
// block_radix_sort_bits = { in = ["3 u64 edges"], out = ["3 u64"] }
// block_merge_sort = { in = ["3 i32 edges"], out = ["3 i32"] }
// block_exchange = { in = ["4 i32 ramp"], out = ["16 i32"] }
// block_load_store = { in = ["4 i32 edges"], out = ["16 i32"] }
// block_histogram = { in = ["4 u8 edges"], out = ["total 512 u32"] }
// block_discontinuity = { in = ["2 i32 range 0 3"], out = ["4 i32"] }
// block_adjacent_difference = { in = ["2 i32 edges"], out = ["2 i32"] }
// block_shuffle = { in = ["1 i32 ramp"], out = ["3 i32"] }
// block_radix_rank = { in = ["1 u32 range 0 32"], out = ["1 i32"] }
// block_run_length_decode = { in = ["1 u32 range 1 4", "1 i32 ramp"], out = ["total 1024 i32"] }
// ///
#include "battery.cuh"
#include <algorithm>
#include <climits>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cuda/std/functional>
#include <numeric>
#include <vector>

constexpr int BLOCK = 128;
struct Maximum {
  template <typename T> BOTH T operator()(T a, T b) const { return a > b ? a : b; }
};

template <cub::BlockScanAlgorithm ALGORITHM> __device__ void scan_by(const int *x, int *y, int64_t *total) {
  using Scan = cub::BlockScan<int, BLOCK, ALGORITHM>;
  __shared__ typename Scan::TempStorage storage;
  int sum, items[4] = {x[0], x[1], x[2], x[3]};
  Scan(storage).InclusiveSum(items, items, sum);
  for (int i = 0; i < 4; ++i) y[i] = items[i];
  *total += sum;
  __syncthreads();
}
KERNEL block_scans(const int *x, int *y, int64_t *z) {
  int t = thread_of_grid();
  x += 4 * t, y += 12 * t, z += t;
  *z = 0;
  scan_by<cub::BLOCK_SCAN_RAKING>(x, y, z);
  scan_by<cub::BLOCK_SCAN_RAKING_MEMOIZE>(x, y + 4, z);
  scan_by<cub::BLOCK_SCAN_WARP_SCANS>(x, y + 8, z);
}
REFERENCE block_scans_reference(const int *x, int *y, int64_t *z, int threads) {
  for (int b = 0; b < threads; b += BLOCK) {
    int sum = 0;
    for (int t = b; t < b + BLOCK; ++t)
      for (int i = 0; i < 4; ++i) sum += x[4 * t + i], y[12 * t + i] = y[12 * t + 4 + i] = y[12 * t + 8 + i] = sum;
    for (int t = b; t < b + BLOCK; ++t) z[t] = 3 * (int64_t)sum;
  }
}
// Not commutative: v -> first * v + second, one after the other.
struct Line {
  int first, second;
};
struct Then {
  BOTH Line operator()(Line a, Line b) const {
    return {(int)((unsigned)a.first * b.first), (int)((unsigned)a.second * b.first + b.second)};
  }
};
KERNEL block_scans_of_pairs(const int *x, int *y) {
  using Scan = cub::BlockScan<Line, BLOCK>;
  __shared__ typename Scan::TempStorage storage;
  int t = thread_of_grid();
  Line line{x[2 * t], x[2 * t + 1]}, scanned;
  Scan(storage).ExclusiveScan(line, scanned, Line{1, 0}, Then());
  y[2 * t] = scanned.first, y[2 * t + 1] = scanned.second;
}
REFERENCE block_scans_of_pairs_reference(const int *x, int *y, int threads) {
  Line sum{1, 0};
  for (int t = 0; t < threads; ++t) {
    if (t % BLOCK == 0) sum = {1, 0};
    y[2 * t] = sum.first, y[2 * t + 1] = sum.second;
    sum = Then()(sum, Line{x[2 * t], x[2 * t + 1]});
  }
}
template <cub::BlockReduceAlgorithm ALGORITHM> __device__ void reduce_by(const int *x, int64_t *y) {
  using Reduce = cub::BlockReduce<int64_t, BLOCK, ALGORITHM>;
  __shared__ typename Reduce::TempStorage storage;
  int64_t items[4] = {x[0], x[1], x[2], x[3]};
  int64_t sum = Reduce(storage).Sum(items);
  __syncthreads();
  int64_t most = Reduce(storage).Reduce(items[1], Maximum());
  if (threadIdx.x == 0) y[0] = sum, y[1] = most;
  __syncthreads();
}
KERNEL block_reductions(const int *x, int64_t *y) {
  x += 4 * thread_of_grid(), y += 6 * blockIdx.x;
  reduce_by<cub::BLOCK_REDUCE_RAKING>(x, y);
  reduce_by<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(x, y + 2);
  reduce_by<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(x, y + 4);
}
REFERENCE block_reductions_reference(const int *x, int64_t *y, int threads) {
  for (int b = 0; b < threads / BLOCK; ++b) {
    int64_t sum = 0, most = LLONG_MIN;
    for (int i = 0; i < 4 * BLOCK; ++i) {
      sum += x[4 * BLOCK * b + i];
      if (i % 4 == 1) most = std::max<int64_t>(most, x[4 * BLOCK * b + i]);
    }
    for (int i = 0; i < 3; ++i) y[6 * b + 2 * i] = sum, y[6 * b + 2 * i + 1] = most;
  }
}
KERNEL block_reductions_partial(const double *x, double *y) {
  using Reduce = cub::BlockReduce<double, 96>;
  __shared__ typename Reduce::TempStorage storage;
  double whole = floor(x[thread_of_grid()]);
  double sum = Reduce(storage).Sum(whole, 77);
  __syncthreads();
  double most = Reduce(storage).Reduce(whole, Maximum(), 33);
  if (threadIdx.x == 0) y[2 * blockIdx.x] = sum, y[2 * blockIdx.x + 1] = most;
}
REFERENCE block_reductions_partial_reference(const double *x, double *y, int threads) {
  for (int b = 0; b < threads / 96; ++b) {
    double sum = 0, most = 0;
    for (int i = 0; i < 77; ++i) {
      sum += floor(x[96 * b + i]);
      if (i < 33) most = std::max(most, floor(x[96 * b + i]));
    }
    y[2 * b] = sum, y[2 * b + 1] = most;
  }
}

// ---- sorts

KERNEL block_radix_sort(const uint32_t *x, uint32_t *keys, uint32_t *values) {
  using Sort = cub::BlockRadixSort<uint32_t, BLOCK, 4, uint32_t>;
  __shared__ typename Sort::TempStorage storage;
  uint32_t k[4], v[4];
  int first = 4 * thread_of_grid();
  for (int i = 0; i < 4; ++i) k[i] = x[first + i], v[i] = first + i;
  Sort(storage).Sort(k, v);
  for (int i = 0; i < 4; ++i) keys[first + i] = k[i], values[first + i] = v[i];
}
REFERENCE block_radix_sort_reference(const uint32_t *x, uint32_t *keys, uint32_t *values, int threads) {
  std::iota(values, values + 4 * threads, 0u);
  for (int b = 0; b < 4 * threads; b += 4 * BLOCK)
    std::stable_sort(values + b, values + b + 4 * BLOCK, [=](uint32_t a, uint32_t c) { return x[a] < x[c]; });
  for (int i = 0; i < 4 * threads; ++i) keys[i] = x[values[i]];
}
KERNEL block_radix_sort_floats(const float *x, float *y) {
  using Sort = cub::BlockRadixSort<float, BLOCK, 2>;
  __shared__ typename Sort::TempStorage storage;
  int first = 2 * thread_of_grid();
  float k[2] = {x[first], x[first + 1]};
  Sort(storage).SortDescending(k);
  y[first] = k[0], y[first + 1] = k[1];
}
REFERENCE block_radix_sort_floats_reference(const float *x, float *y, int threads) {
  std::copy(x, x + 2 * threads, y);
  for (int b = 0; b < 2 * threads; b += 2 * BLOCK) std::sort(y + b, y + b + 2 * BLOCK, std::greater<float>());
}
KERNEL block_radix_sort_bits(const uint64_t *x, uint64_t *y) {
  using Sort = cub::BlockRadixSort<uint64_t, BLOCK, 3, cub::NullType, 6>;
  __shared__ typename Sort::TempStorage storage;
  uint64_t k[3];
  for (int i = 0; i < 3; ++i) k[i] = x[blockIdx.x * 3 * BLOCK + i * BLOCK + threadIdx.x];
  Sort(storage).SortBlockedToStriped(k, 5, 40);
  for (int i = 0; i < 3; ++i) y[blockIdx.x * 3 * BLOCK + i * BLOCK + threadIdx.x] = k[i];
}
REFERENCE block_radix_sort_bits_reference(const uint64_t *x, uint64_t *y, int threads) {
  for (int b = 0; b < 3 * threads; b += 3 * BLOCK) {
    for (int t = 0; t < BLOCK; ++t)
      for (int i = 0; i < 3; ++i) y[b + 3 * t + i] = x[b + i * BLOCK + t];
    std::stable_sort(y + b, y + b + 3 * BLOCK, [](uint64_t a, uint64_t c) { return (a >> 5 & 0x7ffffffff) < (c >> 5 & 0x7ffffffff); });
  }
}
struct ByRemainder {
  BOTH bool operator()(int a, int b) const { return (unsigned)a % 101 < (unsigned)b % 101; }
};
KERNEL block_merge_sort(const int *x, int *y) {
  using Sort = cub::BlockMergeSort<int, BLOCK, 3>;
  __shared__ typename Sort::TempStorage storage;
  int first = 3 * thread_of_grid(), k[3] = {x[first], x[first + 1], x[first + 2]};
  Sort(storage).StableSort(k, ByRemainder());
  for (int i = 0; i < 3; ++i) y[first + i] = k[i];
}
REFERENCE block_merge_sort_reference(const int *x, int *y, int threads) {
  std::copy(x, x + 3 * threads, y);
  for (int b = 0; b < 3 * threads; b += 3 * BLOCK) std::stable_sort(y + b, y + b + 3 * BLOCK, ByRemainder());
}

// ---- exchanges

KERNEL block_exchange(const int *x, int *y) {
  using Exchange = cub::BlockExchange<int, BLOCK, 4>;
  using Sliced = cub::BlockExchange<int, BLOCK, 4, true>;
  __shared__ union {
    typename Exchange::TempStorage all;
    typename Sliced::TempStorage sliced;
  } storage;
  int t = thread_of_grid(), a[4], b[4], c[4], d[4], ranks[4];
  for (int i = 0; i < 4; ++i) {
    a[i] = b[i] = c[i] = d[i] = x[4 * t + i];
    ranks[i] = (4 * threadIdx.x + i) * 5 % (4 * BLOCK);
  }
  Exchange(storage.all).BlockedToStriped(a, a);
  __syncthreads();
  Exchange(storage.all).ScatterToBlocked(b, b, ranks);
  __syncthreads();
  Sliced(storage.sliced).StripedToBlocked(c, c);
  __syncthreads();
  Exchange(storage.all).BlockedToWarpStriped(d, d);
  for (int i = 0; i < 4; ++i) y[16 * t + i] = a[i], y[16 * t + 4 + i] = b[i], y[16 * t + 8 + i] = c[i], y[16 * t + 12 + i] = d[i];
}
REFERENCE block_exchange_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int i = 0; i < 4; ++i) {
      int b = t / BLOCK * BLOCK, own = t % BLOCK, warp = t / 32 * 32;
      y[16 * t + i] = x[4 * b + i * BLOCK + own];
      int to = (4 * own + i) * 5 % (4 * BLOCK);
      y[16 * (b + to / 4) + 4 + to % 4] = x[4 * t + i];
      int from = 4 * own + i;
      y[16 * t + 8 + i] = x[4 * (b + from % BLOCK) + from / BLOCK];
      y[16 * t + 12 + i] = x[4 * warp + i * 32 + t % 32];
    }
}
template <cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S> __device__ void through(const int *x, int *y) {
  using Load = cub::BlockLoad<int, BLOCK, 4, L>;
  using Store = cub::BlockStore<int, BLOCK, 4, S>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  int items[4];
  Load(storage.load).Load(x, items, 501, -1);
  for (int i = 0; i < 4; ++i) items[i] ^= threadIdx.x;
  __syncthreads();
  Store(storage.store).Store(y, items, 509);
  __syncthreads();
}
KERNEL block_load_store(const int *x, int *y) {
  x += 4 * BLOCK * blockIdx.x, y += 16 * BLOCK * blockIdx.x;
  through<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_TRANSPOSE>(x, y);
  through<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(x, y + 4 * BLOCK);
  through<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_DIRECT>(x, y + 8 * BLOCK);
  through<cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(x, y + 12 * BLOCK);
}
REFERENCE block_load_store_reference(const int *x, int *y, int threads) {
  for (int b = 0; b < threads / BLOCK; ++b)
    for (int i = 0; i < 509; ++i)
      for (int way = 0; way < 4; ++way)
        y[16 * BLOCK * b + 4 * BLOCK * way + i] = (i < 501 ? x[4 * BLOCK * b + i] : -1) ^ i / 4;
}

// ---- the rest

KERNEL block_histogram(const uint8_t *x, uint32_t *y) {
  using Sorted = cub::BlockHistogram<uint8_t, BLOCK, 4, 256, cub::BLOCK_HISTO_SORT>;
  using Atomic = cub::BlockHistogram<uint8_t, BLOCK, 4, 256, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ union {
    typename Sorted::TempStorage sorted;
    typename Atomic::TempStorage atomic;
  } storage;
  __shared__ uint32_t bins[256];
  int t = thread_of_grid();
  uint8_t items[4] = {x[4 * t], x[4 * t + 1], x[4 * t + 2], x[4 * t + 3]}, copy[4];
  for (int i = 0; i < 4; ++i) copy[i] = items[i];
  Sorted(storage.sorted).Histogram(items, bins);
  __syncthreads();
  Atomic(storage.atomic).Composite(copy, bins);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += BLOCK) y[256 * blockIdx.x + i] = bins[i];
}
REFERENCE block_histogram_reference(const uint8_t *x, uint32_t *y, int threads) {
  for (int i = 0; i < 4 * threads; ++i) y[i / (4 * BLOCK) * 256 + x[i]] += 2;
}
KERNEL block_discontinuity(const int *x, int *y) {
  using Flag = cub::BlockDiscontinuity<int, BLOCK>;
  __shared__ typename Flag::TempStorage storage;
  int t = thread_of_grid(), items[2] = {x[2 * t], x[2 * t + 1]}, heads[2], tails[2];
  Flag(storage).FlagHeadsAndTails(heads, tails, items, cuda::std::not_equal_to<int>());
  for (int i = 0; i < 2; ++i) y[4 * t + i] = heads[i], y[4 * t + 2 + i] = tails[i];
}
REFERENCE block_discontinuity_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int i = 0; i < 2; ++i) {
      int at = 2 * t + i, within = at % (2 * BLOCK);
      y[4 * t + i] = within == 0 || x[at] != x[at - 1];
      y[4 * t + 2 + i] = within == 2 * BLOCK - 1 || x[at] != x[at + 1];
    }
}
struct Minus {
  BOTH int operator()(int a, int b) const { return (int)((unsigned)a - (unsigned)b); }
};
KERNEL block_adjacent_difference(const int *x, int *y) {
  using Difference = cub::BlockAdjacentDifference<int, BLOCK>;
  __shared__ typename Difference::TempStorage storage;
  int t = thread_of_grid(), items[2] = {x[2 * t], x[2 * t + 1]}, left[2];
  Difference(storage).SubtractLeft(items, left, Minus());
  y[2 * t] = left[0], y[2 * t + 1] = left[1];
}
REFERENCE block_adjacent_difference_reference(const int *x, int *y, int threads) {
  for (int i = 0; i < 2 * threads; ++i) y[i] = i % (2 * BLOCK) ? Minus()(x[i], x[i - 1]) : x[i];
}
KERNEL block_shuffle(const int *x, int *y) {
  using Shuffle = cub::BlockShuffle<int, BLOCK>;
  __shared__ typename Shuffle::TempStorage storage;
  int t = thread_of_grid(), own = x[t], offset = -1, rotated, up[1] = {own};
  Shuffle(storage).Offset(own, offset, 3);
  __syncthreads();
  Shuffle(storage).Rotate(own, rotated, 7);
  __syncthreads();
  Shuffle(storage).Up(up, up);
  y[3 * t] = offset, y[3 * t + 1] = rotated, y[3 * t + 2] = up[0];
}
REFERENCE block_shuffle_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int b = t / BLOCK * BLOCK, own = t % BLOCK;
    y[3 * t] = own + 3 < BLOCK ? x[t + 3] : -1, y[3 * t + 1] = x[b + (own + 7) % BLOCK], y[3 * t + 2] = x[own ? t - 1 : t];
  }
}
KERNEL block_radix_rank(const uint32_t *x, int *y) {
  using Rank = cub::BlockRadixRank<BLOCK, 5, false>;
  __shared__ typename Rank::TempStorage storage;
  uint32_t key[1] = {x[thread_of_grid()]};
  int rank[1];
  Rank(storage).RankKeys(key, rank, cub::BFEDigitExtractor<uint32_t>(0, 5));
  y[thread_of_grid()] = rank[0];
}
REFERENCE block_radix_rank_reference(const uint32_t *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int b = t / BLOCK * BLOCK;
    for (int o = b; o < b + BLOCK; ++o) y[t] += x[o] < x[t] || (x[o] == x[t] && o < t);
  }
}
KERNEL block_run_length_decode(const uint32_t *lengths, const int *values, int *y) {
  using Decode = cub::BlockRunLengthDecode<int, BLOCK, 1, 4>;
  __shared__ typename Decode::TempStorage storage;
  int t = thread_of_grid(), items[1] = {values[t]}, out[4];
  uint32_t runs[1] = {lengths[t]}, total;
  Decode decode(storage, items, runs, total);
  for (uint32_t from = 0; from < total; from += 4 * BLOCK) {
    decode.RunLengthDecode(out, from);
    for (int i = 0; i < 4; ++i)
      if (from + 4 * threadIdx.x + i < total) y[512 * blockIdx.x + from + 4 * threadIdx.x + i] = out[i];
    __syncthreads();
  }
}
REFERENCE block_run_length_decode_reference(const uint32_t *lengths, const int *values, int *y, int threads) {
  for (int t = 0, at = 0; t < threads; ++t) {
    if (t % BLOCK == 0) at = t / BLOCK * 512;
    for (uint32_t i = 0; i < lengths[t]; ++i) y[at++] = values[t];
  }
}
