// /// battery
// about = "cuda::barrier and cuda::pipeline in every scope, named barriers, memcpy_async: on sm_75 without hardware's help"
// packed = "75 O3"
// [kernels]
// pipeline_of_block = { in = ["total 2560 i32 edges"], out = ["1 i32"], grid = 4, block = 128 }
// pipeline_of_thread = { in = ["16 i32 edges"], out = ["4 i32"], grid = 3 }
// barrier_with_tokens = { in = ["1 i32 edges"], out = ["1 i32"], grid = 3, block = 128 }
// barrier_of_some = { in = ["1 i32 edges"], out = ["1 i32"], block = 128 }
// barrier_that_drops = { in = ["1 i32 edges"], out = ["1 i32"], block = 96 }
// barrier_with_completion = { in = ["1 i32 edges"], out = ["1 i32"], block = 64 }
// producers_and_consumers = { in = ["total 896 i32 edges"], out = ["total 128 i32"], block = 96 }
// copies = { in = ["1 i32 edges"], out = ["1 i32"], block = 256 }
// warp_barriers = { in = ["1 i32 edges"], out = ["1 i32"], block = 128 }
// barrier_votes = { in = ["1 i32 range 0 40"], out = ["3 i32"], block = 96 }
// primitives = { in = ["4 i32 edges"], out = ["4 i32"] }
// ///
#include "battery.cuh"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
constexpr auto BLOCK = cuda::thread_scope_block;
using Barrier = cuda::barrier<BLOCK>;
BOTH int sum(int a, int b) { return (int)((unsigned)a + (unsigned)b); }

KERNEL pipeline_of_block(const int *x, int *y) {
  constexpr int STAGES = 2, TURNS = 5;
  __shared__ int held[STAGES][128];
  __shared__ cuda::pipeline_shared_state<BLOCK, STAGES> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  x += blockIdx.x * TURNS * 128;
  int total = 0;
  for (int turn = 0, filled = 0; turn < TURNS; ++turn) {
    for (; filled < TURNS && filled < turn + STAGES; ++filled) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, held[filled % STAGES], x + filled * 128, sizeof(int) * 128, pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    total = sum(total, held[turn % STAGES][(threadIdx.x + 1) % 128]);
    pipeline.consumer_release();
  }
  y[thread_of_grid()] = total;
}
REFERENCE pipeline_of_block_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int turn = 0; turn < 5; ++turn) y[t] = sum(y[t], x[t / 128 * 640 + turn * 128 + (t + 1) % 128]);
}
KERNEL pipeline_of_thread(const int4 *x, int4 *y) {
  __shared__ int4 held[4][64];
  auto pipeline = cuda::make_pipeline();
  for (int i = 0; i < 4; ++i) {
    pipeline.producer_acquire();
    cuda::memcpy_async(&held[i][threadIdx.x], &x[(blockIdx.x * 4 + i) * 64 + threadIdx.x], cuda::aligned_size_t<16>(16), pipeline);
    pipeline.producer_commit();
  }
  int4 s = make_int4(0, 0, 0, 0);
  for (int i = 0; i < 4; ++i) {
    if (i == 0) cuda::pipeline_consumer_wait_prior<3>(pipeline);
    if (i == 1) cuda::pipeline_consumer_wait_prior<0>(pipeline);
    int4 v = held[i][threadIdx.x];
    s = make_int4(sum(s.x, v.x), sum(s.y, v.y), sum(s.z, v.z), sum(s.w, v.w));
    pipeline.consumer_release();
  }
  y[thread_of_grid()] = s;
}
REFERENCE pipeline_of_thread_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t)
    for (int turn = 0; turn < 4; ++turn)
      for (int i = 0; i < 4; ++i) y[4 * t + i] = sum(y[4 * t + i], x[((t / 64 * 4 + turn) * 64 + t % 64) * 4 + i]);
}
KERNEL barrier_with_tokens(const int *x, int *y) {
  __shared__ Barrier barrier;
  __shared__ int held[128];
  if (threadIdx.x == 0) init(&barrier, 128);
  __syncthreads();
  int v = x[thread_of_grid()];
  for (int round = 0; round < 3; ++round) {
    held[threadIdx.x] = v;
    auto token = barrier.arrive();
    int twice = sum(v, v);
    barrier.wait(std::move(token));
    v = sum(held[(threadIdx.x + 1) % 128], twice);
    barrier.arrive_and_wait();
  }
  y[thread_of_grid()] = v;
}
REFERENCE barrier_with_tokens_reference(const int *x, int *y, int threads) {
  int held[128];
  for (int b = 0; b < threads; b += 128) {
    for (int t = 0; t < 128; ++t) y[b + t] = x[b + t];
    for (int round = 0; round < 3; ++round) {
      for (int t = 0; t < 128; ++t) held[t] = y[b + t];
      for (int t = 0; t < 128; ++t) y[b + t] = sum(held[(t + 1) % 128], sum(held[t], held[t]));
    }
  }
}
// The second and the fourth warp exchange through one barrier, the others through another.
KERNEL barrier_of_some(const int *x, int *y) {
  __shared__ Barrier barriers[2];
  __shared__ int held[128];
  int side = threadIdx.x / 32 % 2, t = thread_of_grid();
  if (threadIdx.x < 2) init(&barriers[threadIdx.x], 64);
  __syncthreads();
  for (int turn = 0; turn <= side; ++turn) {
    held[threadIdx.x] = sum(x[t], turn);
    barriers[side].arrive_and_wait();
    int v = held[threadIdx.x ^ 64];
    auto token = barriers[side].arrive();
    y[t] = v;
    barriers[side].wait(std::move(token));
  }
}
REFERENCE barrier_of_some_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = sum(x[t ^ 64], t / 32 % 2);
}
KERNEL barrier_that_drops(const int *x, int *y) {
  __shared__ Barrier barrier;
  __shared__ int held[96];
  int t = thread_of_grid();
  if (threadIdx.x == 0) init(&barrier, 96);
  __syncthreads();
  held[threadIdx.x] = x[t];
  if (threadIdx.x >= 64) {
    barrier.arrive_and_drop();
    y[t] = -1;
    return;
  }
  barrier.arrive_and_wait();
  int v = held[threadIdx.x + 32];
  barrier.arrive_and_wait();
  held[threadIdx.x] = v;
  barrier.arrive_and_wait();
  y[t] = held[63 - threadIdx.x];
}
REFERENCE barrier_that_drops_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = t % 96 >= 64 ? -1 : x[t / 96 * 96 + 63 - t % 96 + 32];
}
struct Complete {
  int *count;
  __device__ void operator()() noexcept { ++*count; }
};
KERNEL barrier_with_completion(const int *x, int *y) {
  using Counting = cuda::barrier<BLOCK, Complete>;
  __shared__ alignas(Counting) char place[sizeof(Counting)];
  __shared__ int held[64], count;
  Counting &barrier = *reinterpret_cast<Counting *>(place);
  if (threadIdx.x == 0) count = 0, new (&barrier) Counting(64, Complete{&count});
  __syncthreads();
  held[threadIdx.x] = x[thread_of_grid()];
  barrier.arrive_and_wait();
  int v = sum(held[63 - threadIdx.x], count);
  barrier.arrive_and_wait();
  y[thread_of_grid()] = sum(v, count);
}
REFERENCE barrier_with_completion_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = sum(x[t / 64 * 64 + 63 - t % 64], 3);
}
KERNEL producers_and_consumers(const int *x, int *y) {
  constexpr int STAGES = 3, TURNS = 7;
  __shared__ int held[STAGES][64];
  __shared__ cuda::pipeline_shared_state<BLOCK, STAGES> state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipeline = cuda::make_pipeline(block, &state, role);
  x += blockIdx.x * TURNS * 64;
  if (role == cuda::pipeline_role::producer) {
    for (int i = 0; i < TURNS; ++i) {
      pipeline.producer_acquire();
      for (int k = threadIdx.x; k < 64; k += 32)
        cuda::memcpy_async(&held[i % STAGES][k], &x[i * 64 + k], cuda::aligned_size_t<4>(4), pipeline);
      pipeline.producer_commit();
    }
  } else {
    int total = 0;
    for (int i = 0; i < TURNS; ++i) {
      pipeline.consumer_wait();
      total = sum(total, held[i % STAGES][63 - (threadIdx.x - 32)]);
      pipeline.consumer_release();
    }
    y[blockIdx.x * 64 + threadIdx.x - 32] = total;
  }
}
REFERENCE producers_and_consumers_reference(const int *x, int *y, int threads) {
  for (int b = 0; b < threads / 96; ++b)
    for (int t = 0; t < 64; ++t)
      for (int i = 0; i < 7; ++i) y[b * 64 + t] = sum(y[b * 64 + t], x[b * 448 + i * 64 + 63 - t]);
}
KERNEL copies(const int *x, int *y) {
  __shared__ int held[256];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(held + threadIdx.x, x + thread_of_grid(), cuda::aligned_size_t<4>(4), barrier);
  barrier.arrive_and_wait();
  y[thread_of_grid()] = held[255 - threadIdx.x];
}
REFERENCE copies_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = x[t / 256 * 256 + 255 - t % 256];
}
KERNEL warp_barriers(const int *x, int *y) {
  __shared__ Barrier barriers[4];
  __shared__ volatile int held[128];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) init(&barriers[warp], 32);
  __syncthreads();
  held[threadIdx.x] = x[thread_of_grid()];
  for (int i = 0; i <= warp; ++i) barriers[warp].arrive_and_wait();
  y[thread_of_grid()] = held[threadIdx.x ^ 17];
}
REFERENCE warp_barriers_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) y[t] = x[t ^ 17];
}
KERNEL barrier_votes(const int *x, int *y) {
  int t = thread_of_grid();
  y[3 * t] = __syncthreads_count(x[t] > 20), y[3 * t + 1] = __syncthreads_and(x[t] < 40), y[3 * t + 2] = __syncthreads_or(x[t] == 13);
}
REFERENCE barrier_votes_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int count = 0, all = 1, any = 0;
    for (int i = t / 96 * 96; i < t / 96 * 96 + 96; ++i) count += x[i] > 20, all &= x[i] < 40, any |= x[i] == 13;
    y[3 * t] = count, y[3 * t + 1] = all, y[3 * t + 2] = any;
  }
}
KERNEL primitives(const int4 *x, int4 *y) {
  __shared__ int4 held[64];
  __shared__ int words[64];
  int t = thread_of_grid();
  __pipeline_memcpy_async(&held[threadIdx.x], &x[t], 16, 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&words[threadIdx.x], &x[t].y, 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  int4 v = held[threadIdx.x];
  __pipeline_wait_prior(0);
  __syncthreads();
  y[t] = make_int4(v.x, words[63 - threadIdx.x], v.z, v.w);
}
REFERENCE primitives_reference(const int *x, int *y, int threads) {
  for (int t = 0; t < threads; ++t) {
    int o = t / 64 * 64 + 63 - t % 64;
    y[4 * t] = x[4 * t], y[4 * t + 1] = x[4 * o + 1], y[4 * t + 2] = x[4 * t + 2], y[4 * t + 3] = 0;
  }
}
