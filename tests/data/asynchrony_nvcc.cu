// nvcc 13.0: nvcc -std=c++17 -arch=sm_90a -ptx asynchrony_nvcc.cu
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
#define G extern "C" __global__

// cuda::pipeline with 2 stages, cta scope
G void pipe2(const int* x, int* out, int n) {
  constexpr int S = 2;
  __shared__ int buf[S][128];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, S> st;
  auto p = cuda::make_pipeline(block, &st);
  int sum = 0;
  const int* src = x + blockIdx.x * n * 128;
  for (int c = 0, f = 0; c < n; ++c) {
    for (; f < n && f < c + S; ++f) {
      p.producer_acquire();
      cuda::memcpy_async(block, buf[f % S], src + f * 128, sizeof(int) * 128, p);
      p.producer_commit();
    }
    p.consumer_wait();
    sum += buf[c % S][(threadIdx.x + 1) % 128];
    p.consumer_release();
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}
// thread scope pipeline
G void pipet(const int4* x, int4* out) {
  __shared__ int4 buf[4][64];
  auto p = cuda::make_pipeline();
  for (int i = 0; i < 4; ++i) {
    p.producer_acquire();
    cuda::memcpy_async(&buf[i][threadIdx.x], &x[(blockIdx.x * 4 + i) * 64 + threadIdx.x], cuda::aligned_size_t<16>(16), p);
    p.producer_commit();
  }
  int4 s = make_int4(0, 0, 0, 0);
  for (int i = 0; i < 4; ++i) {
    cuda::pipeline_consumer_wait_prior<0>(p);
    int4 v = buf[i][threadIdx.x];
    s.x += v.x; s.y += v.y; s.z += v.z; s.w += v.w;
    p.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = s;
}
// barrier with tokens
G void tokens(const int* x, int* out) {
  __shared__ barrier bar;
  __shared__ int s[128];
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  int v = x[blockIdx.x * 128 + threadIdx.x];
  for (int r = 0; r < 3; ++r) {
    s[threadIdx.x] = v;
    auto t = bar.arrive();
    int w = v * 2;
    bar.wait(std::move(t));
    v = s[(threadIdx.x + 1) % 128] + w;
    bar.arrive_and_wait();
  }
  out[blockIdx.x * 128 + threadIdx.x] = v;
}
// bulk copy via cuda::ptx / device memcpy_async_tx
G void tx(const int* x, int* out) {
  __shared__ alignas(16) int s[256];
  __shared__ barrier bar;
  if (threadIdx.x == 0) { init(&bar, blockDim.x); }
  __syncthreads();
  barrier::arrival_token t;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(s, x + blockIdx.x * 256, cuda::aligned_size_t<16>(sizeof(s)), bar);
    t = cuda::device::barrier_arrive_tx(bar, 1, 0);
  } else t = bar.arrive();
  bar.wait(std::move(t));
  for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] += 1;
  cuda::device::experimental::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_shared_to_global(out + blockIdx.x * 256, s, sizeof(s));
    cuda::device::experimental::cp_async_bulk_commit_group();
    cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
  }
}
// cluster dsmem histogram
G void __cluster_dims__(2, 1, 1) hist(const int* x, int* out, int n) {
  __shared__ int bins[64];
  auto cluster = cg::this_cluster();
  int rank = cluster.block_rank();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
  cluster.sync();
  int id = (blockIdx.x / 2);
  for (int i = threadIdx.x + rank * blockDim.x; i < n; i += 2 * blockDim.x) {
    int b = x[id * n + i] & 127;
    int* dst = cluster.map_shared_rank(bins, b / 64);
    atomicAdd(dst + b % 64, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) out[id * 128 + rank * 64 + i] = bins[i];
}
// cg memcpy_async + wait
G void cgcopy(const int* x, int* out) {
  __shared__ int s[256];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, x + blockIdx.x * 256, sizeof(s));
  cg::wait(block);
  out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
// producer/consumer with partitioned pipeline
G void roles(const int* x, int* out, int n) {
  constexpr int S = 3;
  __shared__ int buf[S][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, S> st;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto p = cuda::make_pipeline(block, &st, role);
  const int* src = x + blockIdx.x * n * 64;
  if (role == cuda::pipeline_role::producer) {
    for (int i = 0; i < n; ++i) {
      p.producer_acquire();
      for (int k = threadIdx.x; k < 64; k += 32)
        cuda::memcpy_async(&buf[i % S][k], &src[i * 64 + k], cuda::aligned_size_t<4>(4), p);
      p.producer_commit();
    }
  } else {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      p.consumer_wait();
      sum += buf[i % S][63 - (threadIdx.x - 32)];
      p.consumer_release();
    }
    out[blockIdx.x * 64 + threadIdx.x - 32] = sum;
  }
  block.sync();
}
// st.async ring through cuda::ptx, remote arrivals
G void __cluster_dims__(4, 1, 1) remote(const int* x, int* out) {
  __shared__ int slot[32];
  __shared__ barrier bar;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) { init(&bar, 1); cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster); }
  cluster.sync();
  uint64_t* b = cuda::device::barrier_native_handle(bar);
  if (threadIdx.x == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, b, 32 * 4);
  int r = (cluster.block_rank() + 1) % 4;
  int* dst = cluster.map_shared_rank(slot, r);
  uint64_t* rb = cluster.map_shared_rank(b, r);
  ptx::st_async(dst + threadIdx.x, x[blockIdx.x * 32 + threadIdx.x], rb);
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, b, 0));
  out[blockIdx.x * 32 + threadIdx.x] = slot[31 - threadIdx.x];
  cluster.sync();
}
G void gridsync(int* data, int* out) {
  auto grid = cg::this_grid();
  data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
  grid.sync();
  int other = (blockIdx.x + 1) % gridDim.x;
  out[blockIdx.x * blockDim.x + threadIdx.x] = data[other * blockDim.x + threadIdx.x];
}
