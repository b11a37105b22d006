// FlashMLA's dense decoding in bf16, called as csrc/api/dense_decode.h calls it, without PyTorch: its plan of who takes
// which blocks, attention over the blocks, the combination of what several took of one request. Arguments: heads of Q,
// how many multiprocessors share the work, the tokens of each request. Keys lie in pages in a shuffled order, the first 512
// of their 576 elements are the values. Right where all is as close to the host's own numbers as FlashMLA's tests ask.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include "sm90/decode/dense/splitkv_mla.h"
#include "smxx/decode/combine/combine.h"
#include "smxx/decode/get_decoding_sched_meta/get_decoding_sched_meta.h"

using Element = cutlass::bfloat16_t;
constexpr int PAGE = 64, D = 576, DV = 512;

void check(cudaError_t code, const char *what) {
    if (code != cudaSuccess) {
        printf("%s: %s\n", what, cudaGetErrorString(code));
        exit(1);
    }
}

template <typename T>
T *allocated(size_t count) {
    T *place;
    check(cudaMalloc(&place, count * sizeof(T)), "cudaMalloc");
    return place;
}

template <typename T>
T *on_gpu(const std::vector<T> &values) {
    T *place = allocated<T>(values.size());
    check(cudaMemcpy(place, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return place;
}

template <typename T>
std::vector<T> from_gpu(const T *place, size_t count) {
    std::vector<T> values(count);
    check(cudaMemcpy(values.data(), place, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
}

int main(int count, char **argv) {
    const int heads = atoi(argv[1]), parts = atoi(argv[2]), requests = count - 3;
    std::vector<int> tokens;
    int most = 0, pages = 0;
    for (int at = 0; at < requests; at++) {
        tokens.push_back(atoi(argv[3 + at]));
        most = std::max(most, (tokens[at] + PAGE - 1) / PAGE);
        pages += (tokens[at] + PAGE - 1) / PAGE;
    }
    unsigned state = 1;
    auto next = [&] { return float((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24) - 0.5f; };
    std::vector<Element> q(size_t(requests) * heads * D), keys(size_t(pages) * PAGE * D);
    for (auto &one : q) one = Element(0.4f * next());
    for (auto &one : keys) one = Element(0.4f * next());
    std::vector<int> table(size_t(requests) * most, 0);
    for (int request = 0, page = 0; request < requests; request++)
        for (int at = 0; at < (tokens[request] + PAGE - 1) / PAGE; at++, page++)
            table[request * most + at] = (page * 7 + 3) % pages;  // with 7 and `pages` coprime, each page once
    const float scale = 1 / sqrtf(D);

    DenseAttnDecodeParams given = {};
    given.b = requests, given.s_q = 1, given.q_seq_per_hk = heads, given.q_head_per_hk = heads;
    given.h_q = heads, given.h_k = 1, given.num_blocks = pages, given.d = D, given.d_v = DV;
    given.scale_softmax = scale, given.scale_softmax_log2 = float(scale * M_LOG2E);
    given.q_ptr = on_gpu(q), given.k_ptr = on_gpu(keys);
    given.o_ptr = allocated<Element>(size_t(requests) * heads * DV);
    given.softmax_lse_ptr = allocated<float>(requests * heads);
    given.q_batch_stride = heads * D, given.k_batch_stride = PAGE * D, given.o_batch_stride = heads * DV;
    given.q_row_stride = given.k_row_stride = D, given.o_row_stride = DV;
    given.q_head_stride = given.k_head_stride = D, given.o_head_stride = heads * DV;
    given.block_table = on_gpu(table), given.block_table_batch_stride = most, given.page_block_size = PAGE;
    given.seqlens_k_ptr = on_gpu(tokens);
    given.tile_scheduler_metadata_ptr = allocated<DecodingSchedMeta>(parts);
    given.num_sm_parts = parts, given.num_splits_ptr = allocated<int>(requests + 1);
    given.total_num_splits = requests + parts;
    given.softmax_lseaccum_ptr = allocated<float>(size_t(given.total_num_splits) * heads);
    given.oaccum_ptr = allocated<float>(size_t(given.total_num_splits) * heads * DV);

    GetDecodeSchedMetaParams plan = {requests, 1, PAGE, 5, -1, -1, nullptr, nullptr, given.seqlens_k_ptr,
                                     given.tile_scheduler_metadata_ptr, given.num_splits_ptr, parts, nullptr};
    smxx::decode::run_get_decoding_sched_meta_kernel(plan);
    sm90::run_flash_splitkv_mla_kernel<Element>(given);
    CombineParams combine = {requests, 1, heads, DV, given.softmax_lse_ptr, given.o_ptr, heads, heads, heads * DV,
                             heads * DV, DV, given.softmax_lseaccum_ptr, given.oaccum_ptr, heads, heads, heads * DV,
                             heads * DV, DV, given.tile_scheduler_metadata_ptr, given.num_splits_ptr, parts, nullptr, nullptr};
    smxx::decode::run_flash_mla_combine_kernel<Element>(combine);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    auto result = from_gpu(static_cast<Element *>(given.o_ptr), size_t(requests) * heads * DV);
    auto sums = from_gpu(given.softmax_lse_ptr, size_t(requests) * heads);
    auto splits = from_gpu(given.num_splits_ptr, requests + 1);

    int wrong = 0;
    for (int request = 0; request < requests; request++)
        for (int head = 0; head < heads; head++) {
            std::vector<double> weights(tokens[request]), expected(DV, 0.0);
            double total = 0;
            const Element *row = &q[(size_t(request) * heads + head) * D];
            auto key = [&](int token) {
                return &keys[(size_t(table[request * most + token / PAGE]) * PAGE + token % PAGE) * D];
            };
            for (int token = 0; token < tokens[request]; token++) {
                double sum = 0;
                for (int at = 0; at < D; at++) sum += double(float(row[at])) * float(key(token)[at]);
                total += weights[token] = exp(sum * scale);
            }
            for (int token = 0; token < tokens[request]; token++)
                for (int at = 0; at < DV; at++) expected[at] += weights[token] / total * float(key(token)[at]);
            for (int at = 0; at < DV; at++) {
                double found = float(result[(size_t(request) * heads + head) * DV + at]);
                wrong += !(fabs(found - expected[at]) <= 8e-4 + 2.01 / 128 * fabs(expected[at]));
            }
            wrong += !(fabs(sums[request * heads + head] - log(total)) <= 1e-6 + 8.01 / 65536 * fabs(log(total)));
        }
    printf("%d requests in %d splits: %d of %zu numbers are wrong\n", requests, splits[requests], wrong,
           result.size() + sums.size());
    return wrong != 0;
}
