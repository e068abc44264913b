// Convolution in f32: a thread multiplies eight rows by eight columns.

#pragma once
#include "patches.cuh"

// Adds the products of eight numbers with eight.
__device__ __forceinline__ void multiply_add(float (&sums)[8][8], const float (&left)[8], const float (&right)[8])
{
#pragma unroll
    for (unsigned i = 0; i < 8; i++)
#pragma unroll
        for (unsigned n = 0; n < 8; n++) sums[i][n] += left[i] * right[n];
}

// Output pixels by outputs, [rows, outputs], of blocks of N outputs. `weight`: [patch_len, outputs up to a multiple of N], zeros beyond; `bias` may be
// null.
template <unsigned N, unsigned THREADS, unsigned SLAB>
__device__ __forceinline__ void convolution(const float *x, const float *weight, const float *bias, float *result, const Geometry &g)
{
    constexpr unsigned OUTPUT_THREADS = N / 8, ROW_THREADS = THREADS / OUTPUT_THREADS, ROWS = 8 * ROW_THREADS;
    __shared__ __align__(16) float patches[STAGES][ROWS * SLAB], weights[STAGES][SLAB][N];
    unsigned thread = threadIdx.x, rows = g.images * g.out_height.value * g.out_width.value, outputs = g.outputs.value;
    unsigned first_row = blockIdx.x * ROWS, first_output = blockIdx.y * N, padded = gridDim.y * N, slabs = g.patch_len / SLAB;
    PatchRows<ROWS, SLAB, THREADS> source(first_row, rows, g);
    auto copy = [&](unsigned slab, unsigned stage) {
        if (slab < slabs) {
            source.copy(patches[stage], x, slab, g);
#pragma unroll
            for (unsigned i = thread; i < SLAB * N / 4; i += THREADS) {
                unsigned k = i / (N / 4), n = i % (N / 4) * 4;
                copy_async(&weights[stage][k][n], weight + (slab * SLAB + k) * padded + first_output + n, true);
            }
        }
        commit_copies();
    };
    unsigned output = thread % OUTPUT_THREADS * 4, row = thread / OUTPUT_THREADS;
    float sums[8][8] = {};
    for (unsigned slab = 0; slab < STAGES - 1; slab++) copy(slab, slab);
    through_stages(slabs, copy, [&](unsigned stage) {
#pragma unroll
        for (unsigned four = 0; four < SLAB / 4; four++) {
            float4 lefts[8];
#pragma unroll
            for (unsigned i = 0; i < 8; i++) lefts[i] = *(const float4 *)&patches[stage][swizzled<SLAB>(row + i * ROW_THREADS, four)];
#pragma unroll
            for (unsigned k = 0; k < 4; k++) {
                float left[8], right[8];
                *(float4 *)right = *(const float4 *)&weights[stage][4 * four + k][output];
                *(float4 *)(right + 4) = *(const float4 *)&weights[stage][4 * four + k][N / 2 + output];
#pragma unroll
                for (unsigned i = 0; i < 8; i++) left[i] = k == 0 ? lefts[i].x : k == 1 ? lefts[i].y : k == 2 ? lefts[i].z : lefts[i].w;
                multiply_add(sums, left, right);
            }
        }
    });
#pragma unroll
    for (unsigned half = 0; half < 2; half++) {
        unsigned n = first_output + half * (N / 2) + output;
        float biases[4] = {0, 0, 0, 0};
        if (bias) load_four(bias, n, outputs, biases);
#pragma unroll
        for (unsigned i = 0; i < 8; i++) {
            unsigned at = first_row + row + i * ROW_THREADS;
            if (at >= rows) continue;
            float *to = result + (u64)at * outputs + n, *values = &sums[i][4 * half];
            if (outputs % 4 == 0) {
                if (n < outputs) *(float4 *)to = make_float4(values[0] + biases[0], values[1] + biases[1], values[2] + biases[2], values[3] + biases[3]);
            } else
#pragma unroll
                for (unsigned k = 0; k < 4; k++)
                    if (n + k < outputs) to[k] = values[k] + biases[k];
        }
    }
}

// The gradient of the weights in the order of a patch, [outputs, patch_len], for each chunk of `chunk_rows` output pixels. A block computes N outputs by
// 64 elements of a patch; groups of N threads take every so many rows each.
template <unsigned N, unsigned SLAB>
__device__ __forceinline__ void convolution_weight_gradient(const float *gradient, const float *x, float *result, unsigned chunk_rows, const Geometry &g)
{
    constexpr unsigned THREADS = 128, COLUMNS = 64, GROUPS = THREADS / N;
    typedef ChunkRows<N, COLUMNS, 0, SLAB, THREADS> Rows;
    __shared__ __align__(16) float shared[STAGES * Rows::FLOATS];
    __shared__ PatchOrigin origins[2][SLAB];
    unsigned thread = threadIdx.x, outputs = g.outputs.value, group = thread / N, in_group = thread % N, left = in_group % 8 * 4, top = in_group / 8 * 4;
    float sums[8][8] = {};
    Rows(x, gradient, shared, origins, chunk_rows, g).multiply_slabs(g, [&](const float *patches, const float *gradients) {
#pragma unroll
        for (unsigned row = group; row < SLAB; row += GROUPS) {
            const float *of_outputs = gradients + row * N + top, *of_patch = patches + row * COLUMNS + left;
            float a[8], b[8];
            *(float4 *)a = *(const float4 *)of_outputs, *(float4 *)(a + 4) = *(const float4 *)(of_outputs + N / 2);
            *(float4 *)b = *(const float4 *)of_patch, *(float4 *)(b + 4) = *(const float4 *)(of_patch + COLUMNS / 2);
            multiply_add(sums, a, b);
        }
    });
    // The first group adds the others' sums, one after the other.
#pragma unroll 1
    for (unsigned other = 1; other < GROUPS; other++) {
        __syncthreads();
        if (group == other)
#pragma unroll
            for (unsigned i = 0; i < 64; i++) shared[i * N + in_group] = sums[i / 8][i % 8];
        __syncthreads();
        if (group == 0)
#pragma unroll
            for (unsigned i = 0; i < 64; i++) sums[i / 8][i % 8] += shared[i * N + in_group];
    }
    if (group) return;
    result += (u64)blockIdx.z * outputs * g.patch_len;
#pragma unroll
    for (unsigned i = 0; i < 8; i++)
#pragma unroll
        for (unsigned half = 0; half < 2; half++) {
            unsigned n = blockIdx.y * N + i / 4 * (N / 2) + top + i % 4, at = blockIdx.x * COLUMNS + half * (COLUMNS / 2) + left;
            if (n < outputs && at < g.patch_len) *(float4 *)&result[(u64)n * g.patch_len + at] = *(float4 *)&sums[i][4 * half];
        }
}

// The registers of a multiprocessor are enough for eight or twelve warps.
#define CONVOLUTION_F32(N, threads, slab, blocks, gradient_slab)                                                                                \
    extern "C" __global__ void __launch_bounds__(threads, blocks) convolution_f32_##N(const float *x, const float *weight, const float *bias,   \
                                                                                      float *result, Geometry g)                               \
    { convolution<N, threads, slab>(x, weight, bias, result, g); }                                                                             \
    extern "C" __global__ void __launch_bounds__(128, 3) convolution_weight_gradient_f32_##N(const float *gradient, const float *x,             \
                                                                                             float *result, unsigned chunk_rows, Geometry g)   \
    { convolution_weight_gradient<N, gradient_slab>(gradient, x, result, chunk_rows, g); }

CONVOLUTION_F32(16, 64, 8, 6, 32)
CONVOLUTION_F32(32, 64, 16, 4, 32)
CONVOLUTION_F32(64, 128, 16, 3, 16)
