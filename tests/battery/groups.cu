// /// battery
// about = "cooperative groups: tiles of every size, coalesced and partitioned groups, reduce, scan, copies, block and grid sync"
// packed = "90a O3"
// [kernels]
// tiles = { in = ["1 i32 edges"], out = ["18 i32"] }
// tile_reductions = { in = ["1 i32 edges"], out = ["12 i32"] }
// tile_scans = { in = ["1 i32 edges"], out = ["6 i32"] }
// tile_floats = { in = ["1 f64 range 0 1000"], out = ["3 f64"] }
// large_tiles = { in = ["1 i32 range -999 999"], out = ["4 i32"], block = 256 }
// coalesced = { in = ["1 i32 edges"], out = ["6 i32"] }
// partitions = { in = ["1 i32 edges"], out = ["4 i32"] }
// divergent_tiles = { in = ["1 i32 range 0 4"], out = ["2 i32"] }
// block_group = { in = ["1 i32 edges"], out = ["4 i32"], block = 96 }
// block_reductions = { in = ["1 i32 range -999 999"], out = ["1 i32"], block = 96 }
// copies = { in = ["1 i32 edges"], out = ["2 i32"], block = 128 }
// grid_sync = { in = ["1 i32 edges"], out = ["1 i32"], grid = 6, cooperative = true }
// grid_sync_refused = { in = ["1 i32 edges"], out = ["1 i32"], grid = 6, refused = "trap" }
// arrive_and_wait = { in = ["1 i32 edges"], out = ["1 i32"], block = 128 }
// invoke_one = { in = ["1 i32 edges"], out = ["2 i32"] }
// ///
#include "battery.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

BOTH int sum(int a, int b) { return (int)((unsigned)a + (unsigned)b); }

template <int N> __device__ void tile_of(int v, int *y) {
  auto tile = cg::tiled_partition<N>(cg::this_thread_block());
  y[0] = tile.thread_rank() + 100 * tile.meta_group_rank();
  y[1] = sum(tile.shfl_down(v, 1), tile.shfl_xor(v, N / 2));
  y[2] = tile.ballot(v & 1) | (unsigned)tile.any(v == 3) << 31 ^ (unsigned)tile.all(v > 0) << 30;
}
KERNEL tiles(const int *x, int *y) {
  int t = thread_of_grid();
  y += 18 * t;
  tile_of<32>(x[t], y), tile_of<16>(x[t], y + 3), tile_of<8>(x[t], y + 6);
  tile_of<4>(x[t], y + 9), tile_of<2>(x[t], y + 12), tile_of<1>(x[t], y + 15);
}
REFERENCE tiles_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int way = 0, n = 32; n; ++way, n /= 2) {
      int first = t / n * n, rank = t % n, *out = y + 18 * t + 3 * way;
      out[0] = rank + 100 * (t % 64 / n);
      out[1] = sum(x[rank + 1 < n ? t + 1 : t], x[first + (rank ^ n / 2)]);
      unsigned ballot = 0, any = 0, all = 1;
      for (int i = 0; i < n; ++i) ballot |= (x[first + i] & 1) << i, any |= x[first + i] == 3, all &= x[first + i] > 0;
      out[2] = ballot | any << 31 ^ all << 30;
    }
}
template <int N> __device__ void reduce_of(int v, int *y) {
  auto tile = cg::tiled_partition<N>(cg::this_thread_block());
  y[0] = cg::reduce(tile, v, [](int a, int b) { return sum(a, b); });
  y[1] = cg::reduce(tile, v, cg::less<int>()), y[2] = cg::reduce(tile, (unsigned)v, cg::greater<unsigned>());
  y[3] = cg::reduce(tile, v, cg::bit_and<int>()) ^ cg::reduce(tile, v, cg::bit_or<int>()) ^ cg::reduce(tile, v, cg::bit_xor<int>());
}
KERNEL tile_reductions(const int *x, int *y) {
  int t = thread_of_grid();
  reduce_of<32>(x[t], y + 12 * t), reduce_of<8>(x[t], y + 12 * t + 4), reduce_of<2>(x[t], y + 12 * t + 8);
}
REFERENCE tile_reductions_reference(const int *x, int *y, int threads) {
  int sizes[3] = {32, 8, 2};
  for (int t = 0; t < threads; ++t)
    for (int way = 0; way < 3; ++way) {
      int n = sizes[way], total = 0, least = x[t], all = -1, any = 0, odd = 0;
      unsigned most = 0;
      for (int i = t / n * n; i < t / n * n + n; ++i) {
        total = sum(total, x[i]), least = x[i] < least ? x[i] : least, most = (unsigned)x[i] > most ? x[i] : most;
        all &= x[i], any |= x[i], odd ^= x[i];
      }
      int *out = y + 12 * t + 4 * way;
      out[0] = total, out[1] = least, out[2] = most, out[3] = all ^ any ^ odd;
    }
}
template <int N> __device__ void scan_of(int v, int *y) {
  auto tile = cg::tiled_partition<N>(cg::this_thread_block());
  y[0] = cg::inclusive_scan(tile, v, [](int a, int b) { return sum(a, b); });
  y[1] = cg::exclusive_scan(tile, (unsigned)v, cg::bit_xor<unsigned>());
}
KERNEL tile_scans(const int *x, int *y) {
  int t = thread_of_grid();
  scan_of<32>(x[t], y + 6 * t), scan_of<16>(x[t], y + 6 * t + 2), scan_of<4>(x[t], y + 6 * t + 4);
}
REFERENCE tile_scans_reference(const int *x, int *y, int threads) {
  int sizes[3] = {32, 16, 4};
  for (int t = 0; t < threads; ++t)
    for (int way = 0; way < 3; ++way) {
      int total = 0, odd = 0;
      for (int i = t / sizes[way] * sizes[way]; i <= t; ++i) total = sum(total, x[i]), odd ^= i < t ? x[i] : 0;
      y[6 * t + 2 * way] = total, y[6 * t + 2 * way + 1] = odd;
    }
}
KERNEL tile_floats(const double *x, double *y) {
  int t = thread_of_grid();
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  double whole = floor(x[t]);
  y[3 * t] = cg::reduce(tile, whole, cg::plus<double>()), y[3 * t + 1] = cg::reduce(tile, (float)whole, cg::greater<float>());
  y[3 * t + 2] = cg::inclusive_scan(tile, whole);
}
REFERENCE tile_floats_reference(const double *x, double *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    double total = 0, most = 0, until = 0;
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) {
      double whole = floor(x[i]);
      total += whole, most = whole > most ? whole : most, until += i <= t ? whole : 0;
    }
    y[3 * t] = total, y[3 * t + 1] = most, y[3 * t + 2] = until;
  }
}
KERNEL large_tiles(const int *x, int *y) {
  __shared__ cg::block_tile_memory<256> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<128>(block);
  int t = thread_of_grid();
  // A collective ends for the last warp's other lanes before its first lane has cleared the tile's bits (CUDA 13.0): where
  // they run ahead, the next collective takes the old bits for its own. The block meets in between.
  y[4 * t] = cg::reduce(tile, x[t], cg::plus<int>()), block.sync();
  y[4 * t + 1] = cg::inclusive_scan(tile, x[t], cg::plus<int>()), block.sync();
  y[4 * t + 2] = tile.shfl(x[t], 77), block.sync();
  y[4 * t + 3] = tile.thread_rank() + tile.any(x[t] == 998) * 1000;
}
REFERENCE large_tiles_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int first = t / 128 * 128, total = 0, until = 0, any = 0;
    for (int i = first; i < first + 128; ++i) total += x[i], until += i <= t ? x[i] : 0, any |= x[i] == 998;
    y[4 * t] = total, y[4 * t + 1] = until, y[4 * t + 2] = x[first + 77], y[4 * t + 3] = t % 128 + any * 1000;
  }
}
KERNEL coalesced(const int *x, int *y) {
  int t = thread_of_grid();
  y += 6 * t;
  if (x[t] & 1) {
    auto group = cg::coalesced_threads();
    y[0] = group.thread_rank(), y[1] = group.size(), y[2] = group.shfl(x[t], 0);
    y[3] = cg::reduce(group, x[t], cg::bit_xor<int>()), y[4] = cg::exclusive_scan(group, x[t] & 255, cg::plus<int>());
    y[5] = group.ballot(x[t] & 2);
  } else if (x[t] & 4) {
    auto group = cg::coalesced_threads();
    y[0] = -(int)group.thread_rank(), y[1] = group.shfl_down(x[t], 1), y[2] = group.num_threads();
    y[3] = cg::reduce(group, x[t], cg::less<int>());
  }
}
REFERENCE coalesced_reference(const int *x, int *y, int threads) {
  auto kind = [=](int i) { return x[i] & 1 ? 1 : x[i] & 4 ? 2 : 0; };
  for (int t = 0; t < threads; ++t) {
    int members[32], size = 0, rank = 0, odd = 0, before = 0, ballot = 0, least = x[t], *out = y + 6 * t;
    if (!kind(t)) continue;
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i)
      if (kind(i) == kind(t)) {
        ballot |= (x[i] >> 1 & 1) << size, odd ^= x[i], least = x[i] < least ? x[i] : least;
        if (i < t) rank++, before += x[i] & 255;
        members[size++] = i;
      }
    if (kind(t) == 1)
      out[0] = rank, out[1] = size, out[2] = x[members[0]], out[3] = odd, out[4] = before, out[5] = ballot;
    else
      out[0] = -rank, out[1] = x[rank + 1 < size ? members[rank + 1] : t], out[2] = size, out[3] = least;
  }
}
KERNEL partitions(const int *x, int *y) {
  int t = thread_of_grid();
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  auto labeled = cg::labeled_partition(tile, x[t] & 3);
  auto binary = cg::binary_partition(tile, x[t] < 0);
  y[4 * t] = labeled.thread_rank(), y[4 * t + 1] = cg::reduce(labeled, x[t], cg::bit_xor<int>());
  y[4 * t + 2] = binary.size(), y[4 * t + 3] = binary.shfl(x[t], binary.size() - 1);
}
REFERENCE partitions_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int *out = y + 4 * t;
    for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) {
      if ((x[i] & 3) == (x[t] & 3)) out[0] += i < t, out[1] ^= x[i];
      if ((x[i] < 0) == (x[t] < 0)) out[2]++, out[3] = x[i];
    }
  }
}
// Tiles of one warp in different branches, each with collectives of its own.
KERNEL divergent_tiles(const int *x, int *y) {
  int t = thread_of_grid();
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int turns = tile.shfl(x[t], 0), v = t;
  switch (turns) {
    case 0: v = cg::reduce(tile, t, cg::plus<int>()); break;
    case 1:
      for (int i = 1; i < 8; i *= 2) v += tile.shfl_xor(v, i);
      tile.sync();
      v *= 2;
      break;
    default:
      for (int i = 0; i < turns * 3; ++i) v = tile.shfl(v, (tile.thread_rank() + 1) % 8) + 1, tile.sync();
  }
  y[2 * t] = v, y[2 * t + 1] = tile.ballot(v & 1);
}
REFERENCE divergent_tiles_reference(const int *x, int *y, int threads) {
  for (int b = 0; b < threads; b += 8) {
    int total = 8 * b + 28, odd = 0;
    for (int r = 0; r < 8; ++r) {
      int n = x[b] * 3;
      y[2 * (b + r)] = x[b] == 0 ? total : x[b] == 1 ? 2 * total : b + (r + n) % 8 + n;
      odd |= (y[2 * (b + r)] & 1) << r;
    }
    for (int r = 0; r < 8; ++r) y[2 * (b + r) + 1] = odd;
  }
}
KERNEL block_group(const int *x, int *y) {
  __shared__ int held[96];
  auto block = cg::this_thread_block();
  int t = thread_of_grid(), r = block.thread_rank();
  held[r] = x[t];
  block.sync();
  y[4 * t] = held[block.size() - 1 - r], y[4 * t + 1] = block.group_index().x, y[4 * t + 2] = block.thread_index().x;
  cg::sync(block);
  held[r] ^= r;
  block.sync();
  y[4 * t + 3] = held[(r + 40) % 96];
}
REFERENCE block_group_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int b = t / 96 * 96, r = t % 96, o = (r + 40) % 96;
    y[4 * t] = x[b + 95 - r], y[4 * t + 1] = t / 96, y[4 * t + 2] = r, y[4 * t + 3] = x[b + o] ^ o;
  }
}
KERNEL block_reductions(const int *x, int *y) {
  __shared__ int total;
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  if (threadIdx.x == 0) total = 0;
  block.sync();
  int part = cg::reduce(tile, x[thread_of_grid()], cg::plus<int>());
  if (tile.thread_rank() == 0) atomicAdd(&total, part);
  block.sync();
  y[thread_of_grid()] = total;
}
REFERENCE block_reductions_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int i = t / 96 * 96; i < t / 96 * 96 + 96; ++i) y[t] += x[i];
}
KERNEL copies(const int *x, int *y) {
  __shared__ alignas(16) int a[128];
  __shared__ alignas(16) int b[128];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, a, x + 128 * blockIdx.x, sizeof(a));
  cg::memcpy_async(block, b, x + 128 * blockIdx.x, cuda::aligned_size_t<16>(sizeof(b)));
  cg::wait_prior<1>(block);
  y[2 * thread_of_grid()] = a[127 - threadIdx.x];
  cg::wait(block);
  y[2 * thread_of_grid() + 1] = b[(threadIdx.x + 5) % 128];
}
REFERENCE copies_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int b = t / 128 * 128, r = t % 128;
    y[2 * t] = x[b + 127 - r], y[2 * t + 1] = x[b + (r + 5) % 128];
  }
}
__device__ void turn(const int *x, int *y) {
  auto grid = cg::this_grid();
  int n = grid.size(), t = grid.thread_rank();
  y[t] = x[t];
  for (int i = 0; i < 3; ++i) {
    grid.sync();
    int v = y[(t + 65) % n];
    grid.sync();
    y[t] = sum(v, i);
  }
}
KERNEL grid_sync(const int *x, int *y) { turn(x, y); }
KERNEL grid_sync_refused(const int *x, int *y) { turn(x, y); }
REFERENCE grid_sync_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = sum(x[(t + 3 * 65) % threads], 3);
}
KERNEL arrive_and_wait(const int *x, int *y) {
  __shared__ int held[128];
  auto block = cg::this_thread_block();
  int t = thread_of_grid();
  held[threadIdx.x] = x[t];
  auto token = block.barrier_arrive();
  int own = x[t] >> 1;
  block.barrier_wait(std::move(token));
  y[t] = held[127 - threadIdx.x] ^ own;
}
REFERENCE arrive_and_wait_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = x[t / 128 * 128 + 127 - t % 128] ^ x[t] >> 1;
}
KERNEL invoke_one(const int *x, int *y) {
  int t = thread_of_grid();
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  cg::invoke_one(tile, [&] { y[2 * t] = x[t] ^ 5; });
  y[2 * t + 1] = cg::invoke_one_broadcast(tile, [&] { return (int)tile.meta_group_rank(); });
}
REFERENCE invoke_one_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[2 * t] = t % 16 ? 0 : x[t] ^ 5, y[2 * t + 1] = t % 64 / 16;
}
