// What surrounds the matrix product of a fully connected layer.

#pragma once
#include "common.cuh"

// Adds a bias to each column, then applies ReLU where `relu` is 1.
extern "C" __global__ void add_bias(float *sums, const float *bias, unsigned count, unsigned columns, unsigned relu)
{
    ELEMENT_INDEX(count);
    float value = sums[i] + bias[i % columns];
    sums[i] = relu && value <= 0 ? 0 : value;
}

// The gradient before ReLU (or as it is, where `relu` is 0) as the operand of a matrix product.
template <typename T> __device__ void relu_backward(const float *gradient, const float *result, T *operand, unsigned count, unsigned relu)
{
    ELEMENT_INDEX(count);
    operand[i] = from_float<T>(relu && result[i] <= 0 ? 0 : gradient[i]);
}

// The sum of each column in as many chunks of rows as there are blocks along y: [chunks, columns]. Blocks of 32 columns, and up to 32 rows
// at a time.
template <typename T> __device__ void column_sums(const T *values, float *sums, unsigned rows, unsigned columns)
{
    __shared__ float shared[32][33];
    unsigned column = blockIdx.x * 32 + threadIdx.x, chunk_rows = (rows + gridDim.y - 1) / gridDim.y;
    unsigned begin = blockIdx.y * chunk_rows, end = min(begin + chunk_rows, rows);
    float sum = 0;
    if (column < columns)
        for (unsigned row = begin + threadIdx.y; row < end; row += blockDim.y) sum += to_float(values[(u64)row * columns + column]);
    shared[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y || column >= columns) return;
    sum = 0;
    for (unsigned row = 0; row < blockDim.y; row++) sum += shared[row][threadIdx.x];
    sums[blockIdx.y * columns + column] = sum;
}

#define LINEAR(T, name)                                                                                                                       \
    extern "C" __global__ void relu_backward_##name(const float *gradient, const float *result, T *operand, unsigned count, unsigned relu)    \
    { relu_backward(gradient, result, operand, count, relu); }                                                                                \
    extern "C" __global__ void __launch_bounds__(1024) column_sums_##name(const T *values, float *sums, unsigned rows, unsigned columns)      \
    { column_sums(values, sums, rows, columns); }

LINEAR(float, f32)
LINEAR(__half, f16)
LINEAR(__nv_bfloat16, bf16)
