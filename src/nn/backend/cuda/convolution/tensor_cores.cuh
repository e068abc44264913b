// Convolution by tensor cores: from f32 in memory, rounded to TF32, bf16 or f16 where it is multiplied; sums are f32.

#pragma once
#include "patches.cuh"

struct Tf32 {};

__device__ __forceinline__ __half2 pack(__half, float a, float b) { return __floats2half2_rn(a, b); }
__device__ __forceinline__ __nv_bfloat162 pack(__nv_bfloat16, float a, float b) { return __floats2bfloat162_rn(a, b); }

// The fragment of a row or column that a lane holds: four numbers, rounded.
template <typename T> struct Fragment {
    unsigned bits[2];
    __device__ __forceinline__ Fragment(float a, float b, float c, float d)
    {
        auto low = pack(T(), a, b), high = pack(T(), c, d);
        bits[0] = *(unsigned *)&low, bits[1] = *(unsigned *)&high;
    }
    __device__ __forceinline__ Fragment() {}
};

template <> struct Fragment<Tf32> {
    unsigned bits[4];
    __device__ __forceinline__ Fragment(float a, float b, float c, float d)
    {
        float values[4] = {a, b, c, d};
#pragma unroll
        for (unsigned i = 0; i < 4; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits[i]) : "f"(values[i]));
    }
    __device__ __forceinline__ Fragment() {}
};

template <typename T> __device__ __forceinline__ Fragment<T> load_fragment(const float *four)
{
    float4 v = *(const float4 *)four;
    return Fragment<T>(v.x, v.y, v.z, v.w);
}

#define MMA(shape, types, sums, a0, a1, a2, a3, b0, b1)                                                                                              \
    asm volatile("mma.sync.aligned." shape ".row.col.f32." types ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"              \
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                                                                         \
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))

// A warp adds the product of matrices of 16x16 and 16x8 numbers. Of a row of the left one, and of a column of the right one, lane L has the four numbers
// L % 4; which ones they are does not matter, as long as both sides agree. `low` is of row L / 4, `high` of the row eight below, `right` of column
// L / 4. `sums`: of the two rows, columns L % 4 * 2 and the next.
__device__ __forceinline__ void multiply_add(float (&sums)[4], const Fragment<Tf32> &low, const Fragment<Tf32> &high, const Fragment<Tf32> &right)
{
    MMA("m16n8k8", "tf32.tf32", sums, low.bits[0], high.bits[0], low.bits[1], high.bits[1], right.bits[0], right.bits[1]);
    MMA("m16n8k8", "tf32.tf32", sums, low.bits[2], high.bits[2], low.bits[3], high.bits[3], right.bits[2], right.bits[3]);
}
__device__ __forceinline__ void multiply_add(float (&sums)[4], const Fragment<__half> &low, const Fragment<__half> &high, const Fragment<__half> &right)
{
    MMA("m16n8k16", "f16.f16", sums, low.bits[0], high.bits[0], low.bits[1], high.bits[1], right.bits[0], right.bits[1]);
}
__device__ __forceinline__ void multiply_add(float (&sums)[4], const Fragment<__nv_bfloat16> &low, const Fragment<__nv_bfloat16> &high,
                                             const Fragment<__nv_bfloat16> &right)
{
    MMA("m16n8k16", "bf16.bf16", sums, low.bits[0], high.bits[0], low.bits[1], high.bits[1], right.bits[0], right.bits[1]);
}

// Output pixels by outputs, [rows, outputs], of blocks of 128 rows and N outputs; a warp computes WARP_ROWS rows. `weight`: [outputs, patch_len]; `bias`
// may be null.
template <typename T, unsigned N, unsigned WARP_ROWS>
__device__ __forceinline__ void convolution_tensor_cores(const float *x, const float *weight, const float *bias, float *result, const Geometry &g)
{
    constexpr unsigned ROWS = 128, THREADS = 32 * ROWS / WARP_ROWS, SLAB = 16, LEFTS = WARP_ROWS / 16, RIGHTS = N / 8;
    __shared__ __align__(16) float patches[STAGES][ROWS * SLAB], weights[STAGES][N * SLAB];
    unsigned thread = threadIdx.x, rows = g.images * g.out_height.value * g.out_width.value, outputs = g.outputs.value;
    unsigned first_row = blockIdx.x * ROWS, first_output = blockIdx.y * N, slabs = g.patch_len / SLAB;
    PatchRows<ROWS, SLAB, THREADS> source(first_row, rows, g);
    auto copy = [&](unsigned slab, unsigned stage) {
        if (slab < slabs) {
            source.copy(patches[stage], x, slab, g);
#pragma unroll
            for (unsigned i = thread; i < SLAB * N / 4; i += THREADS) {
                unsigned n = i / (SLAB / 4), four = i % (SLAB / 4);
                bool inside = first_output + n < outputs;
                copy_async(&weights[stage][swizzled<SLAB>(n, four)], weight + (inside ? (first_output + n) * g.patch_len + slab * SLAB + four * 4 : 0), inside);
            }
        }
        commit_copies();
    };
    unsigned row = thread / 32 * WARP_ROWS + thread % 32 / 4, four = thread % 4, column = thread % 32 / 4;
    float sums[LEFTS][RIGHTS][4] = {};
    for (unsigned slab = 0; slab < STAGES - 1; slab++) copy(slab, slab);
    through_stages(slabs, copy, [&](unsigned stage) {
        Fragment<T> rights[RIGHTS];
#pragma unroll
        for (unsigned n = 0; n < RIGHTS; n++) rights[n] = load_fragment<T>(&weights[stage][swizzled<SLAB>(column + 8 * n, four)]);
#pragma unroll
        for (unsigned i = 0; i < LEFTS; i++) {
            Fragment<T> low = load_fragment<T>(&patches[stage][swizzled<SLAB>(row + 16 * i, four)]);
            Fragment<T> high = load_fragment<T>(&patches[stage][swizzled<SLAB>(row + 16 * i + 8, four)]);
#pragma unroll
            for (unsigned n = 0; n < RIGHTS; n++) multiply_add(sums[i][n], low, high, rights[n]);
        }
    });
#pragma unroll
    for (unsigned n = 0; n < RIGHTS; n++) {
        unsigned output = first_output + 8 * n + 2 * four;
        float biases[2] = {bias && output < outputs ? bias[output] : 0, bias && output + 1 < outputs ? bias[output + 1] : 0};
#pragma unroll
        for (unsigned i = 0; i < 2 * LEFTS; i++) {
            unsigned at = first_row + row + 8 * i;
            if (at >= rows || output >= outputs) continue;
            float *to = result + (u64)at * outputs + output, *values = &sums[i / 2][n][i % 2 * 2];
            if (outputs % 2 == 0) *(float2 *)to = make_float2(values[0] + biases[0], values[1] + biases[1]);
            else {
                to[0] = values[0] + biases[0];
                if (output + 1 < outputs) to[1] = values[1] + biases[1];
            }
        }
    }
}

// The gradient of the weights in the order of a patch, [outputs, patch_len], for each chunk of `chunk_rows` output pixels. A block computes N outputs by
// 64 elements of a patch, each of its two warps half of them.
template <typename T, unsigned N>
__device__ __forceinline__ void convolution_weight_gradient_tensor_cores(const float *gradient, const float *x, float *result, unsigned chunk_rows, const Geometry &g)
{
    constexpr unsigned THREADS = 64, COLUMNS = 64, SLAB = 16, LEFTS = N / 16, RIGHTS = 4;
    // With a gap of eight, lanes that read from four rows at once have no bank conflicts.
    typedef ChunkRows<N, COLUMNS, 8, SLAB, THREADS> Rows;
    __shared__ __align__(16) float shared[STAGES * Rows::FLOATS];
    __shared__ PatchOrigin origins[2][SLAB];
    unsigned thread = threadIdx.x, outputs = g.outputs.value, lane_row = thread % 4, lane_column = thread % 32 / 4, left = thread / 32 * 32;
    float sums[LEFTS][RIGHTS][4] = {};
    Rows(x, gradient, shared, origins, chunk_rows, g).multiply_slabs(g, [&](const float *patches, const float *gradients) {
        patches += lane_row * Rows::ROW + left + lane_column, gradients += lane_row * Rows::GRADIENT_ROW + lane_column;
        // A lane's four numbers are of every fourth row.
        auto down = [](const float *from, unsigned row) { return Fragment<T>(from[0], from[4 * row], from[8 * row], from[12 * row]); };
        Fragment<T> rights[RIGHTS];
#pragma unroll
        for (unsigned n = 0; n < RIGHTS; n++) rights[n] = down(patches + 8 * n, Rows::ROW);
#pragma unroll
        for (unsigned i = 0; i < LEFTS; i++) {
            Fragment<T> low = down(gradients + 16 * i, Rows::GRADIENT_ROW), high = down(gradients + 16 * i + 8, Rows::GRADIENT_ROW);
#pragma unroll
            for (unsigned n = 0; n < RIGHTS; n++) multiply_add(sums[i][n], low, high, rights[n]);
        }
    });
    result += (u64)blockIdx.z * outputs * g.patch_len;
#pragma unroll
    for (unsigned i = 0; i < 2 * LEFTS; i++)
#pragma unroll
        for (unsigned n = 0; n < RIGHTS; n++) {
            unsigned output = blockIdx.y * N + 8 * i + lane_column, at = blockIdx.x * COLUMNS + left + 8 * n + 2 * lane_row;
            float *values = &sums[i / 2][n][i % 2 * 2];
            if (output < outputs && at < g.patch_len) *(float2 *)&result[(u64)output * g.patch_len + at] = make_float2(values[0], values[1]);
        }
}

#define CONVOLUTION_TENSOR_CORES(T, name, N, warp_rows)                                                                                         \
    extern "C" __global__ void __launch_bounds__(32 * 128 / warp_rows) convolution_##name##_##N(const float *x, const float *weight,            \
                                                                                                const float *bias, float *result, Geometry g)  \
    { convolution_tensor_cores<T, N, warp_rows>(x, weight, bias, result, g); }                                                                 \
    extern "C" __global__ void __launch_bounds__(64) convolution_weight_gradient_##name##_##N(const float *gradient, const float *x,            \
                                                                                              float *result, unsigned chunk_rows, Geometry g)  \
    { convolution_weight_gradient_tensor_cores<T, N>(gradient, x, result, chunk_rows, g); }

#define CONVOLUTIONS_TENSOR_CORES(T, name)   \
    CONVOLUTION_TENSOR_CORES(T, name, 16, 32) \
    CONVOLUTION_TENSOR_CORES(T, name, 32, 64) \
    CONVOLUTION_TENSOR_CORES(T, name, 64, 32)

CONVOLUTIONS_TENSOR_CORES(Tf32, tf32)
CONVOLUTIONS_TENSOR_CORES(__half, f16)
CONVOLUTIONS_TENSOR_CORES(__nv_bfloat16, bf16)
